// SPDX-License-Identifier: Apache-2.0
// The partition of a file in one spelling. Engines differ in blanks, in the order of columns and in how they write timestamps; two files are of one
// partition if their values are equal (PROTOCOL: Partition Value Serialization).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernel/snapshot/snapshot.h"

namespace braid {

// To be compared, not to be read. Of values that cannot be parsed: as in the log.
std::string PartitionKey(const PartitionValues& values, const Snapshot& table);
std::string PartitionKey(std::string_view partition_values_json, const Snapshot& table);

// The same for many files of a table, which must outlive it. An engine writes the values of one partition alike: each text is read once.
class PartitionKeys {
public:
	explicit PartitionKeys(const Snapshot& table) : table_(table) {}

	// Valid as long as this object is.
	const std::string& Of(const LiveFile& file);

private:
	const Snapshot& table_;
	std::map<std::string_view, std::string> keys_;
};

}  // namespace braid
