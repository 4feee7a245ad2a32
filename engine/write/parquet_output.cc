// SPDX-License-Identifier: Apache-2.0
// Rows wait in spillable collections, one per thread or partition, until they make a row group; encoding runs without
// the lock.
#include "engine/write/parquet_output.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "base/environment.h"
#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/copy_function_catalog_entry.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"
#include "duckdb/parser/parsed_data/copy_info.hpp"
#include "engine/io/error_translation.h"
#include "engine/scan/hidden_columns.h"
#include "engine/scan/scalar_bridge.h"
#include "engine/settings.h"
#include "engine/write/low_priority.h"
#include "engine/write/physical_type.h"
#include "engine/write/stats_bridge.h"
#include "kernel/action/partition_folder.h"
#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"

namespace braid::engine {

namespace {

constexpr duckdb::idx_t kRowGroupRows = 122'880;
constexpr duckdb::idx_t kRowGroupBytes = 64 << 20;  // as held in memory, before compression
constexpr double kWorthARowGroup = 0.5;             // of it, where more rows would widen its bounds
constexpr duckdb::idx_t kFewRows = 16'384;
constexpr size_t kMaxFileName = 255;    // bytes, of every usual file system
constexpr size_t kMaxDirectory = 2048;  // below the table's root: a whole path may have 4096 bytes
constexpr size_t kMaxOpenFiles = 100;   // of a partitioned write; each holds a file handle and its footer so far
constexpr auto kCodecKey = "delta.parquet.compression.codec";

template <class T>
bool AnyNaN(duckdb::Vector& vector, duckdb::idx_t count) {
	duckdb::UnifiedVectorFormat format;
	vector.ToUnifiedFormat(count, format);
	auto data = duckdb::UnifiedVectorFormat::GetData<T>(format);
	for (duckdb::idx_t i = 0; i < count; i++) {
		auto at = format.sel->get_index(i);
		if (format.validity.RowIsValid(at) && std::isnan(data[at])) return true;
	}
	return false;
}

// Lists and maps have no statistics, so what is in them does not matter.
bool HoldsNaN(duckdb::Vector& vector, duckdb::idx_t count) {
	switch (vector.GetType().id()) {
		case duckdb::LogicalTypeId::FLOAT:
			return AnyNaN<float>(vector, count);
		case duckdb::LogicalTypeId::DOUBLE:
			return AnyNaN<double>(vector, count);
		case duckdb::LogicalTypeId::STRUCT:
			vector.Flatten(count);
			return std::ranges::any_of(duckdb::StructVector::GetEntries(vector),
									   [&](auto& child) { return HoldsNaN(*child, count); });
		default:
			return false;
	}
}

bool MayHoldNaN(const duckdb::LogicalType& type) {
	if (type.id() == duckdb::LogicalTypeId::STRUCT) {
		return std::ranges::any_of(duckdb::StructType::GetChildTypes(type),
								   [](auto& child) { return MayHoldNaN(child.second); });
	}
	return type.id() == duckdb::LogicalTypeId::FLOAT || type.id() == duckdb::LogicalTypeId::DOUBLE;
}

}  // namespace

struct ParquetOutput::OpenFile {
	std::string path;  // relative to the root, plain
	duckdb::unique_ptr<duckdb::GlobalFunctionData> state;
	duckdb::CopyFunctionFileStatistics written;
	PartitionValues values;
	int users = 0;         // threads between Acquire and Release
	int64_t groups = 0;    // that were or are being written
	bool retired = false;  // no thread may acquire it; the last user closes it

