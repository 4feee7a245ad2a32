// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/history.h"

#include <algorithm>

#include "kernel/log/commit_file.h"
#include "kernel/log/log_listing.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/table_name.h"
#include "simdjson.h"

namespace braid {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

std::optional<std::string> TextField(object fields, const char* key) {
	element value;
	if (fields[key].get(value) || value.is_null()) return std::nullopt;
	std::string_view text;
	return value.get(text) ? std::string(simdjson::minify(value)) : std::string(text);
}

std::optional<ForeignFields> ObjectField(object fields, const char* key) {
	object nested;
	if (fields[key].get(nested)) return std::nullopt;
	ForeignFields result;
	for (const auto& [name, value] : nested) {
		std::string_view text;
		if (!value.is_null()) result[std::string(name)] = value.get(text) ? std::string(simdjson::minify(value)) : text;
	}
	return result;
}

// Stops the reading by an error of its own once commitInfo was there.
class FindRecord : public ActionSink {
public:
	explicit FindRecord(CommitRecord& record) : record_(record) {}
	Status OnAdd(const AddFileView&) override { return {}; }
	Status OnRemove(const RemoveFileView&) override { return {}; }
	void OnObjectText(std::string_view json) override { json_ = json; }
	Status OnAction(Action&& action) override {
		if (!std::holds_alternative<CommitInfo>(action)) return {};
		record_.info = std::get<CommitInfo>(std::move(action));
		simdjson::dom::parser parser;
		object root, fields;
		const simdjson::padded_string text(json_);
		if (!parser.parse(text).get(root) && !root["commitInfo"].get(fields)) {
			record_.user_id = TextField(fields, "userId");
			record_.user_name = TextField(fields, "userName");
			record_.cluster_id = TextField(fields, "clusterId");
			record_.job = ObjectField(fields, "job");
			record_.notebook = ObjectField(fields, "notebook");
		}
		return Fail(ErrorKind::kInterrupted, "found");
	}

private:
	CommitRecord& record_;
	std::string_view json_;
};

}  // namespace

Result<HistoryReader> HistoryReader::Open(LogStore& store) {
	HistoryReader reader(store);
	reader.table_ = TableName(store);
	BRAID_TRY(const LogListing listing, ListLog(store, reader.table_, 0, true));
	if (listing.empty()) {
		return Fail(ErrorKind::kNotFound, reader.table_ + " is not a Delta table: its _delta_log has no commit");
	}
	for (const CommitFile& commit : listing.commits) {
		std::vector<Commit>& commits = reader.commits_;
		if (!commits.empty() && commits.back().version + 1 != commit.version) commits.clear();
		const int64_t least = commits.empty() ? commit.modification_time : commits.back().timestamp + 1;
		commits.push_back({commit.version, std::max(commit.modification_time, least)});
	}
	return reader;
}

Result<std::optional<CommitRecord>> HistoryReader::Next() {
	if (commits_.empty()) return std::nullopt;
	const Commit commit = commits_.back();
	commits_.pop_back();
	CommitRecord record;
	record.version = commit.version;
	record.timestamp = commit.timestamp;
	FindRecord sink(record);
	ActionReader reader("", sink);
	const Status status =
		ReadActionFile(*store_, CommitPath(commit.version), CommitName(table_, commit.version), reader);
	if (!record.info) {
		// Cleaned up since we listed: this and all older ones are gone.
		if (!status && status.error().kind == ErrorKind::kNotFound) return commits_.clear(), std::nullopt;
		BRAID_TRY(status);
	} else if (record.info->in_commit_timestamp) {
		record.timestamp = *record.info->in_commit_timestamp;
	}
	return record;
}

}  // namespace braid
