// SPDX-License-Identifier: Apache-2.0
// Values of identity columns (kernel/schema/identity.h). To DuckDB such a column has a default, a function that hands out the next values of the
// transaction: so INSERT, MERGE and DEFAULT take them in their usual ways. The marks go into the commit of the rows.
#pragma once

#include <string>

#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/parser/parsed_expression.hpp"
#include "engine/catalog/transaction.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

void RegisterIdentityFunction(duckdb::ExtensionLoader& loader);
// The default of an identity column of the table in directory `root` of the lake `catalog`.
duckdb::unique_ptr<duckdb::ParsedExpression> IdentityDefault(const std::string& catalog, const std::string& root,
															 const std::string& column);
bool IsIdentityDefault(const duckdb::Expression& expression);
// Whether every row that `plan` delivers has the default in this column.
bool DeliversIdentityDefault(const duckdb::PhysicalOperator& plan, duckdb::idx_t column);

// GENERATED ALWAYS takes no value of the user's.
[[noreturn]] void RefuseIdentityValue(const std::string& table, const std::string& column);
[[noreturn]] void RefuseIdentityUpdate(const std::string& table, const std::string& column);

// When the transaction commits: if it has generated values, its metadata says up to where.
void StageIdentityMarks(TableWork& work);

}  // namespace braid::engine
