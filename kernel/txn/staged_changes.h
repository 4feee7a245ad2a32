// SPDX-License-Identifier: Apache-2.0
// What a transaction wants to change, before it has a version: new files, rows to delete in files of its snapshot, files to replace, and
// metadata. Pure data; files named here exist on storage but nothing refers to them until the commit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/action/actions.h"
#include "kernel/deletion/position_set.h"

namespace braid {

// Rows first .. first + count - 1 of a new file were made of as many consecutive rows of a file of the snapshot.
struct OriginRun {
	size_t source = 0;  // index into StagedChanges::origin_files
	uint64_t source_first = 0;
	uint64_t first = 0;
	uint64_t count = 0;
};

struct NewFile {
	AddFile add;  // path relative to the root, statistics of all physical rows; no deletion vector
	int64_t num_records = 0;
	PositionSet deleted;  // rows that a later statement of the same transaction deleted again
	// Of which rows these are new images, as far as known: an UPDATE that tells it for every row can be repaired.
	std::vector<OriginRun> origins;
};

struct StagedChanges {
	std::vector<NewFile> new_files;
	// Files that are there already, added as they stand, with their vectors and row ids (RESTORE, CLONE, CONVERT, which allow no winner). One may
	// be in replaced_files too, if its vector is another one.
	std::vector<AddFile> entries;
	// By path of an active file of the snapshot: positions that this transaction deletes, disjoint from the file's vector at the snapshot.
	std::map<std::string, PositionSet> deleted_rows;
	// Copy-on-write: active files of the snapshot that new_files replace. Conflicts are judged per file.
	std::vector<std::string> replaced_files;
	bool removes_all = false;  // every file active at the commit goes (TRUNCATE, CREATE OR REPLACE)
	std::optional<Protocol> protocol;
	std::optional<Metadata> metadata;
	bool moves_only_identity_marks = false;  // of `metadata`: it says nothing else that is new
	std::vector<SetTransaction> set_transactions;
	std::vector<DomainMetadata> domains;
	bool data_change = true;
	// Of a rearrangement (data_change = false): path of the finished map that tells for each row of new_files which row of replaced_files it is
	// (row_map.h). Who has one is never refused because of rows that others change.
	std::string row_map;
	bool note = false;                      // a commit that only says something of itself (VACUUM START)
	bool keeps_row_ids = false;             // copies and new images carry the stable ids of the rows they were made of
	std::vector<std::string> origin_files;  // paths of files of the snapshot, see NewFile::origins
	// Physical rows of files in deleted_rows whose statistics do not say it (by the same path): a vector may not be added without.
	std::map<std::string, int64_t> physical_rows;

	bool empty() const {
		return new_files.empty() && entries.empty() && deleted_rows.empty() && replaced_files.empty() && !removes_all &&
			   !protocol && !metadata && set_transactions.empty() && domains.empty() && !note;
	}
};

}  // namespace braid
