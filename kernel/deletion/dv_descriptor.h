// SPDX-License-Identifier: Apache-2.0
// Deletion vector descriptor (PROTOCOL: Deletion Vectors, "Deletion Vector Descriptor Schema").
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace braid {

struct DvDescriptor {
	char storage_type = 'u';        // 'u' relative file by UUID, 'i' inline, 'p' absolute path
	std::string path_or_inline_dv;  // as in the log
	std::optional<int32_t> offset;  // position of the size word in the file; absent for 'i'
	int32_t size_in_bytes = 0;      // bitmap bytes with the magic number, without size and checksum words
	int64_t cardinality = 0;        // rows marked deleted

	bool operator==(const DvDescriptor&) const = default;
};

// storageType + pathOrInlineDv [+ "@" + offset]: the second half of a logical file's key.
std::string UniqueId(const DvDescriptor& dv);
// Where the vector's file is, relative to the table root (an absolute URI for 'p'). kCorrupt: inline, an unknown
// type, not a UUID.
Result<std::string> FilePath(const DvDescriptor& dv);

}  // namespace braid
