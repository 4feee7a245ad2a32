// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/property_table.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace braid {

namespace {

constexpr bool kUser = true;
constexpr bool kInternalOnly = false;

constexpr TableProperty kProperties[] = {
	{"delta.isolationLevel", PropertyKind::kIsolationLevel, "WriteSerializable", kUser, ""},
	{"delta.appendOnly", PropertyKind::kBoolean, "false", kUser, "appendOnly"},
	{"delta.enableDeletionVectors", PropertyKind::kBoolean, "false", kUser, "deletionVectors"},
	{"delta.enableRowTracking", PropertyKind::kBoolean, "false", kUser, "rowTracking"},
	{"delta.rowTrackingSuspended", PropertyKind::kBoolean, "false", kUser, "rowTracking"},
	{"delta.rowTracking.materializedRowIdColumnName", PropertyKind::kText, "", kInternalOnly, "rowTracking"},
	{"delta.rowTracking.materializedRowCommitVersionColumnName", PropertyKind::kText, "", kInternalOnly, "rowTracking"},
	{"delta.enableChangeDataFeed", PropertyKind::kBoolean, "false", kUser, "changeDataFeed"},
	{"delta.columnMapping.mode", PropertyKind::kColumnMappingMode, "none", kUser, "columnMapping"},
	{"delta.columnMapping.maxColumnId", PropertyKind::kInteger, "0", kInternalOnly, "columnMapping"},
	{"delta.enableInCommitTimestamps", PropertyKind::kBoolean, "false", kUser, "inCommitTimestamp"},
	{"delta.inCommitTimestampEnablementVersion", PropertyKind::kInteger, "", kInternalOnly, "inCommitTimestamp"},
	{"delta.inCommitTimestampEnablementTimestamp", PropertyKind::kInteger, "", kInternalOnly, "inCommitTimestamp"},
	{"delta.checkpointInterval", PropertyKind::kInteger, "10", kUser, ""},
	{"delta.checkpointPolicy", PropertyKind::kCheckpointPolicy, "classic", kUser, ""},
	{"delta.checkpoint.writeStatsAsJson", PropertyKind::kBoolean, "true", kUser, ""},
	{"delta.checkpoint.writeStatsAsStruct", PropertyKind::kBoolean, "true", kUser, ""},
	{"delta.checkpointRetentionDuration", PropertyKind::kInterval, "interval 2 days", kUser, ""},
	{"delta.logRetentionDuration", PropertyKind::kInterval, "interval 30 days", kUser, ""},
	{"delta.enableExpiredLogCleanup", PropertyKind::kBoolean, "true", kUser, ""},
	{"delta.enableFullRetentionRollback", PropertyKind::kBoolean, "true", kUser, ""},
	{"delta.deletedFileRetentionDuration", PropertyKind::kInterval, "interval 1 week", kUser, ""},
	{"delta.sampleRetentionDuration", PropertyKind::kInterval, "interval 7 days", kUser, ""},
	{"delta.setTransactionRetentionDuration", PropertyKind::kInterval, "", kUser, ""},
	{"delta.dropFeatureTruncateHistory.retentionDuration", PropertyKind::kInterval, "interval 24 hours", kUser, ""},
	{"delta.requireCheckpointProtectionBeforeVersion", PropertyKind::kInteger, "0", kInternalOnly,
	 "checkpointProtection"},
	{"delta.dataSkippingNumIndexedCols", PropertyKind::kInteger, "32", kUser, ""},
	{"delta.dataSkippingStatsColumns", PropertyKind::kText, "", kUser, ""},
	{"delta.dataSkippingStringPrefixLength", PropertyKind::kInteger, "32", kUser, ""},
	{"delta.autoOptimize", PropertyKind::kBoolean, "", kUser, ""},
	{"delta.autoOptimize.autoCompact", PropertyKind::kAutoCompact, "", kUser, ""},
	{"delta.autoOptimize.optimizeWrite", PropertyKind::kBoolean, "", kUser, ""},
	{"delta.randomizeFilePrefixes", PropertyKind::kBoolean, "false", kUser, ""},
	{"delta.randomPrefixLength", PropertyKind::kInteger, "2", kUser, ""},
	{"delta.targetFileSize", PropertyKind::kBytes, "128mb", kUser, ""},
	{"delta.parquet.format.version", PropertyKind::kText, "1.0.0", kUser, ""},
	{"delta.parquet.compression.codec", PropertyKind::kText, "", kUser, ""},
	{"delta.enableTypeWidening", PropertyKind::kBoolean, "false", kUser, "typeWidening"},
	{"delta.enableVariantShredding", PropertyKind::kBoolean, "false", kUser, "variantShredding"},
	{"delta.compatibility.symlinkFormatManifest.enabled", PropertyKind::kBoolean, "false", kUser, ""},
	{"delta.universalFormat.enabledFormats", PropertyKind::kText, "", kUser, ""},
	{"delta.universalFormat.iceberg.atomicConversion.supported", PropertyKind::kBoolean, "false", kUser, ""},
	{"delta.enableIcebergCompatV1", PropertyKind::kBoolean, "", kUser, "icebergCompatV1"},
	{"delta.enableIcebergCompatV2", PropertyKind::kBoolean, "", kUser, "icebergCompatV2"},
	{"delta.enableIcebergCompatV3", PropertyKind::kBoolean, "", kUser, "icebergCompatV3"},
	{"delta.castIcebergTimeType", PropertyKind::kBoolean, "false", kUser, ""},
	{"delta.ignoreIcebergBucketPartition", PropertyKind::kBoolean, "false", kUser, ""},
	{"delta.coordinatedCommits.commitCoordinator-preview", PropertyKind::kText, "", kUser,
	 "coordinatedCommits-preview"},
	{"delta.coordinatedCommits.commitCoordinatorConf-preview", PropertyKind::kText, "", kUser,
	 "coordinatedCommits-preview"},
	{"delta.coordinatedCommits.tableConf-preview", PropertyKind::kText, "", kInternalOnly,
	 "coordinatedCommits-preview"},
	{"delta.redirectReaderWriter-preview", PropertyKind::kText, "", kUser, "redirectReaderWriter-preview"},
	{"delta.redirectWriterOnly-preview", PropertyKind::kText, "", kUser, "redirectWriterOnly-preview"},
	{"delta.enableMaterializePartitionColumnsFeature", PropertyKind::kBoolean, "", kUser,
	 "materializePartitionColumns"},
	{"delta.writePartitionColumnsToParquet", PropertyKind::kBoolean, "", kUser, ""},
	{"delta.lastUpdateVersion", PropertyKind::kInteger, "", kInternalOnly, ""},
	{"delta.lastCommitTimestamp", PropertyKind::kInteger, "", kInternalOnly, ""},
	// Part of the protocol, never stored in the configuration.
	{"delta.minReaderVersion", PropertyKind::kInteger, "", kUser, ""},
	{"delta.minWriterVersion", PropertyKind::kInteger, "", kUser, ""},
	{"delta.ignoreProtocolDefaults", PropertyKind::kBoolean, "false", kUser, ""},
};

constexpr std::string_view kChangeDataFeed = "delta.enableChangeDataFeed";
constexpr std::string_view kLegacyChangeDataFeed = "delta.enableChangeDataCapture";

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
	return text.size() >= prefix.size() && SameIgnoringCase(text.substr(0, prefix.size()), prefix);
}

