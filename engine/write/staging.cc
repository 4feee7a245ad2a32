// SPDX-License-Identifier: Apache-2.0
// The only place where a statement changes what its transaction has staged.
#include "engine/write/staging.h"

#include <algorithm>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "engine/io/error_translation.h"
#include "engine/io/row_reader.h"
#include "engine/write/copy_on_write.h"
#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

bool WritesDeletionVectors(const Snapshot& view) {
	return HasFeature(view.protocol, "deletionVectors") &&
		   PropertyEnabled(view.metadata.configuration, "delta.enableDeletionVectors");
}

std::string LogPath(const std::string& root, const std::string& scanned_name) {
	auto prefix = root + "/";
	return EncodePath(scanned_name.starts_with(prefix) ? std::string_view(scanned_name).substr(prefix.size())
													   : scanned_name);
}

void StageNewFiles(TableWork& work, std::vector<NewFile> files) {
	std::lock_guard guard(work.mutex);
	auto& staged = work.work.changes.new_files;
	staged.insert(staged.end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
}

static NewFile* FindOwn(StagedChanges& changes, const std::string& path) {
	auto file = std::ranges::find_if(changes.new_files, [&](auto& f) { return f.add.path == path; });
	return file == changes.new_files.end() ? nullptr : &*file;
}

AddFile FindFile(const TableWork& work, const std::string& scanned_name) {
	auto path = LogPath(work.table->root(), scanned_name);
	for (auto& file : work.work.changes.new_files) {
		if (file.add.path == path) return file.add;
	}
	if (auto* live = work.view->files->Find(path)) return Unwrap(ToAddFile(*live));
	throw duckdb::IOException("Table %s: rows of file %s were selected, which is not part of version %lld",
							  work.table->root(), scanned_name, static_cast<long long>(work.view->version));
}

std::string PictureOf(duckdb::ClientContext& context, TableWork& work, const RowAddress& row) {
	AddFile file;
	{
		std::lock_guard guard(work.mutex);
		file = FindFile(work, row.file);
	}
	return RowPicture(context, work.table, work.view, file, row.position);
}

uint64_t CountPhysicalRows(duckdb::ClientContext& context, const TableWork& work, const std::string& path) {
	auto file = Unwrap(ToAddFile(*work.view->files->Find(path)));
	file.deletion_vector.reset();
	RowReader reader(context, SourceOfFile(work.table, work.view, std::move(file)),
					 {duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER});
	uint64_t rows = 0;
	while (auto* chunk = reader.Next()) rows += chunk->size();
	return rows;
}

void StageDeletions(duckdb::ClientContext& context, TableWork& work, const PositionsByFile& positions) {
	bool vectors = WritesDeletionVectors(*work.view);
	PositionsByFile to_rewrite;
	std::vector<std::string> uncounted;
	auto& changes = work.work.changes;
	{
		std::lock_guard guard(work.mutex);
		for (auto& [name, rows] : positions) {
			if (rows.Empty()) continue;
			auto path = LogPath(work.table->root(), name);
			if (auto* own = FindOwn(changes, path)) {
				if (own->deleted.Cardinality() + rows.Cardinality() == static_cast<uint64_t>(own->num_records)) {
					std::erase_if(changes.new_files, [&](auto& file) { return file.add.path == path; });
				} else if (vectors) {
					own->deleted |= rows;
				} else {
					to_rewrite.emplace(path, rows);
				}
				continue;
			}
			auto file = FindFile(work, name);
			if (vectors) {
				changes.deleted_rows[file.path] |= rows;
				if (!NumRecords(file.stats) && !changes.physical_rows.contains(file.path))
					uncounted.push_back(file.path);
			} else {
				to_rewrite.emplace(file.path, rows);
			}
		}
	}
	for (auto& path : uncounted) {
		const auto rows = static_cast<int64_t>(CountPhysicalRows(context, work, path));
		std::lock_guard guard(work.mutex);
		changes.physical_rows[path] = rows;
	}
	if (!to_rewrite.empty()) RewriteWithout(context, work, to_rewrite);
}

void NameOperation(TableWork& work, const std::string& operation) {
	std::lock_guard guard(work.mutex);
	work.operations.push_back(operation);
	auto& name = work.work.operation;
	bool first = work.work.changes.empty() || name.empty();
	bool created = name.starts_with("CREATE") || name.starts_with("REPLACE");
	if (first) {
		name = operation;
	} else if (name != operation && !created) {
		name = "TRANSACTION";
		work.work.operation_parameters.clear();
	}
}

void AddMetric(TableWork& work, const char* name, uint64_t value) {
	auto& text = work.work.operation_metrics[name];
	text = std::to_string((text.empty() ? 0 : std::stoull(text)) + value);
}

}  // namespace braid::engine
