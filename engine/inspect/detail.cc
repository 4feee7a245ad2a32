// SPDX-License-Identifier: Apache-2.0
// What metadata and protocol say, in one row, and the same as properties.
#include <algorithm>

#include "engine/inspect/inspect_functions.h"
#include "engine/inspect/row_function.h"
#include "engine/statement/named_table.h"
#include "kernel/alter/clustering.h"
#include "kernel/feature/feature_support.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

Value TextList(const std::vector<std::string>& texts) {
	duckdb::vector<Value> values(texts.begin(), texts.end());
	return Value::LIST(LogicalType::VARCHAR, std::move(values));
}

// A domain that cannot be read says nothing.
std::vector<std::string> Clustering(const Snapshot& view) {
	std::vector<std::string> columns;
	for (auto& path : ClusteringColumns(view).value_or(std::vector<ColumnPath>())) columns.push_back(ToString(path));
	return columns;
}

std::vector<std::string> Features(const Snapshot& view) {
	auto features = EnabledWriterFeatures(view.protocol);
	for (const std::string& feature : view.protocol.reader_features.value_or(std::vector<std::string>())) {
		if (std::ranges::find(features, feature) == features.end()) features.push_back(feature);
	}
	std::ranges::sort(features);
	return features;
}

class Detail final : public RowSource {
public:
	explicit Detail(NamedTable table) : table_(std::move(table)) {}

	bool Next(const std::vector<bool>&, std::vector<Value>& row) override {
		if (done_) return false;
		done_ = true;
		const Snapshot& view = *table_.view;
		const Metadata& metadata = view.metadata;
		row[0] = Value("delta");
		row[1] = Value(metadata.id);
		row[2] = metadata.name ? Value(*metadata.name) : table_.lake ? Value(table_.name) : Value();
		row[3] = OptionalValue(metadata.description);
		row[4] = Value(table_.table->root());
		if (metadata.created_time) row[5] = InstantValue(*metadata.created_time);
		row[6] = InstantValue(view.timestamp);
		row[7] = TextList(metadata.partition_columns);
		row[8] = TextList(Clustering(view));
		row[9] = Value::BIGINT(static_cast<int64_t>(view.files->size()));
		row[10] = Value::BIGINT(view.files->total_bytes());
		row[11] =
			MapValue(metadata.configuration, LogicalType::VARCHAR, [](const std::string& text) { return Value(text); });
		row[12] = Value::INTEGER(view.protocol.min_reader_version);
		row[13] = Value::INTEGER(view.protocol.min_writer_version);
		row[14] = TextList(Features(view));
		return true;
	}

private:
	NamedTable table_;
	bool done_ = false;
};

class Properties final : public RowSource {
public:
	explicit Properties(const Snapshot& view) : properties_(view.metadata.configuration) {
		properties_["delta.minReaderVersion"] = std::to_string(view.protocol.min_reader_version);
		properties_["delta.minWriterVersion"] = std::to_string(view.protocol.min_writer_version);
		if (view.protocol.writer_features) {
			for (const std::string& feature : Features(view)) properties_["delta.feature." + feature] = "supported";
		}
		next_ = properties_.begin();
	}

	bool Next(const std::vector<bool>&, std::vector<Value>& row) override {
		if (next_ == properties_.end()) return false;
		row[0] = Value(next_->first);
		row[1] = Value(next_->second);
		++next_;
		return true;
	}

private:
	Configuration properties_;
	Configuration::const_iterator next_;
};

std::unique_ptr<RowSource> OpenDetail(duckdb::ClientContext& context, const std::string& table) {
	return std::make_unique<Detail>(FindNamedTable(context, table, "braid_detail"));
}

std::unique_ptr<RowSource> OpenProperties(duckdb::ClientContext& context, const std::string& table) {
	return std::make_unique<Properties>(*FindNamedTable(context, table, "braid_properties").view);
}

}  // namespace

void RegisterDetail(duckdb::ExtensionLoader& loader) {
	RowFunction function;
	function.name = "braid_detail";
	function.columns = {{"format", LogicalType::VARCHAR},
						{"id", LogicalType::VARCHAR},
						{"name", LogicalType::VARCHAR},
						{"description", LogicalType::VARCHAR},
						{"location", LogicalType::VARCHAR},
						{"createdAt", LogicalType::TIMESTAMP_TZ},
						{"lastModified", LogicalType::TIMESTAMP_TZ},
						{"partitionColumns", LogicalType::LIST(LogicalType::VARCHAR)},
						{"clusteringColumns", LogicalType::LIST(LogicalType::VARCHAR)},
						{"numFiles", LogicalType::BIGINT},
						{"sizeInBytes", LogicalType::BIGINT},
						{"properties", TextMap()},
						{"minReaderVersion", LogicalType::INTEGER},
						{"minWriterVersion", LogicalType::INTEGER},
						{"tableFeatures", LogicalType::LIST(LogicalType::VARCHAR)}};
	function.open = OpenDetail;
	RegisterRowFunction(loader, std::move(function));
}

void RegisterProperties(duckdb::ExtensionLoader& loader) {
	RowFunction function;
	function.name = "braid_properties";
	function.columns = {{"key", LogicalType::VARCHAR}, {"value", LogicalType::VARCHAR}};
	function.open = OpenProperties;
	RegisterRowFunction(loader, std::move(function));
}

}  // namespace braid::engine
