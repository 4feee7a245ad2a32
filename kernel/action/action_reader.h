// SPDX-License-Identifier: Apache-2.0
// ActionReader: the actions of a commit, a compacted commit or a JSON checkpoint from bytes that arrive in blocks. File actions come as views
// with statistics, partition values and tags as JSON text, so that a log of a million adds needs neither the file nor a map per file in memory.
// Accepts one object a line and pretty-printed objects. Unknown actions and fields are skipped; what is malformed is kCorrupt with the line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/action/file_view.h"

namespace braid {

// Receives the actions in order; an error stops the reading and is handed on.
class ActionSink {
public:
	virtual ~ActionSink() = default;
	virtual Status OnAdd(const AddFileView& add) = 0;
	virtual Status OnRemove(const RemoveFileView& remove) = 0;
	virtual Status OnAction(Action&& action) = 0;  // every other kind
	virtual Status OnSidecar(SidecarFile&&) { return {}; }
	// Before OnAction: the JSON document that it came from.
	virtual void OnObjectText(std::string_view) {}
};

class ActionReader {
public:
	// `where` names the file in messages ("table X, version 7").
	ActionReader(std::string where, ActionSink& sink);
	~ActionReader();
	// To the beginning of another file: parsers and buffers are kept.
	void Restart(std::string where);
	Status Feed(std::string_view block);
	Status Finish();

private:
	struct Parsers;
	Status ReadLines(bool last);
	// Where reading goes on; `begin` if the document is not complete yet.
	Result<size_t> ReadDocument(size_t begin, size_t line_end, bool last);
	// Hands the actions of one document to the sink. "" or what is malformed in it; the sink has seen nothing then.
	Result<std::string> ReadActions(size_t begin, size_t end);
	std::string ReadObjects(size_t begin, size_t end, std::vector<Action>& actions, std::vector<SidecarFile>& sidecars);
	std::unexpected<Error> Corrupt(const std::string& reason) const;

	std::string where_;
	ActionSink& sink_;
	std::unique_ptr<Parsers> parsers_;
	std::string pending_;  // bytes not yet read: whole lines and the beginning of the last one
	size_t wait_for_ = 0;  // bytes that must be pending before it is worth trying again
	size_t line_ = 1;
	bool holds_something_ = false;
};

}  // namespace braid
