// SPDX-License-Identifier: Apache-2.0
// Adding the outcome of one statement to what its transaction has staged (kernel/txn/staged_changes.h). Guarantees:
// deletions name files of the pinned snapshot or new files of this transaction, and are disjoint from what was deleted
// before; a new file that loses all its rows disappears; where deletion vectors may not be written, touched files are
// rewritten.
#pragma once

#include <string>
#include <vector>

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/transaction.h"
#include "engine/write/position_collector.h"

namespace braid::engine {

// Whether a change of this table writes deletion vectors: the feature is on and so is delta.enableDeletionVectors.
bool WritesDeletionVectors(const Snapshot& view);

// The file as the log spells it, from the absolute name that scans report.
std::string LogPath(const std::string& root, const std::string& scanned_name);

void StageNewFiles(TableWork& work, std::vector<NewFile> files);
// Throws if a file is neither active nor ours.
void StageDeletions(duckdb::ClientContext& context, TableWork& work, const PositionsByFile& positions);
// The file behind an absolute name that a scan has reported. Throws if it is neither active nor ours. The caller holds
// work.mutex.
AddFile FindFile(const TableWork& work, const std::string& scanned_name);
// Of a file of the snapshot, because the log does not say it: a vector may not be added to such a file (PROTOCOL: Deletion Vectors), nor a map of its
// rows be written.
uint64_t CountPhysicalRows(duckdb::ClientContext& context, const TableWork& work, const std::string& path);
// The values of a row that a scan has reported, for an error.
std::string PictureOf(duckdb::ClientContext& context, TableWork& work, const RowAddress& row);
// Names the operation of the commit: that of its statements, or TRANSACTION if they differ.
void NameOperation(TableWork& work, const std::string& operation);
// Adds to a metric of the commit. The caller holds work.mutex.
void AddMetric(TableWork& work, const char* name, uint64_t value);

}  // namespace braid::engine
