// SPDX-License-Identifier: Apache-2.0
// Edits: text with some of it replaced, from left to right. A piece that is shorter than what it replaces is padded with blanks, so that what
// follows keeps its place and errors point to the right one.
#pragma once

#include <string>
#include <string_view>

namespace braid::engine {

// `from` up to `to` of `sql` becomes `words` and blanks.
inline void Overwrite(std::string& sql, size_t from, size_t to, std::string_view words) {
	std::string padded(words);
	if (padded.size() < to - from) padded.resize(to - from, ' ');
	sql.replace(from, to - from, padded);
}

class Edits {
public:
	Edits(std::string_view text, size_t from) : text_(text), at_(from) {}

	size_t position() const { return at_; }  // everything before it is done
	void Replace(size_t from, size_t to, std::string words) {
		out_ += text_.substr(at_, from - at_);
		if (words.size() < to - from) words.resize(to - from, ' ');
		out_ += words;
		at_ = to;
	}
	std::string Finish(size_t end) { return std::move(out_) + std::string(text_.substr(at_, end - at_)); }

private:
	std::string_view text_;
	size_t at_;
	std::string out_;
};

}  // namespace braid::engine
