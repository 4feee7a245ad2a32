// SPDX-License-Identifier: Apache-2.0
// Snapshot files and staged changes in one list.
#include "engine/scan/scan_source.h"

#include <algorithm>

#include "duckdb/common/exception.hpp"
#include "kernel/log/log_path.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

void AddSnapshotFiles(const Snapshot& snapshot, const StagedChanges& changes, ScanSource& source) {
	source.files.reserve(snapshot.files->size());
	for (const LiveFile* file : snapshot.files->Files()) {
		ScanFile scanned {file->path, file, nullptr, nullptr};
		if (!changes.deleted_rows.empty()) {
			auto deleted = changes.deleted_rows.find(std::string(file->path));
			if (deleted != changes.deleted_rows.end())
				scanned.staged_deletes = std::make_shared<PositionSet>(deleted->second);
		}
		if (std::ranges::find(changes.replaced_files, file->path) != changes.replaced_files.end()) continue;
		source.files.push_back(std::move(scanned));
	}
}

}  // namespace

std::string ScanSource::Location(const ScanFile& file) const {
	bool absolute =
		file.path.starts_with('/') || file.path.find("://") != std::string_view::npos || file.path.starts_with("file:");
	return table->store().Location(absolute ? std::string(file.path) : DecodePath(file.path));
}

const std::vector<ScanFile>& ScanSource::Files() const {
	if (!whole_view) return files;
	std::call_once(listed_once_, [&] {
		listed_.reserve(view->files->size());
		for (const LiveFile* file : view->files->Files()) listed_.push_back({file->path, file, nullptr, nullptr});
	});
	return listed_;
}

// A few rows of a few files of the snapshot.
static void AddChosenRows(const Snapshot& snapshot, const RowsByPath& chosen, ScanSource& source) {
	constexpr int64_t kMoreThanAnyFile = int64_t {1} << 32;
	for (const auto& [path, rows] : chosen) {
		const LiveFile* file = snapshot.files->Find(path);
		if (!file) throw duckdb::IOException("Table %s: file %s is gone", snapshot.table, path);
		const auto count = NumRecords(file->stats).value_or(kMoreThanAnyFile);
		auto others = PositionSet::Range(0, static_cast<uint64_t>(count)) - rows;
		source.files.push_back({file->path, file, nullptr, std::make_shared<PositionSet>(std::move(others))});
	}
}

ScanSourcePtr MakeScanSource(std::shared_ptr<TableHandle> table, SnapshotPtr view, TableWork* work) {
	auto source = std::make_shared<ScanSource>();
	source->table = std::move(table);
	source->view = std::move(view);
	source->whole_view = true;
	if (!work) return source;
	std::lock_guard lock(work->mutex);
	const StagedChanges& changes = work->work.changes;
	source->has_local_changes = (!changes.empty() && !work->sealed) || work->only;
	if (!source->has_local_changes) return source;
	source->whole_view = false;
	if (work->only) {
		AddChosenRows(*source->view, *work->only, *source);
		return source;
	}
	if (!changes.removes_all) AddSnapshotFiles(*source->view, changes, *source);
	source->own_files.reserve(changes.new_files.size());  // ScanFile points into it
	for (const NewFile& file : changes.new_files) {
		const AddFile& own = source->own_files.emplace_back(file.add);
		ScanFile scanned {own.path, nullptr, &own, nullptr};
		if (!file.deleted.Empty()) scanned.staged_deletes = std::make_shared<PositionSet>(file.deleted);
		source->files.push_back(std::move(scanned));
	}
	return source;
}

ScanSourcePtr SourceOfFile(std::shared_ptr<TableHandle> table, SnapshotPtr view, AddFile file) {
	auto source = std::make_shared<ScanSource>();
	source->table = std::move(table);
	source->view = std::move(view);
	const AddFile& own = source->own_files.emplace_back(std::move(file));
	source->files.push_back({own.path, nullptr, &own, nullptr});
	return source;
}

}  // namespace braid::engine
