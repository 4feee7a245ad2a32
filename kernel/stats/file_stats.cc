// SPDX-License-Identifier: Apache-2.0
#include "kernel/stats/file_stats.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/excerpt.h"
#include "base/padded_json.h"
#include "kernel/feature/property_table.h"
#include "kernel/stats/stats_reader.h"

namespace braid {
namespace {

constexpr std::string_view kUsualStart = "{\"numRecords\":";

using FieldPath = std::vector<const Field*>;

// Calls visit(path of fields) for every leaf: a field that is no struct. Arrays and maps are leaves, they have null
// counts.
template <class Visit>
void ForEachLeaf(const StructType& type, FieldPath& path, const Visit& visit) {
	for (const Field& field : type.fields) {
		path.push_back(&field);
		if (field.type->kind == TypeKind::kStruct) {
			ForEachLeaf(*field.type, path, visit);
		} else {
			visit(path);
		}
		path.pop_back();
	}
}

std::vector<std::string> PhysicalPath(const FieldPath& path, ColumnMappingMode mode) {
	std::vector<std::string> names;
	for (const Field* field : path) names.push_back(PhysicalName(*field, mode));
	return names;
}

// "a, `b.c`.d" -> {{"a"}, {"b.c", "d"}}.
std::vector<std::vector<std::string>> ParseColumnList(std::string_view text) {
	std::vector<std::vector<std::string>> columns(1, std::vector<std::string>(1));
	bool quoted = false;
	for (size_t i = 0; i < text.size(); i++) {
		const char c = text[i];
		std::string& name = columns.back().back();
		if (c == '`') {
			const bool doubled = quoted && i + 1 < text.size() && text[i + 1] == '`';
			if (doubled) name.push_back(text[i++]);
			if (!doubled) quoted = !quoted;
		} else if (c == ',' && !quoted) {
			columns.emplace_back(1);
		} else if (c == '.' && !quoted) {
			columns.back().emplace_back();
		} else if (c != ' ' || quoted || !name.empty()) {
			name.push_back(c);
		}
	}
	for (auto& column : columns) {
		for (std::string& name : column) name.erase(name.find_last_not_of(' ') + 1);
	}
	return columns;
}

// A named struct stands for all its leaves.
bool IsNamed(const FieldPath& path, const std::vector<std::vector<std::string>>& columns) {
	return std::ranges::any_of(columns, [&](const std::vector<std::string>& column) {
		return column.size() <= path.size() &&
			   std::equal(column.begin(), column.end(), path.begin(), [](const std::string& name, const Field* field) {
				   return SameIgnoringCase(name, field->name);
			   });
	});
}

}  // namespace

std::optional<int64_t> NumRecords(std::string_view stats_json) {
	int64_t count = 0;
	if (stats_json.starts_with(kUsualStart)) {
		const char* const end = stats_json.data() + stats_json.size();
		const auto parsed = std::from_chars(stats_json.data() + kUsualStart.size(), end, count);
		if (parsed.ec == std::errc() && parsed.ptr != end && (*parsed.ptr == ',' || *parsed.ptr == '}')) return count;
	}
	simdjson::ondemand::document document;
	if (stats_json.empty() || ParseOnDemand(stats_json).get(document) != simdjson::SUCCESS) return std::nullopt;
	if (document["numRecords"].get_int64().get(count) != simdjson::SUCCESS) return std::nullopt;
	return count;
}

Result<FileStats> ParseFileStats(std::string_view stats_json, const StructType& schema, ColumnMappingMode mode,
								 const std::vector<std::string>& wanted) {
	StatsShape shape;
	std::vector<std::vector<std::string>> paths;
	FieldPath path;
	ForEachLeaf(schema, path, [&](const FieldPath& leaf) {
		if (!wanted.empty() && std::ranges::find(wanted, PhysicalName(*leaf.front(), mode)) == wanted.end()) return;
		shape.AddLeaf(leaf, mode);
		paths.push_back(PhysicalPath(leaf, mode));
	});
	StatsValues values;
	BRAID_TRY(ReadStats(stats_json, shape, values));
	FileStats stats {.num_records = values.num_records, .tight_bounds = values.tight_bounds, .columns = {}};
	for (size_t leaf = 0; leaf < paths.size(); leaf++) {
		ColumnStats& column = values.leaves[leaf];
		if (column.min || column.max || column.null_count)
			stats.columns.emplace(std::move(paths[leaf]), std::move(column));
	}
	return stats;
}

Result<std::string> WidenForDeletionVector(std::string_view stats_json) {
	const auto malformed = [&] {
		return Fail(ErrorKind::kCorrupt, "malformed file statistics: " + Excerpt(stats_json, 200));
	};
	simdjson::ondemand::document document;
	simdjson::ondemand::object object;
	if (ParseOnDemand(stats_json).get(document) != simdjson::SUCCESS ||
		document.get_object().get(object) != simdjson::SUCCESS)
		return malformed();
	const char* start = nullptr;  // of the document's own copy of the text
	if (std::string_view whole; object.raw_json().get(whole) == simdjson::SUCCESS) start = whole.data();
	if (start == nullptr || object.reset().error() != simdjson::SUCCESS) return malformed();
	const size_t open = stats_json.find('{');
	bool empty = true;
	for (auto member : object) {
		simdjson::ondemand::field field;
		if (std::move(member).get(field) != simdjson::SUCCESS) return malformed();
		empty = false;
		if (field.escaped_key() != "tightBounds") continue;
		const std::string_view token = field.value().raw_json_token();
		const size_t offset = open + static_cast<size_t>(token.data() - start);
		const size_t length = token.find_last_not_of(" \t\r\n") + 1;
		return std::string(stats_json.substr(0, offset)) + "false" + std::string(stats_json.substr(offset + length));
	}
	const size_t close = stats_json.rfind('}');
	return std::string(stats_json.substr(0, close)) + (empty ? "" : ",") + "\"tightBounds\":false}";
}

std::vector<std::vector<std::string>> StatsColumns(const StructType& schema, ColumnMappingMode mode,
												   const Configuration& configuration,
												   const std::vector<std::string>& partition_columns) {
	const std::string named = PropertyValue(configuration, "delta.dataSkippingStatsColumns");
	const int64_t limit = PropertyInteger(configuration, "delta.dataSkippingNumIndexedCols");
	const auto columns = named.empty() ? std::vector<std::vector<std::string>>() : ParseColumnList(named);
	std::vector<std::vector<std::string>> chosen;
	FieldPath path;
	ForEachLeaf(schema, path, [&](const FieldPath& leaf) {
		if (std::ranges::find(partition_columns, leaf.front()->name) != partition_columns.end()) return;
		const bool wanted =
			named.empty() ? limit < 0 || static_cast<int64_t>(chosen.size()) < limit : IsNamed(leaf, columns);
		if (wanted) chosen.push_back(PhysicalPath(leaf, mode));
	});
	return chosen;
}

}  // namespace braid
