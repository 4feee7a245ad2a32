// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/adoption.h"

#include <algorithm>
#include <set>

#include "kernel/feature/feature_support.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/schema/identity.h"
#include "kernel/schema/schema_json.h"

namespace braid {

// Column mapping: our files carry names that are logical and physical at once, which mode `name` allows; field ids (mode `id`) they lack.
// Change data feed, constraints, column defaults, new identity columns and wider types oblige writers row by row, so they are not here.
std::span<const AdoptableProperty> AdoptableProperties() {
	static constexpr AdoptableProperty kProperties[] = {
		{"delta.enableDeletionVectors", "true"},
		{"delta.checkpointPolicy", "v2"},
		{"delta.enableInCommitTimestamps", "true"},
		{"delta.inCommitTimestampEnablementVersion", ""},
		{"delta.inCommitTimestampEnablementTimestamp", ""},
		{"delta.enableRowTracking", "true"},
		{"delta.rowTracking.materializedRowIdColumnName", ""},
		{"delta.rowTracking.materializedRowCommitVersionColumnName", ""},
		{"delta.columnMapping.mode", "name"},
		{"delta.columnMapping.maxColumnId", ""},
		{"io.unitycatalog.tableId", ""},
		{"delta.isolationLevel", "", true},  // the stricter of both levels is applied
	};
	return kProperties;
}

// With the legacy features that a step to feature lists spells out.
std::span<const std::string_view> AdoptableFeatures() {
	static constexpr std::string_view kFeatures[] = {
		"appendOnly",  "invariants",     "checkConstraints", "changeDataFeed",    "generatedColumns", "columnMapping",
		"rowTracking", "domainMetadata", "deletionVectors",  "inCommitTimestamp", "v2Checkpoint",
	};
	return kFeatures;
}

bool CanAdopt(const Protocol& now, const Protocol& before) {
	if (now.min_reader_version < before.min_reader_version || now.min_writer_version < before.min_writer_version)
		return false;
	const auto features = [](const Protocol& protocol) {
		auto names = EnabledWriterFeatures(protocol);
		if (protocol.reader_features)
			names.insert(names.end(), protocol.reader_features->begin(), protocol.reader_features->end());
		return std::set<std::string>(names.begin(), names.end());
	};
	const std::set<std::string> then = features(before), after = features(now);
	if (!std::ranges::includes(after, then)) return false;
	return std::ranges::all_of(after, [&](const std::string& name) {
		return then.contains(name) || std::ranges::find(AdoptableFeatures(), name) != AdoptableFeatures().end();
	});
}

// May `key` go from `before` to `now` (null: absent)?
static bool CanAdoptProperty(const std::string& key, const std::string* now, const std::string* before) {
	if (now && before && *now == *before) return true;
	const auto property = std::ranges::find(AdoptableProperties(), key, &AdoptableProperty::key);
	if (property == AdoptableProperties().end()) return false;
	if (property->may_change) return true;
	if (!now || !(property->value.empty() || *now == property->value)) return false;
	const bool was_off = !before || *before == "false" || *before == "none" || *before == "classic" || *before == "0";
	return property->value.empty() ? !before || key == "delta.columnMapping.maxColumnId" : was_off;
}

static const std::string* Find(const Configuration& configuration, const std::string& key) {
	const auto found = configuration.find(key);
	return found == configuration.end() ? nullptr : &found->second;
}

// The same columns, apart from what column mapping says of them, where it names them by their old names, and from the marks of identity columns:
// values that a winner has generated oblige only who generates some himself, and he changes the metadata too.
static bool SameColumns(const DataType& now, const DataType& before) {
	if (now.kind != before.kind || now.fields.size() != before.fields.size() || now.precision != before.precision ||
		now.scale != before.scale || now.contains_null != before.contains_null || !now.key != !before.key ||
		!now.element != !before.element)
		return false;
	for (size_t i = 0; i < now.fields.size(); i++) {
		Field a = now.fields[i], b = before.fields[i];
		const auto physical = MetadataString(a, kPhysicalNameKey), old_physical = MetadataString(b, kPhysicalNameKey);
		if (physical != old_physical && physical != old_physical.value_or(b.name)) return false;
		for (Field* field : {&a, &b}) {
			std::erase_if(field->metadata, [](const auto& entry) {
				return entry.first.starts_with("delta.columnMapping.") || entry.first == kIdentityMarkKey;
			});
		}
		if (a.name != b.name || a.nullable != b.nullable || a.metadata != b.metadata || !SameColumns(*a.type, *b.type))
			return false;
	}
	return (!now.key || SameColumns(*now.key, *before.key)) &&
		   (!now.element || SameColumns(*now.element, *before.element));
}

static bool SameSchema(const std::string& now, const std::string& before) {
	if (now == before) return true;
	const auto a = ParseSchema(now), b = ParseSchema(before);
	return a && b && SameColumns(**a, **b);
}

bool CanAdopt(const Metadata& now, const Metadata& before) {
	if (now.id != before.id || now.name != before.name || now.description != before.description ||
		now.format.provider != before.format.provider || now.format.options != before.format.options ||
		now.partition_columns != before.partition_columns || !SameSchema(now.schema_string, before.schema_string))
		return false;
	for (const auto& [key, value] : now.configuration) {
		if (!CanAdoptProperty(key, &value, Find(before.configuration, key))) return false;
	}
	return std::ranges::all_of(before.configuration, [&](const auto& property) {
		return now.configuration.contains(property.first) ||
			   CanAdoptProperty(property.first, nullptr, &property.second);
	});
}

}  // namespace braid
