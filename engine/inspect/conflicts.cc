// SPDX-License-Identifier: Apache-2.0
// Numbers are the metrics of commitInfo; commits of other engines tell none, and are passed over.
#include <cstdlib>

#include "engine/inspect/inspect_functions.h"
#include "engine/inspect/row_function.h"
#include "engine/io/error_translation.h"
#include "engine/statement/named_table.h"
#include "kernel/snapshot/history.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

int64_t Metric(const CommitInfo& info, const char* name) {
	auto metric = info.operation_metrics.find(name);
	return metric == info.operation_metrics.end() ? 0 : std::atoll(metric->second.c_str());
}

// The versions that came between the first one that the transaction has read and its own.
Value VersionsBefore(int64_t version, int64_t count) {
	duckdb::vector<Value> versions;
	for (int64_t passed = std::max<int64_t>(version - count, 0); passed < version; passed++)
		versions.push_back(Value::BIGINT(passed));
	return Value::LIST(LogicalType::BIGINT, std::move(versions));
}

class LostRaces final : public RowSource {
public:
	explicit LostRaces(std::shared_ptr<TableHandle> table)
		: table_(std::move(table)), reader_(Unwrap(HistoryReader::Open(table_->store()))) {}

	bool Next(const std::vector<bool>&, std::vector<Value>& row) override {
		while (auto record = Unwrap(reader_.Next())) {
			if (!record->info) continue;
			auto& info = *record->info;
			const auto attempts = Metric(info, "commitAttempts"), winners = Metric(info, "numConflictsResolved");
			if (attempts <= 1 && winners == 0) continue;
			row[0] = Value::BIGINT(record->version);
			row[1] = InstantValue(record->timestamp);
			row[2] = Value(info.operation);
			if (info.read_version) row[3] = Value::BIGINT(*info.read_version);
			row[4] = Value::BIGINT(attempts);
			row[5] = Value::BIGINT(winners);
			row[6] = VersionsBefore(record->version, winners);
			row[7] = Value::BIGINT(Metric(info, "numRowsRebased"));
			row[8] = Value::BIGINT(Metric(info, "numRowsRepaired"));
			row[9] = Value::BIGINT(Metric(info, "numStatementRetries"));
			row[10] = Value::BIGINT(Metric(info, "conflictCheckMs"));
			if (!info.txn_id.empty()) row[11] = Value(info.txn_id);
			if (!info.engine_info.empty()) row[12] = Value(info.engine_info);
			return true;
		}
		return false;
	}

private:
	std::shared_ptr<TableHandle> table_;
	HistoryReader reader_;
};

std::unique_ptr<RowSource> Open(duckdb::ClientContext& context, const std::string& table) {
	return std::make_unique<LostRaces>(FindTableLog(context, table, "braid_conflicts"));
}

}  // namespace

void RegisterConflicts(duckdb::ExtensionLoader& loader) {
	RowFunction function;
	function.name = "braid_conflicts";
	function.columns = {{"version", LogicalType::BIGINT},
						{"timestamp", LogicalType::TIMESTAMP_TZ},
						{"operation", LogicalType::VARCHAR},
						{"read_version", LogicalType::BIGINT},
						{"attempts", LogicalType::BIGINT},
						{"conflicts_resolved", LogicalType::BIGINT},
						{"winners", LogicalType::LIST(LogicalType::BIGINT)},
						{"rows_rebased", LogicalType::BIGINT},
						{"rows_repaired", LogicalType::BIGINT},
						{"statement_retries", LogicalType::BIGINT},
						{"conflict_check_ms", LogicalType::BIGINT},
						{"txn_id", LogicalType::VARCHAR},
						{"engine", LogicalType::VARCHAR}};
	function.open = Open;
	RegisterRowFunction(loader, std::move(function));
}

}  // namespace braid::engine
