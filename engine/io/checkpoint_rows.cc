// SPDX-License-Identifier: Apache-2.0
// A million adds pass through here: every field is read straight from its vector, text is handed on without a copy.
#include "engine/io/checkpoint_rows.h"

#include <map>
#include <optional>
#include <vector>

#include "base/json.h"
#include "engine/io/json_value.h"

namespace braid::engine {

namespace {

// Read access to the rows that the scan stands on.
class Rows {
public:
	explicit Rows(CheckpointScan& scan) : scan_(scan), formats_(kColumnCount) {
		for (size_t i = 0; i < formats_.size(); ++i) {
			if (duckdb::Vector* column = scan.Column(i)) column->ToUnifiedFormat(scan.size(), formats_[i]);
		}
	}

	bool Has(size_t column, size_t row) const {
		return scan_.Column(column) && formats_[column].validity.RowIsValid(formats_[column].sel->get_index(row));
	}

	// Views into the vector itself if the text is short.
	std::optional<std::string_view> Text(size_t column, size_t row) const {
		if (!Has(column, row)) return std::nullopt;
		const duckdb::string_t& text = At<duckdb::string_t>(column, row);
		return std::string_view(text.GetData(), text.GetSize());
	}
	bool IsInlined(size_t column, size_t row) const {
		return Has(column, row) && At<duckdb::string_t>(column, row).IsInlined();
	}
	std::string String(size_t column, size_t row) const { return std::string(Text(column, row).value_or("")); }
	std::optional<std::string> OptionalString(size_t column, size_t row) const {
		auto text = Text(column, row);
		return text ? std::optional(std::string(*text)) : std::nullopt;
	}

	template <class T>
	std::optional<T> Number(size_t column, size_t row) const {
		if (!Has(column, row)) return std::nullopt;
		return At<T>(column, row);
	}

	// The list that a LIST or MAP column holds in this row: calls visit(child index) for each element.
	template <class Visit>
	void Elements(size_t column, size_t row, Visit visit) const {
		auto entry = Number<duckdb::list_entry_t>(column, row);
		if (!entry) return;
		for (size_t i = 0; i < entry->length; ++i) visit(entry->offset + i);
	}

	// Calls visit(key, optional value) for each entry of a MAP.
	template <class Visit>
	void MapEntries(size_t column, size_t row, Visit visit) const {
		auto entry = Number<duckdb::list_entry_t>(column, row);
		if (!entry || entry->length == 0) return;
		duckdb::Vector& map = *scan_.Column(column);
		Child keys(duckdb::MapVector::GetKeys(map), duckdb::ListVector::GetListSize(map));
		Child values(duckdb::MapVector::GetValues(map), duckdb::ListVector::GetListSize(map));
		for (size_t i = 0; i < entry->length; ++i) {
			auto key = keys.Text(entry->offset + i);
			if (key) visit(*key, values.Text(entry->offset + i));
		}
	}

	std::vector<std::string> Strings(size_t column, size_t row) const {
		std::vector<std::string> strings;
		duckdb::Vector& list = *scan_.Column(column);
		Child elements(duckdb::ListVector::GetEntry(list), duckdb::ListVector::GetListSize(list));
		Elements(column, row, [&](size_t index) { strings.emplace_back(elements.Text(index).value_or("")); });
		return strings;
	}

private:
	struct Child {
		Child(duckdb::Vector& vector, size_t count) { vector.ToUnifiedFormat(count, format); }
		std::optional<std::string_view> Text(size_t index) const {
			size_t at = format.sel->get_index(index);
			if (!format.validity.RowIsValid(at)) return std::nullopt;
			const auto& text = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format)[at];
			return std::string_view(text.GetData(), text.GetSize());
		}
		duckdb::UnifiedVectorFormat format;
	};

	template <class T>
	const T& At(size_t column, size_t row) const {
		const duckdb::UnifiedVectorFormat& format = formats_[column];
		return duckdb::UnifiedVectorFormat::GetData<T>(format)[format.sel->get_index(row)];
	}

