// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/partition_key.h"

#include "base/json.h"
#include "kernel/action/string_map.h"
#include "kernel/predicate/scalar.h"
#include "kernel/schema/column_mapping.h"

namespace braid {

std::string PartitionKey(const PartitionValues& values, const Snapshot& table) {
	std::string key;
	for (const Field& field : table.schema->fields) {
		const auto value = values.find(PhysicalName(field, table.column_mapping));
		if (value == values.end()) continue;
		const auto scalar = ParsePartitionValue(value->second, *field.type);
		const bool null = scalar ? scalar->is_null() : !value->second;
		key += null ? "null," : JsonString(scalar ? ToText(*scalar) : *value->second) + ",";
	}
	return key;
}

std::string PartitionKey(std::string_view partition_values_json, const Snapshot& table) {
	const auto values = ParseStringMap(partition_values_json);
	return values ? PartitionKey(*values, table) : std::string(partition_values_json);
}

const std::string& PartitionKeys::Of(const LiveFile& file) {
	const auto [entry, fresh] = keys_.try_emplace(file.partition_values);
	if (fresh) entry->second = PartitionKey(file.partition_values, table_);
	return entry->second;
}

}  // namespace braid
