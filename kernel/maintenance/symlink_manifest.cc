// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/symlink_manifest.h"

#include "kernel/action/partition_folder.h"
#include "kernel/log/log_path.h"

namespace braid {

static constexpr std::string_view kManifest = "manifest";

static std::string FolderOf(const AddFile& file, const Snapshot& table) {
	std::string folder(kManifestFolder);
	for (const std::string& column : table.metadata.partition_columns) {
		const auto value = file.partition_values.find(column);
		const bool null = value == file.partition_values.end() || !value->second || value->second->empty();
		folder += "/" + PartitionFolder(column, null ? std::nullopt : value->second);
	}
	return folder;
}

Result<std::map<std::string, std::string>> SymlinkManifests(const Snapshot& table, const LogStore& store) {
	const std::string what = "GENERATE symlink_format_manifest of table " + table.table + ": ";
	if (table.column_mapping != ColumnMappingMode::kNone) {
		return Fail(ErrorKind::kUnsupported,
					"[DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING] " + what +
						"its columns are mapped, so the names in its files are others. SQLSTATE: 0AKDC");
	}
	std::map<std::string, std::string> manifests;
	if (table.metadata.partition_columns.empty())
		manifests[std::string(kManifestFolder) + "/" + std::string(kManifest)];
	for (const LiveFile* file : table.files->Files()) {
		if (file->deletion_vector) {
			return Fail(ErrorKind::kUnsupported,
						"[DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS] " + what + "file " +
							std::string(file->path) +
							" has a deletion vector, which readers of manifests do not apply. Run REORG TABLE "
							"... APPLY (PURGE) first, without writers beside it. SQLSTATE: 0A000");
		}
		BRAID_TRY(const AddFile add, ToAddFile(*file));
		manifests[FolderOf(add, table) + "/" + std::string(kManifest)] +=
			"file:" + store.Location(StorePath(file->path)) + "\n";
	}
	return manifests;
}

static Status DeleteStale(LogStore& store, const std::string& folder, const std::map<std::string, std::string>& kept) {
	const auto entries = store.ListNames(folder, "");
	if (!entries && entries.error().kind == ErrorKind::kNotFound) return {};
	if (!entries) return std::unexpected(entries.error());
	for (const StoredFile& entry : *entries) {
		const std::string path = folder + "/" + entry.name;
		if (entry.is_directory) {
			BRAID_TRY(DeleteStale(store, path, kept));
		} else if (entry.name == kManifest && !kept.contains(path)) {
			BRAID_TRY(store.Delete(path));
		}
	}
	return {};
}

Status WriteManifests(LogStore& store, const std::map<std::string, std::string>& manifests) {
	for (const auto& [path, text] : manifests) BRAID_TRY(store.Put(path, text));
	return DeleteStale(store, std::string(kManifestFolder), manifests);
}

}  // namespace braid
