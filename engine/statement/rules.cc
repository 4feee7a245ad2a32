// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/rules.h"

#include "engine/statement/create_table_spelling.h"

namespace braid::engine {

std::span<const StatementRule> StatementRules() {
	static const StatementRule rules[] = {
		{"CREATE", {"TBLPROPERTIES", "DELTA"}, RespellCreateTable},
	};
	return rules;
}

}  // namespace braid::engine
