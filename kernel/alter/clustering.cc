// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/clustering.h"

#include <algorithm>

#include "base/json.h"
#include "base/padded_json.h"
#include "kernel/alter/columns.h"
#include "simdjson.h"

namespace braid {

namespace {

constexpr size_t kMostColumns = 4;  // as Spark

std::unexpected<Error> Unreadable(const std::string& table) {
	return Fail(ErrorKind::kCorrupt, "table " + table + ": its domain delta.clustering is unreadable");
}

Result<std::vector<ColumnPath>> ParsePaths(const std::string& table, const std::string& configuration) {
	simdjson::dom::parser parser;
	simdjson::dom::element root;
	simdjson::dom::array columns;
	const simdjson::padded_string padded(configuration);
	if (parser.parse(padded).get(root) || root["clusteringColumns"].get(columns)) return Unreadable(table);
	std::vector<ColumnPath> paths;
	for (const auto& column : columns) {
		std::string_view name;
		simdjson::dom::array parts;
		if (!column.get(name)) {
			paths.push_back({std::string(name)});
			continue;
		}
		if (column.get(parts)) return Unreadable(table);
		ColumnPath& path = paths.emplace_back();
		for (const auto& part : parts) {
			if (part.get(name)) return Unreadable(table);
			path.emplace_back(name);
		}
	}
	return paths;
}

Result<std::vector<ColumnPath>> LogicalPaths(const std::string& table, const DomainMetadata* domain,
											 const StructType& schema, ColumnMappingMode mode) {
	if (domain == nullptr || domain->removed) return std::vector<ColumnPath> {};
	BRAID_TRY(std::vector<ColumnPath> paths, ParsePaths(table, domain->configuration));
	for (ColumnPath& path : paths) path = LogicalPath(std::move(path), schema, mode);
	return paths;
}

const DomainMetadata* DomainOf(const Snapshot& table) {
	const auto domain = table.domains.find(kClusteringDomain);
	return domain == table.domains.end() ? nullptr : &domain->second;
}

bool CanCluster(const DataType& type) {
	return !IsNested(type.kind) && type.kind != TypeKind::kBoolean && type.kind != TypeKind::kBinary &&
		   type.kind != TypeKind::kVariant && type.kind != TypeKind::kVoid;
}

std::string Text(const std::vector<ColumnPath>& columns) {
	std::string text;
	for (const ColumnPath& column : columns) text += (text.empty() ? "" : ",") + ToString(column);
	return text;
}

}  // namespace

Result<std::vector<ColumnPath>> ClusteringColumns(const Snapshot& table) {
	return LogicalPaths(table.table, DomainOf(table), *table.schema, table.column_mapping);
}

Result<std::vector<ColumnPath>> ClusteringColumns(const TableDraft& draft) {
	const DomainMetadata* domain = DomainOf(*draft.before);
	for (const DomainMetadata& changed : draft.domains) {
		if (changed.domain == kClusteringDomain) domain = &changed;
	}
	BRAID_TRY(const ColumnMappingMode mode,
			  ParseColumnMappingMode(PropertyOf(draft.metadata, "delta.columnMapping.mode")));
	return LogicalPaths(draft.before->table, domain, *draft.schema, mode);
}

Status ClusterBy(TableDraft& draft, std::vector<ColumnPath> columns) {
	const std::string& table = draft.before->table;
	BRAID_TRY(const std::vector<ColumnPath> old, ClusteringColumns(draft));
	if (!draft.metadata.partition_columns.empty() && !columns.empty()) {
		return Fail(ErrorKind::kUnsupported, "table " + table + " is partitioned and cannot be clustered as well");
	}
	if (columns.size() > kMostColumns) {
		return Fail(ErrorKind::kInvalidArgument,
					"CLUSTER BY of table " + table + ": at most " + std::to_string(kMostColumns) + " columns");
	}
	BRAID_TRY(const ColumnMappingMode mode,
			  ParseColumnMappingMode(PropertyOf(draft.metadata, "delta.columnMapping.mode")));
	std::string json = "{\"clusteringColumns\":[";
	std::vector<ColumnPath> seen;
	for (ColumnPath& column : columns) {
		const Field* field = FindColumn(*draft.schema, column);
		if (field == nullptr) {
			return Fail(ErrorKind::kNotFound,
						"CLUSTER BY (" + ToString(column) + "): no such column in table " + table);
		}
		if (std::ranges::find(seen, column) != seen.end()) {
			return Fail(ErrorKind::kInvalidArgument, "CLUSTER BY names " + ToString(column) + " twice");
		}
		if (!CanCluster(*field->type)) {
			return Fail(ErrorKind::kUnsupported, "CLUSTER BY (" + ToString(column) + "): a column of type " +
													 ToString(*field->type) + " has no bounds to cluster by");
		}
		seen.push_back(column);
		json += json.ends_with('[') ? "[" : ",[";
		const DataType* type = draft.schema.get();
		for (const std::string& name : column) {
			const auto part = std::ranges::find_if(type->fields, [&](auto& f) { return f.name == name; });
			json += (json.ends_with('[') ? "" : ",") + JsonString(PhysicalName(*part, mode));
			type = part->type.get();
		}
		json += ']';
	}
	std::erase_if(draft.domains, [](auto& domain) { return domain.domain == kClusteringDomain; });
	draft.domains.push_back({kClusteringDomain, json + "]}", false});
	draft.features.insert("clustering");
	draft.operation = "CLUSTER BY";
	draft.parameters["oldClusteringColumns"] = JsonString(Text(old));
	draft.parameters["newClusteringColumns"] = JsonString(Text(columns));
	return {};
}

}  // namespace braid
