// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <charconv>

#include "simdjson.h"

namespace braid {

void AppendJsonString(std::string_view text, std::string& out) {
	static constexpr char kHex[] = "0123456789abcdef";
	out += '"';
	size_t copied = 0;
	for (size_t i = 0; i < text.size(); ++i) {
		const auto c = static_cast<unsigned char>(text[i]);
		if (c >= 0x20 && c != '"' && c != '\\') continue;
		out.append(text, copied, i - copied);
		copied = i + 1;
		switch (c) {
			case '"':
				out += "\\\"";
				break;
			case '\\':
				out += "\\\\";
				break;
			case '\n':
				out += "\\n";
				break;
			case '\r':
				out += "\\r";
				break;
			case '\t':
				out += "\\t";
				break;
			default:
				out += "\\u00";
				out += kHex[c >> 4];
				out += kHex[c & 15];
		}
	}
	out.append(text, copied, text.size() - copied);
	out += '"';
}

std::string JsonString(std::string_view text) {
	std::string out;
	AppendJsonString(text, out);
	return out;
}

std::string JsonStringList(std::span<const std::string> texts) {
	std::string out = "[";
	for (const std::string& text : texts) {
		if (out.size() > 1) out += ',';
		AppendJsonString(text, out);
	}
	return out + ']';
}

void JsonObjectWriter::Key(std::string_view key) {
	if (!first_) out_ += ',';
	first_ = false;
	out_ += '"';
	out_ += key;
	out_ += "\":";
}

std::string_view TrimJsonSpace(std::string_view json) {
	constexpr std::string_view kSpace = " \t\r\n";
	const size_t first = json.find_first_not_of(kSpace);
	if (first == std::string_view::npos) return {};
	return json.substr(first, json.find_last_not_of(kSpace) - first + 1);
}

std::optional<std::string> JsonStringValue(std::string_view json) {
	const simdjson::padded_string padded(json);
	simdjson::ondemand::parser parser;
	simdjson::ondemand::document document;
	std::string_view value;
	if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
	if (document.get_string().get(value) != simdjson::SUCCESS || !document.at_end()) return std::nullopt;
	return std::string(value);
}

std::optional<int64_t> JsonIntegerValue(std::string_view json) {
	const std::string_view text = TrimJsonSpace(json);
	int64_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
	return value;
}

}  // namespace braid
