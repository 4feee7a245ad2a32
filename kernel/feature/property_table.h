// SPDX-License-Identifier: Apache-2.0
// The one table of table properties (metaData.configuration): name, default, how a value is checked, which feature it needs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

enum class PropertyKind {
	kBoolean,
	kInteger,
	kInterval,
	kBytes,
	kIsolationLevel,
	kColumnMappingMode,
	kCheckpointPolicy,
	kAutoCompact,
	kText
};

struct TableProperty {
	std::string_view key;  // canonical spelling; keys are matched case-insensitively
	PropertyKind kind;
	std::string_view default_value;
	bool user_settable = true;
	std::string_view needs_feature;  // "" if none
};

std::span<const TableProperty> TableProperties();
const TableProperty* FindProperty(std::string_view key);
// Canonical key and checked value; kInvalidArgument names property, value and what is allowed. Unknown keys that start with "delta." are refused.
Result<std::pair<std::string, std::string>> CheckProperty(std::string_view key, std::string_view value);
std::string PropertyValue(const Configuration& configuration, std::string_view key);  // or the default
bool PropertyEnabled(const Configuration& configuration, std::string_view key);
int64_t PropertyInteger(const Configuration& configuration, std::string_view key);  // an interval in ms
int64_t PropertyBytes(const Configuration& configuration,
					  std::string_view key);             // a size; each unit 1024 of the one before
Result<int64_t> ParseIntervalMs(std::string_view text);  // "interval 1 week"

}  // namespace braid
