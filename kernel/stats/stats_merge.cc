// SPDX-License-Identifier: Apache-2.0
#include "kernel/stats/stats_merge.h"

namespace braid {

static bool HasNoValue(const ColumnStats& column, std::optional<int64_t> rows) {
	return rows && column.null_count == rows;
}

static std::optional<Scalar> Outer(const std::optional<Scalar>& a, const std::optional<Scalar>& b, bool smaller) {
	if (!a || !b) return std::nullopt;
	const auto order = Compare(*a, *b);
	if (!order) return std::nullopt;
	return (*order < 0) == smaller ? a : b;
}

void MergeStats(FileStats& file, const FileStats& part) {
	if (!file.num_records) {
		file = part;
		return;
	}
	std::erase_if(file.columns, [&](const auto& column) { return !part.columns.contains(column.first); });
	for (auto& [path, column] : file.columns) {
		const ColumnStats& other = part.columns.at(path);
		if (HasNoValue(column, file.num_records)) {
			column.min = other.min;
			column.max = other.max;
		} else if (!HasNoValue(other, part.num_records)) {
			column.min = Outer(column.min, other.min, true);
			column.max = Outer(column.max, other.max, false);
		}
		if (column.null_count && other.null_count) {
			*column.null_count += *other.null_count;
		} else {
			column.null_count.reset();
		}
	}
	file.num_records = part.num_records ? std::optional(*file.num_records + *part.num_records) : std::nullopt;
	file.tight_bounds &= part.tight_bounds;
}

}  // namespace braid
