// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checkpoint_read.h"

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
	if (checkpoint.json) {
		ActionReader reader("", top);
		BRAID_TRY(ReadActionFile(store, checkpoint.paths.front(),
								 "table " + table + ", checkpoint " + checkpoint.paths.front(), reader));
	} else {
		std::vector<std::string> locations;
		for (const std::string& path : checkpoint.paths) locations.push_back(store.Location(path));
		BRAID_TRY(parquet.ReadCheckpoint(locations, top));
	}
	if (top.sidecars.empty()) return {};
	std::vector<std::string> locations;
	for (const SidecarFile& sidecar : top.sidecars) locations.push_back(SidecarLocation(store, sidecar));
	return parquet.ReadCheckpoint(locations, top);
}

}  // namespace braid