std::optional<int64_t> ParseInteger(std::string_view text) {
	int64_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
	return value;
}

// Digits and an optional unit.
std::optional<int64_t> ParseBytes(std::string_view text) {
	const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
	std::string_view unit = text.substr(digits);
	if (unit.size() == 2 && !SameIgnoringCase(unit, "bb") && SameIgnoringCase(unit.substr(1), "b"))
		unit.remove_suffix(1);
	static constexpr std::string_view kUnits[] = {"", "k", "m", "g", "t"};
	const auto known = std::find_if(std::begin(kUnits), std::end(kUnits), [&](std::string_view u) {
		return SameIgnoringCase(u, SameIgnoringCase(unit, "b") ? "" : unit);
	});
	const std::optional<int64_t> number = ParseInteger(text.substr(0, digits));
	const auto shift = 10 * (known - std::begin(kUnits));
	if (!number || known == std::end(kUnits) || *number > INT64_MAX >> shift) return std::nullopt;
	return *number << shift;
}

std::unexpected<Error> Refuse(std::string_view key, std::string_view value, std::string_view allowed) {
	return Fail(ErrorKind::kInvalidArgument, "table property " + std::string(key) + " cannot be \"" +
												 std::string(value) + "\": allowed is " + std::string(allowed));
}

// The value in its canonical spelling if it is one of `choices`.
Result<std::string> OneOf(std::string_view key, std::string_view value,
						  std::initializer_list<std::string_view> choices) {
	std::string list;
	for (const std::string_view choice : choices) {
		if (SameIgnoringCase(choice, value)) return std::string(choice);
		list += (list.empty() ? "" : " or ") + std::string(choice);
	}
	return Refuse(key, value, list);
}

