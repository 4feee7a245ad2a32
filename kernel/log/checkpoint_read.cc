// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checkpoint_read.h"

#include <span>
#include <utility>

#include "kernel/log/commit_file.h"
#include "kernel/log/log_path.h"

namespace braid {

namespace {

// Hands actions on and collects the sidecars of the top-level file.
class TopLevel : public ActionSink, public CheckpointSink {
public:
	explicit TopLevel(ActionSink& sink) : sink_(sink) {}
	Status OnAdd(const AddFileView& add) override { return sink_.OnAdd(add); }
	Status OnRemove(const RemoveFileView& remove) override { return sink_.OnRemove(remove); }
	Status OnAction(Action&& action) override { return sink_.OnAction(std::move(action)); }
	Status OnSidecar(SidecarFile&& sidecar) override {
		sidecars.push_back(std::move(sidecar));
		return {};
	}
	std::vector<SidecarFile> sidecars;

private:
	ActionSink& sink_;
};

// A sidecar is named by its file name, or (older writers) by a whole path.
std::string SidecarLocation(LogStore& store, const SidecarFile& sidecar) {
	const std::string path = DecodePath(sidecar.path);
	const bool absolute = path.starts_with('/') || path.find("://") != std::string::npos;
	return absolute ? path : store.Location(LogPath("_sidecars/" + path));
}

class Nothing : public ActionSink {
public:
	Status OnAdd(const AddFileView&) override { return {}; }
	Status OnRemove(const RemoveFileView&) override { return {}; }
	Status OnAction(Action&&) override { return {}; }
};

// One by one: parts need not have the same columns.
Status ReadTopLevel(LogStore& store, ParquetGateway& parquet, const std::string& table,
					const CheckpointFiles& checkpoint, TopLevel& top) {
	if (checkpoint.json) {
		ActionReader reader("", top);
		const std::string& path = checkpoint.paths.front();
		return ReadActionFile(store, path, "table " + table + ", checkpoint " + path, reader);
	}
	for (const std::string& path : checkpoint.paths) {
		const std::string location = store.Location(path);
		BRAID_TRY(parquet.ReadCheckpoint(std::span(&location, 1), top));
	}
	return {};
}

}  // namespace

Result<std::vector<SidecarFile>> ReadSidecarList(LogStore& store, ParquetGateway& parquet, const std::string& table,
												 const CheckpointFiles& checkpoint) {
	Nothing nothing;
	TopLevel top(nothing);
	BRAID_TRY(ReadTopLevel(store, parquet, table, checkpoint, top));
	return std::move(top.sidecars);
}

Status ReadCheckpoint(LogStore& store, ParquetGateway& parquet, const std::string& table,
					  const CheckpointFiles& checkpoint, ActionSink& sink) {
	TopLevel top(sink);
	const auto read = [&](const std::string& location) { return parquet.ReadCheckpoint(std::span(&location, 1), top); };
	BRAID_TRY(ReadTopLevel(store, parquet, table, checkpoint, top));
	for (const SidecarFile& sidecar : std::exchange(top.sidecars, {})) BRAID_TRY(read(SidecarLocation(store, sidecar)));
	return {};
}

}  // namespace braid
