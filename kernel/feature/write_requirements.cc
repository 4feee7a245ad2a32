// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/write_requirements.h"

#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"

namespace braid {

namespace {

const char* Operation(TableOperation operation) {
	switch (operation) {
		case TableOperation::kRead:
			return "reading";
		case TableOperation::kAppend:
			return "INSERT";
		case TableOperation::kMaintain:
			return "OPTIMIZE and VACUUM";
		case TableOperation::kChange:
			return "DELETE and UPDATE";
		case TableOperation::kAlter:
			return "ALTER";
	}
	return "";
}

Status InUse(const Snapshot& snapshot, TableOperation operation, const char* feature, const std::string& used_by) {
	return Fail(ErrorKind::kUnsupported, std::string(Operation(operation)) + " on table " + snapshot.table +
											 " at version " + std::to_string(snapshot.version) +
											 " is not supported: feature \"" + feature + "\" is used by " + used_by);
}

Status CheckProperties(const Snapshot& snapshot, TableOperation operation) {
	const Configuration& configuration = snapshot.metadata.configuration;
	if (operation == TableOperation::kChange && PropertyEnabled(configuration, "delta.appendOnly")) {
		return Fail(ErrorKind::kInvalidArgument, "[DELTA_CANNOT_MODIFY_APPEND_ONLY] table " + snapshot.table +
													 " only accepts new rows: delta.appendOnly is true. Set it to "
													 "false to delete or update. SQLSTATE: 42809");
	}
	if (operation == TableOperation::kChange && PropertyEnabled(configuration, "delta.enableChangeDataFeed")) {
		return InUse(snapshot, operation, "changeDataFeed", "delta.enableChangeDataFeed = true");
	}
	for (const char* version : {"V1", "V2", "V3"}) {
		const std::string property = std::string("delta.enableIcebergCompat") + version;
		const std::string feature = std::string("icebergCompat") + version;
		if (PropertyEnabled(configuration, property))
			return InUse(snapshot, operation, feature.c_str(), property + " = true");
	}
	return {};
}

// The next commit's timestamp builds on this one (PROTOCOL: In-Commit Timestamps); a table that is being made has none.
Status CheckInCommitTimestamp(const Snapshot& snapshot) {
	if (snapshot.version < 0 || !HasCommitTimestamps(snapshot.metadata.configuration) || snapshot.in_commit_timestamp)
		return {};
	return Fail(ErrorKind::kCorrupt,
				"table " + snapshot.table +
					" cannot be written: in-commit timestamps are enabled, but the commit of version " +
					std::to_string(snapshot.version) + " has no inCommitTimestamp");
}

}  // namespace

Status CheckWrite(const Snapshot& snapshot, TableOperation operation) {
	BRAID_TRY(CheckProtocol(snapshot.protocol, operation, snapshot.table));
	if (operation == TableOperation::kRead) return {};
	BRAID_TRY(CheckProperties(snapshot, operation));
	return CheckInCommitTimestamp(snapshot);
}

}  // namespace braid
