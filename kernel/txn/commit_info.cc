// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/commit_info.h"

#include <algorithm>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"

namespace braid {

// Above this size the recorded reads are widened.
static constexpr size_t kReadsLimit = 16 * 1024;

bool IsBlindAppend(const Transaction& transaction) {
	return TouchesNothing(transaction) && transaction.changes.data_change;
}

static std::string RecordedReads(const Transaction& transaction) {
	if (transaction.changes.removes_all) return "[true]";
	const auto& reads = transaction.reads.reads;
	if (reads.empty()) return "[]";
	std::string text;
	for (const Read& read : reads) {
		text += (text.empty() ? "[" : ",") + PredicateToJson(Widen(read.bound, kReadsLimit));
		if (text.size() <= kReadsLimit) continue;
		std::vector<Predicate> bounds;
		std::ranges::transform(reads, std::back_inserter(bounds), &Read::bound);
		return "[" + PredicateToJson(Widen(Predicate::Or(std::move(bounds)), kReadsLimit)) + "]";
	}
	return text + "]";
}

// Spark's names differ by operation; MERGE prefixes most of them.
static void AddFileMetrics(const std::string& operation, const RebaseCounts& counts,
						   std::map<std::string, std::string>& metrics) {
	const auto set = [&](const char* name, int64_t value) { metrics[name] = std::to_string(value); };
	if (operation == "MERGE") {
		set("numTargetFilesAdded", counts.files_added);
		set("numTargetFilesRemoved", counts.files_removed);
		set("numTargetBytesAdded", counts.bytes_added);
		set("numTargetBytesRemoved", counts.bytes_removed);
		set("numTargetDeletionVectorsAdded", counts.vectors_added);
		set("numTargetDeletionVectorsRemoved", counts.vectors_removed);
		set("numTargetDeletionVectorsUpdated", counts.vectors_updated);
		return;
	}
	if (operation == "RESTORE" || operation == "CLONE" || operation == "CONVERT") return;  // have brought theirs
	const bool rearranges = operation == "OPTIMIZE" || operation == "REORG";
	if (operation == "DELETE" || operation == "UPDATE" || rearranges) {
		set("numAddedFiles", counts.files_added);
		set("numRemovedFiles", counts.files_removed);
		set("numAddedBytes", counts.bytes_added);
		set("numRemovedBytes", counts.bytes_removed);
		set("numDeletionVectorsRemoved", counts.vectors_removed);
		if (rearranges) return;
		set("numDeletionVectorsAdded", counts.vectors_added);
		set("numDeletionVectorsUpdated", counts.vectors_updated);
		return;
	}
	if (counts.files_added > 0 || operation == "WRITE") {
		set("numFiles", counts.files_added);
		set("numOutputBytes", counts.bytes_added);
		metrics.try_emplace("numOutputRows", std::to_string(counts.rows_added));
	}
	if (counts.files_removed > 0) {
		set("numRemovedFiles", counts.files_removed);
		set("numRemovedBytes", counts.bytes_removed);
	}
}

// New images of removed rows may be written without their old ids; rows that only come or only go leave the others' ids alone.
static bool KeepsRowIds(const Transaction& transaction) {
	const StagedChanges& changes = transaction.changes;
	const bool removes = !changes.deleted_rows.empty() || !changes.replaced_files.empty() || changes.removes_all;
	return changes.new_files.empty() || !removes || changes.keeps_row_ids;
}

CommitInfo MakeCommitInfo(const Transaction& transaction, const RebaseCounts& counts, const AttemptFacts& facts) {
	CommitInfo info;
	info.in_commit_timestamp = facts.in_commit_timestamp;
	info.timestamp = facts.now_ms;
	info.operation = transaction.operation;
	info.operation_parameters = transaction.operation_parameters;
	if (transaction.base) info.read_version = transaction.base->version;
	// A commit that changes no data reads nothing that could change: Spark calls this level so, for every table.
	info.isolation_level = transaction.changes.data_change ? ToString(facts.level) : "SnapshotIsolation";
	info.is_blind_append = IsBlindAppend(transaction);
	info.operation_metrics = transaction.operation_metrics;
	AddFileMetrics(transaction.operation, counts, info.operation_metrics);
	info.operation_metrics["commitAttempts"] = std::to_string(facts.attempts);
	info.operation_metrics["numConflictsResolved"] = std::to_string(facts.winners);
	info.operation_metrics["numRowsRebased"] = std::to_string(counts.rows_rebased);
	if (facts.rows_repaired > 0) info.operation_metrics["numRowsRepaired"] = std::to_string(facts.rows_repaired);
	if (facts.reruns > 0) info.operation_metrics["numStatementRetries"] = std::to_string(facts.reruns);
	info.operation_metrics["conflictCheckMs"] = std::to_string(facts.conflict_check_ms);
	if (facts.row_ids) {
		const bool kept = KeepsRowIds(transaction) && !facts.row_ids_new;
		info.tags["delta.rowTracking.preserved"] = kept ? "true" : "false";
	}
	if (transaction.changes.metadata && transaction.changes.moves_only_identity_marks)
		info.tags["delta.identity.schemaUpdate"] = "true";
	info.user_metadata = transaction.user_metadata;
	info.engine_info = facts.engine_info;
	info.txn_id = facts.txn_id;
	info.reads = RecordedReads(transaction);
	info.row_map = transaction.changes.row_map;
	return info;
}

std::optional<int64_t> InCommitTimestamp(const Transaction& transaction, const Snapshot* head, int64_t now_ms) {
	const Metadata& metadata = transaction.changes.metadata ? *transaction.changes.metadata : head->metadata;
	const Protocol& protocol = transaction.changes.protocol ? *transaction.changes.protocol : head->protocol;
	if (!HasFeature(protocol, "inCommitTimestamp")) return std::nullopt;
	if (!HasCommitTimestamps(metadata.configuration)) return std::nullopt;
	return head ? std::max(now_ms, head->in_commit_timestamp.value_or(head->timestamp) + 1) : now_ms;
}

void RecordTimestampEnablement(Metadata& metadata, const Snapshot* head, const AttemptFacts& facts) {
	KeepTimestampEnablement(head ? head->metadata.configuration : Configuration(), metadata.configuration);
	if (!head || !facts.in_commit_timestamp || HasCommitTimestamps(head->metadata.configuration)) return;
	metadata.configuration["delta.inCommitTimestampEnablementVersion"] = std::to_string(facts.version);
	metadata.configuration["delta.inCommitTimestampEnablementTimestamp"] = std::to_string(*facts.in_commit_timestamp);
}

}  // namespace braid
