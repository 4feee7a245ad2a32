// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "base/json.h"
#include "engine/inspect/inspect_functions.h"
#include "engine/inspect/row_function.h"
#include "engine/io/error_translation.h"
#include "engine/statement/named_table.h"
#include "kernel/snapshot/history.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

constexpr std::array<const char*, 6> kJobFields = {"jobId", "jobName",    "jobRunId",
												   "runId", "jobOwnerId", "triggerType"};
constexpr std::array<const char*, 1> kNotebookFields = {"notebookId"};

template <size_t N>
LogicalType StructOf(const std::array<const char*, N>& names) {
	duckdb::child_list_t<LogicalType> fields;
	for (const char* name : names) fields.emplace_back(name, LogicalType::VARCHAR);
	return LogicalType::STRUCT(std::move(fields));
}

template <size_t N>
Value StructOf(const std::array<const char*, N>& names, const std::optional<ForeignFields>& found) {
	if (!found) return Value(StructOf(names));
	duckdb::child_list_t<Value> fields;
	for (const char* name : names) {
		auto field = found->find(name);
		fields.emplace_back(name, field == found->end() ? Value(LogicalType::VARCHAR) : Value(field->second));
	}
	return Value::STRUCT(std::move(fields));
}

// A parameter is JSON text: a string stands for its content, everything else for itself.
Value ParameterValue(const std::string& json) {
	if (json == "null") return Value(LogicalType::VARCHAR);
	auto text = JsonStringValue(json);
	return Value(text ? *text : json);
}

Value NonEmpty(const std::string& text) { return text.empty() ? Value() : Value(text); }

class History final : public RowSource {
public:
	explicit History(std::shared_ptr<TableHandle> table)
		: table_(std::move(table)), reader_(Unwrap(HistoryReader::Open(table_->store()))) {}

	bool Next(const std::vector<bool>&, std::vector<Value>& row) override {
		const auto record = Unwrap(reader_.Next());
		if (!record) return false;
		row[0] = Value::BIGINT(record->version);
		row[1] = InstantValue(record->timestamp);
		if (!record->info) return true;
		const CommitInfo& info = *record->info;
		row[2] = OptionalValue(record->user_id);
		row[3] = OptionalValue(record->user_name);
		row[4] = NonEmpty(info.operation);
		row[5] = MapValue(info.operation_parameters, LogicalType::VARCHAR, ParameterValue);
		row[6] = StructOf(kJobFields, record->job);
		row[7] = StructOf(kNotebookFields, record->notebook);
		row[8] = OptionalValue(record->cluster_id);
		if (info.read_version) row[9] = Value::BIGINT(*info.read_version);
		row[10] = OptionalValue(info.isolation_level);
		if (info.is_blind_append) row[11] = Value::BOOLEAN(*info.is_blind_append);
		row[12] =
			MapValue(info.operation_metrics, LogicalType::VARCHAR, [](const std::string& text) { return Value(text); });
		row[13] = OptionalValue(info.user_metadata);
		row[14] = NonEmpty(info.engine_info);
		return true;
	}

private:
	std::shared_ptr<TableHandle> table_;
	HistoryReader reader_;
};

std::unique_ptr<RowSource> Open(duckdb::ClientContext& context, const std::string& table) {
	return std::make_unique<History>(FindTableLog(context, table, "braid_history"));
}

}  // namespace

void RegisterHistory(duckdb::ExtensionLoader& loader) {
	RowFunction function;
	function.name = "braid_history";
	function.columns = {{"version", LogicalType::BIGINT},
						{"timestamp", LogicalType::TIMESTAMP_TZ},
						{"userId", LogicalType::VARCHAR},
						{"userName", LogicalType::VARCHAR},
						{"operation", LogicalType::VARCHAR},
						{"operationParameters", TextMap()},
						{"job", StructOf(kJobFields)},
						{"notebook", StructOf(kNotebookFields)},
						{"clusterId", LogicalType::VARCHAR},
						{"readVersion", LogicalType::BIGINT},
						{"isolationLevel", LogicalType::VARCHAR},
						{"isBlindAppend", LogicalType::BOOLEAN},
						{"operationMetrics", TextMap()},
						{"userMetadata", LogicalType::VARCHAR},
						{"engineInfo", LogicalType::VARCHAR}};
	function.open = Open;
	RegisterRowFunction(loader, std::move(function));
}

}  // namespace braid::engine
