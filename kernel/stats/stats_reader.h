// SPDX-License-Identifier: Apache-2.0
// Reads chosen columns out of the JSON text of file statistics without building anything for the others: the inner
// loop of file pruning. A bound that cannot be read, or that some writer is known to get wrong, is left out: a
// missing bound never prunes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/schema/type.h"
#include "kernel/stats/file_stats.h"

namespace braid {

// The columns to read, as a tree of physical names.
struct StatsShape {
	struct Node {
		std::string name;
		TypeKind kind = TypeKind::kStruct;
		int scale = 0;               // of a decimal
		bool type_changed = false;   // delta.typeChanges: older files hold a narrower type
		int leaf = -1;               // index into StatsValues::leaves; -1: a struct
		std::vector<Node> children;  // of a struct
	};
	std::vector<Node> roots;
	int leaves = 0;

	// Adds a leaf column (or finds it) and answers its index. `path`: the fields from the top level down.
	int AddLeaf(const std::vector<const Field*>& path, ColumnMappingMode mode);
};

struct StatsValues {
	std::optional<int64_t> num_records;
	bool tight_bounds = true;
	std::vector<ColumnStats> leaves;
};

// kCorrupt: not a JSON object. An empty text has no statistics.
Status ReadStats(std::string_view json, const StatsShape& shape, StatsValues& values);

}  // namespace braid
