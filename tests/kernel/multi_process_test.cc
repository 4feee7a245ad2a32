// SPDX-License-Identifier: Apache-2.0
// Several processes commit to one table through the kernel alone (no SQL, no Parquet): disjoint rows of one file, all from one snapshot.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/action/action_codec.h"
#include "kernel/deletion/dv_file.h"
#include "kernel/log/log_path.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/txn/committer.h"
#include "tests/kernel/no_probe.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

constexpr int kProcesses = 8;
constexpr int kStatements = 10;
constexpr uint64_t kRowsAStatement = 100;
constexpr uint64_t kRows = kProcesses * kStatements * kRowsAStatement * 2;  // half of them survive

// No checkpoints are read or written here, and no row is ever asked for: every added file would be a bug.
class NoParquet final : public ParquetGateway {
	Status ReadCheckpoint(std::span<const std::string>, CheckpointSink&) override {
		return Fail(ErrorKind::kUnsupported, "no checkpoints in this test");
	}
	Result<int64_t> WriteCheckpoint(const std::string&, FileKind, const std::function<Status(const Emit&)>&) override {
		return Fail(ErrorKind::kUnsupported, "no checkpoints in this test");
	}
};

struct Table {
	LocalLogStore store;
	NoParquet parquet;
	NoProbe probe;

	explicit Table(const std::string& root) : store(root, true) {}
	SnapshotSource source() { return {store, parquet}; }
	CommitContext context() { return {store, parquet, probe, SystemClock(), SystemRandom(), {}, {}}; }
};

Status CreateTable(Table& table) {
	Transaction create;
	create.operation = "CREATE TABLE";
	create.changes.protocol = Protocol {3, 7, {{"deletionVectors"}}, {{"deletionVectors"}}};
	Metadata metadata;
	metadata.id = "8a4b7f0e-0000-4000-8000-000000000001";
	metadata.schema_string =
		R"({"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]})";
	metadata.configuration = {{"delta.enableDeletionVectors", "true"}, {"delta.checkpointInterval", "1000000"}};
	create.changes.metadata = metadata;
	NewFile file;
	file.add.path = "part-0.parquet";
	file.add.size = 4;
	file.add.stats = "{\"numRecords\":" + std::to_string(kRows) + "}";
	file.num_records = kRows;
	create.changes.new_files.push_back(file);
	BRAID_TRY(table.store.Put("part-0.parquet", "PAR1"));
	BRAID_TRY(CommitOutcome outcome, Commit(table.context(), create));
	return outcome.version == 0 ? Status {} : Fail(ErrorKind::kInternal, "created at another version");
}

// The rows of statement s of process p: every kProcesses-th row of a stretch, so that all processes share Roaring containers.
PositionSet RowsOf(int process, int statement) {
	PositionSet rows;
	for (uint64_t i = 0; i < kRowsAStatement; i++)
		rows.Add((statement * kRowsAStatement + i) * kProcesses * 2 + process * 2);
	return rows;
}

// Exit status: 0 when all statements committed at the first try.
int RunProcess(const std::string& root, int process, pthread_barrier_t* barrier) {
	alarm(120);  // if another process fails, this one would wait for it for ever
	Table table(root);
	for (int statement = 0; statement < kStatements; statement++) {
		pthread_barrier_wait(barrier);  // nobody commits before everybody has started its statement
		auto base = LoadSnapshot(table.source());
		if (!base) return 1;
		Transaction transaction;
		transaction.base = *base;
		transaction.operation = "DELETE";
		transaction.reads.reads.push_back(
			{Predicate::Compare({"id"}, CompareOp::kEqual, Scalar {TypeKind::kLong, int64_t {process}}), nullptr,
			 true});
		transaction.changes.deleted_rows["part-0.parquet"] = RowsOf(process, statement);
		pthread_barrier_wait(barrier);
		auto outcome = Commit(table.context(), transaction);
		if (!outcome) {
			std::fprintf(stderr, "process %d: %s\n", process, outcome.error().message.c_str());
			return 2;
		}
	}
	return 0;
}

TEST(MultiProcess, DisjointRowsOfOneFileAllCommitAtTheFirstTry) {
	TemporaryDirectory directory;
	const std::string root = directory.path() + "/t";
	{
		Table table(root);
		auto created = CreateTable(table);
		ASSERT_TRUE(created) << created.error().message;
	}
	void* shared = mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(shared, MAP_FAILED);
	auto* barrier = static_cast<pthread_barrier_t*>(shared);
	pthread_barrierattr_t attributes;
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attributes, kProcesses);

	std::vector<pid_t> children;
	for (int process = 0; process < kProcesses; process++) {
		const pid_t child = fork();
		ASSERT_GE(child, 0);
		if (child == 0) _exit(RunProcess(root, process, barrier));
		children.push_back(child);
	}
	for (const pid_t child : children) {
		int status = 0;
		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_EQ(status, 0);
	}
	munmap(shared, sizeof(pthread_barrier_t));

	Table table(root);
	auto snapshot = LoadSnapshot(table.source());
	ASSERT_TRUE(snapshot) << snapshot.error().message;
	EXPECT_EQ((*snapshot)->version, kProcesses * kStatements);
	ASSERT_EQ((*snapshot)->files->size(), 1u);
	const LiveFile& file = *(*snapshot)->files->Files().front();
	ASSERT_NE(file.deletion_vector, nullptr);
	auto deleted = ReadDeletionVector(table.store, *file.deletion_vector, "part-0.parquet");
	ASSERT_TRUE(deleted) << deleted.error().message;
	PositionSet expected;
	for (uint64_t row = 0; row < kRows; row += 2) expected.Add(row);
	EXPECT_TRUE(*deleted == expected);

	int rebased = 0;
	for (int64_t version = 1; version <= (*snapshot)->version; version++) {
		auto bytes = table.store.Read(CommitPath(version));
		ASSERT_TRUE(bytes);
		auto parsed = ParseCommit(*bytes, "", [&](Action&& action) -> Status {
			if (const auto* info = std::get_if<CommitInfo>(&action)) rebased += *info->read_version < version - 1;
			return {};
		});
		ASSERT_TRUE(parsed) << parsed.error().message;
	}
	EXPECT_EQ(rebased,
			  (kProcesses - 1) * kStatements);  // of each round only the first commits without having lost a race
}

}  // namespace
}  // namespace braid