	std::mutex flushing;  // guards what follows, and the order of row groups
	uint64_t rows = 0;
	std::vector<OriginRun> origins;
};

struct ParquetOutput::Partition {
	PartitionValues values;  // by physical name
	std::string directory;   // relative, plain, "" for the root; with a trailing '/'
	Batch waiting;
	std::shared_ptr<OpenFile> file;
};

ParquetOutput::ParquetOutput(duckdb::ClientContext& context, TableWork& work, const Snapshot& view,
							 const duckdb::vector<duckdb::LogicalType>& types)
	: context_(context),
	  work_(work),
	  metadata_(view.metadata),
	  schema_(view.schema),
	  mapping_(view.column_mapping),
	  statement_id_(WithToken(NewUuid(SystemRandom()), work.table->lease_token())),
	  durable_(CommitOptionsOf(context).durable),
	  writer_("parquet") {
	auto& configuration = metadata_.configuration;
	auto codec = configuration.find(kCodecKey);
	codec_ = codec == configuration.end() ? "snappy" : duckdb::StringUtil::Lower(codec->second);
	target_bytes_ = PropertyBytes(configuration, "delta.targetFileSize");
	stats_columns_ = StatsColumns(*schema_, mapping_, configuration, metadata_.partition_columns);
	if (auto hidden = RowIdColumnsOf(view)) {  // which the log does not know
		std::erase_if(stats_columns_,
					  [&](auto& path) { return path.front() == hidden->id || path.front() == hidden->version; });
	}
	SplitColumns(types);
	has_nan_ = std::vector<std::atomic<bool>>(data_columns_.size());
	BindWriter();
}

ParquetOutput::~ParquetOutput() = default;

// Spark leaves such fields out of the file, others would look for them there.
static bool HoldsVoid(const DataType& type) {
	if (type.kind == TypeKind::kVoid) return true;
	return (type.element && HoldsVoid(*type.element)) || (type.key && HoldsVoid(*type.key)) ||
		   std::ranges::any_of(type.fields, [](auto& field) { return HoldsVoid(*field.type); });
}

void ParquetOutput::SplitColumns(const duckdb::vector<duckdb::LogicalType>& types) {
	for (auto& name : metadata_.partition_columns) {
		auto field =
			std::ranges::find_if(schema_->fields, [&](auto& f) { return duckdb::StringUtil::CIEquals(f.name, name); });
		if (field == schema_->fields.end()) {
			throw duckdb::IOException("Table %s: partition column \"%s\" is not in its schema", work_.table->root(),
									  name);
		}
		partition_columns_.push_back(field - schema_->fields.begin());
	}
	for (size_t i = 0; i < schema_->fields.size(); i++) {
		if (std::ranges::find(partition_columns_, i) != partition_columns_.end()) continue;
		if (schema_->fields[i].type->kind == TypeKind::kVoid) {
			void_columns_.push_back(i);
			continue;
		}
		if (HoldsVoid(*schema_->fields[i].type)) {
			throw duckdb::NotImplementedException(
				"Table %s: column \"%s\" holds a field of type void, which no file can store; replace it by one of "
				"another type to write rows",
				work_.table->root(), schema_->fields[i].name);
		}
		data_columns_.push_back(i);
		data_types_.push_back(PhysicalType(types[i], *schema_->fields[i].type, mapping_));
	}
}

void ParquetOutput::BindWriter() {
	duckdb::CopyInfo info;
	info.file_path = work_.table->root();
	info.format = "parquet";
	info.is_from = false;
	info.options["compression"] = {duckdb::Value(codec_)};
	duckdb::vector<std::string> names;
	std::vector<const Field*> fields;
	for (auto column : data_columns_) {
		auto& field = schema_->fields[column];
		if (field.metadata.contains(kColumnIdKey)) fields.push_back(&field);  // hidden columns have none
		names.push_back(PhysicalName(field, mapping_));
	}
	if (mapping_ != ColumnMappingMode::kNone) info.options["field_ids"] = {FieldIds(fields, mapping_)};
	auto& system = duckdb::Catalog::GetSystemCatalog(context_);
	writer_ = system.GetEntry<duckdb::CopyFunctionCatalogEntry>(context_, DEFAULT_SCHEMA, "parquet").function;
	duckdb::CopyFunctionBindInput input(info);
	writer_bind_ = writer_.copy_to_bind(context_, input, names, data_types_);
}

ParquetOutput::Rows ParquetOutput::NewRows() const {
	return duckdb::make_uniq<duckdb::ColumnDataCollection>(context_, data_types_);
}

// A file ends with a row group, so one may not be larger than a file is to be. Encoded, rows take less than half of the space.
bool ParquetOutput::IsFull(const duckdb::ColumnDataCollection& rows, double share) const {
	const auto bytes = static_cast<double>(rows.SizeInBytes());
	return static_cast<double>(rows.Count()) >= share * kRowGroupRows || bytes >= share * kRowGroupBytes ||
		   bytes / 2 >= share * static_cast<double>(target_bytes_);
}

void ParquetOutput::NoteNaN(duckdb::DataChunk& data) {
	for (size_t i = 0; i < data_types_.size(); i++) {
		if (MayHoldNaN(data_types_[i]) && !has_nan_[i] && HoldsNaN(data.data[i], data.size())) has_nan_[i] = true;
	}
}

// Rows that follow each other cost no more than one.
void ParquetOutput::Batch::Add(std::span<const Run> places) {
	for (auto& place : places) {
		auto* last = runs.empty() ? nullptr : &runs.back();
		if (last && last->source == place.source && last->first + last->count == place.first) {
			last->count += place.count;
		} else {
			runs.push_back(place);
		}
	}
}

void ParquetOutput::NoteRows(OpenFile& file, const std::vector<Run>& runs, uint64_t count) {
	std::vector<OriginRun> sent;
	auto& origins = origin_sink_ ? sent : file.origins;
	for (auto at = file.rows; auto& run : runs) {
		origins.push_back({run.source, run.first, at, run.count});
		at += run.count;
	}
	file.rows += count;
	if (sent.empty()) return;
	std::lock_guard guard(origin_mutex_);
	origin_sink_(EncodePath(file.path), sent);
}

void ParquetOutput::Append(Local& local, duckdb::DataChunk& rows, std::span<const Run> runs) {
	if (rows.size() == 0) return;
	if (!partition_columns_.empty()) return AppendPartitioned(rows, runs);
	duckdb::DataChunk data;
	NoteNaN(DataColumns(rows, data));
	if (!local.batch.rows) local.batch.rows = NewRows();
	local.batch.rows->Append(data);
	local.batch.Add(runs);
	if (!IsFull(*local.batch.rows)) return;
	WriteRowGroup(FindPartition("", rows, 0), std::move(local.batch));
}

// What goes into the file. A column of type void is in none (Spark leaves it out, deltalake could not read another one): all that it can hold is NULL.
duckdb::DataChunk& ParquetOutput::DataColumns(duckdb::DataChunk& rows, duckdb::DataChunk& data) const {
	for (auto column : void_columns_) {
		if (!duckdb::VectorOperations::HasNotNull(rows.data[column], rows.size())) continue;
		throw duckdb::InvalidInputException(
			"Table %s: column \"%s\" has the type void and can hold nothing but NULL; add a column of another type",
			work_.table->root(), schema_->fields[column].name);
	}
	data.InitializeEmpty(data_types_);
	for (size_t i = 0; i < data_columns_.size(); i++) data.data[i].Reference(rows.data[data_columns_[i]]);
	data.SetCardinality(rows.size());
	return data;
}

void ParquetOutput::AppendGroup(Local& local, const std::string& group, duckdb::DataChunk& rows,
								std::span<const Run> runs) {
	if (rows.size() == 0) return;
	auto& partition = FindPartition(group, rows, 0);
	if (local.group != &partition) HandOver(local);
	local.group = &partition;
	duckdb::DataChunk data;
	NoteNaN(DataColumns(rows, data));
	if (!local.batch.rows) local.batch.rows = NewRows();
	local.batch.rows->Append(data);
	local.batch.Add(runs);
	if (IsFull(*local.batch.rows)) WriteRowGroup(partition, std::exchange(local.batch, {}));
}

void ParquetOutput::EndStretch(Local& local) {
	if (!local.batch.rows) return;
	if (!IsFull(*local.batch.rows, kWorthARowGroup)) return HandOver(local);
	WriteRowGroup(*local.group, std::exchange(local.batch, {}));
}

void ParquetOutput::HandOver(Local& local) {
	if (local.batch.rows && local.batch.rows->Count() > 0) AddWaiting(*local.group, std::exchange(local.batch, {}));
}

void ParquetOutput::FinishThread(Local& local) {
	if (!local.batch.rows || local.batch.rows->Count() == 0) return;
	duckdb::DataChunk none;
	if (!local.group) local.group = &FindPartition("", none, 0);
	HandOver(local);
}

void ParquetOutput::AppendPartitioned(duckdb::DataChunk& rows, std::span<const Run> runs) {
	// A key that tells partitions apart: the values as text, each with its length, NULL as '-'.
	std::vector<std::string> keys(rows.size());
	for (auto column : partition_columns_) {
		duckdb::Vector text(duckdb::LogicalType::VARCHAR, rows.size());
		duckdb::VectorOperations::DefaultCast(rows.data[column], text, rows.size());
		duckdb::UnifiedVectorFormat format;
		text.ToUnifiedFormat(rows.size(), format);
		auto data = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format);
		for (duckdb::idx_t row = 0; row < rows.size(); row++) {
			auto at = format.sel->get_index(row);
			if (!format.validity.RowIsValid(at)) {
				keys[row] += '-';
			} else {
				keys[row]
					.append(std::to_string(data[at].GetSize()))
					.append(":")
					.append(data[at].GetData(), data[at].GetSize());
			}
		}
	}
	std::unordered_map<std::string_view, std::vector<duckdb::sel_t>> groups;
	for (duckdb::idx_t row = 0; row < rows.size(); row++) groups[keys[row]].push_back(static_cast<duckdb::sel_t>(row));

