// SPDX-License-Identifier: Apache-2.0
// Actions as compact JSON in the field order of Spark (PROTOCOL: Actions). Absent optionals are left out.
#include "base/json.h"
#include "kernel/action/action_codec.h"
#include "kernel/action/string_map.h"

namespace braid {

namespace {

void OptionalString(JsonObjectWriter& json, std::string_view key, const std::optional<std::string>& value) {
	if (value) json.String(key, *value);
}

void OptionalInteger(JsonObjectWriter& json, std::string_view key, const std::optional<int64_t>& value) {
	if (value) json.Integer(key, *value);
}

void StringMap(JsonObjectWriter& json, std::string_view key, const PartitionValues& map, std::string& out) {
	json.Key(key);
	AppendStringMap(map, out);
}

template <class Map>
void PlainMap(JsonObjectWriter& json, std::string_view key, const Map& map, bool raw, std::string& out) {
	json.Key(key);
	out += '{';
	bool first = true;
	for (const auto& [name, value] : map) {
		if (!first) out += ',';
		first = false;
		AppendJsonString(name, out);
		out += ':';
		if (raw) {
			out += value;
		} else {
			AppendJsonString(value, out);
		}
	}
	out += '}';
}

void StringList(JsonObjectWriter& json, std::string_view key, const std::vector<std::string>& list, std::string& out) {
	json.Key(key);
	out += '[';
	for (const std::string& item : list) {
		if (&item != &list.front()) out += ',';
		AppendJsonString(item, out);
	}
	out += ']';
}

void DeletionVector(JsonObjectWriter& json, const std::optional<DvDescriptor>& dv, std::string& out) {
	if (!dv) return;
	json.Key("deletionVector");
	JsonObjectWriter object(out);
	object.String("storageType", std::string_view(&dv->storage_type, 1));
	object.String("pathOrInlineDv", dv->path_or_inline_dv);
	if (dv->offset) object.Integer("offset", *dv->offset);
	object.Integer("sizeInBytes", dv->size_in_bytes);
	object.Integer("cardinality", dv->cardinality);
	object.Close();
}

template <class File>
void RowTracking(JsonObjectWriter& json, const File& file) {
	OptionalInteger(json, "baseRowId", file.base_row_id);
	OptionalInteger(json, "defaultRowCommitVersion", file.default_row_commit_version);
}

void Write(const AddFile& add, JsonObjectWriter& json, std::string& out) {
	json.String("path", add.path);
	StringMap(json, "partitionValues", add.partition_values, out);
	json.Integer("size", add.size);
	json.Integer("modificationTime", add.modification_time);
	json.Bool("dataChange", add.data_change);
	if (!add.stats.empty()) json.String("stats", add.stats);
	if (!add.tags.empty()) StringMap(json, "tags", add.tags, out);
	DeletionVector(json, add.deletion_vector, out);
	RowTracking(json, add);
	OptionalString(json, "clusteringProvider", add.clustering_provider);
}

void Write(const RemoveFile& remove, JsonObjectWriter& json, std::string& out) {
	json.String("path", remove.path);
	OptionalInteger(json, "deletionTimestamp", remove.deletion_timestamp);
	json.Bool("dataChange", remove.data_change);
	if (remove.extended_file_metadata) {
		json.Bool("extendedFileMetadata", true);
		StringMap(json, "partitionValues", remove.partition_values, out);
	}
	OptionalInteger(json, "size", remove.size);
	if (!remove.tags.empty()) StringMap(json, "tags", remove.tags, out);
	DeletionVector(json, remove.deletion_vector, out);
	RowTracking(json, remove);
	if (!remove.stats.empty()) json.String("stats", remove.stats);
}

void Write(const AddCdcFile& cdc, JsonObjectWriter& json, std::string& out) {
	json.String("path", cdc.path);
	StringMap(json, "partitionValues", cdc.partition_values, out);
	json.Integer("size", cdc.size);
	json.Bool("dataChange", false);
	if (!cdc.tags.empty()) StringMap(json, "tags", cdc.tags, out);
}

void Write(const Metadata& metadata, JsonObjectWriter& json, std::string& out) {
	json.String("id", metadata.id);
	OptionalString(json, "name", metadata.name);
	OptionalString(json, "description", metadata.description);
	json.Key("format");
	JsonObjectWriter format(out);
	format.String("provider", metadata.format.provider);
	PlainMap(format, "options", metadata.format.options, false, out);
	format.Close();
	json.String("schemaString", metadata.schema_string);
	StringList(json, "partitionColumns", metadata.partition_columns, out);
	PlainMap(json, "configuration", metadata.configuration, false, out);
	OptionalInteger(json, "createdTime", metadata.created_time);
}

void Write(const Protocol& protocol, JsonObjectWriter& json, std::string& out) {
	json.Integer("minReaderVersion", protocol.min_reader_version);
	json.Integer("minWriterVersion", protocol.min_writer_version);
	if (protocol.reader_features) StringList(json, "readerFeatures", *protocol.reader_features, out);
	if (protocol.writer_features) StringList(json, "writerFeatures", *protocol.writer_features, out);
}

void Write(const SetTransaction& transaction, JsonObjectWriter& json, std::string&) {
	json.String("appId", transaction.app_id);
	json.Integer("version", transaction.version);
	OptionalInteger(json, "lastUpdated", transaction.last_updated);
}

void Write(const DomainMetadata& domain, JsonObjectWriter& json, std::string&) {
	json.String("domain", domain.domain);
	json.String("configuration", domain.configuration);
	json.Bool("removed", domain.removed);
}

void Write(const CommitInfo& info, JsonObjectWriter& json, std::string& out) {
	OptionalInteger(json, "inCommitTimestamp", info.in_commit_timestamp);
	OptionalInteger(json, "timestamp", info.timestamp);
	json.String("operation", info.operation);
	PlainMap(json, "operationParameters", info.operation_parameters, true, out);
	OptionalInteger(json, "readVersion", info.read_version);
	OptionalString(json, "isolationLevel", info.isolation_level);
	if (info.is_blind_append) json.Bool("isBlindAppend", *info.is_blind_append);
	PlainMap(json, "operationMetrics", info.operation_metrics, false, out);
	OptionalString(json, "userMetadata", info.user_metadata);
	if (!info.tags.empty()) StringMap(json, "tags", info.tags, out);
	if (!info.engine_info.empty()) json.String("engineInfo", info.engine_info);
	if (!info.txn_id.empty()) json.String("txnId", info.txn_id);
	if (info.reads.empty() && info.row_map.empty()) return;
	json.Key("braid");
	JsonObjectWriter own(out);
	if (!info.reads.empty()) own.Raw("reads", info.reads);
	if (!info.row_map.empty()) own.String("rowMap", info.row_map);
	own.Close();
}

constexpr const char* NameOf(const CommitInfo&) { return "commitInfo"; }
constexpr const char* NameOf(const Protocol&) { return "protocol"; }
constexpr const char* NameOf(const Metadata&) { return "metaData"; }
constexpr const char* NameOf(const AddFile&) { return "add"; }
constexpr const char* NameOf(const RemoveFile&) { return "remove"; }
constexpr const char* NameOf(const AddCdcFile&) { return "cdc"; }
constexpr const char* NameOf(const SetTransaction&) { return "txn"; }
constexpr const char* NameOf(const DomainMetadata&) { return "domainMetadata"; }

}  // namespace

void AppendActionLine(const Action& action, std::string& out) {
	std::visit(
		[&out](const auto& value) {
			JsonObjectWriter line(out);
			line.Key(NameOf(value));
			JsonObjectWriter json(out);
			Write(value, json, out);
			json.Close();
			line.Close();
		},
		action);
	out += '\n';
}

}  // namespace braid
