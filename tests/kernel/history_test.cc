// SPDX-License-Identifier: Apache-2.0
// Random histories against a serial oracle: a handful of transactions, each from a snapshot of its own, commit one after the other on a tiny
// table. What was accepted must be explained: under Serializable by the commit order, under WriteSerializable by some order, in that every
// transaction removes and adds in it exactly the rows that it did, and the table ends the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

enum class Kind { kInsert, kDelete, kUpdate, kMerge, kInsertCount, kOptimize };

struct Statement {
	Kind kind = Kind::kInsert;
	std::function<bool(const Row&)> where;  // what it reads
	Predicate bound;                        // the same for the kernel, or wider
	bool exact_needed = false;
	std::function<void(Row&)> set;      // kUpdate
	Rows rows;                          // kInsert
	std::map<int64_t, int64_t> source;  // kMerge: key to new y
	int64_t threshold = 0;              // kMerge: only rows with x above it change
	bool merge_deletes = false;
	int64_t seed = 0;  // kInsertCount
	bool copy_on_write = false;
};

struct Effect {
	std::vector<size_t> removed;  // indices into the rows given
	Rows added;
};

// The meaning of a statement, told without any of the code under test.
Effect RunStatement(const Statement& statement, const Rows& rows) {
	Effect effect;
	if (statement.kind == Kind::kInsert) effect.added = statement.rows;
	int64_t count = 0;
	for (size_t i = 0; i < rows.size(); i++) {
		if (statement.kind == Kind::kInsert || statement.kind == Kind::kOptimize || !statement.where(rows[i])) continue;
		count++;
		Row image = rows[i];
		switch (statement.kind) {
			case Kind::kDelete:
				effect.removed.push_back(i);
				break;
			case Kind::kUpdate:
				statement.set(image);
				effect.removed.push_back(i);
				effect.added.push_back(image);
				break;
			case Kind::kMerge:
				if (*rows[i].x <= statement.threshold) break;
				effect.removed.push_back(i);
				image.y = statement.source.at(*image.k);
				if (!statement.merge_deletes) effect.added.push_back(image);
				break;
			default:
				break;
		}
	}
	if (statement.kind == Kind::kMerge) {
		for (const auto& [key, y] : statement.source) {
			if (std::ranges::none_of(rows, [&](const Row& row) { return row.k == key; }))
				effect.added.push_back({key, 3, y});
		}
	}
	if (statement.kind == Kind::kInsertCount) effect.added.push_back({9, 9, (count * 7 + statement.seed) % 100 + 10});
	return effect;
}