	std::vector<Run> places;  // one for each row
	for (auto& run : runs) {
		for (uint64_t i = 0; i < run.count; i++) places.push_back({run.source, run.first + i, 1});
	}
	duckdb::DataChunk data;
	NoteNaN(DataColumns(rows, data));
	for (auto& [key, members] : groups) {
		auto& partition = FindPartition(std::string(key), rows, members.front());
		duckdb::SelectionVector selection(members.data());
		duckdb::DataChunk part;
		part.InitializeEmpty(data_types_);
		part.Slice(data, selection, members.size());
		Batch full;
		{
			std::lock_guard guard(mutex_);
			auto& waiting = partition.waiting.rows;
			if (!waiting) waiting = NewRows();
			waiting->Append(part);
			for (size_t i = 0; i < members.size() && !places.empty(); i++)
				partition.waiting.Add(std::span(&places[members[i]], 1));
			if (IsFull(*waiting)) full = std::exchange(partition.waiting, {});
		}
		if (full.rows) WriteRowGroup(partition, std::move(full));
	}
}

ParquetOutput::Partition& ParquetOutput::FindPartition(const std::string& key, duckdb::DataChunk& rows,
													   duckdb::idx_t row) {
	std::lock_guard guard(mutex_);
	auto& partition = partitions_[key];
	if (partition) return *partition;
	partition = std::make_unique<Partition>();
	bool nameable = true;
	for (auto column : partition_columns_) {
		auto& field = schema_->fields[column];
		auto name = PhysicalName(field, mapping_);
		auto value = rows.GetValue(column, row);
		std::optional<std::string> text;
		if (!value.IsNull()) text = Unwrap(WritePartitionValue(ToScalar(value).value()));
		auto level = PartitionFolder(name, text);
		nameable = nameable && level.size() <= kMaxFileName;
		partition->directory += level + "/";
		partition->values.emplace(std::move(name), std::move(text));
	}
	// The log says what is in a file; directories are a courtesy. A value too long for a file's name does without.
	if (!nameable || partition->directory.size() > kMaxDirectory) partition->directory.clear();
	return *partition;
}

