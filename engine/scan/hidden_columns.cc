// SPDX-License-Identifier: Apache-2.0
#include "engine/scan/hidden_columns.h"

#include <algorithm>

#include "base/json.h"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "kernel/feature/property_table.h"
#include "kernel/schema/column_mapping.h"

namespace braid::engine {

std::optional<RowIdColumns> RowIdColumnsOf(const Snapshot& view) {
	auto& configuration = view.metadata.configuration;
	if (!PropertyEnabled(configuration, "delta.enableRowTracking")) return std::nullopt;
	auto id = configuration.find("delta.rowTracking.materializedRowIdColumnName");
	auto version = configuration.find("delta.rowTracking.materializedRowCommitVersionColumnName");
	if (id == configuration.end() || version == configuration.end()) return std::nullopt;
	return RowIdColumns {id->second, version->second};
}

// The physical name is known as it is.
SnapshotPtr WithHiddenColumns(const Snapshot& view, const std::vector<std::string>& names) {
	auto wider = std::make_shared<Snapshot>(view);
	auto schema = std::make_shared<DataType>(*view.schema);
	for (auto& name : names) {
		auto type = std::make_shared<DataType>();
		type->kind = TypeKind::kLong;
		Field field;
		field.name = name;
		field.type = std::move(type);
		field.metadata[kPhysicalNameKey] = JsonString(name);
		schema->fields.push_back(std::move(field));
	}
	wider->schema = std::move(schema);
	return wider;
}

duckdb::column_t AddHiddenColumn(duckdb::LogicalGet& get, const std::string& name) {
	auto known = std::ranges::find(get.names, name);
	if (known != get.names.end()) return static_cast<duckdb::column_t>(known - get.names.begin());
	auto type = duckdb::LogicalType::BIGINT;
	duckdb::MultiFileColumnDefinition column(name, type);
	column.identifier = duckdb::Value(name);
	column.default_expression = duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(type));
	auto& data = get.bind_data->Cast<duckdb::MultiFileBindData>();
	data.columns.push_back(column);
	data.reader_bind.schema.push_back(std::move(column));
	data.types.push_back(type);
	data.names.push_back(name);
	get.returned_types.push_back(type);
	get.names.push_back(name);
	return get.names.size() - 1;
}

}  // namespace braid::engine
