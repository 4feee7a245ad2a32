// SPDX-License-Identifier: Apache-2.0
// Version checksum files (PROTOCOL: Version Checksum File): what the writer of a version believed of it. A cross-check that blocks nothing:
// a missing or broken file is as good as none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernel/action/actions.h"
#include "kernel/storage/log_store.h"

namespace braid {

struct VersionChecksum {
	std::optional<int64_t> table_size_bytes, num_files, num_metadata, num_protocol;
	std::optional<int64_t> in_commit_timestamp;
	std::optional<std::string> txn_id;
	std::optional<std::string> metadata_id;
	std::optional<int64_t> min_reader_version, min_writer_version;
};

std::optional<VersionChecksum> ParseChecksum(std::string_view json);
std::optional<VersionChecksum> ReadChecksum(LogStore& store, int64_t version);
// "" if everything that the checksum states agrees, else the first difference, for people ("numFiles is 3, the log has 4").
std::string DifferenceFrom(const VersionChecksum& checksum, const Metadata& metadata, const Protocol& protocol,
						   int64_t num_files, int64_t table_size_bytes);

}  // namespace braid