class Dice {
public:
	explicit Dice(uint64_t seed) : engine_(seed) {}
	int64_t Roll(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
	bool Chance(int percent) { return Roll(1, 100) <= percent; }
	template <class T>
	const T& Pick(const std::vector<T>& items) {
		return items[static_cast<size_t>(Roll(0, static_cast<int64_t>(items.size()) - 1))];
	}

private:
	std::mt19937_64 engine_;
};

void RandomCondition(Dice& dice, Statement& statement) {
	const std::string column = dice.Pick<std::string>({"k", "x", "y"});
	const int64_t value = dice.Roll(0, 5);
	const std::string shape = dice.Pick<std::string>({">", "<", "=", "%", "=", "="});
	if (shape == "%") {  // nothing that the kernel knows: its bound is TRUE
		statement.where = [=](const Row& row) {
			return *(column == "k" ? row.k : column == "x" ? row.x : row.y) % 2 == value % 2;
		};
		statement.exact_needed = true;
		return;
	}
	statement.bound = Is(column,
						 shape == ">"   ? CompareOp::kGreater
						 : shape == "<" ? CompareOp::kLess
										: CompareOp::kEqual,
						 value);
	statement.where = [bound = statement.bound](const Row& row) { return Satisfies(bound, row); };
}

void RandomAssignment(Dice& dice, Statement& statement, int64_t highest) {
	const bool x = dice.Chance(50), constant = dice.Chance(50);
	const int64_t value = dice.Roll(0, highest);
	statement.set = [=](Row& row) {
		auto& cell = x ? row.x : row.y;
		cell = constant ? value : (*cell + 1) % 6;
	};
}

void RandomMerge(Dice& dice, Statement& statement, int64_t highest_key) {
	std::vector<int64_t> keys;
	for (int64_t i = dice.Roll(1, 2); i > 0; i--) {
		const int64_t key = dice.Roll(0, highest_key);
		statement.source[key] = dice.Roll(0, 5);
	}
	for (const auto& [key, y] : statement.source) keys.push_back(key);
	statement.bound = AnyOf("k", keys);
	statement.where = [source = statement.source](const Row& row) { return source.contains(*row.k); };
	statement.threshold = dice.Roll(0, 4);
	statement.merge_deletes = dice.Chance(50);
}

Statement RandomStatement(Dice& dice) {
	Statement statement;
	statement.kind = dice.Pick<Kind>({Kind::kInsert, Kind::kDelete, Kind::kUpdate, Kind::kMerge, Kind::kInsertCount,
									  Kind::kDelete, Kind::kUpdate, Kind::kMerge, Kind::kOptimize});
	switch (statement.kind) {
		case Kind::kInsert:
			for (int64_t i = dice.Roll(1, 2); i > 0; i--)
				statement.rows.push_back({dice.Roll(0, 5), dice.Roll(0, 5), dice.Roll(0, 5)});
			break;
		case Kind::kUpdate:
			RandomAssignment(dice, statement, 5);
			[[fallthrough]];
		case Kind::kDelete:
			statement.copy_on_write = dice.Chance(15);
			[[fallthrough]];
		case Kind::kInsertCount:
			RandomCondition(dice, statement);
			statement.seed = dice.Roll(0, 5);
			break;
		case Kind::kMerge:
			RandomMerge(dice, statement, 5);
			break;
		case Kind::kOptimize:
			break;
	}
	return statement;
}

// What a statement stages on a snapshot, as the engine would.
Transaction Stage(MemoryTable& table, const SnapshotPtr& base, const Statement& statement, Dice& dice) {
	Transaction transaction = table.Begin(base, statement.kind == Kind::kMerge      ? "MERGE"
												: statement.kind == Kind::kOptimize ? "OPTIMIZE"
												: statement.kind == Kind::kDelete   ? "DELETE"
												: statement.kind == Kind::kUpdate   ? "UPDATE"
																					: "WRITE");
	const auto located = table.Scan(*base);
	if (statement.kind == Kind::kOptimize) {
		std::set<std::string> paths;
		for (const LiveFile* file : base->files->Files()) {
			if (dice.Chance(60)) paths.emplace(file->path);
		}
		Rows rows;
		for (const auto& row : located) {
			if (paths.contains(row.path)) rows.push_back(row.row);
		}
		transaction.changes.data_change = false;
		if (rows.empty()) return transaction;
		transaction.changes.replaced_files.assign(paths.begin(), paths.end());
		transaction.changes.new_files.push_back(table.WriteFile(rows));
		return transaction;
	}
	Rows rows;
	for (const auto& row : located) rows.push_back(row.row);
	Effect effect = RunStatement(statement, rows);
	if (statement.kind != Kind::kInsert) {
		Read read {statement.bound, nullptr, statement.kind == Kind::kDelete || statement.kind == Kind::kUpdate};
		if (statement.exact_needed) read.exact = std::make_shared<RowCondition>(statement.where);
		transaction.reads.reads.push_back(std::move(read));
	}
	std::set<std::string> touched;
	for (const size_t i : effect.removed) touched.insert(located[i].path);
	if (statement.copy_on_write) {
		const std::set<size_t> removed(effect.removed.begin(), effect.removed.end());
		for (size_t i = 0; i < located.size(); i++) {
			if (touched.contains(located[i].path) && !removed.contains(i)) effect.added.push_back(located[i].row);
		}
		transaction.changes.replaced_files.assign(touched.begin(), touched.end());
	} else {
		for (const size_t i : effect.removed)
			transaction.changes.deleted_rows[located[i].path].Add(located[i].position);
	}
	if (!effect.added.empty()) transaction.changes.new_files.push_back(table.WriteFile(effect.added));
	return transaction;
}

struct History {
	Rows start;
	size_t files = 1;
	std::vector<Statement> statements;
	std::vector<size_t> lag;  // how many of the slots before it each one did not see
};

History AnyHistory(Dice& dice, size_t transactions) {
	History history;
	for (int i = 0; i < 8; i++) history.start.push_back({dice.Roll(0, 5), dice.Roll(0, 5), dice.Roll(0, 5)});
	history.files = 2;
	for (size_t i = 0; i < transactions; i++) {
		history.statements.push_back(RandomStatement(dice));
		history.lag.push_back(static_cast<size_t>(dice.Roll(0, static_cast<int64_t>(i))));
	}
	return history;
}

// Histories around the traps of WriteSerializable: an append first, few values, most later ones see all or nothing.
History NearHistory(Dice& dice, size_t transactions) {
	History history;
	for (int64_t k = 0, rows = dice.Roll(2, 4); k < rows; k++) history.start.push_back({k, dice.Roll(0, 3), 0});
	Statement append;
	for (int i = 0; i < 2; i++) append.rows.push_back({dice.Roll(4, 7), dice.Roll(0, 3), 0});
	history.statements.push_back(append);
	history.lag.push_back(0);
	for (size_t i = 1; i < transactions; i++) {
		Statement statement;
		const auto all = i;
		if (dice.Chance(15)) {
			statement.rows = {{dice.Roll(4, 7), dice.Roll(0, 3), 0}};
			history.lag.push_back(0);
		} else {
			statement.kind = dice.Pick<Kind>({Kind::kDelete, Kind::kUpdate, Kind::kUpdate, Kind::kMerge});
			history.lag.push_back(
				dice.Pick<size_t>({0, 0, all, all, static_cast<size_t>(dice.Roll(0, static_cast<int64_t>(i)))}));
			if (statement.kind == Kind::kMerge) {
				RandomMerge(dice, statement, 7);
			} else {
				statement.bound = Equals("x", dice.Roll(0, 3));
				statement.where = [bound = statement.bound](const Row& row) { return Satisfies(bound, row); };
				statement.set = [to = dice.Roll(0, 3)](Row& row) { row.x = to; };
			}
		}
		history.statements.push_back(std::move(statement));
	}
	return history;
}

struct Committed {
	size_t statement;
	Rows removed, added;  // sorted
};

class Oracle {
public:
	explicit Oracle(const History& history) : history_(history) {}

