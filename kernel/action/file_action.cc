// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/file_action.h"

#include <utility>

#include "base/json.h"

namespace braid {

namespace od = simdjson::ondemand;

bool ReadKey(od::field& field, std::string_view& key) {
	key = field.escaped_key();
	return key.find('\\') == std::string_view::npos || !field.unescaped_key().get(key);
}

bool IsNull(od::value& value) {
	bool is_null = false;
	return !value.is_null().get(is_null) && is_null;
}

namespace {

enum class FieldName {
	kPath,
	kPartitionValues,
	kSize,
	kModificationTime,
	kDataChange,
	kStats,
	kTags,
	kDeletionVector,
	kBaseRowId,
	kDefaultRowCommitVersion,
	kClusteringProvider,
	kDeletionTimestamp,
	kExtendedFileMetadata,
	kUnknown
};

// In the order of the enumeration.
constexpr std::pair<std::string_view, FieldName> kFieldNames[] = {
	{"path", FieldName::kPath},
	{"partitionValues", FieldName::kPartitionValues},
	{"size", FieldName::kSize},
	{"modificationTime", FieldName::kModificationTime},
	{"dataChange", FieldName::kDataChange},
	{"stats", FieldName::kStats},
	{"tags", FieldName::kTags},
	{"deletionVector", FieldName::kDeletionVector},
	{"baseRowId", FieldName::kBaseRowId},
	{"defaultRowCommitVersion", FieldName::kDefaultRowCommitVersion},
	{"clusteringProvider", FieldName::kClusteringProvider},
	{"deletionTimestamp", FieldName::kDeletionTimestamp},
	{"extendedFileMetadata", FieldName::kExtendedFileMetadata},
};

// `expected`: the field that most writers put here.
FieldName NameOf(std::string_view key, FieldName expected) {
	if (expected != FieldName::kUnknown && kFieldNames[static_cast<size_t>(expected)].first == key) return expected;
	for (const auto& [text, name] : kFieldNames) {
		if (text == key) return name;
	}
	return FieldName::kUnknown;
}

bool ReadInteger(od::value value, std::optional<int64_t>& out) {
	int64_t number = 0;
	if (value.get_int64().get(number)) return false;
	out = number;
	return true;
}

bool ReadBool(od::value value, std::optional<bool>& out) {
	bool flag = false;
	if (value.get_bool().get(flag)) return false;
	out = flag;
	return true;
}

bool ReadObjectText(od::value value, std::string_view& out) {
	od::object object;
	if (value.get_object().get(object) || object.raw_json().get(out)) return false;
	out = TrimJsonSpace(out);
	return true;
}

bool ReadDeletionVector(od::value value, std::optional<DvDescriptor>& out) {
	od::object object;
	if (value.get_object().get(object)) return false;
	DvDescriptor dv;
	std::optional<int64_t> offset, size, cardinality;
	bool has_type = false, has_path = false;
	for (auto entry : object) {
		od::field field;
		std::string_view key, text;
		if (std::move(entry).get(field) || !ReadKey(field, key)) return false;
		od::value item = field.value();
		if (IsNull(item)) continue;
		if (key == "storageType") {
			if (item.get_string().get(text) || text.size() != 1) return false;
			dv.storage_type = text[0];
			has_type = true;
		} else if (key == "pathOrInlineDv") {
			if (item.get_string().get(text)) return false;
			dv.path_or_inline_dv = text;
			has_path = true;
		} else if (key == "offset") {
			if (!ReadInteger(item, offset)) return false;
		} else if (key == "sizeInBytes") {
			if (!ReadInteger(item, size)) return false;
		} else if (key == "cardinality") {
			if (!ReadInteger(item, cardinality)) return false;
		}
	}
	if (!has_type || !has_path || !size || !cardinality) return false;
	if (*size < 0 || *size > INT32_MAX || (offset && (*offset < 0 || *offset > INT32_MAX))) return false;
	if (offset) dv.offset = static_cast<int32_t>(*offset);
	dv.size_in_bytes = static_cast<int32_t>(*size);
	dv.cardinality = *cardinality;
	out = std::move(dv);
	return true;
}

bool ReadField(FieldName name, od::value value, FileAction& file) {
	switch (name) {
		case FieldName::kPath:
			file.has_path = true;
			return !value.get_string().get(file.path);
		case FieldName::kStats:
			return !value.get_string().get(file.stats);
		case FieldName::kPartitionValues:
			return ReadObjectText(value, file.partition_values);
		case FieldName::kTags:
			return ReadObjectText(value, file.tags);
		case FieldName::kSize:
			return ReadInteger(value, file.size);
		case FieldName::kModificationTime:
			return ReadInteger(value, file.modification_time);
		case FieldName::kDeletionTimestamp:
			return ReadInteger(value, file.deletion_timestamp);
		case FieldName::kBaseRowId:
			return ReadInteger(value, file.base_row_id);
		case FieldName::kDefaultRowCommitVersion:
			return ReadInteger(value, file.default_row_commit_version);
		case FieldName::kDataChange:
			return ReadBool(value, file.data_change);
		case FieldName::kExtendedFileMetadata:
			return ReadBool(value, file.extended_file_metadata);
		case FieldName::kDeletionVector:
			return ReadDeletionVector(value, file.deletion_vector);
		case FieldName::kClusteringProvider: {
			std::string_view text;
			if (value.get_string().get(text)) return false;
			file.clustering_provider = text;
			return true;
		}
		case FieldName::kUnknown:
			break;
	}
	return true;
}

std::string Missing(std::string_view action, const char* field) {
	return "field \"" + std::string(field) + "\" of " + std::string(action) + " is missing";
}

// PROTOCOL: Add File and Remove File, the fields that are not optional.
std::string CheckRequired(std::string_view action, const FileAction& file) {
	if (!file.has_path) return Missing(action, "path");
	if (!file.data_change) return Missing(action, "dataChange");
	if (action == "remove") return "";
	if (file.partition_values.empty()) return Missing(action, "partitionValues");
	if (!file.size) return Missing(action, "size");
	if (!file.modification_time) return Missing(action, "modificationTime");
	return "";
}

}  // namespace

std::string ReadFileAction(std::string_view action, od::value value, FileAction& file) {
	od::object object;
	if (value.get_object().get(object)) return std::string(action) + " is not an object";
	FieldName expected = FieldName::kPath;
	for (auto entry : object) {
		od::field field;
		std::string_view key;
		if (std::move(entry).get(field) || !ReadKey(field, key)) return "malformed JSON";
		const FieldName name = NameOf(key, expected);
		if (name != FieldName::kUnknown) expected = static_cast<FieldName>(static_cast<int>(name) + 1);
		od::value item = field.value();
		if (name == FieldName::kUnknown || IsNull(item)) continue;
		if (!ReadField(name, item, file)) {
			return "field \"" + std::string(key) + "\" of " + std::string(action) + " is malformed";
		}
	}
	return CheckRequired(action, file);
}

AddFileView ViewOfAdd(const FileAction& file) {
	AddFileView view;
	view.path = file.path;
	view.partition_values_json = file.partition_values.empty() ? "{}" : file.partition_values;
	view.stats = file.stats;
	view.tags_json = file.tags.empty() ? "{}" : file.tags;
	view.size = file.size.value_or(0);
	view.modification_time = file.modification_time.value_or(0);
	view.data_change = file.data_change.value_or(true);
	view.deletion_vector = file.deletion_vector ? &*file.deletion_vector : nullptr;
	view.base_row_id = file.base_row_id;
	view.default_row_commit_version = file.default_row_commit_version;
	view.clustering_provider = file.clustering_provider;
	return view;
}

RemoveFileView ViewOfRemove(const FileAction& file) {
	RemoveFileView view;
	view.path = file.path;
	view.partition_values_json = file.partition_values.empty() ? "{}" : file.partition_values;
	view.stats = file.stats;
	view.tags_json = file.tags.empty() ? "{}" : file.tags;
	view.deletion_timestamp = file.deletion_timestamp;
	view.size = file.size;
	view.base_row_id = file.base_row_id;
	view.default_row_commit_version = file.default_row_commit_version;
	view.data_change = file.data_change.value_or(true);
	view.extended_file_metadata = file.extended_file_metadata.value_or(false);
	view.deletion_vector = file.deletion_vector ? &*file.deletion_vector : nullptr;
	return view;
}

}  // namespace braid
