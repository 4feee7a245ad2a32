// SPDX-License-Identifier: Apache-2.0
// Statistics are parsed only for columns that are asked for.
#include "duckdb/common/string_util.hpp"
#include "engine/inspect/inspect_functions.h"
#include "engine/inspect/row_function.h"
#include "engine/io/error_translation.h"
#include "engine/scan/scan_source.h"
#include "engine/statement/named_table.h"
#include "kernel/action/string_map.h"
#include "kernel/log/log_path.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

enum Column : size_t {
	kPath,
	kFilename,
	kSize,
	kModificationTime,
	kPartitionValues,
	kNumRecords,
	kNumDeletedRecords,
	kMinValues,
	kMaxValues,
	kNullCount,
	kTightBounds,
	kDeletionVector,
	kBaseRowId,
	kDefaultRowCommitVersion,
	kClusteringProvider
};

LogicalType VectorType() {
	return LogicalType::STRUCT({{"storageType", LogicalType::VARCHAR},
								{"pathOrInlineDv", LogicalType::VARCHAR},
								{"offset", LogicalType::INTEGER},
								{"sizeInBytes", LogicalType::INTEGER},
								{"cardinality", LogicalType::BIGINT}});
}

Value VectorValue(const DvDescriptor& vector) {
	return Value::STRUCT({{"storageType", Value(std::string(1, vector.storage_type))},
						  {"pathOrInlineDv", Value(vector.path_or_inline_dv)},
						  {"offset", vector.offset ? Value::INTEGER(*vector.offset) : Value(LogicalType::INTEGER)},
						  {"sizeInBytes", Value::INTEGER(vector.size_in_bytes)},
						  {"cardinality", Value::BIGINT(vector.cardinality)}});
}

class Files final : public RowSource {
public:
	explicit Files(NamedTable table)
		: source_(MakeScanSource(std::move(table.table), std::move(table.view), nullptr)), view_(*source_->view) {}

	bool Next(const std::vector<bool>& wanted, std::vector<Value>& row) override {
		if (next_ == source_->Files().size()) return false;
		const ScanFile& scanned = source_->Files()[next_++];
		const LiveFile& file = *scanned.live;
		row[kPath] = Value(DecodePath(file.path));
		if (wanted[kFilename]) row[kFilename] = Value(source_->Location(scanned));
		row[kSize] = Value::BIGINT(file.size);
		row[kModificationTime] = InstantValue(file.modification_time);
		if (wanted[kPartitionValues]) row[kPartitionValues] = PartitionValuesOf(file);
		if (wanted[kNumRecords]) {
			if (const auto rows = NumRecords(file.stats)) row[kNumRecords] = Value::BIGINT(*rows);
		}
		row[kNumDeletedRecords] = Value::BIGINT(file.deletion_vector ? file.deletion_vector->cardinality : 0);
		if (wanted[kMinValues] || wanted[kMaxValues] || wanted[kNullCount] || wanted[kTightBounds]) AddStats(file, row);
		if (file.deletion_vector) row[kDeletionVector] = VectorValue(*file.deletion_vector);
		if (file.base_row_id) row[kBaseRowId] = Value::BIGINT(*file.base_row_id);
		if (file.default_row_commit_version)
			row[kDefaultRowCommitVersion] = Value::BIGINT(*file.default_row_commit_version);
		if (!file.clustering_provider.empty()) row[kClusteringProvider] = Value(std::string(file.clustering_provider));
		return true;
	}

private:
	std::string Logical(const std::vector<std::string>& physical) const {
		return duckdb::StringUtil::Join(LogicalPath(physical, *view_.schema, view_.column_mapping), ".");
	}

	Value PartitionValuesOf(const LiveFile& file) const {
		std::map<std::string, std::optional<std::string>> logical;
		for (auto& [name, value] : Unwrap(ParseStringMap(file.partition_values))) logical[Logical({name})] = value;
		return MapValue(logical, LogicalType::VARCHAR, [](const auto& value) { return OptionalValue(value); });
	}

	// Statistics that cannot be read say nothing.
	void AddStats(const LiveFile& file, std::vector<Value>& row) const {
		if (file.stats.empty()) return;
		const auto stats = ParseFileStats(file.stats, *view_.schema, view_.column_mapping);
		if (!stats) return;
		std::map<std::string, std::string> min, max;
		std::map<std::string, int64_t> nulls;
		for (const auto& [path, column] : stats->columns) {
			const std::string name = Logical(path);
			if (column.min && !column.min->is_null()) min[name] = ToText(*column.min);
			if (column.max && !column.max->is_null()) max[name] = ToText(*column.max);
			if (column.null_count) nulls[name] = *column.null_count;
		}
		const auto text = [](const std::string& value) { return Value(value); };
		row[kMinValues] = MapValue(min, LogicalType::VARCHAR, text);
		row[kMaxValues] = MapValue(max, LogicalType::VARCHAR, text);
		row[kNullCount] = MapValue(nulls, LogicalType::BIGINT, [](int64_t count) { return Value::BIGINT(count); });
		row[kTightBounds] = Value::BOOLEAN(stats->tight_bounds);
	}

	ScanSourcePtr source_;
	const Snapshot& view_;
	size_t next_ = 0;
};

std::unique_ptr<RowSource> Open(duckdb::ClientContext& context, const std::string& table) {
	return std::make_unique<Files>(FindNamedTable(context, table, "braid_files"));
}

}  // namespace

void RegisterFiles(duckdb::ExtensionLoader& loader) {
	RowFunction function;
	function.name = "braid_files";
	function.columns = {{"path", LogicalType::VARCHAR},
						{"filename", LogicalType::VARCHAR},
						{"size", LogicalType::BIGINT},
						{"modificationTime", LogicalType::TIMESTAMP_TZ},
						{"partitionValues", TextMap()},
						{"numRecords", LogicalType::BIGINT},
						{"numDeletedRecords", LogicalType::BIGINT},
						{"minValues", TextMap()},
						{"maxValues", TextMap()},
						{"nullCount", LogicalType::MAP(LogicalType::VARCHAR, LogicalType::BIGINT)},
						{"tightBounds", LogicalType::BOOLEAN},
						{"deletionVector", VectorType()},
						{"baseRowId", LogicalType::BIGINT},
						{"defaultRowCommitVersion", LogicalType::BIGINT},
						{"clusteringProvider", LogicalType::VARCHAR}};
	function.open = Open;
	RegisterRowFunction(loader, std::move(function));
}

}  // namespace braid::engine
