// SPDX-License-Identifier: Apache-2.0
// parquet_schema lists the nodes of a file from the root down, each with the number of its children.
#include "engine/maintenance/dropped_columns.h"

#include <algorithm>
#include <map>
#include <vector>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/io/error_translation.h"
#include "engine/io/nested_session.h"
#include "kernel/log/log_path.h"

namespace braid::engine {

namespace {

constexpr size_t kFilesPerQuery = 500;

struct Node {
	std::string name;
	int64_t children = 0;
};
using Nodes = std::vector<Node>;

// Behind the node and everything below it.
size_t Behind(const Nodes& nodes, size_t at) {
	size_t next = at + 1;
	for (int64_t i = 0; i < nodes[at].children && next < nodes.size(); i++) next = Behind(nodes, next);
	return next;
}

// Whether the group at `at` has a member that the type has not. Lists and maps are groups of one repeated group.
bool HoldsMore(const Nodes& nodes, size_t at, const DataType& type, ColumnMappingMode mapping,
			   const std::vector<std::string>& hidden) {
	size_t child = at + 1;
	if (type.kind == TypeKind::kArray || type.kind == TypeKind::kMap) {
		if (nodes[at].children != 1 || child >= nodes.size()) return false;
		const DataType* members[] = {type.kind == TypeKind::kMap ? type.key.get() : type.element.get(),
									 type.element.get()};
		const auto count = nodes[child++].children;
		for (int64_t i = 0; i < std::min<int64_t>(count, 2) && child < nodes.size();
			 i++, child = Behind(nodes, child)) {
			if (HoldsMore(nodes, child, *members[i], mapping, {})) return true;
		}
		return false;
	}
	if (type.kind != TypeKind::kStruct) return false;
	for (int64_t i = 0; i < nodes[at].children && child < nodes.size(); i++, child = Behind(nodes, child)) {
		const auto& name = nodes[child].name;
		if (std::ranges::find(hidden, name) != hidden.end()) continue;
		const auto field =
			std::ranges::find_if(type.fields, [&](const Field& f) { return PhysicalName(f, mapping) == name; });
		if (field == type.fields.end() || HoldsMore(nodes, child, *field->type, mapping, {})) return true;
	}
	return false;
}

std::map<std::string, Nodes> SchemasOf(NestedSession& session, std::span<const std::string> locations) {
	std::map<std::string, Nodes> schemas;
	Unwrap(session.Stream(
		"SELECT file_name, name, coalesce(num_children, 0) FROM parquet_schema(" + SqlTextList(locations) + ")",
		"read footers of Parquet files", [&](duckdb::DataChunk& chunk) -> Status {
			for (duckdb::idx_t i = 0; i < chunk.size(); i++) {
				schemas[chunk.GetValue(0, i).ToString()].push_back(
					{chunk.GetValue(1, i).ToString(), chunk.GetValue(2, i).GetValue<int64_t>()});
			}
			return {};
		}));
	return schemas;
}

}  // namespace

PathSet FilesWithDroppedColumns(duckdb::ClientContext& context, TableHandle& table, const Snapshot& view,
								std::span<const LiveFile* const> files) {
	PathSet found;
	if (view.column_mapping == ColumnMappingMode::kNone) return found;
	// Columns of row ids are in no schema (PROTOCOL: Row Tracking).
	std::vector<std::string> hidden;
	for (const char* key : {"delta.rowTracking.materializedRowIdColumnName",
							"delta.rowTracking.materializedRowCommitVersionColumnName"}) {
		const auto name = view.metadata.configuration.find(key);
		if (name != view.metadata.configuration.end()) hidden.push_back(name->second);
	}
	NestedSession session(*context.db);
	for (size_t first = 0; first < files.size(); first += kFilesPerQuery) {
		const auto batch = files.subspan(first, std::min(kFilesPerQuery, files.size() - first));
		std::vector<std::string> locations;
		for (const auto* file : batch) locations.push_back(table.store().Location(StorePath(file->path)));
		const auto schemas = SchemasOf(session, locations);
		for (size_t i = 0; i < batch.size(); i++) {
			const auto nodes = schemas.find(locations[i]);
			if (nodes != schemas.end() && HoldsMore(nodes->second, 0, *view.schema, view.column_mapping, hidden))
				found.emplace(batch[i]->path);
		}
	}
	return found;
}

}  // namespace braid::engine
