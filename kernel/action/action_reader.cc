// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/action_reader.h"

#include <algorithm>

#include "base/json.h"
#include "kernel/action/action_codec.h"
#include "kernel/action/action_objects.h"
#include "kernel/action/string_map.h"

namespace braid {

namespace {

namespace od = simdjson::ondemand;

// An action longer than this is garbage, not pretty-printed JSON.
constexpr size_t kMaxDocument = size_t {256} << 20;
// Bytes taken in at once: few enough to stay in the processor's cache while they are read.
constexpr size_t kSlice = size_t {256} << 10;

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

FieldName NameOf(std::string_view key) {
	for (const auto& [text, name] : kFieldNames) {
		if (text == key) return name;
	}
	return FieldName::kUnknown;
}

// add and remove, with the union of their fields.
struct FileAction {
	std::string_view path, partition_values, stats, tags;
	std::optional<std::string_view> clustering_provider;
	std::optional<int64_t> size, modification_time, deletion_timestamp, base_row_id, default_row_commit_version;
	std::optional<bool> data_change, extended_file_metadata;
	std::optional<DvDescriptor> deletion_vector;
	bool has_path = false;
};

bool ReadKey(od::field& field, std::string_view& key) {
	key = field.escaped_key();
	return key.find('\\') == std::string_view::npos || !field.unescaped_key().get(key);
}

bool IsNull(od::value& value) {
	bool is_null = false;
	return !value.is_null().get(is_null) && is_null;
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

// Answers the reason if the object is malformed, else "".
std::string ReadFileAction(std::string_view action, od::value value, FileAction& file) {
	od::object object;
	if (value.get_object().get(object)) return std::string(action) + " is not an object";
	for (auto entry : object) {
		od::field field;
		std::string_view key;
		if (std::move(entry).get(field) || !ReadKey(field, key)) return "malformed JSON";
		const FieldName name = NameOf(key);
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

// The end of the JSON object or other text that begins at `begin`, by counting brackets outside of strings; npos if it does not end.
size_t DocumentEnd(std::string_view text, size_t begin) {
	int depth = 0;
	bool in_string = false;
	for (size_t i = begin; i < text.size(); ++i) {
		const char c = text[i];
		if (in_string) {
			if (c == '\\') ++i;
			if (c == '"') in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			++depth;
		} else if ((c == '}' || c == ']') && --depth <= 0) {
			return i + 1;
		}
	}
	return std::string_view::npos;
}

}  // namespace

struct ActionReader::Parsers {
	od::parser lines;
	simdjson::dom::parser objects;
};

ActionReader::ActionReader(std::string where, ActionSink& sink)
	: where_(std::move(where)), sink_(sink), parsers_(std::make_unique<Parsers>()) {}

ActionReader::~ActionReader() = default;

void ActionReader::Restart(std::string where) {
	where_ = std::move(where);
	pending_.clear();
	wait_for_ = 0;
	line_ = 1;
}

std::unexpected<Error> ActionReader::Corrupt(const std::string& reason) const {
	return Fail(ErrorKind::kCorrupt, where_ + ", line " + std::to_string(line_) + ": " + reason);
}

Status ActionReader::Feed(std::string_view block) {
	while (!block.empty()) {
		const std::string_view slice = block.substr(0, kSlice);
		block.remove_prefix(slice.size());
		const size_t needed = pending_.size() + slice.size() + simdjson::SIMDJSON_PADDING;
		if (pending_.capacity() < needed) pending_.reserve(needed + needed / 2);
		pending_ += slice;
		if (pending_.size() >= wait_for_) BRAID_TRY(ReadLines(false));
	}
	return {};
}

Status ActionReader::Finish() {
	BRAID_TRY(ReadLines(true));
	if (!TrimJsonSpace(pending_).empty()) return Corrupt("the file ends in the middle of an action (truncated?)");
	return {};
}

Status ActionReader::ReadLines(bool last) {
	size_t position = 0;
	while (position < pending_.size()) {
		const char c = pending_[position];
		if (c == '\n') ++line_;
		if (c == '\n' || c == '\r' || c == ' ' || c == '\t') {
			++position;
			continue;
		}
		size_t line_end = pending_.find('\n', position);
		if (line_end == std::string::npos) {
			if (!last) break;
			line_end = pending_.size();
		}
		BRAID_TRY(const size_t next, ReadDocument(position, line_end, last));
		if (next == position) break;
		if (next != line_end) line_ += static_cast<size_t>(std::count(&pending_[position], &pending_[next], '\n'));
		position = next;
	}
	pending_.erase(0, position);
	wait_for_ = pending_.size() > kSlice ? pending_.size() * 2 : 0;  // a long action is not tried again at every block
	return {};
}

Result<size_t> ActionReader::ReadDocument(size_t begin, size_t line_end, bool last) {
	BRAID_TRY(const std::string reason, ReadActions(begin, line_end));
	if (reason.empty()) return line_end;
	// Not one object on one line: pretty-printed, several on a line, not complete yet, or garbled.
	const size_t end = DocumentEnd(pending_, begin);
	if (end == std::string::npos) {
		if (last) return Corrupt("the file ends in the middle of an action (truncated?)");
		if (pending_.size() - begin > kMaxDocument) return Corrupt(reason);
		return begin;
	}
	if (end == line_end) return Corrupt(reason);
	BRAID_TRY(const std::string other_reason, ReadActions(begin, end));
	if (!other_reason.empty()) return Corrupt(other_reason);
	return end;
}

Result<std::string> ActionReader::ReadActions(size_t begin, size_t end) {
	od::document document;
	od::object root;
	const simdjson::padded_string_view text(pending_.data() + begin, end - begin, pending_.capacity() - begin);
	if (const auto error = parsers_->lines.iterate(text).get(document)) return simdjson::error_message(error);
	if (const auto error = document.get_object().get(root)) return simdjson::error_message(error);
	std::optional<FileAction> add, remove;
	bool has_objects = false;
	for (auto entry : root) {
		od::field field;
		std::string_view key;
		if (const auto error = std::move(entry).get(field)) return simdjson::error_message(error);
		if (!ReadKey(field, key)) return "malformed JSON";
		od::value value = field.value();
		if (IsNull(value)) continue;
		if (key == "add" || key == "remove") {
			std::optional<FileAction>& file = key == "add" ? add : remove;
			std::string reason = ReadFileAction(key, value, file.emplace());
			if (!reason.empty()) return reason;
		} else if (IsKnownObject(key)) {
			has_objects = true;
		}
	}
	if (!document.at_end()) return "malformed JSON: something follows the action";
	std::vector<Action> actions;
	std::vector<SidecarFile> sidecars;
	if (has_objects) {
		std::string reason = ReadObjects(begin, end, actions, sidecars);
		if (!reason.empty()) return reason;
	}
	if (add) BRAID_TRY(sink_.OnAdd(ViewOfAdd(*add)));
	if (remove) BRAID_TRY(sink_.OnRemove(ViewOfRemove(*remove)));
	for (Action& action : actions) BRAID_TRY(sink_.OnAction(std::move(action)));
	for (SidecarFile& sidecar : sidecars) BRAID_TRY(sink_.OnSidecar(std::move(sidecar)));
	return "";
}

std::string ActionReader::ReadObjects(size_t begin, size_t end, std::vector<Action>& actions,
									  std::vector<SidecarFile>& sidecars) {
	simdjson::dom::object root;
	// The padding that the parser needs is there: pending_ has reserved it.
	if (const auto error = parsers_->objects.parse(pending_.data() + begin, end - begin, false).get(root)) {
		return simdjson::error_message(error);
	}
	for (const auto& [key, value] : root) {
		simdjson::dom::object object;
		if (value.is_null() || !IsKnownObject(key)) continue;
		if (value.get(object)) return std::string(key) + " is not an object";
		if (key == "sidecar") {
			Result<SidecarFile> sidecar = ReadSidecar(object);
			if (!sidecar) return std::move(sidecar).error().message;
			sidecars.push_back(*std::move(sidecar));
			continue;
		}
		Result<Action> action = ReadAction(key, object);
		if (!action) return std::move(action).error().message;
		actions.push_back(*std::move(action));
	}
	return "";
}

Result<AddFile> ToAddFile(const AddFileView& view) {
	AddFile add;
	add.path = view.path;
	BRAID_TRY(add.partition_values, ParseStringMap(view.partition_values_json));
	add.size = view.size;
	add.modification_time = view.modification_time;
	add.data_change = view.data_change;
	add.stats = view.stats;
	BRAID_TRY(add.tags, ParseStringMap(view.tags_json));
	if (view.deletion_vector != nullptr) add.deletion_vector = *view.deletion_vector;
	add.base_row_id = view.base_row_id;
	add.default_row_commit_version = view.default_row_commit_version;
	add.clustering_provider = view.clustering_provider;
	return add;
}

Result<RemoveFile> ToRemoveFile(const RemoveFileView& view) {
	RemoveFile remove;
	remove.path = view.path;
	remove.deletion_timestamp = view.deletion_timestamp;
	remove.data_change = view.data_change;
	remove.extended_file_metadata = view.extended_file_metadata;
	BRAID_TRY(remove.partition_values, ParseStringMap(view.partition_values_json));
	remove.size = view.size;
	remove.stats = view.stats;
	BRAID_TRY(remove.tags, ParseStringMap(view.tags_json));
	if (view.deletion_vector != nullptr) remove.deletion_vector = *view.deletion_vector;
	remove.base_row_id = view.base_row_id;
	remove.default_row_commit_version = view.default_row_commit_version;
	return remove;
}

Status ParseCommit(std::string_view bytes, std::string_view where, const std::function<Status(Action&&)>& sink) {
	class Forward : public ActionSink {
	public:
		explicit Forward(const std::function<Status(Action&&)>& forward) : forward_(forward) {}
		Status OnAdd(const AddFileView& view) override {
			BRAID_TRY(Action add, ToAddFile(view));
			return forward_(std::move(add));
		}
		Status OnRemove(const RemoveFileView& view) override {
			BRAID_TRY(Action remove, ToRemoveFile(view));
			return forward_(std::move(remove));
		}
		Status OnAction(Action&& action) override { return forward_(std::move(action)); }

	private:
		const std::function<Status(Action&&)>& forward_;
	};
	Forward forward(sink);
	ActionReader reader(std::string(where), forward);
	BRAID_TRY(reader.Feed(bytes));
	return reader.Finish();
}

}  // namespace braid
