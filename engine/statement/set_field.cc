// SPDX-License-Identifier: Apache-2.0
// Bound as struct_pack over the fields, so that nothing is left of the function when the statement runs.
#include "base/ascii.h"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/function/scalar_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/planner/expression/bound_cast_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "engine/statement/assignments.h"

namespace braid::engine {

namespace {

using ExpressionPtr = duckdb::unique_ptr<duckdb::Expression>;
using Expressions = duckdb::vector<ExpressionPtr>;

ExpressionPtr Call(duckdb::ClientContext& context, const std::string& function, Expressions arguments) {
	duckdb::ErrorData error;
	duckdb::FunctionBinder binder(context);
	auto call = binder.BindScalarFunction(DEFAULT_SCHEMA, function, std::move(arguments), error);
	if (!call) error.Throw();
	return call;
}

ExpressionPtr FieldOf(duckdb::ClientContext& context, const duckdb::Expression& whole, const std::string& name) {
	Expressions arguments;
	arguments.push_back(whole.Copy());
	arguments.push_back(duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value(name)));
	return Call(context, "struct_extract", std::move(arguments));
}

ExpressionPtr WithField(duckdb::ClientContext& context, const duckdb::Expression& whole,
						const std::vector<std::string>& path, size_t depth, ExpressionPtr value) {
	auto& type = whole.return_type;
	if (depth == path.size()) return duckdb::BoundCastExpression::AddCastToType(context, std::move(value), type);
	if (type.id() != duckdb::LogicalTypeId::STRUCT) {
		throw duckdb::BinderException("SET ... .%s = ...: what it is a field of has type %s, which is no struct",
									  path[depth], type.ToString());
	}
	Expressions fields;
	bool found = false;
	for (auto& [name, field_type] : duckdb::StructType::GetChildTypes(type)) {
		auto field = FieldOf(context, whole, name);
		if (SameIgnoringCase(name, path[depth])) {
			found = true;
			field = WithField(context, *field, path, depth + 1, std::move(value));
		}
		field->SetAlias(name);
		fields.push_back(std::move(field));
	}
	if (!found) {
		throw duckdb::BinderException("SET ... .%s = ...: there is no such field in %s", path[depth], type.ToString());
	}
	return Call(context, "struct_pack", std::move(fields));
}

ExpressionPtr BindSetField(duckdb::FunctionBindExpressionInput& input) {
	std::vector<std::string> path;
	const auto names = duckdb::ExpressionExecutor::EvaluateScalar(input.context, *input.children[1]);
	for (auto& name : duckdb::ListValue::GetChildren(names)) path.push_back(duckdb::StringValue::Get(name));
	return WithField(input.context, *input.children[0], path, 0, std::move(input.children[2]));
}

void Never(duckdb::DataChunk&, duckdb::ExpressionState&, duckdb::Vector&) {
	throw duckdb::InternalException("braid_set_field was not bound");
}

}  // namespace

void RegisterSetField(duckdb::ExtensionLoader& loader) {
	using duckdb::LogicalType;
	duckdb::ScalarFunction function("braid_set_field",
									{LogicalType::ANY, LogicalType::LIST(LogicalType::VARCHAR), LogicalType::ANY},
									LogicalType::ANY, Never);
	function.SetBindExpressionCallback(BindSetField);
	function.SetNullHandling(duckdb::FunctionNullHandling::SPECIAL_HANDLING);
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
