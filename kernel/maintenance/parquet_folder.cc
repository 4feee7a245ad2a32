// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/parquet_folder.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/path.h"
#include "kernel/action/partition_folder.h"
#include "kernel/predicate/scalar.h"

namespace braid {

namespace {

bool IsHidden(const StoredFile& entry) {
	if (entry.name[0] == '.') return true;
	return entry.name[0] == '_' && !(entry.is_directory && entry.name.find('=') != std::string::npos);
}

Status ListBelow(LogStore& store, const std::string& folder, const std::function<bool()>& interrupted,
				 std::vector<FoundFile>& files) {
	if (interrupted && interrupted()) return Fail(ErrorKind::kInterrupted, "Looking for files was interrupted");
	BRAID_TRY(const std::vector<StoredFile> entries, store.List(folder, ""));
	for (const StoredFile& entry : entries) {
		if (IsHidden(entry)) continue;
		const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
		if (entry.is_directory) {
			BRAID_TRY(ListBelow(store, path, interrupted, files));
		} else if (entry.size > 0) {
			files.push_back({path, entry.size, entry.modification_time_ms});
		}
	}
	return {};
}

struct Folder {
	std::string column, value;  // decoded
};

std::vector<Folder> PartitionFolders(const std::string& path) {
	std::vector<Folder> folders;
	size_t from = 0;
	for (size_t to = path.find('/'); to != std::string::npos; from = to + 1, to = path.find('/', from)) {
		const std::string name = path.substr(from, to - from);
		const size_t equals = name.find('=');
		if (equals != std::string::npos)
			folders.push_back({PercentDecode(name.substr(0, equals)), PercentDecode(name.substr(equals + 1))});
	}
	return folders;
}

std::unexpected<Error> OtherColumns(const std::string& path, const std::vector<Folder>& folders,
									std::span<const Field> columns) {
	std::string found, wanted, clause;
	for (const Folder& folder : folders) {
		found += (found.empty() ? "" : ", ") + folder.column;
		clause += (clause.empty() ? "" : ", ") + folder.column + " STRING";
	}
	for (const Field& column : columns) wanted += (wanted.empty() ? "" : ", ") + column.name;
	return Fail(ErrorKind::kInvalidArgument,
				"[DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME] CONVERT TO DELTA: the folders of file " +
					path + " name the partition columns (" + found + "), the statement names (" + wanted + "). " +
					(folders.empty() ? "Files of a partitioned table lie in folders column=value"
									 : "Say PARTITIONED BY (" + clause + "), with the types of the columns") +
					". SQLSTATE: KD009");
}

Result<std::optional<std::string>> ValueOf(const Folder& folder, const Field& column, const std::string& path) {
	if (folder.value == kNullPartition || folder.value.empty()) return std::nullopt;
	const auto parsed = ParsePartitionValue(folder.value, *column.type);
	if (!parsed) {
		return Fail(ErrorKind::kInvalidArgument, "[DELTA_FAILED_CAST_PARTITION_VALUE] CONVERT TO DELTA: file " + path +
													 " lies in a folder " + column.name + "=" + folder.value +
													 ", which is no value of type " + ToString(*column.type) +
													 ". SQLSTATE: 22018");
	}
	BRAID_TRY(std::string text, WritePartitionValue(*parsed));
	return text;
}

Result<DataTypePtr> UniteTypes(const DataType& a, const DataType& b, const std::string& column) {
	if (a.kind == TypeKind::kStruct && b.kind == TypeKind::kStruct) {
		auto united = UniteSchemas(a, b);
		if (!united) return Fail(united.error().kind, united.error().message + " (in " + column + ")");
		return std::make_shared<DataType>(*std::move(united));
	}
	if (a == b) return std::make_shared<DataType>(a);
	return Fail(ErrorKind::kInvalidArgument,
				"column " + column + " has type " + ToString(b) + ", but type " + ToString(a) + " before");
}

}  // namespace

Result<std::vector<FoundFile>> ListDataFiles(LogStore& store, const std::function<bool()>& interrupted) {
	std::vector<FoundFile> files;
	BRAID_TRY(ListBelow(store, "", interrupted, files));
	std::ranges::sort(files, {}, &FoundFile::path);
	return files;
}

Result<PartitionValues> PartitionValuesOf(const std::string& path, std::span<const Field> columns) {
	const std::vector<Folder> folders = PartitionFolders(path);
	const auto same_name = [](const Folder& folder, const Field& column) {
		return SameIgnoringCase(folder.column, column.name);
	};
	if (!std::ranges::equal(folders, columns, same_name)) return OtherColumns(path, folders, columns);
	PartitionValues values;
	for (size_t i = 0; i < columns.size(); i++) {
		BRAID_TRY(values[columns[i].name], ValueOf(folders[i], columns[i], path));
	}
	return values;
}

Result<StructType> UniteSchemas(const StructType& a, const StructType& b) {
	StructType united = a;
	for (const Field& field : b.fields) {
		const auto known =
			std::ranges::find_if(united.fields, [&](const Field& f) { return SameIgnoringCase(f.name, field.name); });
		if (known == united.fields.end()) {
			united.fields.push_back(field);
			continue;
		}
		if (known->name != field.name) {
			return Fail(ErrorKind::kInvalidArgument, "column " + field.name + " is spelt " + known->name +
														 " before: names may not differ in case only");
		}
		BRAID_TRY(known->type, UniteTypes(*known->type, *field.type, field.name));
	}
	return united;
}

}  // namespace braid
