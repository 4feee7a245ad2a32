// SPDX-License-Identifier: Apache-2.0
// bind, global state, local state, then chunk after chunk (duckdb.md 5.3). Structs are read only as far as their fields are wanted.
#include "engine/io/checkpoint_scan.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "duckdb/common/multi_file/multi_file_list.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/filter/null_filter.hpp"
#include "engine/scan/scan_function.h"

namespace braid::engine {

namespace {

// A file as it is: `*` and `[` in its path are letters, directories named a=b say nothing, and structs come as the file has them, where
// DuckDB's own mapping would rebuild each one that holds a map.
class PlainFile final : public duckdb::MultiFileReader {
public:
	static duckdb::unique_ptr<duckdb::MultiFileReader> Create(const duckdb::TableFunction&) {
		return duckdb::make_uniq<PlainFile>();
	}
	duckdb::unique_ptr<duckdb::MultiFileReader> Copy() const override { return duckdb::make_uniq<PlainFile>(); }
	duckdb::shared_ptr<duckdb::MultiFileList> CreateFileList(duckdb::ClientContext&,
															 const duckdb::vector<std::string>& paths,
															 const duckdb::FileGlobInput&) override {
		duckdb::vector<duckdb::OpenFileInfo> files(paths.begin(), paths.end());
		return duckdb::make_shared_ptr<duckdb::SimpleMultiFileList>(std::move(files));
	}
	duckdb::ReaderInitializeType InitializeReader(duckdb::MultiFileReaderData& data, const duckdb::MultiFileBindData&,
												  const duckdb::vector<duckdb::MultiFileColumnDefinition>& columns,
												  const duckdb::vector<duckdb::ColumnIndex>& wanted,
												  duckdb::optional_ptr<duckdb::TableFilterSet> filters,
												  duckdb::ClientContext&, duckdb::MultiFileGlobalState&) override {
		if (filters) data.reader->filters = filters->Copy();
		for (const duckdb::ColumnIndex& index : wanted) {
			const duckdb::idx_t column = index.GetPrimaryIndex();
			data.expressions.push_back(duckdb::make_uniq<duckdb::BoundReferenceExpression>(
				columns[column].type, data.reader->column_indexes.size()));
			data.reader->column_ids.push_back(duckdb::MultiFileLocalColumnId(column));
			data.reader->column_indexes.push_back(index);
		}
		return duckdb::ReaderInitializeType::INITIALIZED;
	}
};

// The positions of the names of a dotted path, level by level; empty if it is not there.
std::vector<size_t> Find(const duckdb::LogicalType& schema, const std::string& path) {
	std::vector<size_t> positions;
	const duckdb::LogicalType* type = &schema;
	for (const std::string& name : duckdb::StringUtil::Split(path, '.')) {
		if (type->id() != duckdb::LogicalTypeId::STRUCT) return {};
		const auto& children = duckdb::StructType::GetChildTypes(*type);
		size_t i = 0;
		while (i < children.size() && children[i].first != name) ++i;
		if (i == children.size()) return {};
		positions.push_back(i);
		type = &children[i].second;
	}
	return positions;
}

}  // namespace

CheckpointScan::CheckpointScan(NestedSession& session, const std::string& location)
	: context_(session.context()), thread_(context_), execution_(context_, thread_, nullptr) {
	FindVoid(session, location);
	session.connection().BeginTransaction();
	function_ = ParquetScan(context_);
	function_.get_multi_file_reader = PlainFile::Create;
	duckdb::vector<duckdb::Value> inputs {duckdb::Value(location)};
	duckdb::named_parameter_map_t parameters {{"hive_partitioning", duckdb::Value::BOOLEAN(false)}};
	duckdb::vector<duckdb::LogicalType> input_types, types;
	duckdb::vector<duckdb::string> input_names, names;
	duckdb::TableFunctionRef reference;
	duckdb::TableFunctionBindInput input(inputs, parameters, input_types, input_names, nullptr, nullptr, function_,
										 reference);
	bind_data_ = function_.bind(context_, input, types, names);
	duckdb::child_list_t<duckdb::LogicalType> columns;
	for (size_t i = 0; i < names.size(); ++i) columns.emplace_back(names[i], types[i]);
	schema_ = duckdb::LogicalType::STRUCT(std::move(columns));
}

// Asks the footer which leaves hold nothing. No answer is no harm: then they are read.
void CheckpointScan::FindVoid(NestedSession& session, const std::string& location) {
	const std::string sql =
		"SELECT path_in_schema, bool_and(coalesce(stats_null_count = num_values, false)) FROM parquet_metadata(" +
		SqlText(location) + ") WHERE path_in_schema NOT LIKE 'add, stats_parsed%' GROUP BY ALL";
	(void)session.Stream(sql, "footer of " + location, [&](duckdb::DataChunk& leaves) -> Status {
		for (size_t row = 0; row < leaves.size(); ++row) {
			is_void_[leaves.GetValue(0, row).ToString()] = duckdb::BooleanValue::Get(leaves.GetValue(1, row));
		}
		return {};
	});
}

// A map without entries is as good as NULL here; an empty list is not.
bool CheckpointScan::IsVoid(const CheckpointField& field) const {
	if (std::string_view(field.type).ends_with("[]")) return false;
	const std::string leaf = duckdb::StringUtil::Replace(field.path, ".", ", ");
	auto found = is_void_.lower_bound(leaf);
	if (found == is_void_.end()) return false;
	if (found->first == leaf) return found->second;
	return found->first.starts_with(leaf + ", ") && found->second;  // of a map: no keys
}

bool CheckpointScan::HasParsedStats() const { return !Find(schema_, kParsedStats).empty(); }

// Puts the field into the tree of what is read.
CheckpointScan::Place CheckpointScan::Want(const std::string& path, const char* type, Columns& wanted) const {
	Place place {Find(schema_, path)};
	const duckdb::LogicalType* found = &schema_;
	Columns* level = &wanted;
	for (size_t& position : place.path) {
		found = &duckdb::StructType::GetChildTypes(*found)[position].second;
		auto same = [&](const duckdb::ColumnIndex& index) { return index.GetPrimaryIndex() == position; };
		auto index = std::find_if(level->begin(), level->end(), same);
		if (index == level->end()) {
			level->emplace_back(position);
			index = std::prev(level->end());
		}
		if (level == &wanted) position = static_cast<size_t>(index - level->begin());
		level = &index->GetChildIndexesMutable();
	}
	if (type && !place.path.empty() && found->ToString() != type) {
		place.cast = duckdb::TransformStringToLogicalType(type, context_);
	}
	return place;
}

void CheckpointScan::StartAdds(bool with_parsed_stats) {
	places_.assign(kColumnCount + 1, {});
	Columns wanted;
	for (size_t i = kAddPath; i < kRemovePath; ++i) {
		const CheckpointField& field = kCheckpointFields[i];
		if (!IsVoid(field)) places_[i] = Want(field.path, field.type, wanted);
	}
	if (places_[kAddPath].path.empty()) wanted.clear();
	if (with_parsed_stats && !wanted.empty()) places_[kAddParsedStats] = Want(kParsedStats, nullptr, wanted);
	Start(std::move(wanted), nullptr);
}

void CheckpointScan::StartOthers() {
	places_.assign(kColumnCount + 1, {});
	Columns wanted;
	for (size_t i = kRemovePath; i < kColumnCount; ++i) {
		const CheckpointField& field = kCheckpointFields[i];
		if (!IsVoid(field)) places_[i] = Want(field.path, field.type, wanted);
	}
	duckdb::unique_ptr<duckdb::TableFilterSet> no_add;
	if (!wanted.empty() && !Find(schema_, kCheckpointFields[kAddPath].path).empty()) {
		// Whether the struct is there can be told from any of its fields, and this one takes a bit.
		const char* field = kCheckpointFields[kAddDataChange].path;
		if (Find(schema_, field).empty()) field = kCheckpointFields[kAddPath].path;
		no_add = duckdb::make_uniq<duckdb::TableFilterSet>();
		no_add->filters[Want(field, nullptr, wanted).path[0]] = duckdb::make_uniq<duckdb::IsNullFilter>();
	}
	Start(std::move(wanted), std::move(no_add));
}

void CheckpointScan::Start(Columns wanted, duckdb::unique_ptr<duckdb::TableFilterSet> filters) {
	const auto& children = duckdb::StructType::GetChildTypes(schema_);
	duckdb::vector<duckdb::LogicalType> types;
	for (const auto& index : wanted) types.push_back(children[index.GetPrimaryIndex()].second);
	local_.reset();
	global_.reset();
	chunk_.Destroy();
	if (types.empty()) return;
	chunk_.Initialize(context_, types);
	filters_ = std::move(filters);
	duckdb::TableFunctionInitInput input(bind_data_.get(), std::move(wanted), duckdb::vector<duckdb::idx_t>(),
										 filters_.get());
	global_ = function_.init_global(context_, input);
	local_ = function_.init_local(execution_, input, global_.get());
}

bool CheckpointScan::Next() {
	if (!local_) return false;  // there is nothing to read
	chunk_.Reset();
	duckdb::TableFunctionInput input(bind_data_.get(), local_.get(), global_.get());
	function_.function(context_, input, chunk_);
	casts_.clear();
	columns_.clear();
	for (const Place& place : places_) columns_.push_back(place.path.empty() ? nullptr : Resolve(place));
	return chunk_.size() != 0;
}

duckdb::Vector* CheckpointScan::Resolve(const Place& place) {
	duckdb::Vector* vector = &chunk_.data[place.path[0]];
	for (size_t i = 1; i < place.path.size(); ++i) {
		const auto type = vector->GetVectorType();
		if (type != duckdb::VectorType::FLAT_VECTOR && type != duckdb::VectorType::CONSTANT_VECTOR) {
			vector->Flatten(chunk_.size());
		}
		vector = duckdb::StructVector::GetEntries(*vector)[place.path[i]].get();
	}
	if (place.cast.id() == duckdb::LogicalTypeId::INVALID) return vector;
	casts_.push_back(std::make_unique<duckdb::Vector>(place.cast, chunk_.size()));
	duckdb::VectorOperations::Cast(context_, *vector, *casts_.back(), chunk_.size());
	return casts_.back().get();
}

std::shared_ptr<const void> CheckpointScan::KeepText(std::initializer_list<size_t> columns) const {
	auto kept = std::make_shared<std::vector<duckdb::buffer_ptr<duckdb::VectorBuffer>>>();
	for (size_t column : columns) {
		if (columns_[column]) kept->push_back(columns_[column]->GetAuxiliary());
	}
	return kept;
}

}  // namespace braid::engine
