// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checksum.h"

#include "kernel/log/log_path.h"
#include "simdjson.h"

namespace braid {

std::optional<int64_t> ReadChecksumTimestamp(LogStore& store, int64_t version) {
	const Result<std::string> text = store.Read(ChecksumPath(version));
	if (!text) return std::nullopt;
	simdjson::dom::parser parser;
	simdjson::dom::element checksum;
	int64_t timestamp = 0;
	const simdjson::padded_string padded(*text);
	if (parser.parse(padded).get(checksum) || checksum["inCommitTimestampOpt"].get(timestamp)) return std::nullopt;
	return timestamp;
}

}  // namespace braid
