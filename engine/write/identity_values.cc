// SPDX-License-Identifier: Apache-2.0
// Threads take values chunk by chunk, under the mutex of the table's work.
#include "engine/write/identity_values.h"

#include <algorithm>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/common/exception.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/execution/operator/projection/physical_projection.hpp"
#include "duckdb/execution/operator/scan/physical_expression_scan.hpp"
#include "duckdb/function/scalar_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/planner/expression/bound_cast_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/io/error_translation.h"
#include "kernel/schema/schema_json.h"

namespace braid::engine {

namespace {

constexpr auto kFunction = "braid_next_identity";

struct IdentityData : duckdb::FunctionData {
	std::string catalog, root, column;

	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<IdentityData>(*this); }
	bool Equals(const FunctionData& other_p) const override {
		auto& other = other_p.Cast<IdentityData>();
		return catalog == other.catalog && root == other.root && column == other.column;
	}
};

struct IdentityState : duckdb::FunctionLocalState {
	explicit IdentityState(TableWork& work_p) : work(work_p) {}
	TableWork& work;
};

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext& context, duckdb::ScalarFunction&,
											  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& arguments) {
	auto data = duckdb::make_uniq<IdentityData>();
	std::string* parts[] = {&data->catalog, &data->root, &data->column};
	for (size_t i = 0; i < 3; i++) {
		*parts[i] = duckdb::ExpressionExecutor::EvaluateScalar(context, *arguments[i]).ToString();
	}
	return data;
}

duckdb::unique_ptr<duckdb::FunctionLocalState> StartThread(duckdb::ExpressionState& state,
														   const duckdb::BoundFunctionExpression&,
														   duckdb::FunctionData* bind) {
	auto& data = bind->Cast<IdentityData>();
	auto& context = state.GetContext();
	auto& catalog = duckdb::Catalog::GetCatalog(context, data.catalog);
	if (catalog.GetCatalogType() == "braid") {
		if (auto* work = LakeTransaction::Get(context, catalog).Find(data.root))
			return duckdb::make_uniq<IdentityState>(*work);
	}
	throw duckdb::InvalidInputException("%s: %s is no table that this transaction works on", kFunction, data.root);
}

Identity& CounterOf(TableWork& work, const std::string& column) {
	const auto known = work.identities.find(column);
	if (known != work.identities.end()) return known->second;
	auto& fields = work.view->schema->fields;
	const auto field = std::ranges::find(fields, column, &Field::name);
	const auto identity = field == fields.end() ? std::nullopt : IdentityOf(*field);
	if (!identity)
		throw duckdb::InvalidInputException("Table %s has no identity column \"%s\"", work.table->root(), column);
	return work.identities.emplace(column, *identity).first->second;
}

void Next(duckdb::DataChunk& rows, duckdb::ExpressionState& state, duckdb::Vector& result) {
	auto& function = state.expr.Cast<duckdb::BoundFunctionExpression>();
	auto& column = function.bind_info->Cast<IdentityData>().column;
	auto& work = duckdb::ExecuteFunctionState::GetFunctionState(state)->Cast<IdentityState>().work;
	result.SetVectorType(duckdb::VectorType::FLAT_VECTOR);
	if (rows.size() == 0) return;
	int64_t value = 0, step = 0;
	{
		std::lock_guard guard(work.mutex);
		auto& counter = CounterOf(work, column);
		step = counter.step;
		auto first = TakeIdentities(counter, rows.size());
		if (!first) {
			throw duckdb::OutOfRangeException("Column \"%s\" of table %s: %s", column, work.table->root(),
											  first.error().message);
		}
		value = *first;
	}
	auto values = duckdb::FlatVector::GetData<int64_t>(result);
	for (duckdb::idx_t row = 0; row < rows.size(); row++) {
		values[row] = value;
		if (row + 1 < rows.size()) value += step;
	}
}

}  // namespace

void RegisterIdentityFunction(duckdb::ExtensionLoader& loader) {
	using duckdb::LogicalType;
	duckdb::ScalarFunction function(kFunction, {LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::VARCHAR},
									LogicalType::BIGINT, Next, Bind);
	function.SetInitStateCallback(StartThread);
	function.SetVolatile();
	loader.RegisterFunction(function);
}

duckdb::unique_ptr<duckdb::ParsedExpression> IdentityDefault(const std::string& catalog, const std::string& root,
															 const std::string& column) {
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
	for (auto& text : {catalog, root, column})
		arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(text)));
	return duckdb::make_uniq<duckdb::FunctionExpression>(kFunction, std::move(arguments));
}

bool IsIdentityDefault(const duckdb::Expression& expression) {
	if (expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_CAST)
		return IsIdentityDefault(*expression.Cast<duckdb::BoundCastExpression>().child);
	return expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_FUNCTION &&
		   expression.Cast<duckdb::BoundFunctionExpression>().function.name == kFunction;
}

bool DeliversIdentityDefault(const duckdb::PhysicalOperator& plan, duckdb::idx_t column) {
	if (plan.type == duckdb::PhysicalOperatorType::PROJECTION) {
		auto* value = plan.Cast<duckdb::PhysicalProjection>().select_list[column].get();
		while (value->GetExpressionClass() == duckdb::ExpressionClass::BOUND_CAST)
			value = value->Cast<duckdb::BoundCastExpression>().child.get();
		if (value->GetExpressionClass() == duckdb::ExpressionClass::BOUND_REF) {
			return DeliversIdentityDefault(plan.children[0].get(),
										   value->Cast<duckdb::BoundReferenceExpression>().index);
		}
		return IsIdentityDefault(*value);
	}
	if (plan.type != duckdb::PhysicalOperatorType::EXPRESSION_SCAN) return false;
	return std::ranges::all_of(plan.Cast<duckdb::PhysicalExpressionScan>().expressions,
							   [&](auto& row) { return IsIdentityDefault(*row[column]); });
}

void RefuseIdentityValue(const std::string& table, const std::string& column) {
	throw duckdb::BinderException(
		"[DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED] column \"%s\" of table %s is GENERATED ALWAYS AS "
		"IDENTITY and takes no values: leave it out, or say DEFAULT. SQLSTATE: 42808",
		column, table);
}

void RefuseIdentityUpdate(const std::string& table, const std::string& column) {
	throw duckdb::BinderException(
		"[DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED] column \"%s\" of table %s is an identity column and cannot be "
		"updated: delete the row and insert it anew. SQLSTATE: 42808",
		column, table);
}

void StageIdentityMarks(TableWork& work) {
	auto& changes = work.work.changes;
	if (work.identities.empty() || changes.empty()) return;
	std::map<std::string, int64_t> marks;
	for (auto& [column, identity] : work.identities) marks.emplace(column, *identity.mark);
	changes.moves_only_identity_marks = !changes.metadata;
	if (!changes.metadata) changes.metadata = work.work.base->metadata;
	changes.metadata->schema_string = WriteSchema(*WithIdentityMarks(*work.view->schema, marks));
}

}  // namespace braid::engine
