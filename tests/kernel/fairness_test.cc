// SPDX-License-Identifier: Apache-2.0
// A long transaction beside writers that commit as fast as they can, in virtual time: it commits after few attempts, soon after its first
// one, and reads each winner once. Every call of the long one takes time, in which the others go on.
#include <gtest/gtest.h>

#include <map>

#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

constexpr int64_t kMicroseconds = 1000;  // a millisecond
constexpr int kManyRows = 200;

class VirtualClock final : public Clock {
public:
	int64_t micros = 0;
	int64_t NowMs() override { return 1'700'000'000'000 + micros / kMicroseconds; }
	int64_t MonotonicMs() override { return micros / kMicroseconds; }
	void SleepMs(int64_t milliseconds) override { pass(milliseconds * kMicroseconds); }
	std::function<void(int64_t micros)> pass;
};

// The table's store as the long transaction sees it; the others write to the memory behind it.
class BusyStore final : public LogStore {
public:
	BusyStore(MemoryTable& table, bool turns, uint64_t seed)
		: table_(table), turns_(turns), random_(seed), newest_(table.Latest()) {
		clock.pass = [this](int64_t micros) { Pass(micros); };
	}

	VirtualClock clock;
	int64_t commits_of_others = 0, longest_hold = 0, first_put = -1;
	std::map<std::string, int, std::less<>> reads;

	// The others commit at random moments, two per millisecond on average. None does while the turn is ours.
	void Pass(int64_t micros) {
		const int64_t end = clock.micros + micros;
		while (!held_ && next_ <= end) {
			clock.micros = next_;
			OtherCommits();
			next_ += 50 + static_cast<int64_t>(random_.Next() % 900);
		}
		clock.micros = end;
	}

	Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name) override {
		return After(100, [&] { return table_.memory.List(directory, first_name); });
	}
	Result<std::string> Read(std::string_view path) override {
		return After(30, [&] {
			auto bytes = table_.memory.Read(path);
			if (bytes) reads[std::string(path)]++;
			return bytes;
		});
	}
	Result<std::string> ReadRange(std::string_view path, int64_t offset, int64_t length) override {
		return After(30, [&] { return table_.memory.ReadRange(path, offset, length); });
	}
	Status ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) override {
		return After(100, [&] { return table_.memory.ReadBlocks(path, sink); });
	}
	Result<StoredFile> Stat(std::string_view path) override {
		return After(5, [&] { return table_.memory.Stat(path); });
	}
	Status PutIfAbsent(std::string_view path, std::string_view bytes) override {
		if (first_put < 0) first_put = clock.micros;
		return After(600, [&] { return table_.memory.PutIfAbsent(path, bytes); });
	}
	Status Put(std::string_view path, std::string_view bytes) override {
		return After(600, [&] { return table_.memory.Put(path, bytes); });
	}
	Status Create(std::string_view path, std::string_view bytes) override {
		return After(100, [&] { return table_.memory.Create(path, bytes); });
	}
	Status MakeDurable(std::span<const std::string> paths) override {
		return After(500, [&] { return table_.memory.MakeDurable(paths); });
	}
	Status MoveIfAbsent(std::string_view from, std::string_view to) override {
		return After(10, [&] { return table_.memory.MoveIfAbsent(from, to); });
	}
	Status Delete(std::string_view path) override {
		return After(10, [&] { return table_.memory.Delete(path); });
	}
	std::string Location(std::string_view path) const override { return table_.memory.Location(path); }

	std::unique_ptr<Turn> TakeTurn(int64_t) override {
		if (!turns_) return nullptr;
		auto turn = std::make_unique<OurTurn>(*this);
		if (random_.Next() % 5 != 0) {  // one of the four others has it
			Pass(1000 + static_cast<int64_t>(random_.Next() % 3000));
			turn->waited = true;
		}
		held_ = true;
		held_since_ = clock.micros;
		return turn;
	}