	CheckpointScan& scan_;
	std::vector<duckdb::UnifiedVectorFormat> formats_;
};

std::optional<DvDescriptor> Vector(const Rows& rows, size_t first, size_t row) {
	auto type = rows.Text(first, row);
	if (!type || type->empty()) return std::nullopt;
	DvDescriptor dv;
	dv.storage_type = (*type)[0];
	dv.path_or_inline_dv = rows.String(first + 1, row);
	dv.offset = rows.Number<int32_t>(first + 2, row);
	dv.size_in_bytes = rows.Number<int32_t>(first + 3, row).value_or(0);
	dv.cardinality = rows.Number<int64_t>(first + 4, row).value_or(0);
	return dv;
}

std::string_view MapAsJson(const Rows& rows, size_t column, size_t row, std::string& buffer) {
	buffer.assign(1, '{');
	rows.MapEntries(column, row, [&](std::string_view key, std::optional<std::string_view> value) {
		if (buffer.size() > 1) buffer += ',';
		AppendJsonString(key, buffer);
		buffer += ':';
		if (value) {
			AppendJsonString(*value, buffer);
		} else {
			buffer += "null";
		}
	});
	buffer += '}';
	return buffer;
}

std::map<std::string, std::optional<std::string>> NullableMap(const Rows& rows, size_t column, size_t row) {
	std::map<std::string, std::optional<std::string>> result;
	rows.MapEntries(column, row, [&](std::string_view key, std::optional<std::string_view> value) {
		result[std::string(key)] = value ? std::optional(std::string(*value)) : std::nullopt;
	});
	return result;
}

Configuration PlainMap(const Rows& rows, size_t column, size_t row) {
	Configuration result;
	rows.MapEntries(column, row, [&](std::string_view key, std::optional<std::string_view> value) {
		if (value) result[std::string(key)] = std::string(*value);
	});
	return result;
}

struct AddBuffers {
	std::string partition_values, tags, stats;
};

Status EmitAdd(CheckpointScan& scan, const Rows& rows, size_t row, const std::shared_ptr<const void>& text,
			   AddBuffers& buffers, CheckpointSink& sink) {
	AddFileView add;
	add.path = *rows.Text(kAddPath, row);
	add.partition_values_json = MapAsJson(rows, kAddPartitionValues, row, buffers.partition_values);
	if (rows.Has(kAddTags, row)) add.tags_json = MapAsJson(rows, kAddTags, row, buffers.tags);
	add.size = rows.Number<int64_t>(kAddSize, row).value_or(0);
	add.modification_time = rows.Number<int64_t>(kAddModificationTime, row).value_or(0);
	add.data_change = rows.Number<bool>(kAddDataChange, row).value_or(false);
	if (auto stats = rows.Text(kAddStats, row)) {
		add.stats = *stats;
		if (!rows.IsInlined(kAddPath, row) && !rows.IsInlined(kAddStats, row)) add.text_owner = &text;
	} else if (scan.Column(kAddParsedStats)) {
		const duckdb::Value parsed = scan.Column(kAddParsedStats)->GetValue(row);
		buffers.stats.clear();
		if (!parsed.IsNull()) AppendJsonValue(parsed, buffers.stats);
		add.stats = buffers.stats;
	}
	auto dv = Vector(rows, kAddDvStorageType, row);
	if (dv) add.deletion_vector = &*dv;
	add.base_row_id = rows.Number<int64_t>(kAddBaseRowId, row);
	add.default_row_commit_version = rows.Number<int64_t>(kAddDefaultRowCommitVersion, row);
	add.clustering_provider = rows.Text(kAddClusteringProvider, row);
	return sink.OnAdd(add);
}

RemoveFile ToRemove(const Rows& rows, size_t row) {
	RemoveFile remove;
	remove.path = rows.String(kRemovePath, row);
	remove.deletion_timestamp = rows.Number<int64_t>(kRemoveDeletionTimestamp, row);
	remove.data_change = rows.Number<bool>(kRemoveDataChange, row).value_or(false);
	remove.extended_file_metadata = rows.Number<bool>(kRemoveExtended, row).value_or(false);
	remove.partition_values = NullableMap(rows, kRemovePartitionValues, row);
	remove.size = rows.Number<int64_t>(kRemoveSize, row);
	remove.stats = rows.String(kRemoveStats, row);
	remove.tags = NullableMap(rows, kRemoveTags, row);
	remove.deletion_vector = Vector(rows, kRemoveDvStorageType, row);
	remove.base_row_id = rows.Number<int64_t>(kRemoveBaseRowId, row);
	remove.default_row_commit_version = rows.Number<int64_t>(kRemoveDefaultRowCommitVersion, row);
	return remove;
}

Metadata ToMetadata(const Rows& rows, size_t row) {
	Metadata metadata;
	metadata.id = rows.String(kMetaId, row);
	metadata.name = rows.OptionalString(kMetaName, row);
	metadata.description = rows.OptionalString(kMetaDescription, row);
	metadata.format.provider = rows.OptionalString(kMetaProvider, row).value_or("parquet");
	metadata.format.options = PlainMap(rows, kMetaOptions, row);
	metadata.schema_string = rows.String(kMetaSchema, row);
	metadata.partition_columns = rows.Strings(kMetaPartitionColumns, row);
	metadata.configuration = PlainMap(rows, kMetaConfiguration, row);
	metadata.created_time = rows.Number<int64_t>(kMetaCreatedTime, row);
	return metadata;
}

Protocol ToProtocol(const Rows& rows, size_t row) {
	Protocol protocol;
	protocol.min_reader_version = *rows.Number<int32_t>(kProtocolReader, row);
	protocol.min_writer_version = rows.Number<int32_t>(kProtocolWriter, row).value_or(0);
	// A writer may leave empty lists in checkpoints of tables without table features.
	if (protocol.min_reader_version >= 3 && rows.Has(kProtocolReaderFeatures, row)) {
		protocol.reader_features = rows.Strings(kProtocolReaderFeatures, row);
	}
	if (protocol.min_writer_version >= 7 && rows.Has(kProtocolWriterFeatures, row)) {
		protocol.writer_features = rows.Strings(kProtocolWriterFeatures, row);
	}
	return protocol;
}

Status EmitOther(const Rows& rows, size_t row, CheckpointSink& sink) {
	if (rows.Has(kRemovePath, row)) return sink.OnAction(ToRemove(rows, row));
	if (rows.Has(kMetaId, row)) return sink.OnAction(ToMetadata(rows, row));
	if (rows.Has(kProtocolReader, row)) return sink.OnAction(ToProtocol(rows, row));
	if (rows.Has(kTxnAppId, row)) {
		return sink.OnAction(SetTransaction {rows.String(kTxnAppId, row),
											 rows.Number<int64_t>(kTxnVersion, row).value_or(0),
											 rows.Number<int64_t>(kTxnLastUpdated, row)});
	}
	if (rows.Has(kDomainName, row)) {
		return sink.OnAction(DomainMetadata {rows.String(kDomainName, row), rows.String(kDomainConfiguration, row),
											 rows.Number<bool>(kDomainRemoved, row).value_or(false)});
	}
	if (rows.Has(kSidecarPath, row)) {
		return sink.OnSidecar(SidecarFile {rows.String(kSidecarPath, row),
										   rows.Number<int64_t>(kSidecarSize, row).value_or(0),
										   rows.Number<int64_t>(kSidecarModificationTime, row).value_or(0)});
	}
	return {};  // checkpointMetadata, and kinds that are not known here
}

}  // namespace

bool LacksStats(CheckpointScan& scan) {
	const Rows rows(scan);
	for (size_t row = 0; row < scan.size(); ++row) {
		if (rows.Has(kAddPath, row) && !rows.Has(kAddStats, row)) return true;
	}
	return false;
}

Status EmitAdds(CheckpointScan& scan, CheckpointSink& sink) {
	const Rows rows(scan);
	const auto text = scan.KeepText({kAddPath, kAddStats});
	AddBuffers buffers;
	for (size_t row = 0; row < scan.size(); ++row) {
		if (rows.Has(kAddPath, row)) BRAID_TRY(EmitAdd(scan, rows, row, text, buffers, sink));
	}
	return {};
}

Status EmitOthers(CheckpointScan& scan, CheckpointSink& sink) {
	const Rows rows(scan);
	for (size_t row = 0; row < scan.size(); ++row) BRAID_TRY(EmitOther(rows, row, sink));
	return {};
}

}  // namespace braid::engine
