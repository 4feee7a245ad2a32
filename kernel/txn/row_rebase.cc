// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_rebase.h"

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/protocol_change.h"
#include "kernel/log/log_path.h"
#include "kernel/stats/file_stats.h"
#include "kernel/txn/row_ids.h"

namespace braid {

static std::string IdOf(const AddFile& file) { return file.deletion_vector ? UniqueId(*file.deletion_vector) : ""; }

// PROTOCOL: Add File and Remove File: the remove repeats what readers of the change need, and names the logical file
// with its vector.
static RemoveFile RemoveOf(const AddFile& live, int64_t now_ms, bool data_change) {
	RemoveFile remove;
	remove.path = live.path;
	remove.deletion_timestamp = now_ms;
	remove.data_change = data_change;
	remove.extended_file_metadata = true;
	remove.partition_values = live.partition_values;
	remove.size = live.size;
	remove.stats = live.stats;
	remove.tags = live.tags;
	remove.deletion_vector = live.deletion_vector;
	remove.base_row_id = live.base_row_id;
	remove.default_row_commit_version = live.default_row_commit_version;
	return remove;
}

// A vector may stand only beside numRecords (PROTOCOL: Deletion Vectors), which some writers leave out.
static Result<std::string> StatsWithVector(const AddFile& live, int64_t physical_rows) {
	std::string stats = live.stats;
	if (!NumRecords(stats)) {
		const std::string rows = "\"numRecords\":" + std::to_string(physical_rows);
		const size_t brace = stats.find('{');
		const bool alone = brace == std::string::npos || stats.find('"') == std::string::npos;
		stats = alone ? "{" + rows + "}" : stats.insert(brace + 1, rows + ",");
	}
	if (live.deletion_vector) return stats;  // wide already
	return WidenForDeletionVector(stats);
}

static Result<int64_t> PhysicalRows(const Transaction& transaction, const std::string& path, std::string_view stats) {
	if (const auto rows = NumRecords(stats)) return *rows;
	const auto known = transaction.changes.physical_rows.find(path);
	if (known != transaction.changes.physical_rows.end()) return known->second;
	return Fail(ErrorKind::kUnsupported,
				"[DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS] Table " + transaction.base->table + ": file " + path +
					" has no numRecords in its statistics, so rows of it cannot be deleted by a vector. "
					"Rewrite the file or compute its statistics first. SQLSTATE: 2D521");
}

RebasePlan PlanAsStaged(const Transaction& transaction) {
	RebasePlan plan;
	plan.deleted_rows = transaction.changes.deleted_rows;
	plan.replaced_files = transaction.changes.replaced_files;
	return plan;
}

// Rows of an own new file that are not to appear.
static PositionSet HiddenRows(const NewFile& file, const RebasePlan& plan, size_t index) {
	return plan.masks.empty() ? file.deleted : file.deleted | plan.masks[index];
}

Result<std::map<std::string, RowRebase::Target>> RowRebase::Targets(const Transaction& transaction,
																	const RebasePlan& plan,
																	const Snapshot* head) const {
	std::map<std::string, Target> targets;
	for (const auto& [path, rows] : plan.deleted_rows) {
		if (rows.Empty() || transaction.changes.removes_all) continue;
		const LiveFile* live = head->files->Find(path);
		const LiveFile* read = transaction.base->files->Find(path);
		if (!live) {
			return Fail(ErrorKind::kInvalidArgument,
						"Table " + head->table + ", version " + std::to_string(head->version) +
							": rows are to be deleted from " + path + ", which is not active");
		}
		// Positions mean the same rows only while the file is the same.
		if (read && live->size != read->size) {
			return Fail(ErrorKind::kCorrupt, "Table " + head->table + ": the size of " + path + " changed from " +
												 std::to_string(read->size) + " to " + std::to_string(live->size) +
												 " bytes, but data files are immutable");
		}
		Target target;
		BRAID_TRY(target.live, ToAddFile(*live));
		BRAID_TRY(const PositionSet* present, vectors_.Get(*live));
		target.rows = *present | rows;
		BRAID_TRY(target.physical_rows, PhysicalRows(transaction, path, live->stats));
		targets.emplace(path, std::move(target));
	}
	const std::vector<NewFile>& new_files = transaction.changes.new_files;
	for (size_t i = 0; i < new_files.size(); i++) {
		PositionSet hidden = HiddenRows(new_files[i], plan, i);
		if (hidden.Empty() || (!plan.dropped.empty() && plan.dropped[i])) continue;
		targets.emplace(new_files[i].add.path, Target {new_files[i].add, std::move(hidden), new_files[i].num_records});
	}
	for (const auto& [path, target] : targets) {
		if (target.rows.NextFrom(static_cast<uint64_t>(target.physical_rows)) == UINT64_MAX) continue;
		return Fail(ErrorKind::kInvalidArgument, "File " + path + " has " + std::to_string(target.physical_rows) +
													 " rows, but a row behind its end is to be deleted");
	}
	return targets;
}

static bool IsEmptied(int64_t physical_rows, const PositionSet& rows) {
	return rows.Cardinality() == static_cast<uint64_t>(physical_rows);
}

// Vectors over an unchanged one stay as earlier attempts wrote them; all others go into one new file.
Status RowRebase::WriteVectors(const std::map<std::string, Target>& targets) {
	std::vector<const PositionSet*> sets;
	std::vector<std::string> paths;
	std::map<std::string, Prepared> kept;
	for (const auto& [path, target] : targets) {
		if (IsEmptied(target.physical_rows, target.rows)) continue;
		const auto earlier = prepared_.find(path);
		if (earlier != prepared_.end() && earlier->second.over == IdOf(target.live) &&
			earlier->second.rows == target.rows) {
			kept.insert(*earlier);
		} else {
			sets.push_back(&target.rows);
			paths.push_back(path);
		}
	}
	prepared_ = std::move(kept);
	if (!sets.empty()) {
		BRAID_TRY(WrittenDvs written, WriteDeletionVectors(store_, random_, sets, lease_token_));
		written_.insert(written.files.begin(), written.files.end());
		for (size_t i = 0; i < paths.size(); i++) {
			const Target& target = targets.at(paths[i]);
			prepared_[paths[i]] = {IdOf(target.live), target.rows, written.descriptors[i]};
		}
	}
	DeleteStaleFiles();
	return {};
}

std::vector<std::string> RowRebase::vector_files() const { return {written_.begin(), written_.end()}; }

void RowRebase::DeleteStaleFiles() {
	std::set<std::string> needed;
	for (const auto& [path, prepared] : prepared_) {
		if (prepared.vector.storage_type == 'i') continue;
		if (auto file = FilePath(prepared.vector)) needed.insert(*std::move(file));
	}
	std::erase_if(written_,
				  [&](const std::string& file) { return !needed.contains(file) && store_.Delete(file).has_value(); });
}

void RowRebase::DeleteVectorFiles() {
	prepared_.clear();
	DeleteStaleFiles();
}

// Collects the actions of one attempt and counts them under the conventions of Spark's metrics.
class ActionList {
public:
	ActionList(const StagedChanges& changes, int64_t now_ms) : changes_(changes), now_ms_(now_ms) {}

