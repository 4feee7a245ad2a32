// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/gate.h"

#include <algorithm>

#include "base/excerpt.h"
#include "kernel/feature/protocol_change.h"
#include "kernel/txn/adoption.h"

namespace braid {

static std::string ReadsAsText(const ReadSet& reads) {
	std::string text;
	for (const Read& read : reads.reads) {
		if (!text.empty()) text += " OR ";
		text += ToString(read.bound);
		if (text.size() > 300) return Excerpt(text, 300);
	}
	return text;
}

ConflictReport ReportAgainst(const Transaction& transaction, const WinningCommit& winner, const std::string& table) {
	ConflictReport report;
	report.table = table;
	report.operation = transaction.operation;
	report.predicate = ReadsAsText(transaction.reads);
	report.read_version = transaction.base ? transaction.base->version : -1;
	report.winner_version = winner.version;
	report.winner_operation = winner.info.operation;
	report.winner_txn_id = winner.info.txn_id;
	report.winner_engine = winner.info.engine_info;
	report.winner_timestamp = winner.info.in_commit_timestamp ? winner.info.in_commit_timestamp : winner.info.timestamp;
	return report;
}

// Who changes the metadata himself has not seen the winner's, and would undo it.
static bool IsHarmless(const Transaction& transaction, const Metadata& now, const Metadata& before,
					   ConcurrencyMode mode) {
	if (SameMetadata(now, before)) return true;
	return mode != ConcurrencyMode::kStrict && !transaction.changes.metadata && CanAdopt(now, before);
}

static bool IsHarmless(const Transaction& transaction, const Protocol& now, const Protocol& before,
					   ConcurrencyMode mode) {
	if (now == before) return true;
	return mode != ConcurrencyMode::kStrict && !transaction.changes.protocol && CanAdopt(now, before);
}

// Nothing in the table may use a feature that is dropped, what a winner has written included.
static bool DropsFeature(const Transaction& transaction) {
	if (!transaction.base || !transaction.changes.protocol) return false;
	return std::ranges::any_of(EnabledWriterFeatures(transaction.base->protocol), [&](const std::string& feature) {
		return !HasFeature(*transaction.changes.protocol, feature);
	});
}

static bool AllowsNoWinner(const Transaction& transaction) {
	const std::string& operation = transaction.operation;
	return operation == "RESTORE" || operation == "CLONE" || operation == "CONVERT" || DropsFeature(transaction);
}

// R26: two that make or replace one table at once, not one that changes what the other relies on.
static bool MakeTheTable(const Transaction& transaction, const WinningCommit& winner) {
	const auto makes = [](const std::string& operation) {
		return operation.starts_with("CREATE ") || operation.starts_with("REPLACE ");
	};
	return makes(transaction.operation) && makes(winner.info.operation);
}

// delta.rowTracking is computed anew for each attempt, so two writers of it do not clash.
static bool WritesSameDomain(const StagedChanges& changes, const WinningCommit& winner) {
	return std::ranges::any_of(changes.domains, [&](const DomainMetadata& ours) {
		return ours.domain != kRowTrackingDomain &&
			   std::ranges::any_of(winner.domains, [&](const auto& theirs) { return theirs.domain == ours.domain; });
	});
}

static bool WritesSameApplication(const StagedChanges& changes, const WinningCommit& winner) {
	return std::ranges::any_of(changes.set_transactions, [&](const SetTransaction& ours) {
		return std::ranges::any_of(winner.set_transactions,
								   [&](const auto& theirs) { return theirs.app_id == ours.app_id; });
	});
}

// R11. The key stands in quotes, so no column name can look like it.
static bool HasIdentityColumn(const Metadata& metadata) {
	return metadata.schema_string.find("\"delta.identity.start\"") != std::string::npos;
}

// RESTORE, CLONE, CONVERT and DROP FEATURE. `strict` knows no DELTA_CONCURRENT_WRITE.
static ConflictClass ClassOfAnyWinner(const WinningCommit& winner, ConcurrencyMode mode) {
	if (mode != ConcurrencyMode::kStrict) return ConflictClass::kConcurrentWrite;
	return winner.has_removes ? ConflictClass::kConcurrentDeleteRead : ConflictClass::kMetadataChanged;
}

Status CheckGates(const Transaction& transaction, const WinningCommit& winner, const Snapshot& before,
				  ConcurrencyMode mode) {
	ConflictReport report = ReportAgainst(transaction, winner, before.table);
	if (winner.protocol && !IsHarmless(transaction, *winner.protocol, before.protocol, mode)) {
		report.conflict_class = ConflictClass::kProtocolChanged;
		report.sub_condition = "CONFLICTING_COMMIT";
		report.rule = "R26";
		return AsError(std::move(report));
	}
	if (winner.metadata && !IsHarmless(transaction, *winner.metadata, before.metadata, mode)) {
		const bool both_make = MakeTheTable(transaction, winner);
		report.conflict_class = both_make ? ConflictClass::kProtocolChanged : ConflictClass::kMetadataChanged;
		if (both_make) report.sub_condition = "CONFLICTING_COMMIT";
		report.rule = both_make ? "R26" : "R9, R24";
		return AsError(std::move(report));
	}
	if (mode == ConcurrencyMode::kStrict && HasIdentityColumn(before.metadata)) {
		report.conflict_class = ConflictClass::kMetadataChanged;
		report.rule = "R11";
		return AsError(std::move(report));
	}
	const bool same_application = WritesSameApplication(transaction.changes, winner);
	if (same_application || WritesSameDomain(transaction.changes, winner)) {
		report.conflict_class = ConflictClass::kConcurrentTransaction;
		report.rule = same_application ? "R25" : "domain";
		report.retry_would_help = !same_application;
		return AsError(std::move(report));
	}
	if (AllowsNoWinner(transaction)) {
		report.conflict_class = ClassOfAnyWinner(winner, mode);
		report.rule = "no winner";
		return AsError(std::move(report));
	}
	return {};
}

std::unexpected<Error> CreatedBySomebodyElse(const Transaction& transaction, const WinningCommit& winner,
											 const std::string& table) {
	ConflictReport report = ReportAgainst(transaction, winner, table);
	report.conflict_class = ConflictClass::kProtocolChanged;
	report.sub_condition = "WRITE_TO_EMPTY_DIRECTORY";
	report.rule = "R26";
	report.retry_would_help = false;
	return AsError(std::move(report));
}

}  // namespace braid
