// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/commit_file.h"

#include "kernel/log/log_path.h"

namespace braid {

namespace {

// Stops the reading by an error of its own once commitInfo was there.
class FindCommitInfo : public ActionSink {
public:
	Status OnAdd(const AddFileView&) override { return {}; }
	Status OnRemove(const RemoveFileView&) override { return {}; }
	Status OnAction(Action&& action) override {
		if (!std::holds_alternative<CommitInfo>(action)) return {};
		found = std::get<CommitInfo>(std::move(action));
		return Fail(ErrorKind::kInterrupted, "found");
	}
	std::optional<CommitInfo> found;
};

}  // namespace

std::string CommitName(const std::string& table, int64_t version) {
	return "table " + table + ", version " + std::to_string(version) + " (" + VersionPrefix(version) + ".json)";
}

Status ReadActionFile(LogStore& store, const std::string& path, std::string name, ActionReader& reader) {
	reader.Restart(std::move(name));
	BRAID_TRY(store.ReadBlocks(path, [&](std::string_view block) { return reader.Feed(block); }));
	return reader.Finish();
}

Result<CommitInfo> ReadCommitInfo(LogStore& store, const std::string& table, int64_t version) {
	FindCommitInfo sink;
	ActionReader reader("", sink);
	const Status status = ReadActionFile(store, CommitPath(version), CommitName(table, version), reader);
	if (sink.found) return *std::move(sink.found);
	BRAID_TRY(status);
	return CommitInfo();
}

}  // namespace braid
