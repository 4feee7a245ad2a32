// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/action_reader.h"

#include <algorithm>

#include "base/json.h"
#include "kernel/action/action_codec.h"
#include "kernel/action/action_objects.h"
#include "kernel/action/file_action.h"

namespace braid {

namespace {

namespace od = simdjson::ondemand;

// An action longer than this is garbage, not pretty-printed JSON.
constexpr size_t kMaxDocument = size_t {256} << 20;
// Bytes taken in at once: few enough to stay in the processor's cache while they are read.
constexpr size_t kSlice = size_t {256} << 10;

// The end of the JSON object or other text that begins at `begin`, by counting brackets outside of strings; npos if it does not end.
size_t DocumentEnd(std::string_view text, size_t begin) {
	int depth = 0;
	bool in_string = false;
	for (size_t i = begin; i < text.size(); ++i) {
		const char c = text[i];
		if (in_string) {
			if (c == '\\') ++i;
			if (c == '"') in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			++depth;
		} else if ((c == '}' || c == ']') && --depth <= 0) {
			return i + 1;
		}
	}
	return std::string_view::npos;
}

}  // namespace

struct ActionReader::Parsers {
	od::parser lines;
	simdjson::dom::parser objects;
};

ActionReader::ActionReader(std::string where, ActionSink& sink)
	: where_(std::move(where)), sink_(sink), parsers_(std::make_unique<Parsers>()) {}

ActionReader::~ActionReader() = default;

void ActionReader::Restart(std::string where) {
	where_ = std::move(where);
	pending_.clear();
	wait_for_ = 0;
	line_ = 1;
	holds_something_ = false;
}

std::unexpected<Error> ActionReader::Corrupt(const std::string& reason) const {
	return Fail(ErrorKind::kCorrupt, where_ + ", line " + std::to_string(line_) + ": " + reason);
}

Status ActionReader::Feed(std::string_view block) {
	while (!block.empty()) {
		const std::string_view slice = block.substr(0, kSlice);
		block.remove_prefix(slice.size());
		const size_t needed = pending_.size() + slice.size() + simdjson::SIMDJSON_PADDING;
		if (pending_.capacity() < needed) pending_.reserve(needed + needed / 2);
		pending_ += slice;
		if (pending_.size() >= wait_for_) BRAID_TRY(ReadLines(false));
	}
	return {};
}

Status ActionReader::Finish() {
	BRAID_TRY(ReadLines(true));
	if (!TrimJsonSpace(pending_).empty()) return Corrupt("the file ends in the middle of an action (truncated?)");
	if (holds_something_) return {};
	return Fail(ErrorKind::kCorrupt,
				where_ +
					": the file is empty, as a writer may leave it that crashed. Nothing is known of what it should "
					"hold. If no later version exists, delete it: then the version before is the newest.");
}

Status ActionReader::ReadLines(bool last) {
	size_t position = 0;
	while (position < pending_.size()) {
		const char c = pending_[position];
		if (c == '\n') ++line_;
		if (c == '\n' || c == '\r' || c == ' ' || c == '\t') {
			++position;
			continue;
		}
		size_t line_end = pending_.find('\n', position);
		if (line_end == std::string::npos) {
			if (!last) break;
			line_end = pending_.size();
		}
		BRAID_TRY(const size_t next, ReadDocument(position, line_end, last));
		holds_something_ = true;
		if (next == position) break;
		if (next != line_end) line_ += static_cast<size_t>(std::count(&pending_[position], &pending_[next], '\n'));
		position = next;
	}
	pending_.erase(0, position);
	wait_for_ = pending_.size() > kSlice ? pending_.size() * 2 : 0;  // a long action is not tried again at every block
	return {};
}

Result<size_t> ActionReader::ReadDocument(size_t begin, size_t line_end, bool last) {
	BRAID_TRY(const std::string reason, ReadActions(begin, line_end));
	if (reason.empty()) return line_end;
	// Not one object on one line: pretty-printed, several on a line, not complete yet, or garbled.
	const size_t end = DocumentEnd(pending_, begin);
	if (end == std::string::npos) {
		if (last) return Corrupt("the file ends in the middle of an action (truncated?)");
		if (pending_.size() - begin > kMaxDocument) return Corrupt(reason);
		return begin;
	}
	if (end == line_end) return Corrupt(reason);
	BRAID_TRY(const std::string other_reason, ReadActions(begin, end));
	if (!other_reason.empty()) return Corrupt(other_reason);
	return end;
}

Result<std::string> ActionReader::ReadActions(size_t begin, size_t end) {
	od::document document;
	od::object root;
	const simdjson::padded_string_view text(pending_.data() + begin, end - begin, pending_.capacity() - begin);
	if (const auto error = parsers_->lines.iterate(text).get(document)) return simdjson::error_message(error);
	if (const auto error = document.get_object().get(root)) return simdjson::error_message(error);
	std::optional<FileAction> add, remove;
	bool has_objects = false;
	for (auto entry : root) {
		od::field field;
		std::string_view key;
		if (const auto error = std::move(entry).get(field)) return simdjson::error_message(error);
		if (!ReadKey(field, key)) return "malformed JSON";
		od::value value = field.value();
		if (IsNull(value)) continue;
		if (key == "add" || key == "remove") {
			std::optional<FileAction>& file = key == "add" ? add : remove;
			std::string reason = ReadFileAction(key, value, file.emplace());
			if (!reason.empty()) return reason;
		} else if (IsKnownObject(key)) {
			has_objects = true;
		}
	}
	if (!document.at_end()) return "malformed JSON: something follows the action";
	std::vector<Action> actions;
	std::vector<SidecarFile> sidecars;
	if (has_objects) {
		std::string reason = ReadObjects(begin, end, actions, sidecars);
		if (!reason.empty()) return reason;
	}
	if (add) BRAID_TRY(sink_.OnAdd(ViewOfAdd(*add)));
	if (remove) BRAID_TRY(sink_.OnRemove(ViewOfRemove(*remove)));
	if (has_objects) sink_.OnObjectText(std::string_view(pending_).substr(begin, end - begin));
	for (Action& action : actions) BRAID_TRY(sink_.OnAction(std::move(action)));
	for (SidecarFile& sidecar : sidecars) BRAID_TRY(sink_.OnSidecar(std::move(sidecar)));
	return "";
}

std::string ActionReader::ReadObjects(size_t begin, size_t end, std::vector<Action>& actions,
									  std::vector<SidecarFile>& sidecars) {
	simdjson::dom::object root;
	// The padding that the parser needs is there: pending_ has reserved it.
	if (const auto error = parsers_->objects.parse(pending_.data() + begin, end - begin, false).get(root)) {
		return simdjson::error_message(error);
	}
	for (const auto& [key, value] : root) {
		simdjson::dom::object object;
		if (value.is_null() || !IsKnownObject(key)) continue;
		if (value.get(object)) return std::string(key) + " is not an object";
		if (key == "sidecar") {
			Result<SidecarFile> sidecar = ReadSidecar(object);
			if (!sidecar) return std::move(sidecar).error().message;
			sidecars.push_back(*std::move(sidecar));
			continue;
		}
		Result<Action> action = ReadAction(key, object);
		if (!action) return std::move(action).error().message;
		actions.push_back(*std::move(action));
	}
	return "";
}

Status ParseCommit(std::string_view bytes, std::string_view where, const std::function<Status(Action&&)>& sink) {
	class Forward : public ActionSink {
	public:
		explicit Forward(const std::function<Status(Action&&)>& forward) : forward_(forward) {}
		Status OnAdd(const AddFileView& view) override {
			BRAID_TRY(Action add, ToAddFile(view));
			return forward_(std::move(add));
		}
		Status OnRemove(const RemoveFileView& view) override {
			BRAID_TRY(Action remove, ToRemoveFile(view));
			return forward_(std::move(remove));
		}
		Status OnAction(Action&& action) override { return forward_(std::move(action)); }

	private:
		const std::function<Status(Action&&)>& forward_;
	};
	Forward forward(sink);
	ActionReader reader(std::string(where), forward);
	BRAID_TRY(reader.Feed(bytes));
	return reader.Finish();
}

}  // namespace braid