	void Remove(const AddFile& live) {
		commit_.actions.emplace_back(RemoveOf(live, now_ms_, changes_.data_change));
		commit_.counts.files_removed++;
		commit_.counts.bytes_removed += live.size;
		if (live.deletion_vector) commit_.counts.vectors_removed++;
	}

	Status ReplaceVector(const AddFile& live, const DvDescriptor& vector, int64_t physical_rows) {
		AddFile add = live;
		BRAID_TRY(add.stats, StatsWithVector(live, physical_rows));
		add.deletion_vector = vector;
		add.data_change = changes_.data_change;
		commit_.actions.emplace_back(RemoveOf(live, now_ms_, changes_.data_change));
		commit_.actions.emplace_back(std::move(add));
		commit_.counts.vectors_added++;
		if (live.deletion_vector) commit_.counts.vectors_removed++, commit_.counts.vectors_updated++;
		return {};
	}

	void Add(AddFile add, int64_t rows) {
		add.data_change = changes_.data_change;
		commit_.counts.files_added++;
		commit_.counts.bytes_added += add.size;
		commit_.counts.rows_added += rows;
		if (add.deletion_vector) commit_.counts.vectors_added++;
		commit_.actions.emplace_back(std::move(add));
	}

	RebasedCommit& commit() { return commit_; }

private:
	const StagedChanges& changes_;
	const int64_t now_ms_;
	RebasedCommit commit_;
};

// What a whole-table replacement removes: everything but blind appends that it is ordered before.
static Status RemoveAll(const Snapshot& head, const SurvivingAppends& survivors, ActionList& list) {
	for (const LiveFile* file : head.files->Files()) {
		if (survivors.contains(DecodePath(file->path))) continue;
		BRAID_TRY(const AddFile add, ToAddFile(*file));
		list.Remove(add);
	}
	return {};
}

static Status RemoveReplaced(const std::vector<std::string>& replaced, const Snapshot& head, ActionList& list) {
	for (const std::string& path : replaced) {
		const LiveFile* live = head.files->Find(path);
		if (!live) {
			return Fail(ErrorKind::kInvalidArgument, "Table " + head.table + ", version " +
														 std::to_string(head.version) + ": file " + path +
														 " is to be replaced, but it is not active");
		}
		BRAID_TRY(const AddFile add, ToAddFile(*live));
		list.Remove(add);
	}
	return {};
}

static Status CheckVectorsAllowed(const Transaction& transaction, const Snapshot* head) {
	const Metadata& metadata = transaction.changes.metadata ? *transaction.changes.metadata : head->metadata;
	const Protocol& protocol = transaction.changes.protocol ? *transaction.changes.protocol : head->protocol;
	if (HasFeature(protocol, "deletionVectors") &&
		PropertyEnabled(metadata.configuration, "delta.enableDeletionVectors"))
		return {};
	return Fail(ErrorKind::kUnsupported,
				"Table " + (head ? head->table : metadata.id) +
					": deletion vectors are not enabled (delta.enableDeletionVectors), so rows "
					"can only be deleted by rewriting their files");
}

Status RowRebase::DeleteRows(const Transaction& transaction, const RebasePlan& plan,
							 const std::map<std::string, Target>& targets, ActionList& list) const {
	for (const auto& [path, rows] : plan.deleted_rows) {
		if (rows.Empty() || transaction.changes.removes_all) continue;
		const Target& target = targets.at(path);
		const auto count = static_cast<int64_t>(rows.Cardinality());
		list.commit().counts.rows_deleted += count;
		const LiveFile* read = transaction.base->files->Find(path);
		const bool as_read =
			read && IdOf(target.live) == (read->deletion_vector ? UniqueId(*read->deletion_vector) : "");
		if (!as_read) list.commit().counts.rows_rebased += count;
		if (IsEmptied(target.physical_rows, target.rows)) {
			list.Remove(target.live);
		} else {
			BRAID_TRY(list.ReplaceVector(target.live, prepared_.at(path).vector, target.physical_rows));
		}
	}
	return {};
}

Status RowRebase::AddNewFiles(const Transaction& transaction, const RebasePlan& plan, RowIdAssigner& row_ids,
							  ActionList& list) const {
	const std::vector<NewFile>& new_files = transaction.changes.new_files;
	for (size_t i = 0; i < new_files.size(); i++) {
		const NewFile& file = new_files[i];
		const PositionSet hidden = HiddenRows(file, plan, i);
		const bool dropped = !plan.dropped.empty() && plan.dropped[i];
		if (dropped || (file.num_records > 0 && IsEmptied(file.num_records, hidden))) {
			list.commit().dropped_files.push_back(StorePath(file.add.path));
			continue;
		}
		AddFile add = file.add;
		if (!hidden.Empty()) {
			BRAID_TRY(add.stats, StatsWithVector(file.add, file.num_records));
			add.deletion_vector = prepared_.at(file.add.path).vector;
		}
		row_ids.Assign(add, file.num_records);
		list.Add(std::move(add), file.num_records - static_cast<int64_t>(hidden.Cardinality()));
	}
	return {};
}

static Status AddEntries(const Transaction& transaction, RowIdAssigner& row_ids, ActionList& list) {
	for (AddFile add : transaction.changes.entries) {
		const auto rows = NumRecords(add.stats);
		if (row_ids.active() && !add.base_row_id) {
			if (!rows) {
				return Fail(ErrorKind::kUnsupported, "[DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS] File " + add.path +
														 " has no numRecords in its statistics, so its rows cannot be "
														 "given row ids. SQLSTATE: 22000");
			}
			row_ids.Assign(add, *rows);
		}
		const int64_t deleted = add.deletion_vector ? add.deletion_vector->cardinality : 0;
		list.Add(std::move(add), rows.value_or(deleted) - deleted);
	}
	return {};
}

// PROTOCOL: Row Tracking: who enables it gives ids to the files that have none, those of winners included. They are added again as they are.
static Status BackfillRowIds(const Transaction& transaction, const RebasePlan& plan, const Snapshot* head,
							 RowIdAssigner& row_ids, std::vector<Action>& actions) {
	constexpr auto kEnabled = "delta.enableRowTracking";
	const StagedChanges& changes = transaction.changes;
	if (!head || !changes.metadata || changes.removes_all || !changes.entries.empty() ||
		!PropertyEnabled(changes.metadata->configuration, kEnabled) ||
		PropertyEnabled(head->metadata.configuration, kEnabled))
		return {};
	for (const LiveFile* file : head->files->Files()) {
		if (file->base_row_id) continue;
		const auto rows = NumRecords(file->stats);
		if (!rows || !plan.deleted_rows.empty() || !plan.replaced_files.empty()) {
			return Fail(ErrorKind::kUnsupported,
						"Table " + head->table + ": row tracking cannot be switched on, because file " +
							std::string(file->path) +
							(rows ? " has no row ids and rows are changed in the same transaction: COMMIT in between"
								  : " does not say how many rows it has"));
		}
		BRAID_TRY(AddFile add, ToAddFile(*file));
		add.data_change = false;
		row_ids.Assign(add, *rows);
		actions.emplace_back(std::move(add));
	}
	return {};
}

Result<RebasedCommit> RowRebase::Onto(const Transaction& transaction, const RebasePlan& plan, const Snapshot* head,
									  int64_t version, int64_t now_ms) {
	const StagedChanges& changes = transaction.changes;
	BRAID_TRY(const auto targets, Targets(transaction, plan, head));
	BRAID_TRY(WriteVectors(targets));
	if (!prepared_.empty()) BRAID_TRY(CheckVectorsAllowed(transaction, head));

	ActionList list(changes, now_ms);
	std::vector<Action>& actions = list.commit().actions;
	if (changes.protocol) actions.emplace_back(*changes.protocol);
	if (changes.metadata) actions.emplace_back(*changes.metadata);
	for (const auto& application : changes.set_transactions) actions.emplace_back(application);
	BRAID_TRY(RowIdAssigner row_ids, RowIdAssigner::For(transaction, head, version));
	for (const auto& domain : changes.domains) {
		if (!row_ids.active() || domain.domain != kRowTrackingDomain) actions.emplace_back(domain);
	}
	if (changes.removes_all && head) BRAID_TRY(RemoveAll(*head, plan.survivors, list));
	if (!changes.removes_all && head) BRAID_TRY(RemoveReplaced(plan.replaced_files, *head, list));
	BRAID_TRY(DeleteRows(transaction, plan, targets, list));
	BRAID_TRY(BackfillRowIds(transaction, plan, head, row_ids, actions));
	BRAID_TRY(AddNewFiles(transaction, plan, row_ids, list));
	BRAID_TRY(AddEntries(transaction, row_ids, list));
	if (auto mark = row_ids.NewMark()) actions.emplace_back(*std::move(mark));
	return std::move(list.commit());
}

}  // namespace braid
