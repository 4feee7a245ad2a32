// SPDX-License-Identifier: Apache-2.0
// ALTER TABLE and COMMENT ON: DuckDB's own statements as changes of a TableDraft (kernel/alter), and the way by which every such change is
// staged: rows that are there are checked against new demands, then metadata and protocol wait for the commit. One statement is one Delta
// commit. Guarantees: a statement that fails stages nothing.
#pragma once

#include <functional>
#include <memory>

#include "duckdb/parser/parsed_data/alter_info.hpp"
#include "engine/catalog/catalog.h"
#include "kernel/alter/table_draft.h"

namespace braid::engine {

// `change` works on the draft and throws what it refuses.
void StageAlteration(duckdb::ClientContext& context, LakeCatalog& lake, const std::shared_ptr<TableHandle>& table,
					 const std::function<void(TableDraft&)>& change);

// What SchemaCatalogEntry::Alter is given, but for RENAME TO.
void AlterTable(duckdb::ClientContext& context, LakeCatalog& lake, const std::shared_ptr<TableHandle>& table,
				duckdb::AlterInfo& info);

}  // namespace braid::engine