// A collection takes up a block of memory at least, so that few rows are better copied.
static void Join(duckdb::ColumnDataCollection& rows, duckdb::ColumnDataCollection& more) {
	if (more.Count() >= kFewRows) return rows.Combine(more);
	for (auto& chunk : more.Chunks()) rows.Append(chunk);
}

void ParquetOutput::AddWaiting(Partition& partition, Batch batch) {
	{
		std::lock_guard guard(mutex_);
		auto& waiting = partition.waiting;
		if (!waiting.rows) {
			waiting = std::move(batch);
		} else {
			Join(*waiting.rows, *batch.rows);
			waiting.Add(batch.runs);
		}
		if (!IsFull(*waiting.rows)) return;
		batch = std::exchange(waiting, {});
	}
	WriteRowGroup(partition, std::move(batch));
}

void ParquetOutput::WriteRowGroup(Partition& partition, Batch batch) {
	auto file = Acquire(partition);
	auto count = batch.rows->Count();
	const auto encode = [&] {
		return writer_.prepare_batch(context_, *writer_bind_, *file->state, std::move(batch.rows));
	};
	auto encoded = gives_way_ ? AtLowPriority(encode) : encode();
	bool more = false;
	{
		std::lock_guard guard(file->flushing);
		more = file->rows > 0;
		writer_.flush_batch(context_, *writer_bind_, *file->state, *encoded);
		NoteRows(*file, batch.runs, count);
	}
	// A file of one row group is complete anyway.
	if (more && durable_) work_.table->store().BeginToMakeDurable(file->path);
	Release(partition, file);
}

std::shared_ptr<ParquetOutput::OpenFile> ParquetOutput::Acquire(Partition& partition) {
	std::shared_ptr<OpenFile> evicted;
	std::shared_ptr<OpenFile> file;
	{
		std::lock_guard guard(mutex_);
		if (!partition.file) {
			if (open_files_ >= kMaxOpenFiles) evicted = TakeIdleFile();
			partition.file = std::make_shared<OpenFile>();
			Open(*partition.file, partition, next_file_++);
			open_files_++;
		}
		file = partition.file;
		file->users++;
		file->groups++;
		RetireIfLarge(partition, *file);
	}
	if (evicted) Close(*evicted);
	return file;
}

