// SPDX-License-Identifier: Apache-2.0
// A process is killed at each step of a commit on the local disk, as `kill -9` does: the table reads as before or as after, and the next
// writer goes on. The child is this very program, armed by an environment variable.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "kernel/deletion/dv_file.h"
#include "kernel/storage/fault_point.h"
#include "kernel/storage/local_log_store.h"
#include "tests/kernel/memory_table.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

constexpr const char* kTask = "BRAID_TEST_COMMIT";
constexpr int64_t kRows = 4000;
constexpr const char* kDataFile = "part-0.parquet";

struct LocalTable {
	LocalLogStore store;
	TextGateway parquet {store};
	MemoryProbe probe;

	explicit LocalTable(const std::string& root) : store(root, true) {}
	Result<CommitOutcome> Commit(const Transaction& transaction) {
		return braid::Commit({store, parquet, probe, SystemClock(), SystemRandom(), {}, {}}, transaction);
	}
	Result<SnapshotPtr> Load() { return LoadSnapshot({store, parquet}); }
	Result<PositionSet> Deleted() {
		BRAID_TRY(const SnapshotPtr snapshot, Load());
		const LiveFile* file = snapshot->files->Find(kDataFile);
		if (!file || !file->deletion_vector) return PositionSet {};
		return ReadDeletionVector(store, *file->deletion_vector, kDataFile);
	}
};

// Every third row from `first` on: too many for an inline vector.
PositionSet Third(uint64_t first) {
	PositionSet rows;
	for (uint64_t row = first; row < kRows; row += 3) rows.Add(row);
	return rows;
}

// What the child does: deletes rows, adds a file, or both in one commit.
struct Work {
	std::string name;
	bool deletes, adds;
};
const Work kWorks[] = {{"delete", true, false}, {"insert", false, true}, {"update", true, true}};

Result<CommitOutcome> Change(LocalTable& table, const Work& work, uint64_t first) {
	BRAID_TRY(const SnapshotPtr base, table.Load());
	Transaction transaction;
	transaction.base = base;
	transaction.operation = work.name;
	if (work.deletes) {
		transaction.reads.reads.push_back({Equals("x", static_cast<int64_t>(first)), nullptr, true});
		transaction.changes.deleted_rows[kDataFile] = Third(first);
	}
	if (work.adds) {
		NewFile file;
		file.add.path = "part-" + std::to_string(first + 1) + ".parquet";
		file.add.size = 4;
		file.add.stats = "{\"numRecords\":1}";
		file.num_records = 1;
		BRAID_TRY(table.store.Create(file.add.path, "PAR1"));
		transaction.changes.new_files.push_back(file);
	}
	return table.Commit(transaction);
}

void CreateAt(const std::string& root) {
	LocalTable table(root);
	MemoryTable memory;
	Transaction creation = memory.Creation({}, {{"delta.checkpointInterval", "1"}});
	NewFile file;
	file.add.path = kDataFile;
	file.add.size = 4;
	file.add.stats = "{\"numRecords\":" + std::to_string(kRows) + "}";
	file.num_records = kRows;
	creation.changes.new_files.push_back(file);
	ASSERT_TRUE(table.store.Put(kDataFile, "PAR1"));
	const auto outcome = table.Commit(creation);
	ASSERT_TRUE(outcome) << outcome.error().message;
}

// Exit status of a child that commits and is killed at the n-th passage through a fault point; 0 if it is not reached.
int RunChild(const std::string& root, const Work& work, std::string_view point, int n) {
	const std::string script = "BRAID_FAULT_POINT=" + std::string(point) + ":" + std::to_string(n) + " " + kTask + "=" +
							   work.name + "," + root + " /proc/" + std::to_string(getpid()) +
							   "/exe --gtest_filter=CommittingChild.Commits > /dev/null 2>&1";
	const int status = std::system(script.c_str());
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CommittingChild, Commits) {
	const char* task = std::getenv(kTask);
	if (task == nullptr) return;  // only runs as the child of the test below
	const std::string text = task;
	LocalTable table(text.substr(text.find(',') + 1));
	for (const Work& work : kWorks) {
		if (!text.starts_with(work.name)) continue;
		const auto outcome = Change(table, work, 0);
		ASSERT_TRUE(outcome) << outcome.error().message;
	}
}

struct Kills {
	int all = 0, after_the_commit = 0;
};

// False once the point is passed less than n times.
bool KillAt(const Work& work, std::string_view point, int n, Kills& kills) {
	TemporaryDirectory directory;
	const std::string root = directory.path() + "/t";
	CreateAt(root);
	const int status = RunChild(root, work, point, n);
	EXPECT_TRUE(status == 0 || status == 137) << status;
	const bool killed = status == 137;
	LocalTable table(root);
	const auto snapshot = table.Load();
	const auto deleted = table.Deleted();
	if (!snapshot || !deleted) {
		ADD_FAILURE() << (snapshot ? deleted.error().message : snapshot.error().message);
		return false;
	}
	const bool after = (*snapshot)->version == 1;
	EXPECT_TRUE(after || killed) << "an acknowledged commit is lost";
	EXPECT_TRUE(*deleted == (after && work.deletes ? Third(0) : PositionSet {}));
	EXPECT_EQ((*snapshot)->files->size(), after && work.adds ? 2u : 1u);
	const auto next = Change(table, kWorks[0], 1);
	EXPECT_TRUE(next) << next.error().message;
	EXPECT_TRUE(table.Deleted() && *table.Deleted() == (*deleted | Third(1)));
	kills.all += killed;
	kills.after_the_commit += killed && after;
	return killed;
}

TEST(CommitCrash, KilledAtEveryStep) {
	Kills kills;
	for (const Work& work : kWorks) {
		for (const std::string_view point : kFaultPoints) {
			SCOPED_TRACE(work.name + " killed at " + std::string(point));
			for (int n = 1; n <= 3 && KillAt(work, point, n, kills); n++) {
			}
		}
	}
	EXPECT_GE(kills.all, 50);
	EXPECT_GE(kills.after_the_commit, 20);
	EXPECT_GE(kills.all - kills.after_the_commit, 20);
	std::printf("killed %d times, %d of them after the commit\n", kills.all, kills.after_the_commit);
}

}  // namespace
}  // namespace braid