	bool Explains(const std::vector<Committed>& order, const Rows& final_rows) const {
		Rows rows = history_.start;
		for (const Committed& committed : order) {
			Effect effect = RunStatement(history_.statements[committed.statement], rows);
			Rows removed, kept;
			const std::set<size_t> gone(effect.removed.begin(), effect.removed.end());
			for (size_t i = 0; i < rows.size(); i++) (gone.contains(i) ? removed : kept).push_back(rows[i]);
			std::ranges::sort(removed);
			std::ranges::sort(effect.added);
			if (removed != committed.removed || effect.added != committed.added) return false;
			rows = std::move(kept);
			rows.insert(rows.end(), effect.added.begin(), effect.added.end());
		}
		std::ranges::sort(rows);
		return rows == final_rows;
	}

	bool SomeOrderExplains(std::vector<Committed> committed, const Rows& final_rows) const {
		std::ranges::sort(committed, {}, &Committed::statement);
		do {
			if (Explains(committed, final_rows)) return true;
		} while (std::ranges::next_permutation(committed, {}, &Committed::statement).found);
		return false;
	}

private:
	const History& history_;
};

struct Tally {
	int accepted = 0, refused = 0, lost_races = 0;
};

// One history played on one table.
class Player {
public:
	Player(const History& history, const std::string& level, uint64_t seed)
		: history_(history), table_(level, seed), dice_(seed ^ 0x5eed) {
		std::vector<Rows> files(history.files);
		for (size_t i = 0; i < history.start.size(); i++) files[i % history.files].push_back(history.start[i]);
		slots_ = {table_.Create(files)};
	}

	// Some transactions commit while an earlier one is between its look at the log and its put: it loses the race once or more, and what it has
	// found out about the first winners must hold beside the later ones.
	void Run(Tally& tally) {
		size_t next = 0;
		while (next < history_.statements.size()) {
			const size_t loser = next++;
			const Transaction transaction = StageNext(loser);
			for (int n = 1; next < history_.statements.size() && dice_.Chance(30); n++, next++) {
				table_.store.BeforeNth(StoreOperation::kPutIfAbsent, n, [this, winner = next, &tally] {
					Settle(winner, StageNext(winner), table_.memory, tally);
				});
			}
			Settle(loser, transaction, table_.store, tally);
		}
	}

	const std::vector<Committed>& committed() const { return committed_; }
	const SnapshotPtr& newest() const { return slots_.back(); }
	MemoryTable& table() { return table_; }

private:
	SnapshotPtr BaseOf(size_t t) const { return slots_[std::min(t - std::min(history_.lag[t], t), slots_.size() - 1)]; }
	Transaction StageNext(size_t t) { return Stage(table_, BaseOf(t), history_.statements[t], dice_); }

