// SPDX-License-Identifier: Apache-2.0
// From the statement down to the scan of its target, join by join.
#include "engine/write/join_keys.h"

#include <algorithm>
#include <optional>

#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/execution/operator/join/join_filter_pushdown.hpp"
#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_create_table.hpp"
#include "duckdb/planner/operator/logical_delete.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_insert.hpp"
#include "duckdb/planner/operator/logical_merge_into.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_update.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/scan/scan_function.h"
#include "engine/write/key_capture.h"
#include "engine/write/target_scan.h"

namespace braid::engine {

namespace {

using duckdb::BoundColumnRefExpression;
using duckdb::Expression;
using duckdb::JoinType;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;
using ExpressionPtr = duckdb::unique_ptr<Expression>;
using Expressions = duckdb::vector<ExpressionPtr>;

const BoundColumnRefExpression* AsReference(const Expression& expression) {
	if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return nullptr;
	return &expression.Cast<BoundColumnRefExpression>();
}

bool OfLake(duckdb::TableCatalogEntry& entry) { return entry.ParentCatalog().GetCatalogType() == "braid"; }

struct Statement {
	LogicalOperator* op = nullptr;
	const LakeTableEntry* table = nullptr;
	const Expression* row_id = nullptr;  // over the columns of its child, or in the child if that is the projection
};

std::optional<Statement> AsStatement(LogicalOperator& op) {
	Statement statement {&op};
	duckdb::TableCatalogEntry* entry = nullptr;
	switch (op.type) {
		case LogicalOperatorType::LOGICAL_MERGE_INTO: {
			auto& merge = op.Cast<duckdb::LogicalMergeInto>();
			entry = &merge.table;
			// The optimizer leaves nothing of a join whose condition contradicts itself, and nothing is read.
			if (op.children[0]->type != LogicalOperatorType::LOGICAL_PROJECTION) return std::nullopt;
			statement.row_id = op.children[0]->expressions[merge.row_id_start].get();
			break;
		}
		case LogicalOperatorType::LOGICAL_UPDATE:
			entry = &op.Cast<duckdb::LogicalUpdate>().table;
			// Row ids are the last two columns of the child (engine/write/plan_update.cc).
			if (op.children[0]->type != LogicalOperatorType::LOGICAL_PROJECTION) return std::nullopt;
			statement.row_id = op.children[0]->expressions.back().get();
			break;
		case LogicalOperatorType::LOGICAL_DELETE:
			entry = &op.Cast<duckdb::LogicalDelete>().table;
			statement.row_id = op.expressions[0].get();
			break;
		default:
			return std::nullopt;
	}
	if (!OfLake(*entry)) return std::nullopt;
	statement.table = &entry->Cast<LakeTableEntry>();
	return statement;
}

// The operators from `op` down to the scan that delivers this column; empty if it is not simply passed on.
bool PathToScan(LogicalOperator& op, duckdb::ColumnBinding column, std::vector<LogicalOperator*>& path) {
	path.push_back(&op);
	if (op.type == LogicalOperatorType::LOGICAL_GET && op.Cast<duckdb::LogicalGet>().table_index == column.table_index)
		return true;
	if (op.type == LogicalOperatorType::LOGICAL_PROJECTION &&
		op.Cast<duckdb::LogicalProjection>().table_index == column.table_index) {
		auto* inner = AsReference(*op.expressions[column.column_index]);
		if (inner && PathToScan(*op.children[0], inner->binding, path)) return true;
	} else {
		for (auto& child : op.children) {
			auto bindings = child->GetColumnBindings();
			if (std::ranges::find(bindings, column) == bindings.end()) continue;
			if (PathToScan(*child, column, path)) return true;
		}
	}
	path.pop_back();
	return false;
}

// Rows of the child on this side reach the output only with a match on the other side.
bool NeedsMatch(JoinType type, size_t side) {
	switch (type) {
		case JoinType::INNER:
			return true;
		case JoinType::SEMI:
		case JoinType::RIGHT:
			return side == 0;
		case JoinType::LEFT:
		case JoinType::RIGHT_SEMI:
			return side == 1;
		default:
			return false;
	}
}

// Writes `expression`, over columns of path[from], in columns of the scan at the end of the path.
bool OverScan(ExpressionPtr& expression, const std::vector<LogicalOperator*>& path, size_t from) {
	auto& scan = path.back()->Cast<duckdb::LogicalGet>();
	if (auto* reference = AsReference(*expression)) {
		if (reference->binding.table_index == scan.table_index) return true;
		for (size_t i = from; i < path.size(); i++) {
			if (path[i]->type != LogicalOperatorType::LOGICAL_PROJECTION) continue;
			if (path[i]->Cast<duckdb::LogicalProjection>().table_index != reference->binding.table_index) continue;
			expression = path[i]->expressions[reference->binding.column_index]->Copy();
			return OverScan(expression, path, i + 1);
		}
		return false;
	}
	bool known = true;
	duckdb::ExpressionIterator::EnumerateChildren(
		*expression, [&](ExpressionPtr& child) { known = known && OverScan(child, path, from); });
	return known;
}

struct Keys {
	Expressions of_table;  // over the scan
	Expressions of_other;  // over the other child of the join
	std::vector<bool> null_matches;
};

// A comparison that rows must satisfy to be joined: an expression over this side and one over the other.
struct Equality {
	const Expression* mine;
	const Expression* other;
	bool null_matches;
};

void AddEquality(duckdb::ExpressionType comparison, const Expression& mine, const Expression& other,
				 std::vector<Equality>& equalities) {
	bool equal = comparison == duckdb::ExpressionType::COMPARE_EQUAL;
	if (!equal && comparison != duckdb::ExpressionType::COMPARE_NOT_DISTINCT_FROM) return;
	if (mine.return_type != other.return_type || mine.IsVolatile() || other.IsVolatile()) return;
	equalities.push_back({&mine, &other, !equal});
}

bool IsOver(const Expression& expression, const duckdb::vector<duckdb::ColumnBinding>& bindings) {
	if (auto* reference = AsReference(expression))
		return std::ranges::find(bindings, reference->binding) != bindings.end();
	bool over = true;
	duckdb::ExpressionIterator::EnumerateChildren(
		expression, [&](const Expression& child) { over = over && IsOver(child, bindings); });
	return over;
}

// A condition beside the keys that concerns one side only, in a join that keeps rows of that side, makes it a join on any condition.
void AddConjuncts(const Expression& condition, const duckdb::vector<duckdb::ColumnBinding>& other,
				  std::vector<Equality>& equalities) {
	if (condition.GetExpressionType() == duckdb::ExpressionType::CONJUNCTION_AND) {
		for (auto& child : condition.Cast<duckdb::BoundConjunctionExpression>().children)
			AddConjuncts(*child, other, equalities);
	} else if (condition.GetExpressionClass() == duckdb::ExpressionClass::BOUND_COMPARISON) {
		auto& comparison = condition.Cast<duckdb::BoundComparisonExpression>();
		bool other_is_right = IsOver(*comparison.right, other) && !comparison.right->IsFoldable();
		auto& mine = other_is_right ? *comparison.left : *comparison.right;
		auto& theirs = other_is_right ? *comparison.right : *comparison.left;
		if (!IsOver(theirs, other) || theirs.IsFoldable()) return;
		AddEquality(condition.GetExpressionType(), mine, theirs, equalities);
	}
}

std::vector<Equality> EqualitiesOf(LogicalOperator& join, size_t side) {
	std::vector<Equality> equalities;
	if (join.type == LogicalOperatorType::LOGICAL_ANY_JOIN) {
		AddConjuncts(*join.Cast<duckdb::LogicalAnyJoin>().condition, join.children[1 - side]->GetColumnBindings(),
					 equalities);
		return equalities;
	}
	for (auto& condition : join.Cast<duckdb::LogicalComparisonJoin>().conditions) {
		auto& mine = side == 0 ? condition.left : condition.right;
		auto& other = side == 0 ? condition.right : condition.left;
		AddEquality(condition.comparison, *mine, *other, equalities);
	}
	return equalities;
}

Keys FindKeys(LogicalOperator& join, size_t side, const std::vector<LogicalOperator*>& path, size_t below) {
	Keys keys;
	for (auto& equality : EqualitiesOf(join, side)) {
		auto key = equality.mine->Copy();
		if (!OverScan(key, path, below)) continue;
		keys.of_table.push_back(std::move(key));
		keys.of_other.push_back(equality.other->Copy());
		keys.null_matches.push_back(equality.null_matches);
	}
	return keys;
}

// Whether the source of the MERGE is below `other`: it delivers the mark of a source row.
bool MarksSource(const duckdb::LogicalMergeInto& merge, LogicalOperator& other) {
	if (!merge.source_marker.IsValid()) return false;
	auto* mark = AsReference(*merge.children[0]->expressions[merge.source_marker.GetIndex()]);
	auto bindings = other.GetColumnBindings();
	return mark && std::ranges::find(bindings, mark->binding) != bindings.end();
}

// What makes a row count although it has no key of the source: the conditions of WHEN NOT MATCHED BY SOURCE, over the
// scan. nullopt: any row may count.
std::optional<Expressions> BySourceConditions(const Statement& statement, LogicalOperator& other,
											  const std::vector<LogicalOperator*>& path) {
	if (statement.op->type != LogicalOperatorType::LOGICAL_MERGE_INTO) return std::nullopt;
	auto& merge = statement.op->Cast<duckdb::LogicalMergeInto>();
	auto actions = merge.actions.find(duckdb::MergeActionCondition::WHEN_NOT_MATCHED_BY_SOURCE);
	if (actions == merge.actions.end() || !MarksSource(merge, other)) return std::nullopt;
	Expressions conditions;
	std::vector<LogicalOperator*> whole_path {statement.op->children[0].get()};
	whole_path.insert(whole_path.end(), path.begin(), path.end());
	for (auto& action : actions->second) {
		if (!action->condition || action->condition->IsVolatile()) return std::nullopt;
		auto condition = action->condition->Copy();
		if (!OverScan(condition, whole_path, 0)) return std::nullopt;
		conditions.push_back(std::move(condition));
	}
	return conditions;
}

void TellScan(ReadRegistration& registration, const duckdb::LogicalGet& scan, std::shared_ptr<KeySet> set,
			  Expressions keys, Expressions alternatives) {
	auto test = MakeKeyTest(std::move(set), std::move(keys));
	if (!alternatives.empty()) {
		auto choice = duckdb::make_uniq<duckdb::BoundConjunctionExpression>(duckdb::ExpressionType::CONJUNCTION_OR);
		choice->children.push_back(std::move(test));
		for (auto& alternative : alternatives) choice->children.push_back(std::move(alternative));
		test = std::move(choice);
	}
	auto exact = std::make_shared<BoundRowPredicate>();
	auto resolve = [&](const Expression& reference) { return ColumnOfScan(reference, scan); };
	if (!AddConjunct(*exact, *test, resolve)) return;
	std::lock_guard lock(registration.mutex);
	registration.key_tests.push_back(std::move(exact));
}

// Where the target is what the join builds on, its keys would be taken to leave out rows of the other side while they
// are scanned; but they are keys that a row of the table may have tomorrow.
void LetEveryRowPass(LogicalOperator& op, size_t side) {
	if (op.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN) return;
	auto& pushdown = op.Cast<duckdb::LogicalComparisonJoin>().filter_pushdown;
	if (side == 1 && pushdown) pushdown->probe_info.clear();
}

void Capture(const Statement& statement, const std::vector<LogicalOperator*>& path, size_t at, size_t side,
			 ReadRegistration& registration, bool whole_source) {
	auto& op = *path[at];
	Keys keys;
	std::optional<Expressions> alternatives;
	if (op.type != LogicalOperatorType::LOGICAL_CROSS_PRODUCT) {
		if (NeedsMatch(op.Cast<duckdb::LogicalJoin>().join_type, side)) {
			alternatives = Expressions();
		} else if (whole_source) {
			alternatives = BySourceConditions(statement, *op.children[1 - side], path);
		}
		if (alternatives) keys = FindKeys(op, side, path, at + 1);
	}
	std::shared_ptr<KeySet> set;
	if (!keys.of_table.empty()) {
		duckdb::vector<duckdb::LogicalType> types;
		for (auto& key : keys.of_other) types.push_back(key->return_type);
		set = std::make_shared<KeySet>(std::move(types), std::move(keys.null_matches));
		LetEveryRowPass(op, side);
		TellScan(registration, path.back()->Cast<duckdb::LogicalGet>(), set, std::move(keys.of_table),
				 *std::move(alternatives));
	} else if (!whole_source) {
		return;
	}
	auto& other = op.children[1 - side];
	other =
		duckdb::make_uniq<LogicalKeyCapture>(std::move(other), std::move(keys.of_other), std::move(set), whole_source);
}

bool IsLakeWrite(LogicalOperator& op) {
	switch (op.type) {
		case LogicalOperatorType::LOGICAL_MERGE_INTO:
			return OfLake(op.Cast<duckdb::LogicalMergeInto>().table);
		case LogicalOperatorType::LOGICAL_UPDATE:
			return OfLake(op.Cast<duckdb::LogicalUpdate>().table);
		case LogicalOperatorType::LOGICAL_DELETE:
			return OfLake(op.Cast<duckdb::LogicalDelete>().table);
		case LogicalOperatorType::LOGICAL_INSERT:
			return OfLake(op.Cast<duckdb::LogicalInsert>().table);
		case LogicalOperatorType::LOGICAL_CREATE_TABLE:
			return op.Cast<duckdb::LogicalCreateTable>().schema.catalog.GetCatalogType() == "braid";
		default:
			return std::ranges::any_of(op.children, [](auto& child) { return IsLakeWrite(*child); });
	}
}

// Trap 36.
void NoteWrite(LogicalOperator& op) {
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		auto& scan = op.Cast<duckdb::LogicalGet>();
		auto* registration = RegistrationOf(scan.function, scan.bind_data.get());
		if (registration) registration->of_write = true;
	}
	for (auto& child : op.children) NoteWrite(*child);
}

bool IsJoin(const LogicalOperator& op) {
	return op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN ||
		   op.type == LogicalOperatorType::LOGICAL_ANY_JOIN || op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT;
}

// Among the joins above the target of a MERGE, sub-queries of its clauses included, only the one with the source does.
bool KeepsUnmatched(const LogicalOperator& op) {
	if (op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT) return false;
	auto type = op.Cast<duckdb::LogicalJoin>().join_type;
	return type == JoinType::LEFT || type == JoinType::RIGHT || type == JoinType::OUTER;
}

// The optimizer may have made copies of a scan, which share its registration: what one is asked, another may not be.
size_t CountScans(LogicalOperator& op, const ReadRegistration& registration) {
	size_t count = 0;
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		auto& scan = op.Cast<duckdb::LogicalGet>();
		if (RegistrationOf(scan.function, scan.bind_data.get()) == &registration) count++;
	}
	for (auto& child : op.children) count += CountScans(*child, registration);
	return count;
}

