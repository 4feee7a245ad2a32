// SPDX-License-Identifier: Apache-2.0
// A Delta table of tiny rows (k, x, y) wholly in memory: log store, clock, a probe that evaluates conditions over the rows, a gateway that keeps
// checkpoints as text. Transactions are staged the way the engine stages them and committed by the code under test.
#pragma once

#include <gtest/gtest.h>

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernel/storage/faulty_log_store.h"
#include "kernel/storage/memory_log_store.h"
#include "kernel/txn/committer.h"
#include "kernel/txn/conflict_report.h"
#include "tests/kernel/deterministic.h"

namespace braid {

struct Row {
	std::optional<int64_t> k, x, y = 0;
	auto operator<=>(const Row&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Row& row);
using Rows = std::vector<Row>;

// Conditions as a statement has them: a kernel predicate, and what the engine would evaluate.
Predicate Is(const std::string& column, CompareOp op, int64_t value);
inline Predicate Equals(const std::string& column, int64_t value) { return Is(column, CompareOp::kEqual, value); }
Predicate AnyOf(const std::string& column, const std::vector<int64_t>& values);
bool Satisfies(const Predicate& predicate, const Row& row);

struct RowCondition final : RowPredicate {
	explicit RowCondition(std::function<bool(const Row&)> holds) : test(std::move(holds)) {}
	std::function<bool(const Row&)> test;
};

class MemoryProbe final : public RowProbe {
public:
	std::map<std::string, Rows> files;
	std::map<std::string, std::vector<std::optional<int64_t>>> row_ids;  // the hidden column, of files that have it
	int64_t rows_tested = 0;
	std::function<void()> on_match;  // e.g. lets time pass

	Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest> requests, const Predicate& bound,
										  const RowPredicate* exact, size_t limit) override;
	Result<std::vector<PositionSet>> MatchAll(std::span<const ProbeRequest> requests, const Predicate& bound,
											  const RowPredicate* exact) override;
	Status ReadRowIds(std::span<const ProbeRequest> requests, const std::string& column,
					  const RowIdSink& sink) override;
	Status ReadContents(std::span<const ProbeRequest> requests, const RowContentSink& sink) override;
	Result<std::vector<std::string>> Describe(const AddFile& file, std::span<const uint64_t> positions) override;
};

class TextGateway final : public ParquetGateway {
public:
	explicit TextGateway(LogStore& store) : store_(store) {}
	Status ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) override;
	Result<int64_t> WriteCheckpoint(const std::string& location, FileKind kind,
									const std::function<Status(const Emit& emit)>& produce) override;

private:
	LogStore& store_;
};

class MemoryTable {
public:
	struct Located {
		std::string path;
		uint64_t position;
		Row row;
		std::optional<int64_t> id = std::nullopt;  // stable row id, if there is one
	};

	explicit MemoryTable(const std::string& level = "WriteSerializable", uint64_t seed = 1);

	ManualClock clock;
	SeededRandom random;
	MemoryLogStore memory {clock};
	FaultyLogStore store {memory};
	TextGateway parquet {memory};
	MemoryProbe probe;
	CommitOptions options;
	bool partitioned = false;   // by x; set before Create
	bool row_tracking = false;  // set before Create

	// Version 0, with one file per group of rows.
	SnapshotPtr Create(const std::vector<Rows>& files, Configuration properties = {});
	Transaction Creation(const std::vector<Rows>& files, Configuration properties = {});
	SnapshotPtr Latest();

	Transaction Begin(SnapshotPtr base, const std::string& operation) const;
	NewFile WriteFile(const Rows& rows);
	NewFile WriteImages(const std::vector<Located>& sources, const Rows& rows, StagedChanges& changes);  // with origins
	std::vector<NewFile> WriteFiles(const Rows& rows);  // one per partition
	std::vector<Located> Scan(const Snapshot& snapshot);
	Rows LiveRows(const Snapshot& snapshot);  // sorted

	// Whole statements, run on `base` and staged.
	Transaction Insert(SnapshotPtr base, const Rows& rows);
	Transaction Delete(SnapshotPtr base, const Predicate& where);
	Transaction Update(SnapshotPtr base, const Predicate& where, const std::function<void(Row&)>& set);

	// All rows of the given files into one new file per partition, as OPTIMIZE does, with a map; in another order if `dice` is given.
	Transaction Rearrange(SnapshotPtr base, const std::vector<std::string>& paths, Random* dice = nullptr);
	// The same for several sets of files, each by itself.
	Transaction RearrangeBins(SnapshotPtr base, const std::vector<std::vector<std::string>>& bins,
							  Random* dice = nullptr);
	Transaction RearrangeAll(SnapshotPtr base, Random* dice = nullptr);

	Result<CommitOutcome> Commit(const Transaction& transaction);
	std::string CommitText(int64_t version);
	// How many entries replay of all commits leaves for each path: must be at most one.
	std::map<std::string, int> LiveEntries(int64_t version);

private:
	const std::string level_;
	int files_ = 0;
};

// Failure of the expected class; the report is returned for closer looks.
ConflictReport ExpectConflict(const Result<CommitOutcome>& outcome, ConflictClass expected);

}  // namespace braid
