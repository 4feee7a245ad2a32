// SPDX-License-Identifier: Apache-2.0
// Commits are read from the newest backwards until one carries metaData; a checkpoint on the way ends the search.
#include "engine/catalog/schema_peek.h"

#include <algorithm>

#include "engine/io/duckdb_parquet_gateway.h"
#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "kernel/schema/schema_json.h"

namespace braid::engine {

namespace {

constexpr size_t kVersionDigits = 20;

bool IsVersioned(const std::string& name) {
	return name.size() > kVersionDigits && name[kVersionDigits] == '.' &&
		   std::all_of(name.begin(), name.begin() + kVersionDigits, [](char c) { return c >= '0' && c <= '9'; });
}

// The metaData of a commit; nullopt if it has none. Reading stops at it.
Result<std::optional<Metadata>> MetadataOf(std::string_view bytes, const std::string& where) {
	std::optional<Metadata> found;
	auto status = ParseCommit(bytes, where, [&](Action&& action) -> Status {
		if (!std::holds_alternative<Metadata>(action)) return {};
		found = std::get<Metadata>(std::move(action));
		return Fail(ErrorKind::kInterrupted, "found");
	});
	if (!status && !found) return std::unexpected(status.error());
	return found;
}

class MetadataSink final : public CheckpointSink {
public:
	Status OnAdd(const AddFileView&) override { return {}; }
	Status OnAction(Action&& action) override {
		if (std::holds_alternative<Metadata>(action)) metadata = std::get<Metadata>(std::move(action));
		return {};
	}
	Status OnSidecar(SidecarFile&&) override { return {}; }
	std::optional<Metadata> metadata;
};

Result<std::optional<Metadata>> NewestMetadata(TableHandle& table, ParquetGateway& parquet) {
	BRAID_TRY(auto files, table.store().List(kLogDirectory, ""));
	for (auto file = files.rbegin(); file != files.rend(); ++file) {
		if (!IsVersioned(file->name)) continue;
		std::string path = std::string(kLogDirectory) + "/" + file->name;
		std::string_view suffix = std::string_view(file->name).substr(kVersionDigits);
		if (suffix == ".json") {
			BRAID_TRY(std::string bytes, table.store().Read(path));
			BRAID_TRY(auto metadata, MetadataOf(bytes, table.root() + ", " + file->name));
			if (metadata) return metadata;
		} else if (suffix.starts_with(".checkpoint.") && suffix.ends_with(".parquet")) {
			MetadataSink sink;
			BRAID_TRY(parquet.ReadCheckpoint(std::vector {table.store().Location(path)}, sink));
			if (sink.metadata) return sink.metadata;
		}
	}
	return std::nullopt;
}

Result<SnapshotPtr> Peek(TableHandle& table, ParquetGateway& parquet) {
	BRAID_TRY(auto metadata, NewestMetadata(table, parquet));
	if (!metadata) return Fail(ErrorKind::kCorrupt, table.root() + ": the log has no metaData");
	auto snapshot = std::make_shared<Snapshot>();
	snapshot->table = table.root();
	snapshot->metadata = *std::move(metadata);
	BRAID_TRY(snapshot->schema, ParseSchema(snapshot->metadata.schema_string));
	BRAID_TRY(snapshot->column_mapping,
			  ParseColumnMappingMode(PropertyOf(snapshot->metadata, "delta.columnMapping.mode")));
	snapshot->files = std::make_shared<FileIndex>();
	return snapshot;
}

}  // namespace

SnapshotPtr PeekSchema(duckdb::ClientContext& context, TableHandle& table) {
	DuckdbParquetGateway parquet(*context.db);
	auto snapshot = Peek(table, parquet);
	return snapshot ? *snapshot : nullptr;
}

}  // namespace braid::engine
