// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/file_test.h"

#include <algorithm>
#include <set>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/pruning.h"
#include "kernel/txn/gate.h"

namespace braid {

static bool HasVectors(const Snapshot& table) {
	return HasFeature(table.protocol, "deletionVectors") &&
		   PropertyEnabled(table.metadata.configuration, "delta.enableDeletionVectors");
}

static bool IsClustered(const Snapshot& table) {
	const auto domain = table.domains.find("delta.clustering");
	return domain != table.domains.end() && domain->second.configuration.find("[]") == std::string::npos;
}

// An INSERT that reads its table has the same concurrency as MERGE (R7).
static ChangeKind KindOf(const Transaction& transaction) {
	if (transaction.operation == "DELETE" || transaction.changes.removes_all) return ChangeKind::kDelete;
	if (transaction.operation == "UPDATE") return ChangeKind::kUpdate;
	return transaction.conditions.merge_without_target_predicate ? ChangeKind::kMergeWithoutTargetPredicate
																 : ChangeKind::kMerge;
}

RowLevelLimit LimitOf(const Transaction& transaction, const CompatOptions& compat) {
	const Snapshot& table = *transaction.base;
	if (!HasVectors(table)) return RowLevelLimit::kNoVectors;
	if (!table.metadata.partition_columns.empty()) return RowLevelLimit::kPartitioned;
	if (transaction.conditions.Excluded()) return RowLevelLimit::kConditions;
	return SupportsRowLevel(compat, IsClustered(table), KindOf(transaction)) ? RowLevelLimit::kNone
																			 : RowLevelLimit::kRuntime;
}

static bool OrdersByZorder(const std::map<std::string, std::string>& operation_parameters) {
	const auto columns = operation_parameters.find("zOrderBy");
	return columns != operation_parameters.end() && columns->second.find_first_not_of("[]\"\\ ") != std::string::npos;
}

namespace {

class FileTest {
public:
	explicit FileTest(const JudgeContext& context);
	Status Run() const;

private:
	FileChange Rearrangement(const WinningCommit& winner) const;
	bool ReadsPartitionOf(const LiveFile& file) const;
	bool ReadsFile(const FileEffect& effect) const;
	bool RemovesFile(const std::string& path) const { return removes_all_ || removed_.contains(path); }
	Status Check(const WinningCommit& winner, const FileEffect& effect, FileChange change) const;
	std::string SubCondition() const;

	const JudgeContext& context_;
	const Snapshot& base_;
	const bool vectors_;
	const bool removes_all_;
	RowLevelLimit limit_ = RowLevelLimit::kNone;
	OurKind ours_ = OurKind::kChangesByRows;
	std::vector<FilePruner> reads_;
	std::set<std::string> removed_;  // decoded paths of files that we remove or put a vector on
};

FileTest::FileTest(const JudgeContext& context)
	: context_(context),
	  base_(*context.transaction.base),
	  vectors_(HasVectors(base_)),
	  removes_all_(context.transaction.changes.removes_all) {
	const Transaction& transaction = context.transaction;
	for (const Read& read : transaction.reads.reads)
		reads_.emplace_back(base_.metadata, base_.schema, base_.column_mapping, read.bound);
	for (const auto& [path, rows] : transaction.changes.deleted_rows) removed_.insert(DecodePath(path));
	for (const std::string& path : transaction.changes.replaced_files) removed_.insert(DecodePath(path));
	if (!transaction.changes.data_change) {
		const bool can = !vectors_ || OrdersByZorder(transaction.operation_parameters);
		ours_ = can ? OurKind::kRearrangesOrderly : OurKind::kRearranges;
		return;
	}
	limit_ = LimitOf(transaction, context.compat);
	if (limit_ != RowLevelLimit::kNone) ours_ = OurKind::kChangesByFiles;
}

FileChange FileTest::Rearrangement(const WinningCommit& winner) const {
	const bool can = !vectors_ || OrdersByZorder(winner.info.operation_parameters);
	return can ? FileChange::kRearrangesFileOrderly : FileChange::kRearrangesFile;
}

// By partition values alone (R19); a table without partitions is one partition.
bool FileTest::ReadsPartitionOf(const LiveFile& file) const {
	return removes_all_ || std::ranges::any_of(reads_, [&](const FilePruner& pruner) {
			   return pruner.MayMatch(file.partition_values, "");
		   });
}

// A file of our snapshot that bounds did not rule out.
bool FileTest::ReadsFile(const FileEffect& effect) const {
	const LiveFile* file = effect.before ? base_.files->Find(effect.before->path) : nullptr;
	if (!file) return false;
	return RemovesFile(effect.path) ||
		   std::ranges::any_of(reads_, [&](const FilePruner& pruner) { return pruner.MayMatch(*file); });
}

std::string FileTest::SubCondition() const {
	const auto& reads = context_.transaction.reads.reads;
	if (limit_ == RowLevelLimit::kConditions) return "PREDICATES_NEED_REWRITE";
	const bool whole_table = removes_all_ || std::ranges::any_of(reads, [](const Read& read) {
								 return read.bound.kind == PredicateKind::kTrue;
							 });
	if (whole_table) return "WHOLE_TABLE_READ";
	if (limit_ != RowLevelLimit::kPartitioned) return "WITHOUT_HINT";
	// Does a condition tell partitions apart?
	const bool separates =
		std::ranges::any_of(base_.files->Files(), [&](const LiveFile* file) { return !ReadsPartitionOf(*file); });
	return separates ? "WITH_PARTITION_HINT" : "PARTITIONED_TABLE_WITHOUT_MERGE_SOURCE";
}

Status FileTest::Check(const WinningCommit& winner, const FileEffect& effect, FileChange change) const {
	const FileRule& rule = FileRuleFor(ours_, change);
	if (!rule.At(context_.level)) return {};
	ConflictReport report = ReportAgainst(context_.transaction, winner, base_.table);
	const bool added = change == FileChange::kAppendsBlindly || change == FileChange::kAddsFile;
	report.conflict_class = added                      ? ConflictClass::kConcurrentAppend
							: RemovesFile(effect.path) ? ConflictClass::kConcurrentDeleteDelete
													   : ConflictClass::kConcurrentDeleteRead;
	report.sub_condition = SubCondition();
	const LiveFile& file = effect.after ? *effect.after : *effect.before;
	report.file = file.path;
	if (!base_.metadata.partition_columns.empty()) report.partition = file.partition_values;
	report.rule = rule.rule;
	return AsError(std::move(report));
}

// In the order of the classes: an added file, a file that we remove too, a file that we read.
Status FileTest::Run() const {
	for (const WinningCommit& winner : context_.winners) {
		if (!winner.data_changing) continue;
		for (const FileEffect& effect : winner.effects) {
			if (!effect.after || !ReadsPartitionOf(*effect.after)) continue;
			BRAID_TRY(Check(winner, effect, winner.blind ? FileChange::kAppendsBlindly : FileChange::kAddsFile));
		}
	}
	for (const bool removed_by_both : {true, false}) {
		for (const WinningCommit& winner : context_.winners) {
			const FileChange change = winner.data_changing ? FileChange::kRemovesFile : Rearrangement(winner);
			for (const FileEffect& effect : winner.effects) {
				if (RemovesFile(effect.path) == removed_by_both && ReadsFile(effect))
					BRAID_TRY(Check(winner, effect, change));
			}
		}
	}
	return {};
}

}  // namespace

Status TestFiles(const JudgeContext& context) {
	if (TouchesNothing(context.transaction)) return {};
	return FileTest(context).Run();
}

}  // namespace braid
