// SPDX-License-Identifier: Apache-2.0
#include "kernel/schema/clustering.h"

#include "simdjson.h"

namespace braid {

std::string LogicalPath(const std::vector<std::string>& physical, const StructType& schema, ColumnMappingMode mode) {
	std::string path;
	const StructType* level = &schema;
	for (const std::string& name : physical) {
		const Field* found = nullptr;
		for (size_t i = 0; level != nullptr && i < level->fields.size(); ++i) {
			if (PhysicalName(level->fields[i], mode) == name) found = &level->fields[i];
		}
		if (!path.empty()) path += '.';
		path += found != nullptr ? found->name : name;
		level = found != nullptr && found->type->kind == TypeKind::kStruct ? found->type.get() : nullptr;
	}
	return path;
}

std::vector<std::string> ClusteringColumns(std::string_view configuration, const StructType& schema,
										   ColumnMappingMode mode) {
	std::vector<std::string> columns;
	simdjson::dom::parser parser;
	simdjson::dom::array listed;
	const simdjson::padded_string text(configuration);
	if (parser.parse(text)["clusteringColumns"].get(listed)) return columns;
	for (const auto& entry : listed) {
		simdjson::dom::array names;
		if (entry.get(names)) return {};
		std::vector<std::string> physical;
		for (const auto& name : names) {
			std::string_view piece;
			if (name.get(piece)) return {};
			physical.emplace_back(piece);
		}
		columns.push_back(LogicalPath(physical, schema, mode));
	}
	return columns;
}

}  // namespace braid
