// SPDX-License-Identifier: Apache-2.0
// A log in memory, put together line by line, with checkpoints that are lists of actions instead of Parquet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/memory_log_store.h"
#include "tests/kernel/deterministic.h"

namespace braid {

// Checkpoints by location: JSON lines of their actions, sidecars included. A location that is not there is damaged.
class LinesAsParquet : public ParquetGateway {
public:
	Status ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) override;
	Result<int64_t> WriteCheckpoint(const std::string&, FileKind,
									const std::function<Status(const Emit& emit)>&) override {
		return Fail(ErrorKind::kUnsupported, "not in this test");
	}
	std::map<std::string, std::string> files;
	int reads = 0;
};

struct TestLog {
	ManualClock clock;
	MemoryLogStore store {clock, "lake/t"};
	LinesAsParquet parquet;

	SnapshotSource source() { return {store, parquet}; }
	// The clock stands at 1700000000000 + 1000 * version while the commit is written.
	void Commit(int64_t version, const std::string& lines);
	void Put(const std::string& log_file, const std::string& bytes) { (void)store.Put(LogPath(log_file), bytes); }
	// A classic checkpoint, readable by the gateway.
	void Checkpoint(int64_t version, const std::string& lines);
	void Remove(const std::string& log_file) { (void)store.Delete(LogPath(log_file)); }
};

inline const std::string kProtocolLine = R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})"
										 "\n";
std::string MetadataLine(const std::string& configuration_json = "{}", const std::string& id = "m");
std::string AddLine(const std::string& path, int64_t size = 10, const std::string& more = "");
std::string RemoveLine(const std::string& path, const std::string& more = "");
std::string Dv(const std::string& id, int64_t cardinality = 1);  // ,"deletionVector":{...}
// "a b c": paths of the active files, in order.
std::string Paths(const SnapshotPtr& snapshot);

}  // namespace braid