void CaptureKeys(LogicalOperator& root, const Statement& statement) {
	auto* row_id = AsReference(*statement.row_id);
	std::vector<LogicalOperator*> path;
	auto& child = *statement.op->children[0];
	bool in_child = statement.op->type != LogicalOperatorType::LOGICAL_DELETE;
	if (!row_id || !PathToScan(in_child ? *child.children[0] : child, row_id->binding, path)) return;
	auto& scan = path.back()->Cast<duckdb::LogicalGet>();
	auto* registration = RegistrationOf(scan.function, scan.bind_data.get());
	if (!registration || CountScans(root, *registration) != 1) return;
	// The joins that the scan passes, before operators are put between them.
	std::vector<std::pair<size_t, size_t>> joins;  // index into the path, side of the scan
	for (size_t i = 0; i + 1 < path.size(); i++) {
		if (IsJoin(*path[i])) joins.emplace_back(i, path[i]->children[0].get() == path[i + 1] ? 0 : 1);
	}
	bool source_pending = statement.op->type == LogicalOperatorType::LOGICAL_MERGE_INTO;
	for (auto [at, side] : joins) {
		bool of_source = source_pending && (joins.size() == 1 || KeepsUnmatched(*path[at]));
		if (of_source) source_pending = false;
		Capture(statement, path, at, side, *registration, of_source);
	}
}

void Visit(LogicalOperator& root, LogicalOperator& op) {
	if (auto statement = AsStatement(op)) CaptureKeys(root, *statement);
	for (auto& child : op.children) Visit(root, *child);
}

}  // namespace

void RegisterJoinKeys(duckdb::DBConfig& config) {
	duckdb::OptimizerExtension extension;
	extension.pre_optimize_function = [](duckdb::OptimizerExtensionInput&, duckdb::unique_ptr<LogicalOperator>& plan) {
		if (IsLakeWrite(*plan)) NoteWrite(*plan);
	};
	extension.optimize_function = [](duckdb::OptimizerExtensionInput&, duckdb::unique_ptr<LogicalOperator>& plan) {
		Visit(*plan, *plan);
	};
	duckdb::OptimizerExtension::Register(config, std::move(extension));
}

}  // namespace braid::engine
