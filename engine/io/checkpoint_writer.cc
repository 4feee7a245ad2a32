// SPDX-License-Identifier: Apache-2.0
// Rows are written straight into vectors; structs are put together by DuckDB in the COPY's query.
#include "engine/io/checkpoint_writer.h"

#include <vector>

#include "duckdb/common/types/vector.hpp"
#include "engine/io/checkpoint_columns.h"
#include "engine/io/error_translation.h"

namespace braid::engine {

namespace {

constexpr const char* kTable = "temp.braid_checkpoint_rows";

// Write access to one row of the chunk; every column is NULL until set.
class Row {
public:
	Row(duckdb::DataChunk& chunk, size_t row) : chunk_(chunk), row_(row) {
		for (auto& vector : chunk.data) duckdb::FlatVector::SetNull(vector, row, true);
	}

	void Text(size_t column, std::string_view text) {
		duckdb::Vector& vector = Set(column);
		duckdb::FlatVector::GetData<duckdb::string_t>(vector)[row_] =
			duckdb::StringVector::AddString(vector, text.data(), text.size());
	}
	void OptionalText(size_t column, const std::optional<std::string>& text) {
		if (text) Text(column, *text);
	}
	template <class T>
	void Number(size_t column, T number) {
		duckdb::FlatVector::GetData<T>(Set(column))[row_] = number;
	}
	template <class T>
	void Number(size_t column, const std::optional<T>& number) {
		if (number) Number<T>(column, *number);
	}
	void Strings(size_t column, const std::vector<std::string>& strings) {
		duckdb::Vector& list = Set(column);
		size_t offset = Grow(list, strings.size());
		duckdb::Vector& elements = duckdb::ListVector::GetEntry(list);
		for (size_t i = 0; i < strings.size(); ++i) Element(elements, offset + i, strings[i]);
	}
	template <class Map>
	void Entries(size_t column, const Map& map) {
		duckdb::Vector& vector = Set(column);
		size_t index = Grow(vector, map.size());
		duckdb::Vector& keys = duckdb::MapVector::GetKeys(vector);
		duckdb::Vector& values = duckdb::MapVector::GetValues(vector);
		for (const auto& [key, value] : map) {
			Element(keys, index, key);
			Element(values, index, value);
			++index;
		}
	}

private:
	duckdb::Vector& Set(size_t column) {
		duckdb::FlatVector::SetNull(chunk_.data[column], row_, false);
		return chunk_.data[column];
	}
	// Room for `count` more elements; the row's entry points at them.
	size_t Grow(duckdb::Vector& list, size_t count) {
		size_t offset = duckdb::ListVector::GetListSize(list);
		duckdb::ListVector::Reserve(list, offset + count);
		duckdb::ListVector::SetListSize(list, offset + count);
		duckdb::FlatVector::GetData<duckdb::list_entry_t>(list)[row_] = duckdb::list_entry_t(offset, count);
		return offset;
	}
	static void Element(duckdb::Vector& vector, size_t index, const std::string& text) {
		duckdb::FlatVector::GetData<duckdb::string_t>(vector)[index] = duckdb::StringVector::AddString(vector, text);
	}
	static void Element(duckdb::Vector& vector, size_t index, const std::optional<std::string>& text) {
		duckdb::FlatVector::SetNull(vector, index, !text);
		if (text) Element(vector, index, *text);
	}