Result<std::string> CheckValue(const TableProperty& property, std::string_view value) {
	switch (property.kind) {
		case PropertyKind::kBoolean:
			return OneOf(property.key, value, {"true", "false"});
		case PropertyKind::kColumnMappingMode:
			return OneOf(property.key, value, {"none", "name", "id"});
		case PropertyKind::kCheckpointPolicy:
			return OneOf(property.key, value, {"classic", "v2"});
		case PropertyKind::kAutoCompact:
			return OneOf(property.key, value, {"true", "false", "auto", "legacy"});
		case PropertyKind::kIsolationLevel: {
			Result<std::string> level = OneOf(property.key, value, {"Serializable", "WriteSerializable"});
			if (level) return level;
			return Fail(ErrorKind::kInvalidArgument, "[DELTA_INVALID_ISOLATION_LEVEL] invalid isolation level \"" +
														 std::string(value) + "\" for " + std::string(property.key) +
														 ": use Serializable or WriteSerializable. SQLSTATE: 25000");
		}
		case PropertyKind::kInteger: {
			const std::optional<int64_t> number = ParseInteger(value);
			const bool positive =
				property.key == "delta.checkpointInterval" || property.key == "delta.randomPrefixLength";
			if (!number) return Refuse(property.key, value, "a whole number");
			if (positive && *number < 1) return Refuse(property.key, value, "a positive whole number");
			if (*number < -1) return Refuse(property.key, value, "a whole number not below -1");
			return std::string(value);
		}
		case PropertyKind::kInterval:
			if (!ParseIntervalMs(value)) return Refuse(property.key, value, "an interval such as \"interval 7 days\"");
			return std::string(value);
		case PropertyKind::kBytes:
			if (!ParseBytes(value)) return Refuse(property.key, value, "a size such as \"128mb\"");
			return std::string(value);
		case PropertyKind::kText:
			return std::string(value);
	}
	return std::string(value);
}

std::optional<int64_t> UnitMicros(std::string_view unit) {
	static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
		{"microsecond", 1},        {"millisecond", 1'000},    {"second", 1'000'000},       {"minute", 60'000'000},
		{"hour", 3'600'000'000LL}, {"day", 86'400'000'000LL}, {"week", 604'800'000'000LL},
	};
	for (const auto& [name, micros] : kUnits) {
		if (SameIgnoringCase(unit, name) || SameIgnoringCase(unit, std::string(name) + "s")) return micros;
	}
	return std::nullopt;
}

}  // namespace

std::span<const TableProperty> TableProperties() { return kProperties; }

const TableProperty* FindProperty(std::string_view key) {
	if (SameIgnoringCase(key, kLegacyChangeDataFeed)) key = kChangeDataFeed;
	for (const TableProperty& property : kProperties) {
		if (SameIgnoringCase(property.key, key)) return &property;
	}
	return nullptr;
}

