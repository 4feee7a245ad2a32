// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/test_log.h"

#include "kernel/action/action_reader.h"

namespace braid {

namespace {

// What a Parquet reader of checkpoints would hand out.
class ToCheckpointSink : public ActionSink {
public:
	explicit ToCheckpointSink(CheckpointSink& sink) : sink_(sink) {}
	Status OnAdd(const AddFileView& add) override { return sink_.OnAdd(add); }
	Status OnRemove(const RemoveFileView& view) override {
		BRAID_TRY(Action remove, ToRemoveFile(view));
		return sink_.OnAction(std::move(remove));
	}
	Status OnAction(Action&& action) override { return sink_.OnAction(std::move(action)); }
	Status OnSidecar(SidecarFile&& sidecar) override { return sink_.OnSidecar(std::move(sidecar)); }

private:
	CheckpointSink& sink_;
};

}  // namespace

Status LinesAsParquet::ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) {
	++reads;
	ToCheckpointSink forward(sink);
	for (const std::string& location : locations) {
		const auto found = files.find(location);
		if (found == files.end()) return Fail(ErrorKind::kCorrupt, location + " is not a Parquet file");
		ActionReader reader(location, forward);
		BRAID_TRY(reader.Feed(found->second));
		BRAID_TRY(reader.Finish());
	}
	return {};
}

void TestLog::Commit(int64_t version, const std::string& lines) {
	clock.SleepMs(1'700'000'000'000 + 1000 * version - clock.NowMs());
	(void)store.PutIfAbsent(CommitPath(version), lines);
}

void TestLog::Checkpoint(int64_t version, const std::string& lines) {
	(void)store.Put(CheckpointPath(version), "PAR1");
	parquet.files[store.Location(CheckpointPath(version))] = lines;
}

std::string MetadataLine(const std::string& configuration_json, const std::string& id) {
	return R"({"metaData":{"id":")" + id +
		   R"(","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",)"
		   R"(\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":)" +
		   configuration_json + "}}\n";
}

std::string AddLine(const std::string& path, int64_t size, const std::string& more) {
	return R"({"add":{"path":")" + path + R"(","partitionValues":{},"size":)" + std::to_string(size) +
		   R"(,"modificationTime":1,"dataChange":true)" + more + "}}\n";
}

std::string RemoveLine(const std::string& path, const std::string& more) {
	return R"({"remove":{"path":")" + path + R"(","deletionTimestamp":1700000000000,"dataChange":true)" + more + "}}\n";
}

std::string Dv(const std::string& id, int64_t cardinality) {
	return R"(,"deletionVector":{"storageType":"u","pathOrInlineDv":")" + id +
		   R"(","offset":1,"sizeInBytes":40,"cardinality":)" + std::to_string(cardinality) + "}";
}

std::string Paths(const SnapshotPtr& snapshot) {
	std::string paths;
	for (const LiveFile* file : snapshot->files->Files()) paths += (paths.empty() ? "" : " ") + std::string(file->path);
	return paths;
}

}  // namespace braid
