// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/table_draft.h"

#include "base/json.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/schema/schema_json.h"
#include "kernel/snapshot/domains.h"

namespace braid {

namespace {

constexpr auto kModeKey = "delta.columnMapping.mode";
constexpr auto kMaxIdKey = "delta.columnMapping.maxColumnId";

// Properties and types that came with this change, so that features which an old table gets along without stay out.
FeatureSet NewlyNeeded(const TableDraft& draft) {
	FeatureSet needed = NeededFeatures(*draft.schema, draft.metadata.configuration);
	const FeatureSet before = NeededFeatures(*draft.before->schema, draft.before->metadata.configuration);
	std::erase_if(needed, [&](const std::string& name) { return before.contains(name); });
	needed.insert(draft.features.begin(), draft.features.end());
	return needed;
}

// A change that would leave a table which we cannot write to is refused; one that finds it so already is not to blame.
Status CheckStaysWritable(const Snapshot& before, const Snapshot& after) {
	for (const TableOperation operation : {TableOperation::kAppend, TableOperation::kChange}) {
		const bool append_only = PropertyEnabled(after.metadata.configuration, "delta.appendOnly");
		if (operation == TableOperation::kChange && append_only) continue;
		if (CheckWrite(before, operation)) BRAID_TRY(CheckWrite(after, operation));
	}
	return {};
}

}  // namespace

TableDraft DraftOf(const SnapshotPtr& table) {
	TableDraft draft;
	draft.before = table;
	draft.schema = table->schema;
	draft.metadata = table->metadata;
	return draft;
}

Result<SnapshotPtr> FinishDraft(const TableDraft& draft) {
	auto after = std::make_shared<Snapshot>(*draft.before);
	after->schema = draft.schema;
	after->metadata = draft.metadata;
	after->metadata.schema_string = WriteSchema(*draft.schema);
	after->protocol = WithFeatures(draft.before->protocol, NewlyNeeded(draft));
	if (!draft.dropped_feature.empty()) after->protocol = WithoutFeature(after->protocol, draft.dropped_feature);
	BRAID_TRY(after->column_mapping, ParseColumnMappingMode(PropertyOf(after->metadata, kModeKey)));
	for (const DomainMetadata& domain : draft.domains) ApplyDomain(after->domains, domain);
	if (HasCommitTimestamps(after->metadata.configuration) &&
		!HasCommitTimestamps(draft.before->metadata.configuration)) {
		after->in_commit_timestamp = draft.before->timestamp;  // what the first one builds on
	}
	BRAID_TRY(CheckProtocol(after->protocol, TableOperation::kAlter, after->table));
	BRAID_TRY(CheckColumnMapping(*after->schema, after->column_mapping));
	BRAID_TRY(CheckStaysWritable(*draft.before, *after));
	return after;
}

void SwitchColumnMappingOn(TableDraft& draft) {
	int64_t last_id = PropertyInteger(draft.metadata.configuration, kMaxIdKey);
	draft.schema = WithColumnIdsForFiles(*draft.schema, last_id);
	draft.metadata.configuration[kModeKey] = "name";
	draft.metadata.configuration[kMaxIdKey] = std::to_string(last_id);
}

Status EnsureColumnMapping(TableDraft& draft, const std::string& error_class, const std::string& statement) {
	const auto mode = draft.metadata.configuration.find(kModeKey);
	if (mode == draft.metadata.configuration.end()) {
		SwitchColumnMappingOn(draft);
	} else if (mode->second == "none") {
		return Fail(ErrorKind::kUnsupported, "[" + error_class + "] " + statement + " on table " + draft.before->table +
												 " needs column mapping, and the table says " + kModeKey +
												 " = none. Set it to name first: ALTER TABLE ... SET TBLPROPERTIES ('" +
												 kModeKey + "' = 'name')");
	}
	return {};
}

std::string ToString(const ColumnPath& path) {
	std::string text;
	for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
	return text;
}

std::string ColumnJson(const ColumnPath& path, const Field& field) {
	std::string out;
	JsonObjectWriter json(out);
	json.String("name", ToString(path));
	const std::string type = ToString(*field.type);
	json.String("type", IsNested(field.type->kind) ? type.substr(0, type.find('<')) : type);
	json.Bool("nullable", field.nullable);
	json.Key("metadata");
	out += '{';
	for (const auto& [key, value] : field.metadata) {
		if (out.back() != '{') out += ',';
		AppendJsonString(key, out);
		out += ':' + value;
	}
	out += '}';
	json.Close();
	return out;
}

}  // namespace braid
