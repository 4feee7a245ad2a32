// SPDX-License-Identifier: Apache-2.0
// Walks bound casts; a cast of a nested type holds the casts of its children.
#include "engine/scan/instant_cast.h"

#include "duckdb/function/cast/bound_cast_data.hpp"
#include "duckdb/function/cast/default_casts.hpp"
#include "duckdb/planner/expression/bound_cast_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::LogicalTypeId;

bool IsInstant(const LogicalType& type) {
	return type.id() == LogicalTypeId::TIMESTAMP || type.id() == LogicalTypeId::TIMESTAMP_TZ;
}

void Fix(duckdb::BoundCastInfo& cast, const LogicalType& source, const LogicalType& target) {
	if (IsInstant(source) && IsInstant(target)) {
		cast.function = duckdb::DefaultCasts::ReinterpretCast;
		cast.init_local_state = nullptr;
		cast.cast_data = nullptr;
		return;
	}
	if (!cast.cast_data || source.id() != target.id()) return;
	switch (source.id()) {
		case LogicalTypeId::STRUCT: {
			auto& fields = cast.cast_data->Cast<duckdb::StructBoundCastData>();
			for (size_t i = 0; i < fields.child_cast_info.size(); ++i) {
				Fix(fields.child_cast_info[i], duckdb::StructType::GetChildType(source, fields.source_indexes[i]),
					duckdb::StructType::GetChildType(target, fields.target_indexes[i]));
			}
			break;
		}
		case LogicalTypeId::LIST:
		case LogicalTypeId::MAP:  // cast as the list of structs that it is (trap 45)
			Fix(cast.cast_data->Cast<duckdb::ListBoundCastData>().child_cast_info,
				duckdb::ListType::GetChildType(source), duckdb::ListType::GetChildType(target));
			break;
		default:
			break;
	}
}

}  // namespace

void KeepInstants(duckdb::unique_ptr<duckdb::Expression>& expression) {
	duckdb::ExpressionIterator::EnumerateChildren(*expression, KeepInstants);
	if (expression->GetExpressionClass() != duckdb::ExpressionClass::BOUND_CAST) return;
	auto& cast = expression->Cast<duckdb::BoundCastExpression>();
	Fix(cast.bound_cast, cast.child->return_type, cast.return_type);
}

}  // namespace braid::engine
