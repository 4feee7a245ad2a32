// SPDX-License-Identifier: Apache-2.0
// What the conditions of a statement hold that `strict` does not judge by rows (kernel/txn/read_set.h): found in the plan as the binder left it,
// because the optimizer turns sub-queries into joins and folds what is constant. Every scan of a lake's table in the statement is told, and
// tells the transaction when it is executed (EXPLAIN and PREPARE read nothing).
#pragma once

#include "duckdb/main/config.hpp"
#include "duckdb/planner/expression.hpp"
#include "kernel/txn/read_set.h"

namespace braid::engine {

// Of one condition without sub-queries.
ConditionTraits TraitsOf(const duckdb::Expression& condition);

void RegisterConditionTraits(duckdb::DBConfig& config);

}  // namespace braid::engine
