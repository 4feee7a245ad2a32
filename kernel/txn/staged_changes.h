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

struct NewFile {
	AddFile add;  // path relative to the root, statistics of all physical rows; no deletion vector
	int64_t num_records = 0;
	PositionSet deleted;  // rows that a later statement of the same transaction deleted again
};

struct StagedChanges {
	std::vector<NewFile> new_files;
	// By path of an active file of the snapshot: positions that this transaction deletes, disjoint from the file's vector at the snapshot.
	std::map<std::string, PositionSet> deleted_rows;
	// Copy-on-write: active files of the snapshot that new_files replace. Conflicts are judged per file.
	std::vector<std::string> replaced_files;
	bool removes_all = false;  // every file active at the commit goes (TRUNCATE, CREATE OR REPLACE)
	std::optional<Protocol> protocol;
	std::optional<Metadata> metadata;
	std::vector<SetTransaction> set_transactions;
	std::vector<DomainMetadata> domains;
	bool data_change = true;
	// Physical rows of files in deleted_rows whose statistics do not say it (by the same path): a vector may not be added without.
	std::map<std::string, int64_t> physical_rows;

	bool empty() const {
		return new_files.empty() && deleted_rows.empty() && replaced_files.empty() && !removes_all && !protocol &&
			   !metadata && set_transactions.empty() && domains.empty();
	}
};

}  // namespace braid
