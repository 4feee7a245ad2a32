// SPDX-License-Identifier: Apache-2.0
// Sums and extremes over the files of a list.
#include "engine/scan/scan_statistics.h"

#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/function/partition_stats.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "engine/scan/file_list.h"
#include "engine/scan/scalar_bridge.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

constexpr uint64_t kGuessedRows = 1000;        // of a file without statistics
constexpr size_t kFilesWithParsedStats = 512;  // parsing more would cost more than the plan gains

const LakeFileList& ListOf(const duckdb::FunctionData& bind_data) {
	return bind_data.Cast<duckdb::MultiFileBindData>().file_list->Cast<LakeFileList>();
}

// Rows that a scan of the file returns; nullopt if its statistics do not say.
std::optional<uint64_t> LiveRows(const ScanFile& file) {
	auto rows = NumRecords(file.stats());
	if (!rows) return std::nullopt;
	uint64_t deleted = file.staged_deletes ? file.staged_deletes->Cardinality() : 0;
	if (const DvDescriptor* dv = file.deletion_vector()) deleted += static_cast<uint64_t>(dv->cardinality);
	auto physical = static_cast<uint64_t>(*rows);
	return physical >= deleted ? std::optional(physical - deleted) : std::nullopt;
}

bool HasSoundBounds(const duckdb::LogicalType& type) {
	switch (type.id()) {
		case duckdb::LogicalTypeId::TINYINT:
		case duckdb::LogicalTypeId::SMALLINT:
		case duckdb::LogicalTypeId::INTEGER:
		case duckdb::LogicalTypeId::BIGINT:
		case duckdb::LogicalTypeId::DATE:
		case duckdb::LogicalTypeId::DECIMAL:
		case duckdb::LogicalTypeId::TIMESTAMP:
		case duckdb::LogicalTypeId::TIMESTAMP_TZ:
			return true;
		default:
			return false;
	}
}

struct ColumnBounds {
	std::optional<Scalar> min, max;
	bool has_nulls = false;
	bool has_values = false;
};

bool Extend(ColumnBounds& bounds, const ColumnStats& file, int64_t rows) {
	if (!file.null_count) return false;
	if (*file.null_count > 0) bounds.has_nulls = true;
	if (*file.null_count >= rows) return true;  // all NULL: there are no bounds
	if (!file.min || !file.max) return false;
	bounds.has_values = true;
	if (!bounds.min || Compare(*file.min, *bounds.min) == std::strong_ordering::less) bounds.min = file.min;
	if (!bounds.max || Compare(*file.max, *bounds.max) == std::strong_ordering::greater) bounds.max = file.max;
	return true;
}

std::optional<ColumnBounds> BoundsOf(const LakeFileList& files, const Field& field) {
	const Snapshot& view = *files.source().view;
	std::string physical = PhysicalName(field, view.column_mapping);
	ColumnBounds bounds;
	for (duckdb::idx_t i = 0; i < files.size(); ++i) {
		auto stats = ParseFileStats(files.File(i).stats(), *view.schema, view.column_mapping, {physical});
		if (!stats || !stats->num_records) return std::nullopt;
		auto column = stats->columns.find({physical});
		if (column == stats->columns.end() || !Extend(bounds, column->second, *stats->num_records)) return std::nullopt;
	}
	return bounds;
}

}  // namespace

RowEstimate EstimateRows(const LakeFileList& files) {
	RowEstimate estimate {0, true};
	for (duckdb::idx_t i = 0; i < files.size(); ++i) {
		auto rows = LiveRows(files.File(i));
		estimate.exact = estimate.exact && rows.has_value();
		estimate.count += rows.value_or(kGuessedRows);
	}
	return estimate;
}

duckdb::unique_ptr<duckdb::BaseStatistics> ColumnStatistics(duckdb::ClientContext& context,
															const duckdb::FunctionData* bind_data,
															duckdb::column_t column) {
	const LakeFileList& files = ListOf(*bind_data);
	const Snapshot& view = *files.source().view;
	if (files.source().has_local_changes || files.size() == 0 || files.size() > kFilesWithParsedStats) return nullptr;
	if (duckdb::IsVirtualColumn(column) || column >= view.schema->fields.size()) return nullptr;
	const duckdb::LogicalType& type = bind_data->Cast<duckdb::MultiFileBindData>().types[column];
	if (!HasSoundBounds(type)) return nullptr;
	auto bounds = BoundsOf(files, view.schema->fields[column]);
	if (!bounds || !bounds->has_values) return nullptr;
	auto min = TryToValue(*bounds->min, type);
	auto max = TryToValue(*bounds->max, type);
	if (!min || !max) return nullptr;
	if (!RegisterPlannedRead(context, files.registration(), files.conditions())) return nullptr;
	auto statistics = duckdb::NumericStats::CreateUnknown(type);
	duckdb::NumericStats::SetMin(statistics, *min);
	duckdb::NumericStats::SetMax(statistics, *max);
	if (!bounds->has_nulls) statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
	return statistics.ToUnique();
}

duckdb::vector<duckdb::PartitionStatistics> ExactCounts(duckdb::ClientContext& context,
														duckdb::GetPartitionStatsInput& input) {
	duckdb::vector<duckdb::PartitionStatistics> counts;
	const LakeFileList& files = ListOf(*input.bind_data);
	if (files.source().has_local_changes) return counts;
	RowEstimate rows = EstimateRows(files);
	if (!rows.exact) return counts;
	if (!RegisterPlannedRead(context, files.registration(), files.conditions())) return counts;
	duckdb::PartitionStatistics all;
	all.count = rows.count;
	all.count_type = duckdb::CountType::COUNT_EXACT;
	counts.push_back(std::move(all));
	return counts;
}

}  // namespace braid::engine
