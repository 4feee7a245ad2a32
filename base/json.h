// SPDX-License-Identifier: Apache-2.0
// JSON text: writing it piece by piece into a string, and reading single values of it. Whole log lines are read with simdjson directly
// (kernel/action/action_reader.cc). Guarantees: what is written is valid JSON for any bytes that are valid UTF-8; nothing throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace braid {

void AppendJsonString(std::string_view text, std::string& out);  // with the quotes
std::string JsonString(std::string_view text);
std::string JsonStringList(std::span<const std::string> texts);  // ["a","b"]

// Writes one object into `out`: '{' when made, '}' by Close(). Keys are not escaped: they are our own or go through JsonString.
class JsonObjectWriter {
public:
	explicit JsonObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
	void String(std::string_view key, std::string_view value) { Key(key), AppendJsonString(value, out_); }
	void Integer(std::string_view key, int64_t value) { Key(key), out_ += std::to_string(value); }
	void Bool(std::string_view key, bool value) { Key(key), out_ += value ? "true" : "false"; }
	void Raw(std::string_view key, std::string_view json) { Key(key), out_ += json; }
	void Key(std::string_view key);  // the caller appends the value to the string
	void Close() { out_ += '}'; }

private:
	std::string& out_;
	bool first_ = true;
};

// The text without the blanks, tabs and line ends around it.
std::string_view TrimJsonSpace(std::string_view json);
// The value of a JSON text that is exactly one string or one integer; nullopt if it is anything else.
std::optional<std::string> JsonStringValue(std::string_view json);
std::optional<int64_t> JsonIntegerValue(std::string_view json);

}  // namespace braid
