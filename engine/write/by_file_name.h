// SPDX-License-Identifier: Apache-2.0
// What is known of the file of each row of a chunk: rows of one file mostly come together, so it is looked up when the name changes only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "duckdb/common/types/vector.hpp"

namespace braid::engine {

// `names` as a scan reports them; they outlive the answer, which is to be asked from row 0 on.
template <class Value>
std::function<Value(duckdb::idx_t row)> ByFileName(duckdb::Vector& names, duckdb::idx_t count,
												   std::function<Value(const std::string& name)> look_up) {
	auto format = std::make_shared<duckdb::UnifiedVectorFormat>();
	names.ToUnifiedFormat(count, *format);
	duckdb::optional_idx known;  // where in the vector the last name stands
	return [format, look_up = std::move(look_up), known, value = Value()](duckdb::idx_t row) mutable {
		auto name = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(*format);
		const auto at = format->sel->get_index(row);
		if (!known.IsValid() || (at != known.GetIndex() && name[at] != name[known.GetIndex()]))
			value = look_up(name[at].GetString());
		known = at;
		return value;
	};
}

}  // namespace braid::engine
