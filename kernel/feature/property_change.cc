// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/property_change.h"

#include <algorithm>

#include "base/ascii.h"
#include "kernel/feature/property_table.h"

namespace braid {

namespace {

bool HasPrefix(std::string_view text, std::string_view prefix) {
	return text.size() >= prefix.size() && SameIgnoringCase(text.substr(0, prefix.size()), prefix);
}

std::string FullName(const std::string& name) {
	return FindProperty("delta." + name) != nullptr ? "delta." + name : name;
}

std::unexpected<Error> IsConstraint(const std::string& name) {
	return Fail(ErrorKind::kInvalidArgument, "table property " + name +
												 " is a constraint: use ALTER TABLE ... ADD CONSTRAINT name CHECK "
												 "(condition), or DROP CONSTRAINT name");
}

// The key under which the property stands; users' own names are compared exactly first.
Configuration::iterator Find(Configuration& configuration, const std::string& name) {
	const auto exact = configuration.find(name);
	if (exact != configuration.end()) return exact;
	const std::string full = FullName(name);
	return std::ranges::find_if(configuration, [&](auto& entry) { return SameIgnoringCase(entry.first, full); });
}

}  // namespace

Result<Properties> SetProperties(const Properties& properties, Configuration& configuration, FeatureSet& features) {
	Properties entered;
	for (const auto& [name, value] : properties) {
		if (HasPrefix(name, kConstraintPrefix)) return IsConstraint(name);
		BRAID_TRY(auto checked, CheckProperty(FullName(name), value));
		if (checked.first.starts_with(kFeaturePrefix)) {
			BRAID_TRY(std::string feature, CanonicalFeature(checked.first.substr(kFeaturePrefix.size())));
			features.insert(std::move(feature));
		} else if (checked.first.starts_with("delta.min")) {
			return Fail(
				ErrorKind::kUnsupported,
				"table property " + checked.first +
					" is not taken: the protocol of a table follows from its properties (delta.feature.<name> = "
					"'supported' asks for one feature)");
		} else {
			configuration[checked.first] = checked.second;
		}
		entered.push_back(std::move(checked));
	}
	return entered;
}

Result<std::vector<std::string>> UnsetProperties(const std::vector<std::string>& names, bool if_exists,
												 Configuration& configuration) {
	std::vector<std::string> removed;
	for (const std::string& name : names) {
		if (HasPrefix(name, kConstraintPrefix)) return IsConstraint(name);
		const TableProperty* known = FindProperty(FullName(name));
		if (known != nullptr && !known->user_settable) {
			return Fail(ErrorKind::kInvalidArgument,
						"table property " + std::string(known->key) + " is kept by the engine and cannot be unset");
		}
		if (known == nullptr && HasPrefix(name, "delta.") && !configuration.contains(name)) {
			return Fail(ErrorKind::kInvalidArgument, "unknown table property " + name);
		}
		const auto entry = Find(configuration, name);
		if (entry == configuration.end()) {
			if (if_exists) continue;
			return Fail(ErrorKind::kInvalidArgument, "[DELTA_UNSET_NON_EXISTENT_PROPERTY] table property " + name +
														 " is not set (UNSET ... IF EXISTS passes over it)");
		}
		removed.push_back(entry->first);
		configuration.erase(entry);
	}
	return removed;
}

}  // namespace braid
