// SPDX-License-Identifier: Apache-2.0
// add and remove of a log line, read with simdjson on demand: the hot path of opening a log. Text stays where the parser has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel/action/file_view.h"
#include "simdjson.h"

namespace braid {

// add and remove, with the union of their fields.
struct FileAction {
	std::string_view path, partition_values, stats, tags;
	std::optional<std::string_view> clustering_provider;
	std::optional<int64_t> size, modification_time, deletion_timestamp, base_row_id, default_row_commit_version;
	std::optional<bool> data_change, extended_file_metadata;
	std::optional<DvDescriptor> deletion_vector;
	bool has_path = false;
};

// Reads the object of an add or a remove. Answers what is malformed or missing in it, else "".
std::string ReadFileAction(std::string_view action, simdjson::ondemand::value value, FileAction& file);
AddFileView ViewOfAdd(const FileAction& file);
RemoveFileView ViewOfRemove(const FileAction& file);

// The key with its escapes resolved; false if it is malformed.
bool ReadKey(simdjson::ondemand::field& field, std::string_view& key);
bool IsNull(simdjson::ondemand::value& value);

}  // namespace braid
