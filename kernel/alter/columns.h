// SPDX-License-Identifier: Apache-2.0
// Changes of single columns, also inside structs, arrays and maps. Each names what it refuses: columns that are not there, names that are taken,
// columns that a constraint, a generated column, partitioning or clustering depends on, types that are no widening.
#pragma once

#include <optional>
#include <string>

#include "kernel/alter/table_draft.h"
#include "kernel/schema/identity.h"

namespace braid {

struct ColumnPosition {
	bool first = false;
	std::string after;  // "" and not first: at the end
};

// `parent`: of the struct that gets it; empty for the table.
Status AddColumn(TableDraft& draft, const ColumnPath& parent, Field field, const ColumnPosition& position,
				 Random& random);
Status RenameColumn(TableDraft& draft, const ColumnPath& column, const std::string& name);
Status DropColumn(TableDraft& draft, const ColumnPath& column);
Status MoveColumn(TableDraft& draft, const ColumnPath& column, const ColumnPosition& position);
Status ChangeColumnType(TableDraft& draft, const ColumnPath& column, const DataTypePtr& type);
Status SetColumnNullable(TableDraft& draft, const ColumnPath& column, bool nullable);
// These columns, in this order, and no others: those of the same name stay, with type (widened at most), comment, default and nullability as given.
Status ReplaceColumns(TableDraft& draft, const std::vector<Field>& columns, Random& random);
// A value of the column's metadata as JSON text; nullopt takes it away.
Status SetColumnMetadata(TableDraft& draft, const ColumnPath& column, const std::string& key,
						 const std::optional<std::string>& json);

// SYNC IDENTITY: the mark covers `value`, the most extreme one that is present (nullopt: there is no row).
Status SyncIdentity(TableDraft& draft, const ColumnPath& column, std::optional<int64_t> value);
// Its identity; fails if it has none.
Result<Identity> IdentityToSync(const TableDraft& draft, const ColumnPath& column);

// The column of this name, compared without regard to case, with its path as the schema spells it; nullptr if there is none.
const Field* FindColumn(const StructType& schema, ColumnPath& path);

}  // namespace braid
