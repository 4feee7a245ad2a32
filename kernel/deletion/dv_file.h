// SPDX-License-Identifier: Apache-2.0
// Reading a vector through its descriptor, with size, checksum, magic number and cardinality verified, and writing
// several vectors into one new file or inline (PROTOCOL: Deletion Vectors, "Deletion Vector File Storage Format").
// A published file is never touched again.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "kernel/deletion/dv_descriptor.h"
#include "kernel/deletion/position_set.h"
#include "kernel/storage/log_store.h"

namespace braid {

// Vectors below this size (bytes with the magic number) are written inline into the log: it spares a file and two
// fsyncs.
inline constexpr int32_t kInlineDvLimit = 256;

// Errors: kNotFound (file missing), kCorrupt (size, checksum, magic, cardinality); the message names data file and
// vector.
Result<PositionSet> ReadDeletionVector(LogStore& store, const DvDescriptor& dv, std::string_view data_file);

struct WrittenDvs {
	std::vector<DvDescriptor> descriptors;  // in the order given
	std::vector<std::string> files;         // new files, relative to the root; not yet made durable
};
// Never writes an empty set. All vectors that are not inline share one new file, whose name carries the token (kernel/storage/table_lease.h).
Result<WrittenDvs> WriteDeletionVectors(LogStore& store, Random& random, std::span<const PositionSet* const> sets,
										const std::string& lease_token = "");

}  // namespace braid
