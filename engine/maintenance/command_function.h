// SPDX-License-Identifier: Apache-2.0
// Table functions behind statements that do something once and answer a few rows (RESTORE, FSCK REPAIR TABLE, ...). What the function names is found
// when the call is bound, anew for each execution; the command runs when it is executed, on one thread, and all its rows are there before the first is handed out.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/function/table_function.hpp"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

using AnswerRows = std::vector<duckdb::vector<duckdb::Value>>;
using Command = std::function<AnswerRows(duckdb::ClientContext& context)>;

struct CommandFunction {
	std::string name;
	duckdb::vector<duckdb::LogicalType> arguments;  // none of them may be NULL
	std::vector<std::pair<std::string, duckdb::LogicalType>> options;
	std::vector<std::pair<std::string, duckdb::LogicalType>> columns;
	Command (*bind)(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) = nullptr;
	duckdb::table_function_bind_replace_t replace = nullptr;  // a call of another function, if it answers one
};

void RegisterCommand(duckdb::ExtensionLoader& loader, CommandFunction function);

}  // namespace braid::engine
