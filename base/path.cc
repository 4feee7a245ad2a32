// SPDX-License-Identifier: Apache-2.0
#include "base/path.h"

#include "base/ascii.h"

namespace braid {
namespace {

bool IsSchemeCharacter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
		   c == '.';
}

}  // namespace

std::string PercentDecode(std::string_view text) {
	std::string out;
	out.reserve(text.size());
	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '%' && i + 2 < text.size()) {
			const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
			if (high >= 0 && low >= 0) {
				out.push_back(static_cast<char>(high << 4 | low));
				i += 2;
				continue;
			}
		}
		out.push_back(text[i]);
	}
	return out;
}

bool HasUriScheme(std::string_view path) {
	size_t length = 0;
	while (length < path.size() && IsSchemeCharacter(path[length])) length++;
	return length >= 2 && length < path.size() && path[length] == ':';
}

std::string PathOfFileUri(std::string_view uri) {
	if (!uri.starts_with("file:")) return "";
	uri.remove_prefix(5);
	if (uri.starts_with("//")) {
		uri.remove_prefix(2);
		if (uri.starts_with("localhost/")) uri.remove_prefix(9);
	}
	return uri.starts_with('/') ? PercentDecode(uri) : "";
}

}  // namespace braid
