// SPDX-License-Identifier: Apache-2.0
// The rows that INSERT OVERWRITE and INSERT ... REPLACE WHERE take away: all of them, those of the partitions that get new rows
// (braid_partition_overwrite_mode = 'dynamic'), or those that satisfy a condition, which every new row must satisfy too.
#pragma once

#include <memory>
#include <vector>

#include "engine/catalog/transaction.h"
#include "engine/write/insert_mode.h"
#include "engine/write/table_expression.h"

namespace braid::engine {

class Replacement {
public:
	// Binds the condition. Needs an active transaction.
	Replacement(duckdb::ClientContext& context, const SnapshotPtr& view, const InsertMode& mode);

	// Throws a ConstraintException if a new row does not satisfy the condition. Any thread.
	void CheckNew(duckdb::ClientContext& context, duckdb::DataChunk& rows) const;
	// Stages what goes, before `files` are staged; what was looked for enters the read set.
	void Stage(duckdb::ClientContext& context, TableWork& work, const std::vector<NewFile>& files) const;

private:
	void StageAll(TableWork& work) const;
	void StagePartitions(TableWork& work, const std::vector<NewFile>& files) const;
	void StageMatches(duckdb::ClientContext& context, TableWork& work) const;

	SnapshotPtr view_;
	InsertMode mode_;
	bool partitions_ = false;
	duckdb::unique_ptr<duckdb::Expression> condition_;
};

}  // namespace braid::engine
