// SPDX-License-Identifier: Apache-2.0
// Which files of a snapshot can hold a row that satisfies a predicate: by partition values, bounds and null counts.
// Guarantees: never drops a file that has such a row, deletion vectors and wide bounds included (PROTOCOL: Per-file
// Statistics).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernel/predicate/predicate.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// A predicate prepared for one schema: resolved columns, types and physical names. Cheap to apply to many files.
class FilePruner {
public:
	FilePruner(const Metadata& metadata, DataTypePtr schema, ColumnMappingMode mode, Predicate predicate);
	bool MayMatch(std::string_view partition_values_json, std::string_view stats_json) const;
	bool MayMatch(const LiveFile& file) const { return MayMatch(file.partition_values, file.stats); }
	bool trivial() const { return trivial_; }

	struct Plan;

private:
	bool trivial_;
	std::shared_ptr<const Plan> plan_;  // immutable: one pruner may serve several threads
};

}  // namespace braid
