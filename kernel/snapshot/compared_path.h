// SPDX-License-Identifier: Apache-2.0
// A path in the form by which files are compared (kernel/log/log_path.h, DecodePath), with its hash; copied only if it needs decoding.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/log/log_path.h"
#include "kernel/snapshot/file_index.h"

namespace braid {

class ComparedPath {
public:
	explicit ComparedPath(std::string_view path) : text_(path) {
		if (!IsPlainPath(path)) text_ = decoded_.emplace(DecodePath(path));
	}
	ComparedPath(const ComparedPath&) = delete;
	std::string_view text() const { return text_; }
	bool plain() const { return !decoded_; }  // it is the text of the log
	uint32_t hash() const {
		const uint64_t hash = std::hash<std::string_view>()(text_);
		return static_cast<uint32_t>(hash ^ (hash >> 32));
	}

private:
	std::optional<std::string> decoded_;
	std::string_view text_;
};

inline bool SamePath(const LiveFile& file, std::string_view decoded) {
	if (IsPlainPath(file.path)) return file.path == decoded;
	return DecodePath(file.path) == decoded;
}

}  // namespace braid
