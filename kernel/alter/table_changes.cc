// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/table_changes.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/json.h"
#include "kernel/feature/property_table.h"
#include "kernel/stats/file_stats.h"

namespace braid {

namespace {

constexpr auto kModeKey = "delta.columnMapping.mode";
constexpr auto kRowTrackingKey = "delta.enableRowTracking";

std::string ModeOf(const Configuration& configuration) { return PropertyValue(configuration, kModeKey); }

// PROTOCOL: Column Mapping: an existing table can only go from none to name, because its files have no ids.
Status ChangeMapping(TableDraft& draft) {
	const std::string before = ModeOf(draft.before->metadata.configuration);
	const std::string after = ModeOf(draft.metadata.configuration);
	if (before == after) return {};
	if (before == "none" && after == "name") {
		SwitchColumnMappingOn(draft);
		return {};
	}
	return Fail(ErrorKind::kUnsupported, "[DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE] table " + draft.before->table +
											 ": " + kModeKey + " cannot be changed from " + before + " to " + after +
											 "; only from none to name");
}

// PROTOCOL: Row Tracking: it is enabled once every file has row ids, so those without get theirs in the same commit (kernel/txn/row_rebase.cc).
Status CheckRowTracking(const TableDraft& draft) {
	const Configuration& configuration = draft.metadata.configuration;
	if (!PropertyEnabled(configuration, kRowTrackingKey) ||
		PropertyEnabled(draft.before->metadata.configuration, kRowTrackingKey))
		return {};
	if (PropertyEnabled(configuration, "delta.rowTrackingSuspended")) {
		return Fail(ErrorKind::kInvalidArgument, "table " + draft.before->table + ": " + kRowTrackingKey +
													 " and delta.rowTrackingSuspended cannot both be true");
	}
	for (const LiveFile* file : draft.before->files->Files()) {
		if (file->base_row_id || NumRecords(file->stats)) continue;
		return Fail(ErrorKind::kUnsupported,
					"[DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS] table " + draft.before->table + ": " + kRowTrackingKey +
						" cannot be switched on, because the statistics of file " + std::string(file->path) +
						" do not say how many rows it has; rewrite it first (OPTIMIZE)");
	}
	return {};
}

Configuration::iterator FindConstraint(Configuration& configuration, const std::string& name) {
	const std::string key = std::string(kConstraintPrefix) + name;
	return std::ranges::find_if(configuration, [&](auto& entry) { return SameIgnoringCase(entry.first, key); });
}

std::string AsJsonObject(const Properties& properties) {
	std::string json;
	for (const auto& [key, value] : properties) {
		json += (json.empty() ? "{" : ",") + JsonString(key) + ":" + JsonString(value);
	}
	return json.empty() ? "{}" : json + "}";
}

}  // namespace

void NameRowIdColumns(Configuration& configuration, Random& random) {
	if (!PropertyEnabled(configuration, kRowTrackingKey)) return;
	configuration.try_emplace("delta.rowTracking.materializedRowIdColumnName", "_row-id-col-" + NewUuid(random));
	configuration.try_emplace("delta.rowTracking.materializedRowCommitVersionColumnName",
							  "_row-commit-version-col-" + NewUuid(random));
}

Status AlterProperties(TableDraft& draft, const Properties& properties, Random& random) {
	Properties others;
	for (const auto& property : properties) {
		if (SameIgnoringCase(property.first, "comment")) {
			draft.metadata.description = property.second;
		} else {
			others.push_back(property);
		}
	}
	BRAID_TRY(Properties entered, SetProperties(others, draft.metadata.configuration, draft.features));
	BRAID_TRY(ChangeMapping(draft));
	BRAID_TRY(CheckRowTracking(draft));
	NameRowIdColumns(draft.metadata.configuration, random);
	if (others.size() < properties.size()) entered.emplace_back("comment", *draft.metadata.description);
	draft.operation = "SET TBLPROPERTIES";
	draft.parameters["properties"] = JsonString(AsJsonObject(entered));
	return {};
}

Status AlterProperties(TableDraft& draft, const std::vector<std::string>& unset, bool if_exists) {
	BRAID_TRY(const auto removed, UnsetProperties(unset, if_exists, draft.metadata.configuration));
	BRAID_TRY(ChangeMapping(draft));
	draft.operation = "UNSET TBLPROPERTIES";
	draft.parameters["properties"] = JsonString(JsonStringList(removed));
	draft.parameters["ifExists"] = if_exists ? "true" : "false";
	return {};
}

Status SetTableComment(TableDraft& draft, const std::optional<std::string>& comment) {
	draft.metadata.description = comment;
	draft.operation = "SET TBLPROPERTIES";
	draft.parameters["properties"] = JsonString(AsJsonObject({{"comment", comment.value_or("")}}));
	return {};
}

Status AddConstraint(TableDraft& draft, const std::string& name, const std::string& expression) {
	Configuration& configuration = draft.metadata.configuration;
	if (const auto known = FindConstraint(configuration, name); known != configuration.end()) {
		return Fail(ErrorKind::kAlreadyExists, "[DELTA_CONSTRAINT_ALREADY_EXISTS] table " + draft.before->table +
												   " has a constraint " + name + " already: CHECK (" + known->second +
												   ")");
	}
	std::string key(kConstraintPrefix);
	std::ranges::transform(name, std::back_inserter(key), AsciiLower);
	configuration[key] = expression;
	draft.operation = "ADD CONSTRAINT";
	draft.parameters["name"] = JsonString(name);
	draft.parameters["expr"] = JsonString(expression);
	return {};
}

Result<bool> DropConstraint(TableDraft& draft, const std::string& name, bool if_exists) {
	Configuration& configuration = draft.metadata.configuration;
	const auto known = FindConstraint(configuration, name);
	if (known == configuration.end()) {
		if (if_exists) return false;
		return Fail(ErrorKind::kNotFound, "[DELTA_CONSTRAINT_DOES_NOT_EXIST] table " + draft.before->table +
											  " has no constraint " + name +
											  " (DROP CONSTRAINT IF EXISTS passes over it)");
	}
	draft.operation = "DROP CONSTRAINT";
	draft.parameters["name"] = JsonString(name);
	draft.parameters["expr"] = JsonString(known->second);
	draft.parameters["existed"] = "true";
	configuration.erase(known);
	return true;
}

}  // namespace braid
