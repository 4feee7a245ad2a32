// SPDX-License-Identifier: Apache-2.0
// Which table features a schema and its properties ask for, and the smallest protocol that has them (PROTOCOL: Table Features).
#pragma once

#include <set>
#include <string>

#include "kernel/action/actions.h"
#include "kernel/feature/feature_support.h"
#include "kernel/schema/identity.h"
#include "kernel/schema/type.h"

namespace braid {

using FeatureSet = std::set<std::string>;

inline const std::string kCurrentDefaultKey = "CURRENT_DEFAULT";
inline const std::string kGenerationExpressionKey = "delta.generationExpression";
inline const std::string kInvariantsKey = "delta.invariants";
inline constexpr std::string_view kConstraintPrefix = "delta.constraints.";
inline constexpr std::string_view kFeaturePrefix = "delta.feature.";
// Metadata domains of features.
inline const std::string kClusteringDomain = "delta.clustering";
inline const std::string kRowTrackingDomain = "delta.rowTracking";

FeatureSet NeededFeatures(const StructType& schema, const Configuration& configuration);
// Features as the table of features spells them; kUnsupported names one that it does not know.
Result<std::string> CanonicalFeature(std::string_view name);
// `base` with these features as well, and what they require. Legacy versions are kept where they can say it.
Protocol WithFeatures(const Protocol& base, const FeatureSet& features);
// The smallest protocol that has the others. Whether something still uses the feature is the caller's to know (kernel/alter/drop_feature.h).
Protocol WithoutFeature(const Protocol& base, const std::string& feature);
bool Requires(std::string_view feature, std::string_view other);

}  // namespace braid
