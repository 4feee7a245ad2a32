// SPDX-License-Identifier: Apache-2.0
// ScanSource: what one scan reads, fixed when it is bound: a snapshot and what the transaction has staged on the table until then. Immutable and
// shared by every copy of the plan; holds no reference to the transaction (trap 16).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/table_handle.h"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// One file: views into the snapshot, or into ScanSource::own_files.
struct ScanFile {
	std::string_view path;                              // as in the log
	const LiveFile* live = nullptr;                     // a file of the snapshot
	const AddFile* own = nullptr;                       // a file that this transaction wrote
	std::shared_ptr<const PositionSet> staged_deletes;  // deleted by this transaction; null: none

	int64_t size() const { return live ? live->size : own->size; }
	std::string_view stats() const { return live ? live->stats : std::string_view(own->stats); }
	const DvDescriptor* deletion_vector() const { return live ? live->deletion_vector : nullptr; }
	bool has_deletes() const { return deletion_vector() != nullptr || staged_deletes != nullptr; }
};

struct ScanSource {
	std::shared_ptr<TableHandle> table;
	SnapshotPtr view;
	bool whole_view = false;      // all files of the view and no others: listed when somebody asks
	std::vector<ScanFile> files;  // else
	std::vector<AddFile> own_files;
	bool has_local_changes = false;  // statistics of the snapshot do not describe what is read

	const std::vector<ScanFile>& Files() const;
	size_t Count() const { return whole_view ? view->files->size() : files.size(); }

	// Absolute; the value of the virtual column `filename`.
	std::string Location(const ScanFile& file) const;

private:
	mutable std::once_flag listed_once_;
	mutable std::vector<ScanFile> listed_;
};
using ScanSourcePtr = std::shared_ptr<const ScanSource>;

// All rows of one file, whether or not it is part of the view.
ScanSourcePtr SourceOfFile(std::shared_ptr<TableHandle> table, SnapshotPtr view, AddFile file);

// `work` may be null: nothing staged. Locks it.
ScanSourcePtr MakeScanSource(std::shared_ptr<TableHandle> table, SnapshotPtr view, TableWork* work);

}  // namespace braid::engine