Result<std::pair<std::string, std::string>> CheckProperty(std::string_view key, std::string_view value) {
	if (!StartsWithIgnoringCase(key, "delta.")) return std::pair(std::string(key), std::string(value));
	constexpr std::string_view kFeaturePrefix = "delta.feature.";
	if (StartsWithIgnoringCase(key, kFeaturePrefix)) {
		BRAID_TRY(std::string state, OneOf(key, value, {"supported", "enabled"}));
		return std::pair(std::string(kFeaturePrefix) + std::string(key.substr(kFeaturePrefix.size())),
						 std::move(state));
	}
	if (StartsWithIgnoringCase(key, "delta.universalformat.config."))
		return std::pair(std::string(key), std::string(value));
	const TableProperty* property = FindProperty(key);
	if (property == nullptr) {
		return Fail(ErrorKind::kInvalidArgument,
					"unknown table property " + std::string(key) +
						": names that begin with \"delta.\" are reserved for those of Delta");
	}
	if (!property->user_settable) {
		return Fail(ErrorKind::kInvalidArgument,
					"table property " + std::string(property->key) + " is kept by the engine and cannot be set");
	}
	BRAID_TRY(std::string checked, CheckValue(*property, value));
	if (property->key == "delta.compatibility.symlinkFormatManifest.enabled" && checked == "true") {
		return Fail(
			ErrorKind::kUnsupported,
			"[DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED] table property " + std::string(property->key) +
				" cannot be true: commits write no manifests, and manifests and deletion vectors exclude each other. "
				"GENERATE symlink_format_manifest FOR TABLE t writes them when it is run. SQLSTATE: 0A000");
	}
	return std::pair(std::string(property->key), std::move(checked));
}

std::string PropertyValue(const Configuration& configuration, std::string_view key) {
	auto found = configuration.find(std::string(key));
	if (found == configuration.end() && key == kChangeDataFeed)
		found = configuration.find(std::string(kLegacyChangeDataFeed));
	if (found != configuration.end()) return found->second;
	const TableProperty* property = FindProperty(key);
	return property == nullptr ? "" : std::string(property->default_value);
}

bool PropertyEnabled(const Configuration& configuration, std::string_view key) {
	return SameIgnoringCase(PropertyValue(configuration, key), "true");
}

int64_t PropertyInteger(const Configuration& configuration, std::string_view key) {
	const TableProperty* property = FindProperty(key);
	const auto parse = [&](std::string_view text) -> std::optional<int64_t> {
		if (property == nullptr || property->kind != PropertyKind::kInterval) return ParseInteger(text);
		const Result<int64_t> interval = ParseIntervalMs(text);
		return interval ? std::optional(*interval) : std::nullopt;
	};
	if (const std::optional<int64_t> value = parse(PropertyValue(configuration, key))) return *value;
	return property == nullptr ? 0 : parse(property->default_value).value_or(0);
}

int64_t PropertyBytes(const Configuration& configuration, std::string_view key) {
	if (const std::optional<int64_t> bytes = ParseBytes(PropertyValue(configuration, key))) return *bytes;
	const TableProperty* property = FindProperty(key);
	return property == nullptr ? 0 : ParseBytes(property->default_value).value_or(0);
}

Result<int64_t> ParseIntervalMs(std::string_view text) {
	const auto invalid = [&] {
		return Fail(ErrorKind::kInvalidArgument, "not an interval: \"" + std::string(text) + "\"");
	};
	std::vector<std::string> words(1);
	for (const char c : text) {
		if (c == '\'') continue;
		if (c != ' ') {
			words.back() += c;
		} else if (!words.back().empty()) {
			words.emplace_back();
		}
	}
	if (words.back().empty()) words.pop_back();
	size_t i = !words.empty() && SameIgnoringCase(words[0], "interval") ? 1 : 0;
	if (i == words.size() || (words.size() - i) % 2 != 0) return invalid();
	int64_t micros = 0;
	for (; i < words.size(); i += 2) {
		const std::optional<int64_t> count = ParseInteger(words[i]);
		const std::optional<int64_t> unit = UnitMicros(words[i + 1]);
		int64_t part = 0;
		if (!count || !unit || *count < 0 || __builtin_mul_overflow(*count, *unit, &part) ||
			__builtin_add_overflow(micros, part, &micros)) {
			return invalid();
		}
	}
	return micros / 1000;
}

}  // namespace braid
