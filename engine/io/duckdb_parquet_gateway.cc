// SPDX-License-Identifier: Apache-2.0
// Checkpoints through a nested session.
#include "engine/io/duckdb_parquet_gateway.h"

#include <filesystem>

#include "engine/io/checkpoint_rows.h"
#include "engine/io/checkpoint_writer.h"
#include "engine/io/error_translation.h"
#include "engine/io/nested_session.h"

namespace braid::engine {

namespace {

// Statistics as a struct are read only where an add lacks the text: which of the two a writer left out shows in the first rows.
Status Read(CheckpointScan& scan, CheckpointSink& sink) {
	scan.StartOthers();
	while (scan.Next()) BRAID_TRY(EmitOthers(scan, sink));
	scan.StartAdds(false);
	bool more = scan.Next();
	if (more && scan.HasParsedStats() && LacksStats(scan)) {
		scan.StartAdds(true);
		more = scan.Next();
	}
	for (; more; more = scan.Next()) BRAID_TRY(EmitAdds(scan, sink));
	return {};
}

}  // namespace

Status DuckdbParquetGateway::ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) {
	for (const std::string& location : locations) {
		try {
			NestedSession session(db_);
			CheckpointScan scan(session, location);
			BRAID_TRY(Read(scan, sink));
		} catch (const std::exception& failure) {
			return std::unexpected(ToError(duckdb::ErrorData(failure), "checkpoint " + location));
		}
	}
	return {};
}

Result<int64_t> DuckdbParquetGateway::WriteCheckpoint(const std::string& location, FileKind kind,
													  const std::function<Status(const Emit& emit)>& produce) {
	NestedSession session(db_);
	CheckpointWriter writer(session);
	BRAID_TRY(writer.Begin());
	BRAID_TRY(produce([&](const Action& action) { return writer.Add(action); }));
	BRAID_TRY(writer.Finish(location, kind));
	std::error_code error;
	auto bytes = std::filesystem::file_size(location, error);
	if (error) return Fail(ErrorKind::kIo, "write checkpoint " + location + ": " + error.message());
	return static_cast<int64_t>(bytes);
}

}  // namespace braid::engine
