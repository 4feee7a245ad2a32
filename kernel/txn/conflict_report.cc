// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/conflict_report.h"

#include "kernel/predicate/temporal_text.h"

namespace braid {

std::string ErrorClassName(ConflictClass conflict_class) {
	switch (conflict_class) {
		case ConflictClass::kConcurrentAppend:
			return "DELTA_CONCURRENT_APPEND";
		case ConflictClass::kConcurrentDeleteRead:
			return "DELTA_CONCURRENT_DELETE_READ";
		case ConflictClass::kConcurrentDeleteDelete:
			return "DELTA_CONCURRENT_DELETE_DELETE";
		case ConflictClass::kMetadataChanged:
			return "DELTA_METADATA_CHANGED";
		case ConflictClass::kConcurrentTransaction:
			return "DELTA_CONCURRENT_TRANSACTION";
		case ConflictClass::kProtocolChanged:
			return "DELTA_PROTOCOL_CHANGED";
		case ConflictClass::kConcurrentWrite:
			return "DELTA_CONCURRENT_WRITE";
	}
	return "DELTA_CONCURRENT_WRITE";
}

bool RowsClash(const ConflictReport& report) {
	switch (report.conflict_class) {
		case ConflictClass::kConcurrentAppend:
		case ConflictClass::kConcurrentDeleteRead:
		case ConflictClass::kConcurrentDeleteDelete:
			return report.sub_condition != "ALLOTTED_TIME_EXCEEDED";
		default:
			return false;
	}
}

static std::string_view WhatHappened(const ConflictReport& report) {
	if (report.sub_condition == "ALLOTTED_TIME_EXCEEDED")
		return "may have changed rows that this transaction read, and the time to find out is used up";
	if (report.sub_condition == "WRITE_TO_EMPTY_DIRECTORY") return "created the table first";
	switch (report.conflict_class) {
		case ConflictClass::kConcurrentAppend:
			return "added rows that this transaction should have read";
		case ConflictClass::kConcurrentDeleteRead:
			return "deleted or replaced rows that this transaction read";
		case ConflictClass::kConcurrentDeleteDelete:
			return "deleted or replaced rows that this transaction deletes or replaces";
		case ConflictClass::kMetadataChanged:
			return "changed the table's metadata";
		case ConflictClass::kConcurrentTransaction:
			return "wrote the same application transaction or metadata domain as this transaction";
		case ConflictClass::kProtocolChanged:
			return "changed the table's protocol";
		case ConflictClass::kConcurrentWrite:
			return "wrote to the table, which this operation does not allow";
	}
	return "";
}

// " by Braid/0.1 at 2026-11-30 15:19:01.000 UTC"
static std::string WhoAndWhen(const ConflictReport& report) {
	std::string text;
	if (!report.winner_engine.empty()) text += " by " + report.winner_engine;
	if (report.winner_timestamp) {
		text += " at ";
		AppendTimestamp(*report.winner_timestamp * kMicrosPerMilli, ' ', 3, text);
		text += " UTC";
	}
	return text;
}

static std::string Listed(const char* title, const std::vector<std::string>& rows) {
	std::string text;
	for (size_t i = 0; i < rows.size(); i++) text += (i == 0 ? std::string(title) + ": (" : ", (") + rows[i] + ")";
	return rows.empty() ? "" : text + ".";
}

// "[CLASS.SUB] Table T: version 7 (UPDATE, transaction X) ... " : who, what, where, which rows, which rule, and the way
// out.
std::string ConflictMessage(const ConflictReport& report) {
	std::string text = "[" + ErrorClassName(report.conflict_class);
	if (!report.sub_condition.empty()) text += "." + report.sub_condition;
	text += "] Table " + report.table + ": version " + std::to_string(report.winner_version) + " (" +
			(report.winner_operation.empty() ? "unknown operation" : report.winner_operation) + WhoAndWhen(report) +
			") ";
	text += WhatHappened(report);
	text += ". This transaction (" + report.operation + ") ";
	text += report.read_version < 0 ? std::string("was to create the table")
									: "read version " + std::to_string(report.read_version);
	if (!report.predicate.empty()) text += " where " + report.predicate;
	text += ".";
	if (!report.file.empty()) text += " File: " + report.file + ".";
	if (!report.partition.empty()) text += " Partition: " + report.partition + ".";
	text += Listed(" Rows", report.rows);
	if (report.old_rows != report.rows) text += Listed(" They were", report.old_rows);
	if (report.new_rows != report.rows) text += Listed(" They are now", report.new_rows);
	if (!report.matched_predicate.empty() && report.matched_predicate != report.predicate)
		text += " They satisfy " + report.matched_predicate + ".";
	text += " Rule: " + report.rule + ". Nothing was written. ";
	text += report.retry_would_help ? "Run the transaction again on the new version."
									: "Running it again would fail as well.";
	return text + " SQLSTATE: " + std::string(kConflictSqlState);
}

std::unexpected<Error> AsError(ConflictReport report) {
	std::string message = ConflictMessage(report);
	return std::unexpected(
		Error {ErrorKind::kConflict, std::move(message), std::make_shared<const ConflictReport>(std::move(report))});
}

}  // namespace braid
