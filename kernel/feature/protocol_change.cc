// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/protocol_change.h"

#include <algorithm>

#include "base/ascii.h"
#include "kernel/feature/property_table.h"

namespace braid {

namespace {

template <class Accept>
bool AnyField(const DataType& type, const Accept& accept) {
	if (std::ranges::any_of(type.fields, [&](auto& f) { return accept(f) || AnyField(*f.type, accept); })) return true;
	return (type.key && AnyField(*type.key, accept)) || (type.element && AnyField(*type.element, accept));
}

bool Uses(const DataType& type, TypeKind kind) {
	if (type.kind == kind) return true;
	if (std::ranges::any_of(type.fields, [&](auto& field) { return Uses(*field.type, kind); })) return true;
	return (type.key && Uses(*type.key, kind)) || (type.element && Uses(*type.element, kind));
}

// PROTOCOL: Table Features: what a feature cannot be without.
constexpr std::pair<std::string_view, std::string_view> kRequired[] = {
	{"rowTracking", "domainMetadata"},         {"clustering", "domainMetadata"},
	{"icebergCompatV1", "columnMapping"},      {"icebergCompatV2", "columnMapping"},
	{"icebergCompatV3", "columnMapping"},      {"icebergCompatV3", "rowTracking"},
	{"icebergCompatV3", "domainMetadata"},     {"catalogManaged", "inCommitTimestamp"},
	{"catalogManaged", "vacuumProtocolCheck"},
};

// The versions that imply every feature of the set, if there are such.
std::optional<Protocol> LegacyProtocol(const Protocol& base, const FeatureSet& features) {
	if (base.writer_features || base.reader_features) return std::nullopt;
	Protocol protocol = base;
	for (const TableFeature& feature : TableFeatures()) {
		if (!features.contains(std::string(feature.name))) continue;
		if (feature.legacy_writer_version == 0) return std::nullopt;
		protocol.min_writer_version = std::max(protocol.min_writer_version, feature.legacy_writer_version);
		protocol.min_reader_version = std::max(protocol.min_reader_version, feature.legacy_reader_version);
	}
	return protocol;
}

}  // namespace

FeatureSet NeededFeatures(const StructType& schema, const Configuration& configuration) {
	FeatureSet features;
	for (const TableProperty& property : TableProperties()) {
		const auto entry = configuration.find(std::string(property.key));
		if (entry == configuration.end() || property.needs_feature.empty()) continue;
		const bool off = SameIgnoringCase(entry->second, "false") || entry->second == "none";
		if (!off) features.emplace(property.needs_feature);
	}
	const bool constrained =
		std::ranges::any_of(configuration, [](auto& entry) { return entry.first.starts_with(kConstraintPrefix); });
	if (constrained) features.emplace("checkConstraints");
	if (PropertyValue(configuration, "delta.checkpointPolicy") == "v2") features.emplace("v2Checkpoint");
	if (Uses(schema, TypeKind::kTimestampNtz)) features.emplace("timestampNtz");
	const auto has = [&](const std::string& key) {
		return AnyField(schema, [&](const Field& field) { return field.metadata.contains(key); });
	};
	if (has(kCurrentDefaultKey)) features.emplace("allowColumnDefaults");
	if (has(kGenerationExpressionKey)) features.emplace("generatedColumns");
	if (has(kIdentityStartKey)) features.emplace("identityColumns");
	const bool not_null = AnyField(schema, [](const Field& field) { return !field.nullable; });
	if (not_null || has(kInvariantsKey)) features.emplace("invariants");
	return features;
}

Result<std::string> CanonicalFeature(std::string_view name) {
	for (const TableFeature& feature : TableFeatures()) {
		if (SameIgnoringCase(feature.name, name)) return std::string(feature.name);
	}
	return Fail(ErrorKind::kUnsupported, "unknown table feature \"" + std::string(name) + "\"");
}

Protocol WithFeatures(const Protocol& base, const FeatureSet& features) {
	FeatureSet wanted = features;
	for (const auto& [feature, required] : kRequired) {
		if (wanted.contains(std::string(feature))) wanted.emplace(required);
	}
	if (std::ranges::all_of(wanted, [&](auto& name) { return HasFeature(base, name); })) return base;
	for (const std::string& name : EnabledWriterFeatures(base)) wanted.insert(name);
	if (const auto legacy = LegacyProtocol(base, wanted)) return *legacy;
	Protocol protocol {base.min_reader_version, 7, std::nullopt,
					   std::vector<std::string>(wanted.begin(), wanted.end())};
	std::vector<std::string> readers;
	bool beyond_base = base.reader_features.has_value();
	for (const TableFeature& feature : TableFeatures()) {
		if (!feature.reader_writer || !wanted.contains(std::string(feature.name))) continue;
		readers.emplace_back(feature.name);
		beyond_base |= feature.legacy_reader_version == 0 || feature.legacy_reader_version > base.min_reader_version;
	}
	if (beyond_base) {
		protocol.min_reader_version = 3;
		protocol.reader_features = std::move(readers);
	}
	return protocol;
}

Protocol WithoutFeature(const Protocol& base, const std::string& feature) {
	FeatureSet left;
	for (std::string& name : EnabledWriterFeatures(base)) left.insert(std::move(name));
	left.erase(feature);
	// Versions that imply just these features say it without lists.
	for (int writer = 1; writer < 7; writer++) {
		const Protocol legacy {left.contains("columnMapping") ? 2 : 1, writer, std::nullopt, std::nullopt};
		const auto implied = EnabledWriterFeatures(legacy);
		if (FeatureSet(implied.begin(), implied.end()) == left) return legacy;
	}
	Protocol protocol {1, 7, std::nullopt, std::vector<std::string>(left.begin(), left.end())};
	std::vector<std::string> readers;
	for (const TableFeature& known : TableFeatures()) {
		if (!known.reader_writer || !left.contains(std::string(known.name))) continue;
		readers.emplace_back(known.name);
		protocol.min_reader_version =
			std::max(protocol.min_reader_version, known.legacy_reader_version == 0 ? 3 : known.legacy_reader_version);
	}
	if (protocol.min_reader_version == 3) protocol.reader_features = std::move(readers);
	return protocol;
}

bool Requires(std::string_view feature, std::string_view other) {
	return std::ranges::any_of(kRequired, [&](auto& pair) { return pair.first == feature && pair.second == other; });
}

}  // namespace braid
