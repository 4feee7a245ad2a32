// SPDX-License-Identifier: Apache-2.0
// Features follow from properties and types; legacy versions are used only where no listed feature is needed.
#include "engine/catalog/new_table.h"

#include <algorithm>
#include <set>

#include "base/environment.h"
#include "base/json.h"
#include "engine/catalog/column_default.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/schema/schema_json.h"

namespace braid::engine {

namespace {

constexpr std::string_view kFeaturePrefix = "delta.feature.";
const std::string kDeletionVectors = "delta.enableDeletionVectors";
const std::string kIsolationLevel = "delta.isolationLevel";

using Features = std::set<std::string>;

bool Uses(const DataType& type, TypeKind kind) {
	if (type.kind == kind) return true;
	if (std::ranges::any_of(type.fields, [&](auto& field) { return Uses(*field.type, kind); })) return true;
	return (type.key && Uses(*type.key, kind)) || (type.element && Uses(*type.element, kind));
}

// A property given without "delta." means the one of Delta, if there is one of this name.
Result<Configuration> ReadProperties(const TableDescription& table, Features& features) {
	Configuration configuration {{kDeletionVectors, "true"}, {kIsolationLevel, "WriteSerializable"}};
	for (auto& [key, value] : table.properties) {
		bool short_form = FindProperty("delta." + key) != nullptr;
		BRAID_TRY(auto checked, CheckProperty(short_form ? "delta." + key : key, value));
		if (checked.first.starts_with(kFeaturePrefix)) {
			features.insert(checked.first.substr(kFeaturePrefix.size()));
		} else if (checked.first.starts_with("delta.min")) {
			return Fail(ErrorKind::kUnsupported,
						"table property " + checked.first +
							" is not taken: the protocol of a new table follows from its properties");
		} else {
			configuration[checked.first] = checked.second;
		}
	}
	return configuration;
}

// Feature names are matched without regard to case: WITH (...) loses it (trap 9).
Result<Features> CanonicalFeatures(const Features& asked) {
	Features features;
	for (auto& name : asked) {
		auto same = [&](const TableFeature& feature) {
			return std::ranges::equal(feature.name, name, [](unsigned char a, unsigned char b) {
				return std::tolower(a) == std::tolower(b);
			});
		};
		auto feature = std::ranges::find_if(TableFeatures(), same);
		if (feature == TableFeatures().end())
			return Fail(ErrorKind::kUnsupported, "unknown table feature \"" + name + "\"");
		features.emplace(feature->name);
	}
	return features;
}

Features NeededFeatures(const StructType& schema, const Configuration& configuration) {
	Features features;
	for (auto& property : TableProperties()) {
		auto entry = configuration.find(std::string(property.key));
		if (entry == configuration.end() || property.needs_feature.empty()) continue;
		bool off = entry->second == "false" || entry->second == "none";
		if (!off) features.emplace(property.needs_feature);
	}
	if (Uses(schema, TypeKind::kTimestampNtz)) features.emplace("timestampNtz");
	if (std::ranges::any_of(schema.fields, [](auto& field) { return field.metadata.contains(kCurrentDefault); })) {
		features.emplace(kColumnDefaults);
	}
	if (PropertyValue(configuration, "delta.checkpointPolicy") == "v2") features.emplace("v2Checkpoint");
	return features;
}

Protocol ProtocolFor(Features features) {
	if (features.contains("rowTracking") || features.contains("clustering")) features.emplace("domainMetadata");
	bool legacy =
		std::ranges::all_of(features, [](auto& name) { return name == "appendOnly" || name == "invariants"; });
	if (legacy) return {1, 2, std::nullopt, std::nullopt};
	features.insert({"appendOnly", "invariants"});
	Protocol protocol {1, 7, std::nullopt, std::vector<std::string>(features.begin(), features.end())};
	std::vector<std::string> readers;
	for (auto& feature : TableFeatures()) {
		if (feature.reader_writer && features.contains(std::string(feature.name))) readers.emplace_back(feature.name);
	}
	if (!readers.empty()) {
		protocol.min_reader_version = 3;
		protocol.reader_features = std::move(readers);
	}
	return protocol;
}

// PROTOCOL: Column Mapping: every field at every level gets an id and a physical name of its own.
DataTypePtr WithColumnMapping(const DataType& type, int64_t& last_id) {
	auto mapped = std::make_shared<DataType>(type);
	for (auto& field : mapped->fields) {
		field.metadata[kColumnIdKey] = std::to_string(++last_id);
		field.metadata[kPhysicalNameKey] = JsonString("col-" + NewUuid(SystemRandom()));
		field.type = WithColumnMapping(*field.type, last_id);
	}
	if (type.key) mapped->key = WithColumnMapping(*type.key, last_id);
	if (type.element) mapped->element = WithColumnMapping(*type.element, last_id);
	return mapped;
}

}  // namespace

Result<SnapshotPtr> DescribeNewTable(const TableDescription& table, const SnapshotPtr& replaced) {
	Features asked;
	BRAID_TRY(auto configuration, ReadProperties(table, asked));
	BRAID_TRY(auto features, CanonicalFeatures(asked));
	features.merge(NeededFeatures(table.schema, configuration));
	if (replaced) {
		// A replaced table keeps its features: readers of older versions need them.
		for (auto& name : EnabledWriterFeatures(replaced->protocol)) features.insert(name);
	}
	auto snapshot = std::make_shared<Snapshot>();
	snapshot->table = table.location;
	snapshot->version = replaced ? replaced->version : -1;
	snapshot->timestamp = SystemClock().NowMs();
	snapshot->protocol = ProtocolFor(std::move(features));
	BRAID_TRY(snapshot->column_mapping,
			  ParseColumnMappingMode(PropertyValue(configuration, "delta.columnMapping.mode")));
	if (snapshot->column_mapping == ColumnMappingMode::kNone) {
		snapshot->schema = std::make_shared<DataType>(table.schema);
	} else {
		int64_t last_id =
			replaced ? PropertyInteger(replaced->metadata.configuration, "delta.columnMapping.maxColumnId") : 0;
		snapshot->schema = WithColumnMapping(table.schema, last_id);
		configuration["delta.columnMapping.maxColumnId"] = std::to_string(last_id);
	}
	auto& metadata = snapshot->metadata;
	metadata.id = replaced ? replaced->metadata.id : NewUuid(SystemRandom());
	if (!table.description.empty()) metadata.description = table.description;
	metadata.schema_string = WriteSchema(*snapshot->schema);
	metadata.partition_columns = table.partition_columns;
	metadata.configuration = std::move(configuration);
	metadata.created_time = snapshot->timestamp;
	snapshot->files = std::make_shared<FileIndex>();
	BRAID_TRY(CheckProtocol(snapshot->protocol, TableOperation::kAppend, table.location));
	return snapshot;
}

}  // namespace braid::engine
