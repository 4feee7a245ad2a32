// SPDX-License-Identifier: Apache-2.0
// SHALLOW CLONE: the first version of a table, or the next one of a table that is replaced, which names the files of another table where they
// lie. Every path is an absolute URI (PROTOCOL: Add File; Deletion Vectors, storage type 'p'), so nothing below the clone's own directory is
// shared: what looks after the clone's directory cannot touch the source. Schema, properties, clustering and row ids come along.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "kernel/maintenance/restore_plan.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/log_store.h"

namespace braid {

struct ClonePlan {
	std::vector<std::string> removed;  // files of the table that is replaced, paths as in the log
	std::vector<AddFile> entries;      // those that it does not have already
	Protocol protocol;
	Metadata metadata;
	std::vector<DomainMetadata> domains;
	FileFigures source_files, files_removed;
};

// `store` is that of the source. `replaced`: the table in the clone's place, which keeps its id and its features; null: there is none.
Result<ClonePlan> PlanClone(const Snapshot& source, const LogStore& store, const Snapshot* replaced, Random& random);

}  // namespace braid
