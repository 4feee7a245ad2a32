// SPDX-License-Identifier: Apache-2.0
// The MERGE is parsed with an empty query, whose place the user's then takes.
#include "engine/statement/insert_replace.h"

#include <algorithm>

#include "base/ascii.h"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/insert_statement.hpp"
#include "duckdb/parser/statement/merge_into_statement.hpp"
#include "duckdb/parser/statement/select_statement.hpp"
#include "duckdb/parser/tableref/joinref.hpp"
#include "duckdb/parser/tableref/subqueryref.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/statement/insert_partition.h"
#include "engine/statement/late_binding.h"

namespace braid::engine {

namespace {

const std::string kNew = "\"\x1fnew\"";  // of a row of the query that is to be inserted

std::string Quoted(const std::string& name) { return duckdb::KeywordHelper::WriteQuoted(name, '"'); }

std::string KeyName(size_t i) { return "\"\x1fkey" + std::to_string(i) + "\""; }

duckdb::vector<std::string> NamesOf(duckdb::Binder& binder, const duckdb::InsertStatement& insert) {
	auto query = insert.select_statement->Copy();
	auto inner = duckdb::Binder::CreateBinder(binder.context, &binder);
	return inner->Bind(*query).names;
}

// Which column of the query goes to which of the table.
struct Mapping {
	duckdb::vector<std::string> targets, sources;

	const std::string* SourceOf(const std::string& target) const {
		const auto found = std::ranges::find_if(targets, [&](auto& name) { return SameIgnoringCase(name, target); });
		return found == targets.end() ? nullptr : &sources[static_cast<size_t>(found - targets.begin())];
	}
};

Mapping MapColumns(duckdb::Binder& binder, const duckdb::InsertStatement& insert, const LakeTableEntry& table) {
	Mapping mapping;
	mapping.sources = NamesOf(binder, insert);
	if (insert.column_order == duckdb::InsertColumnOrder::INSERT_BY_NAME) {
		mapping.targets = mapping.sources;
	} else if (!insert.columns.empty()) {
		mapping.targets = insert.columns;
	} else {
		for (auto& column : table.GetColumns().Physical()) mapping.targets.push_back(column.Name());
	}
	if (mapping.targets.size() == mapping.sources.size()) return mapping;
	throw duckdb::BinderException("INSERT INTO %s REPLACE ...: the query has %llu columns for %llu of the table",
								  table.name, mapping.sources.size(), mapping.targets.size());
}

std::string MergeText(const duckdb::InsertStatement& insert, const Mapping& mapping, const RowReplacement& what) {
	const auto target = Quoted(what.target.empty() ? insert.table : what.target);
	const auto source = Quoted(what.source.empty() ? "\x1fquery" : what.source);
	std::string name, keys, on, columns, values;
	for (auto& part : {insert.catalog, insert.schema, insert.table}) {
		if (!part.empty()) name += (name.empty() ? "" : ".") + Quoted(part);
	}
	for (size_t i = 0; i < what.columns.size(); i++) {
		const auto* from = mapping.SourceOf(what.columns[i]);
		if (!from) {
			throw duckdb::BinderException("INSERT INTO %s REPLACE USING (%s): the query has no such column",
										  insert.table, what.columns[i]);
		}
		keys += ", CASE WHEN NOT " + kNew + " THEN " + source + "." + Quoted(*from) + " END AS " + KeyName(i);
		on += (on.empty() ? "" : " AND ") + target + "." + Quoted(what.columns[i]) + " = " + source + "." + KeyName(i);
	}
	if (on.empty()) on = "NOT " + source + "." + kNew + " AND (" + what.condition + ")";
	for (size_t i = 0; i < mapping.targets.size(); i++) {
		columns += (i == 0 ? "" : ", ") + Quoted(mapping.targets[i]);
		values += (i == 0 ? "" : ", ") + source + "." + Quoted(mapping.sources[i]);
	}
	return "MERGE INTO " + name + " AS " + target + " USING (SELECT *" + keys + " FROM (SELECT 1) AS " + source +
		   " CROSS JOIN (VALUES (false), (true)) AS \"\x1fmode\"(" + kNew + ")) AS " + source + " ON " + on +
		   " WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND " + source + "." + kNew + " THEN INSERT (" + columns +
		   ") VALUES (" + values + ")";
}

duckdb::unique_ptr<duckdb::SQLStatement> ToMerge(duckdb::InsertStatement& insert, const Mapping& mapping,
												 const RowReplacement& what) {
	duckdb::Parser parser;
	parser.ParseQuery(MergeText(insert, mapping, what));
	auto merge = std::move(parser.statements[0]);
	auto& source = merge->Cast<duckdb::MergeIntoStatement>().source->Cast<duckdb::SubqueryRef>();
	auto& join = source.subquery->node->Cast<duckdb::SelectNode>().from_table->Cast<duckdb::JoinRef>();
	join.left->Cast<duckdb::SubqueryRef>().subquery = std::move(insert.select_statement);
	merge->Cast<duckdb::MergeIntoStatement>().cte_map = std::move(insert.cte_map);
	return merge;
}

}  // namespace

duckdb::unique_ptr<duckdb::SQLStatement> ReplacingRows(duckdb::unique_ptr<duckdb::SQLStatement> statement,
													   RowReplacement what) {
	return BindLater(std::move(statement), [what = std::move(what)](duckdb::Binder& binder,
																	duckdb::SQLStatement& copy) {
		auto& insert = copy.Cast<duckdb::InsertStatement>();
		auto& table = FindInsertTarget(binder.context, insert);
		if (!insert.select_statement || !insert.returning_list.empty()) {
			throw duckdb::BinderException("INSERT INTO %s REPLACE ... takes a query, and no RETURNING", insert.table);
		}
		const auto mapping = MapColumns(binder, insert, table);
		auto merge = ToMerge(insert, mapping, what);
		return binder.Bind(*merge);
	});
}

}  // namespace braid::engine
