// SPDX-License-Identifier: Apache-2.0
// Row trail: where rows of a snapshot have been moved, by one winner after the other, as sorted lists: a statement may have changed millions of rows.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/txn/winning_commit.h"

namespace braid {

// Row `position` of a file is row `row` of another one now.
struct RowImage {
	uint64_t position = 0;
	const FileEffect* file = nullptr;
	uint64_t row = 0;
};

struct RowPlace {
	std::string path;  // decoded
	uint64_t position = 0;
};

class RowTrail {
public:
	struct Moves {
		std::string path;                  // decoded
		std::span<const RowImage> images;  // by ascending position, none twice
	};
	// All that one winner has moved.
	void Add(std::span<const Moves> moves);
	// The place itself if nobody has moved the row. Path decoded.
	RowPlace Follow(const std::string& path, uint64_t position) const;

private:
	struct Step {
		uint64_t from = 0;
		size_t file = 0;  // index into files_
		uint64_t to = 0;
	};
	size_t NumberOf(const std::string& path);

	std::map<std::string, std::vector<Step>> steps_;  // by path in the snapshot, by ascending position
	std::map<std::string, size_t> numbers_;
	std::vector<std::string> files_;
};

}  // namespace braid
