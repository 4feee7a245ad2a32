// SPDX-License-Identifier: Apache-2.0
// Checkpoints through a nested session.
#include "engine/io/duckdb_parquet_gateway.h"

#include <filesystem>

#include "engine/io/checkpoint_rows.h"
#include "engine/io/checkpoint_writer.h"
#include "engine/io/nested_session.h"

namespace braid::engine {

namespace {

// The files, by exact name. Hive partitioning is off: a table may lie below a directory named a=b.
std::string FromParquet(std::span<const std::string> locations) {
	std::string files;
	for (const std::string& location : locations) files += (files.empty() ? "" : ", ") + SqlText(location);
	return " FROM read_parquet([" + files + "], hive_partitioning = false)";
}

// A checkpoint that has statistics both ways is read without the struct. Once an add turns up without the text, it is read again with it;
// that is noticed before anything is emitted.
Status ReadAdds(NestedSession& session, const std::string& from, const duckdb::LogicalType& schema,
				bool with_parsed_stats, const std::string& doing, CheckpointSink& sink, bool& wants_parsed_stats) {
	bool first = true;
	std::string sql = "SELECT " + AddColumns(schema, with_parsed_stats) + from + " WHERE add.path IS NOT NULL";
	return session.Stream(sql, doing, [&](duckdb::DataChunk& chunk) -> Status {
		if (wants_parsed_stats) return {};
		if (first && !with_parsed_stats && HasParsedStats(schema) && LacksStats(chunk)) {
			wants_parsed_stats = true;
			return {};
		}
		first = false;
		return EmitAdds(chunk, sink);
	});
}

Status ReadAlike(NestedSession& session, std::span<const std::string> locations, const duckdb::LogicalType& schema,
				 CheckpointSink& sink) {
	std::string doing = "checkpoint " + locations[0];
	std::string from = FromParquet(locations);
	std::string others = "SELECT " + OtherColumns(schema) + from + (HasAdds(schema) ? " WHERE add.path IS NULL" : "");
	BRAID_TRY(session.Stream(others, doing, [&](duckdb::DataChunk& chunk) { return EmitOthers(chunk, sink); }));
	if (!HasAdds(schema)) return {};
	bool wants_parsed_stats = false;
	BRAID_TRY(ReadAdds(session, from, schema, false, doing, sink, wants_parsed_stats));
	if (!wants_parsed_stats) return {};
	wants_parsed_stats = false;
	return ReadAdds(session, from, schema, true, doing, sink, wants_parsed_stats);
}

}  // namespace

Status DuckdbParquetGateway::ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) {
	// Parts of one checkpoint may have different columns; neighbours that agree are read by one query.
	NestedSession session(db_);
	size_t begin = 0;
	duckdb::LogicalType schema;
	for (size_t i = 0; i <= locations.size(); ++i) {
		duckdb::LogicalType next;
		if (i < locations.size()) {
			BRAID_TRY(next, session.Describe("SELECT *" + FromParquet(locations.subspan(i, 1)),
											 "checkpoint " + locations[i]));
			if (i == begin || next == schema) {
				schema = next;
				continue;
			}
		}
		if (i > begin) BRAID_TRY(ReadAlike(session, locations.subspan(begin, i - begin), schema, sink));
		begin = i;
		schema = next;
	}
	return {};
}

Result<int64_t> DuckdbParquetGateway::WriteCheckpoint(const std::string& location, const Metadata&,
													  const WriteOptions& options,
													  const std::function<Status(const Emit& emit)>& produce) {
	NestedSession session(db_);
	CheckpointWriter writer(session);
	BRAID_TRY(writer.Begin());
	BRAID_TRY(produce([&](const Action& action) { return writer.Add(action); }));
	BRAID_TRY(writer.Finish(location, options));
	std::error_code error;
	auto bytes = std::filesystem::file_size(location, error);
	if (error) return Fail(ErrorKind::kIo, "write checkpoint " + location + ": " + error.message());
	return static_cast<int64_t>(bytes);
}

}  // namespace braid::engine