void ParquetOutput::Release(Partition& partition, const std::shared_ptr<OpenFile>& file) {
	{
		std::lock_guard guard(mutex_);
		file->users--;
		RetireIfLarge(partition, *file);
		if (!file->retired || file->users > 0) return;
	}
	Close(*file);
}

// Row groups that are still being written count as large as those that are written.
void ParquetOutput::RetireIfLarge(Partition& partition, OpenFile& file) {
	const auto limit = target_bytes_ * (file.groups - file.users) / file.groups;
	if (file.retired || file.groups == file.users ||
		!writer_.rotate_next_file(*file.state, *writer_bind_, static_cast<duckdb::idx_t>(limit)))
		return;
	file.retired = true;
	partition.file.reset();
	open_files_--;
}

std::shared_ptr<ParquetOutput::OpenFile> ParquetOutput::TakeIdleFile() {
	for (auto& [key, partition] : partitions_) {
		if (!partition->file || partition->file->users > 0) continue;
		auto file = std::move(partition->file);
		file->retired = true;
		open_files_--;
		return file;
	}
	return nullptr;
}

// Makes the directories that lead to a file, and says whether any was missing. Not by DuckDB's file system, to which a backslash in a name
// is a separator.
bool ParquetOutput::MakeDirectory(const std::string& file) {
	auto root = work_.table->root() + "/";
	std::error_code error;
	bool any = std::filesystem::create_directories(root, error);
	for (auto slash = file.find('/'); !error && slash != std::string::npos; slash = file.find('/', slash + 1)) {
		auto directory = file.substr(0, slash + 1);
		if (!std::filesystem::create_directory(root + directory, error)) continue;
		std::lock_guard guard(work_.mutex);
		work_.created_files.push_back(directory);
		any = true;
	}
	if (error) throw duckdb::IOException("Cannot create directory for %s: %s", root + file, error.message());
	return any;
}

void ParquetOutput::Open(OpenFile& file, const Partition& partition, int number) {
	std::string suffix = codec_ == "uncompressed" ? "" : codec_ == "gzip" ? ".gz" : "." + codec_;
	file.path =
		partition.directory + duckdb::StringUtil::Format("part-%05d-%s.c000%s.parquet", number, statement_id_, suffix);
	file.values = partition.values;
	auto root = work_.table->root() + "/";
	MakeDirectory(file.path);
	{
		std::lock_guard guard(work_.mutex);
		work_.created_files.push_back(file.path);
	}
	try {
		file.state = writer_.copy_to_initialize_global(context_, *writer_bind_, root + file.path);
	} catch (duckdb::IOException&) {
		// A statement that failed elsewhere may have taken away the directory that it had made.
		if (!MakeDirectory(file.path)) throw;
		file.state = writer_.copy_to_initialize_global(context_, *writer_bind_, root + file.path);
	}
	writer_.copy_to_get_written_statistics(context_, *writer_bind_, *file.state, file.written);
}

void ParquetOutput::Close(OpenFile& file) {
	writer_.copy_to_finalize(context_, *writer_bind_, *file.state);
	file.state.reset();
	std::vector<std::string> nan_columns;
	for (size_t i = 0; i < data_columns_.size(); i++) {
		if (has_nan_[i]) nan_columns.push_back(PhysicalName(schema_->fields[data_columns_[i]], mapping_));
	}
	NewFile result;
	result.add.path = EncodePath(file.path);
	result.add.partition_values = file.values;
	result.add.size = static_cast<int64_t>(file.written.file_size_bytes);
	result.add.modification_time = SystemClock().NowMs();
	result.add.stats =
		WriteFileStats(ToFileStats(file.written, *schema_, mapping_, stats_columns_, nan_columns), *schema_, mapping_);
	result.num_records = static_cast<int64_t>(file.written.row_count);
	result.origins = std::move(file.origins);
	std::lock_guard guard(mutex_);
	finished_.push_back(std::move(result));
}

std::vector<NewFile> ParquetOutput::Finish() {
	for (auto& [key, partition] : partitions_) {
		auto& waiting = partition->waiting;
		if (waiting.rows && waiting.rows->Count() > 0) WriteRowGroup(*partition, std::exchange(waiting, {}));
		if (auto file = std::move(partition->file)) {
			open_files_--;
			Close(*file);
		}
	}
	std::ranges::sort(finished_, {}, [](auto& file) { return file.add.path; });
	return std::move(finished_);
}

}  // namespace braid::engine
