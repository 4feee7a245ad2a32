// SPDX-License-Identifier: Apache-2.0
// TableDraft: the next metadata of a table while a statement works on it. Changes are free functions (columns.h, table_changes.h); finishing
// one gives the snapshot that the table will be, with the protocol that it then needs. Data is never touched.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/environment.h"
#include "kernel/feature/protocol_change.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

using ColumnPath = std::vector<std::string>;  // of struct fields, "element", "key" and "value"

struct TableDraft {
	SnapshotPtr before;
	DataTypePtr schema;
	Metadata metadata;            // but for schema_string
	FeatureSet features;          // asked for, besides those that schema and properties need
	std::string dropped_feature;  // "" if none (drop_feature.h)
	std::vector<DomainMetadata> domains;
	// properties.md 6.4: what the commit says it did. Values are JSON text.
	std::string operation;
	std::map<std::string, std::string> parameters;
};

TableDraft DraftOf(const SnapshotPtr& table);
// The same files under the new metadata and protocol. Refuses what this build could not write to afterwards.
Result<SnapshotPtr> FinishDraft(const TableDraft& draft);

// Column mapping mode `name`, switched on if it is off: the files keep their column names. `statement` wants it; it is refused if the table
// says delta.columnMapping.mode = none.
Status EnsureColumnMapping(TableDraft& draft, const std::string& error_class, const std::string& statement);
void SwitchColumnMappingOn(TableDraft& draft);

std::string ToString(const ColumnPath& path);  // a.b
// {"name":...,"type":...,"nullable":...,"metadata":{...}}, as operationParameters have it.
std::string ColumnJson(const ColumnPath& path, const Field& field);

}  // namespace braid
