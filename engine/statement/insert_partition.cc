// SPDX-License-Identifier: Apache-2.0
// The values become further columns of the query, the columns a list of names.
#include "engine/statement/insert_partition.h"

#include <algorithm>

#include "base/ascii.h"
#include "duckdb/catalog/catalog.hpp"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/parser/expression/star_expression.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/select_statement.hpp"
#include "duckdb/parser/tableref/subqueryref.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/settings.h"
#include "engine/statement/late_binding.h"
#include "engine/statement/named_table.h"

namespace braid::engine {

namespace {

const PartitionValue* Find(const std::vector<PartitionValue>& partition, const std::string& column) {
	const auto found = std::ranges::find_if(partition, [&](auto& one) { return SameIgnoringCase(one.column, column); });
	return found == partition.end() ? nullptr : &*found;
}

void CheckNames(const LakeTableEntry& table, const std::vector<PartitionValue>& partition) {
	auto& columns = table.view()->metadata.partition_columns;
	for (auto& one : partition) {
		const bool known = std::ranges::any_of(columns, [&](auto& name) { return SameIgnoringCase(name, one.column); });
		if (known && Find(partition, one.column) == &one) continue;
		std::string all;
		for (auto& name : columns) all += (all.empty() ? "" : ", ") + name;
		throw duckdb::BinderException(
			known ? "INSERT INTO %s PARTITION (...) names \"%s\" twice; the table is partitioned by (%s)"
				  : "INSERT INTO %s PARTITION (...): \"%s\" is no partition column; the table is partitioned by (%s)",
			table.name, one.column, all);
	}
}

// Without a list of columns: those that hold data, then the partition columns without a value.
void NameColumns(duckdb::InsertStatement& insert, const LakeTableEntry& table,
				 const std::vector<PartitionValue>& partition) {
	auto& view = *table.view();
	auto& by = view.metadata.partition_columns;
	for (auto& field : view.schema->fields) {
		if (std::ranges::find(by, field.name) == by.end()) insert.columns.push_back(field.name);
	}
	for (auto& name : by) {
		const auto* one = Find(partition, name);
		if (!one || !one->value) insert.columns.push_back(name);
	}
}

void AddValues(duckdb::InsertStatement& insert, const std::vector<PartitionValue>& partition) {
	auto select = duckdb::make_uniq<duckdb::SelectNode>();
	select->select_list.push_back(duckdb::make_uniq<duckdb::StarExpression>());
	for (auto& one : partition) {
		if (!one.value) continue;
		auto values = duckdb::Parser::ParseExpressionList(*one.value);
		if (values.size() != 1)
			throw duckdb::BinderException("PARTITION (%s = %s): give one value", one.column, *one.value);
		select->select_list.push_back(std::move(values[0]));
		insert.columns.push_back(one.column);
	}
	select->from_table = duckdb::make_uniq<duckdb::SubqueryRef>(std::move(insert.select_statement), "rows");
	insert.select_statement = duckdb::make_uniq<duckdb::SelectStatement>();
	insert.select_statement->node = std::move(select);
}

// The rows that go: those that have the values.
InsertMode Replaced(duckdb::ClientContext& context, const LakeTableEntry& table,
					const std::vector<PartitionValue>& partition) {
	InsertMode mode;
	size_t values = 0;
	for (auto& one : partition) {
		if (!one.value) continue;
		values++;
		const bool null = SameIgnoringCase(*one.value, "NULL");
		mode.predicate += (mode.predicate.empty() ? "" : " AND ") +
						  duckdb::KeywordHelper::WriteQuoted(one.column, '"') +
						  (null ? " IS NULL" : " = " + *one.value);
	}
	const bool whole = values == table.view()->metadata.partition_columns.size();
	return whole || !OverwritesPartitions(context) ? mode : InsertMode {};
}

}  // namespace

const LakeTableEntry& FindInsertTarget(duckdb::ClientContext& context, const duckdb::InsertStatement& insert) {
	auto table =
		FindLakeTable(context, insert.catalog, insert.schema, insert.table, duckdb::OnEntryNotFound::THROW_EXCEPTION);
	if (!table) {
		throw duckdb::BinderException("INSERT INTO %s: it is no table of a lake, and this form needs one",
									  insert.table);
	}
	return *table;
}

duckdb::unique_ptr<duckdb::SQLStatement> IntoPartition(duckdb::unique_ptr<duckdb::SQLStatement> statement,
													   std::vector<PartitionValue> partition, bool overwrite) {
	return BindLater(std::move(statement), [partition = std::move(partition), overwrite](duckdb::Binder& binder,
																						 duckdb::SQLStatement& copy) {
		auto& insert = copy.Cast<duckdb::InsertStatement>();
		auto& table = FindInsertTarget(binder.context, insert);
		CheckNames(table, partition);
		if (!insert.select_statement || insert.column_order == duckdb::InsertColumnOrder::INSERT_BY_NAME) {
			throw duckdb::BinderException("INSERT INTO %s PARTITION (...) takes a query, by position", insert.table);
		}
		if (insert.columns.empty()) NameColumns(insert, table, partition);
		AddValues(insert, partition);
		if (overwrite) insert.table = WithInsertMode(insert.table, Replaced(binder.context, table, partition));
		return binder.Bind(copy);
	});
}

}  // namespace braid::engine
