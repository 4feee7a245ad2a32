// SPDX-License-Identifier: Apache-2.0
// Deletion vectors that one commit has to look at, each read and verified once.
#pragma once

#include <map>
#include <string>

#include "kernel/deletion/dv_file.h"
#include "kernel/snapshot/file_index.h"

namespace braid {

class VectorCache {
public:
	explicit VectorCache(LogStore& store) : store_(store) {}
	// The empty set for a file without a vector. Valid as long as the cache.
	Result<const PositionSet*> Get(const LiveFile& file);

private:
	LogStore& store_;
	const PositionSet empty_;
	std::map<std::string, PositionSet> vectors_;  // by unique id
};

}  // namespace braid