	duckdb::DataChunk& chunk_;
	size_t row_;
};

void Fill(Row& row, size_t first, const DvDescriptor& dv) {
	row.Text(first, std::string_view(&dv.storage_type, 1));
	row.Text(first + 1, dv.path_or_inline_dv);
	row.Number(first + 2, dv.offset);
	row.Number<int32_t>(first + 3, dv.size_in_bytes);
	row.Number<int64_t>(first + 4, dv.cardinality);
}

void Fill(Row& row, const AddFile& add) {
	row.Text(kAddPath, add.path);
	row.Entries(kAddPartitionValues, add.partition_values);
	row.Number<int64_t>(kAddSize, add.size);
	row.Number<int64_t>(kAddModificationTime, add.modification_time);
	row.Number<bool>(kAddDataChange, false);  // PROTOCOL: Checkpoints, "dataChange should be set to false"
	if (!add.stats.empty()) row.Text(kAddStats, add.stats);
	if (!add.tags.empty()) row.Entries(kAddTags, add.tags);
	if (add.deletion_vector) Fill(row, kAddDvStorageType, *add.deletion_vector);
	row.Number(kAddBaseRowId, add.base_row_id);
	row.Number(kAddDefaultRowCommitVersion, add.default_row_commit_version);
	row.OptionalText(kAddClusteringProvider, add.clustering_provider);
}

void Fill(Row& row, const RemoveFile& remove) {
	row.Text(kRemovePath, remove.path);
	row.Number(kRemoveDeletionTimestamp, remove.deletion_timestamp);
	row.Number<bool>(kRemoveDataChange, false);
	row.Number<bool>(kRemoveExtended, remove.extended_file_metadata);
	if (remove.extended_file_metadata) row.Entries(kRemovePartitionValues, remove.partition_values);
	row.Number(kRemoveSize, remove.size);
	if (!remove.stats.empty()) row.Text(kRemoveStats, remove.stats);
	if (!remove.tags.empty()) row.Entries(kRemoveTags, remove.tags);
	if (remove.deletion_vector) Fill(row, kRemoveDvStorageType, *remove.deletion_vector);
	row.Number(kRemoveBaseRowId, remove.base_row_id);
	row.Number(kRemoveDefaultRowCommitVersion, remove.default_row_commit_version);
}

void Fill(Row& row, const Metadata& metadata) {
	row.Text(kMetaId, metadata.id);
	row.OptionalText(kMetaName, metadata.name);
	row.OptionalText(kMetaDescription, metadata.description);
	row.Text(kMetaProvider, metadata.format.provider);
	row.Entries(kMetaOptions, metadata.format.options);
	row.Text(kMetaSchema, metadata.schema_string);
	row.Strings(kMetaPartitionColumns, metadata.partition_columns);
	row.Entries(kMetaConfiguration, metadata.configuration);
	row.Number(kMetaCreatedTime, metadata.created_time);
}

void Fill(Row& row, const Protocol& protocol) {
	row.Number<int32_t>(kProtocolReader, protocol.min_reader_version);
	row.Number<int32_t>(kProtocolWriter, protocol.min_writer_version);
	if (protocol.reader_features) row.Strings(kProtocolReaderFeatures, *protocol.reader_features);
	if (protocol.writer_features) row.Strings(kProtocolWriterFeatures, *protocol.writer_features);
}

void Fill(Row& row, const SetTransaction& transaction) {
	row.Text(kTxnAppId, transaction.app_id);
	row.Number<int64_t>(kTxnVersion, transaction.version);
	row.Number(kTxnLastUpdated, transaction.last_updated);
}

void Fill(Row& row, const DomainMetadata& domain) {
	row.Text(kDomainName, domain.domain);
	row.Text(kDomainConfiguration, domain.configuration);
	row.Number<bool>(kDomainRemoved, domain.removed);
}

// Commit provenance and change data are not part of a checkpoint.
void Fill(Row&, const CommitInfo&) {}
void Fill(Row&, const AddCdcFile&) {}

std::string ColumnName(size_t column) { return "c" + std::to_string(column); }

// "CASE WHEN <first> IS NOT NULL THEN struct_pack(...) END": the struct of all fields whose dotted path begins with `prefix`.
std::string StructOf(const std::string& prefix) {
	std::string fields, first, done;
	for (size_t i = 0; i < kColumnCount; ++i) {
		std::string path = kCheckpointFields[i].path;
		if (!path.starts_with(prefix + ".")) continue;
		if (first.empty()) first = ColumnName(i);
		std::string name = path.substr(prefix.size() + 1);
		std::string value = ColumnName(i);
		if (size_t dot = name.find('.'); dot != std::string::npos) {
			name.resize(dot);
			if (name == done) continue;
			done = name;
			value = StructOf(prefix + "." + name);
		}
		fields += (fields.empty() ? "" : ", ") + SqlIdentifier(name) + " := " + value;
	}
	return "CASE WHEN " + first + " IS NOT NULL THEN struct_pack(" + fields + ") END";
}

}  // namespace

Status CheckpointWriter::Begin() {
	std::string columns;
	duckdb::vector<duckdb::LogicalType> types;
	for (size_t i = 0; i < kColumnCount; ++i) {
		columns += (i == 0 ? "" : ", ") + ColumnName(i) + " " + kCheckpointFields[i].type;
	}
	BRAID_TRY(session_.Run("CREATE OR REPLACE TEMP TABLE " + std::string(kTable).substr(5) + " (" + columns + ")",
						   "checkpoint"));
	try {
		appender_ = std::make_unique<duckdb::Appender>(session_.connection(), "temp", DEFAULT_SCHEMA,
													   std::string(kTable).substr(5));
		chunk_.Initialize(duckdb::Allocator::DefaultAllocator(), appender_->GetActiveTypes());
	} catch (const std::exception& failure) {
		return std::unexpected(ToError(duckdb::ErrorData(failure), "checkpoint"));
	}
	return {};
}

Status CheckpointWriter::Add(const Action& action) {
	if (std::holds_alternative<CommitInfo>(action) || std::holds_alternative<AddCdcFile>(action)) return {};
	Row row(chunk_, chunk_.size());
	std::visit([&](const auto& one) { Fill(row, one); }, action);
	chunk_.SetCardinality(chunk_.size() + 1);
	return chunk_.size() == STANDARD_VECTOR_SIZE ? Flush() : Status {};
}

Status CheckpointWriter::Flush() {
	try {
		appender_->AppendDataChunk(chunk_);
		chunk_.Reset();
	} catch (const std::exception& failure) {
		return std::unexpected(ToError(duckdb::ErrorData(failure), "checkpoint"));
	}
	return {};
}

Status CheckpointWriter::Finish(const std::string& location, ParquetGateway::FileKind kind) {
	BRAID_TRY(Flush());
	try {
		appender_->Close();
	} catch (const std::exception& failure) {
		return std::unexpected(ToError(duckdb::ErrorData(failure), "checkpoint"));
	}
	std::vector<const char*> kinds = {"add", "remove"};
	if (kind == ParquetGateway::FileKind::kClassic)
		kinds = {"txn", "add", "remove", "metaData", "protocol", "domainMetadata"};
	std::string select;
	for (const char* action : kinds) {
		select += (select.empty() ? "" : ", ") + StructOf(action) + " AS " + SqlIdentifier(action);
	}
	return session_.Run("COPY (SELECT " + select + " FROM " + kTable + ") TO " + SqlText(location) +
							" (FORMAT parquet, COMPRESSION snappy, USE_TMP_FILE false)",
						"write checkpoint " + location);
}

}  // namespace braid::engine