private:
	class OurTurn final : public Turn {
	public:
		explicit OurTurn(BusyStore& store) : store_(store) {}
		~OurTurn() override {
			store_.held_ = false;
			store_.longest_hold = std::max(store_.longest_hold, store_.clock.micros - store_.held_since_);
			store_.next_ = std::max(store_.next_, store_.clock.micros);
		}

	private:
		BusyStore& store_;
	};

	// Time passes first, so that what is asked for is as old as it can be when the answer is used.
	template <class Operation>
	std::invoke_result_t<Operation> After(int64_t micros, Operation operation) {
		Pass(micros);
		return operation();
	}

	// Another row of the same file, while there are any; then an append.
	void OtherCommits() {
		const bool deletes = next_row_ < kManyRows;
		const Transaction transaction = deletes ? table_.Delete(newest_, Equals("k", next_row_++))
												: table_.Insert(newest_, {{commits_of_others + 1'000'000, 0, 0}});
		const CommitContext context {table_.memory, table_.parquet, table_.probe, table_.clock, table_.random, {}, {}};
		auto outcome = Commit(context, transaction);
		ASSERT_TRUE(outcome) << outcome.error().message;
		newest_ = outcome->snapshot;
		commits_of_others++;
	}

	MemoryTable& table_;
	const bool turns_;
	SeededRandom random_;
	SnapshotPtr newest_;
	int64_t next_ = 0, held_since_ = 0;
	int64_t next_row_ = 10;
	bool held_ = false;
};

// An UPDATE of row 1 whose statement takes so long; all that must hold, whoever the others are.
void RunLong(BusyStore& busy, MemoryTable& table, int64_t statement_ms, CommitOutcome& outcome) {
	const SnapshotPtr base = table.Latest();
	const Transaction update = table.Update(base, Equals("k", 1), [](Row& row) { row.y = 7; });
	busy.Pass(statement_ms * kMicroseconds);
	const CommitContext context {busy, table.parquet, table.probe, busy.clock, table.random, {}, {}};
	auto committed = Commit(context, update);
	ASSERT_TRUE(committed) << committed.error().message;
	outcome = *std::move(committed);
	EXPECT_LE(busy.clock.micros - busy.first_put, 2000 * kMicroseconds);
	EXPECT_EQ(outcome.winners, outcome.version - base->version - 1);
	for (int64_t version = base->version + 1; version < outcome.version; version++)
		ASSERT_EQ(busy.reads[CommitPath(version)], 1) << "version " << version;
}

Rows ManyRows() {
	Rows rows;
	for (int64_t k = 0; k < kManyRows; k++) rows.push_back({k, k % 7, 0});
	return rows;
}

class Fairness : public testing::TestWithParam<uint64_t> {};

// The others are of our kind: nobody overtakes at the last step, and nobody is held up while winners are read.
TEST_P(Fairness, TheFirstAttemptSucceedsAmongWritersThatTakeTurns) {
	MemoryTable table("WriteSerializable", GetParam());
	table.Create({ManyRows()}, {{"delta.checkpointInterval", "1000000"}});
	BusyStore busy(table, true, GetParam());
	CommitOutcome outcome;
	ASSERT_NO_FATAL_FAILURE(RunLong(busy, table, 200, outcome));
	EXPECT_GT(outcome.winners, 100);
	EXPECT_LE(outcome.attempts, 2);
	EXPECT_GT(busy.longest_hold, 0);
	EXPECT_LE(busy.longest_hold, 5 * kMicroseconds);
}

// The others know no turns, and two of them commit while we write one version: attempts follow each other at once.
TEST_P(Fairness, FewAttemptsSufficeAmongStrangers) {
	MemoryTable table("WriteSerializable", GetParam());
	table.Create({ManyRows()}, {{"delta.checkpointInterval", "1000000"}});
	BusyStore busy(table, false, GetParam());
	CommitOutcome outcome;
	ASSERT_NO_FATAL_FAILURE(RunLong(busy, table, 200, outcome));
	EXPECT_GT(outcome.winners, 100);
	EXPECT_LE(outcome.attempts, 40);
	EXPECT_LE(busy.clock.micros - busy.first_put, 100 * kMicroseconds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fairness, testing::Range(uint64_t {1}, uint64_t {9}));

// Seconds of winners, some thousands.
TEST(FairnessTest, AStatementOfThreeSeconds) {
	MemoryTable table;
	table.Create({ManyRows()}, {{"delta.checkpointInterval", "1000000"}});
	BusyStore busy(table, true, 1);
	CommitOutcome outcome;
	ASSERT_NO_FATAL_FAILURE(RunLong(busy, table, 3000, outcome));
	EXPECT_GT(outcome.winners, 5000);
	EXPECT_LE(outcome.attempts, 2);
}

}  // namespace
}  // namespace braid
