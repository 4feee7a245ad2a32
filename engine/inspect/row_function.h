// SPDX-License-Identifier: Apache-2.0
// Table functions that tell something about one table, row by row: name('t') with fixed columns. The table is looked up when the function runs,
// so that a prepared statement sees it as it is then. Rows come in chunks that grow: a LIMIT costs little more than its rows.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/common/types/value.hpp"
#include "duckdb/main/client_context.hpp"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

class RowSource {
public:
	virtual ~RowSource() = default;
	// Sets the next row's values, which are NULL before; false if there is none. `wanted`: the columns that anyone looks at.
	virtual bool Next(const std::vector<bool>& wanted, std::vector<duckdb::Value>& row) = 0;
};

struct RowFunction {
	std::string name;
	std::vector<std::pair<std::string, duckdb::LogicalType>> columns;
	std::unique_ptr<RowSource> (*open)(duckdb::ClientContext& context, const std::string& table);
};

void RegisterRowFunction(duckdb::ExtensionLoader& loader, RowFunction function);

// MAP(VARCHAR, VARCHAR); the second for any range of pairs of text and Value.
duckdb::LogicalType TextMap();
template <class Entries, class ToValue>
duckdb::Value MapValue(const Entries& entries, const duckdb::LogicalType& value_type, ToValue to_value) {
	duckdb::vector<duckdb::Value> keys, values;
	for (const auto& [key, value] : entries) {
		keys.emplace_back(key);
		values.push_back(to_value(value));
	}
	return duckdb::Value::MAP(duckdb::LogicalType::VARCHAR, value_type, std::move(keys), std::move(values));
}
// NULL if absent.
template <class Text>
duckdb::Value OptionalValue(const Text& text) {
	return text ? duckdb::Value(*text) : duckdb::Value();
}
duckdb::Value InstantValue(int64_t ms);

}  // namespace braid::engine