	void Settle(size_t t, const Transaction& transaction, LogStore& store, Tally& tally) {
		const auto outcome =
			Commit({store, table_.parquet, table_.probe, table_.clock, table_.random, {}, {}}, transaction);
		if (outcome && outcome->version > newest()->version) {
			slots_.push_back(outcome->snapshot);
		} else {
			slots_.push_back(newest());
		}
		if (!outcome) {
			ASSERT_EQ(outcome.error().kind, ErrorKind::kConflict) << outcome.error().message;
			tally.refused++;
			return;
		}
		tally.accepted++;
		tally.lost_races += outcome->attempts > 1;
		// A statement that changed nothing has committed nothing: as a reader of a snapshot it needs no place in the order.
		const Statement& statement = history_.statements[t];
		if (statement.kind == Kind::kOptimize || transaction.changes.empty()) return;
		Rows seen;
		for (const auto& located : table_.Scan(*transaction.base)) seen.push_back(located.row);
		const Effect effect = RunStatement(statement, seen);
		Committed entry {t, {}, effect.added};
		for (const size_t i : effect.removed) entry.removed.push_back(seen[i]);
		std::ranges::sort(entry.removed);
		std::ranges::sort(entry.added);
		committed_.push_back(std::move(entry));
	}

	const History& history_;
	MemoryTable table_;
	Dice dice_;
	std::vector<SnapshotPtr> slots_;
	std::vector<Committed> committed_;
};

void Play(const History& history, const std::string& level, uint64_t seed, Tally& tally) {
	Player player(history, level, seed);
	ASSERT_TRUE(player.newest());
	player.Run(tally);
	if (testing::Test::HasFatalFailure()) return;
	const Rows final_rows = player.table().LiveRows(*player.newest());
	ASSERT_EQ(final_rows, player.table().LiveRows(*player.table().Latest()))
		<< "what Commit answers is what a reader finds";
	for (const auto& [path, entries] : player.table().LiveEntries(player.newest()->version))
		ASSERT_LE(entries, 1) << path;
	const Oracle oracle(history);
	if (level == "Serializable") {
		ASSERT_TRUE(oracle.Explains(player.committed(), final_rows)) << "not the commit order, seed " << seed;
	} else {
		ASSERT_TRUE(oracle.SomeOrderExplains(player.committed(), final_rows)) << "no order, seed " << seed;
	}
}

// BRAID_HISTORIES raises the number for a long search.
int Histories() {
	const char* wanted = std::getenv("BRAID_HISTORIES");
	return wanted ? std::atoi(wanted) : 800;
}

void PlayMany(History (*make)(Dice&, size_t), const std::string& level, size_t transactions) {
	Tally tally;
	for (int i = 0; i < Histories(); i++) {
		const uint64_t seed = static_cast<uint64_t>(i) + 1;
		Dice dice(seed);
		Play(make(dice, transactions), level, seed, tally);
		if (testing::Test::HasFatalFailure()) return;
	}
	const int all = tally.accepted + tally.refused;
	EXPECT_GT(tally.refused, all / 100) << "histories without conflicts prove nothing";
	EXPECT_GT(tally.accepted, all / 2);
	EXPECT_GT(tally.lost_races, all / 50);
	std::printf("%s: %d transactions accepted, %d of them after a lost race, %d refused\n", level.c_str(),
				tally.accepted, tally.lost_races, tally.refused);
}

TEST(Histories, SerializableOrderIsTheCommitOrder) { PlayMany(AnyHistory, "Serializable", 4); }
TEST(Histories, WriteSerializableHasSomeOrder) { PlayMany(AnyHistory, "WriteSerializable", 4); }
TEST(Histories, WriteSerializableHasSomeOrderOfFive) { PlayMany(AnyHistory, "WriteSerializable", 5); }
TEST(Histories, NearTheTrapsSerializable) { PlayMany(NearHistory, "Serializable", 4); }
TEST(Histories, NearTheTrapsWriteSerializable) { PlayMany(NearHistory, "WriteSerializable", 4); }
TEST(Histories, NearTheTrapsWithFive) { PlayMany(NearHistory, "WriteSerializable", 5); }

}  // namespace
}  // namespace braid
