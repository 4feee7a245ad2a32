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

}  // namespace

Status ReadCheckpoint(LogStore& store, ParquetGateway& parquet, const std::string& table,
					  const CheckpointFiles& checkpoint, ActionSink& sink) {
	TopLevel top(sink);
	// One by one: parts and sidecars need not have the same columns.
	const auto read = [&](const std::string& location) { return parquet.ReadCheckpoint(std::span(&location, 1), top); };
	if (checkpoint.json) {
		ActionReader reader("", top);
		const std::string& path = checkpoint.paths.front();
		BRAID_TRY(ReadActionFile(store, path, "table " + table + ", checkpoint " + path, reader));
	} else {
		for (const std::string& path : checkpoint.paths) BRAID_TRY(read(store.Location(path)));
	}
	for (const SidecarFile& sidecar : std::exchange(top.sidecars, {})) BRAID_TRY(read(SidecarLocation(store, sidecar)));
	return {};
}

}  // namespace braid
