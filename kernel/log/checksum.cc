// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checksum.h"

#include "kernel/log/log_path.h"
#include "simdjson.h"

namespace braid {

namespace {

std::optional<int64_t> Integer(simdjson::dom::object object, const char* key) {
	int64_t value = 0;
	if (object[key].get(value)) return std::nullopt;
	return value;
}

std::optional<std::string> Text(simdjson::dom::object object, const char* key) {
	std::string_view value;
	if (object[key].get(value)) return std::nullopt;
	return std::string(value);
}

std::string Compare(const char* what, const std::optional<int64_t>& stated, int64_t actual) {
	if (!stated || *stated == actual) return "";
	return std::string(what) + " is " + std::to_string(*stated) + ", the log has " + std::to_string(actual);
}

}  // namespace

std::optional<VersionChecksum> ParseChecksum(std::string_view json) {
	simdjson::dom::parser parser;
	simdjson::dom::object root, nested;
	const simdjson::padded_string padded(json);
	if (parser.parse(padded).get(root)) return std::nullopt;
	VersionChecksum checksum;
	checksum.table_size_bytes = Integer(root, "tableSizeBytes");
	checksum.num_files = Integer(root, "numFiles");
	checksum.num_metadata = Integer(root, "numMetadata");
	checksum.num_protocol = Integer(root, "numProtocol");
	checksum.in_commit_timestamp = Integer(root, "inCommitTimestampOpt");
	checksum.txn_id = Text(root, "txnId");
	if (!root["metadata"].get(nested)) checksum.metadata_id = Text(nested, "id");
	if (!root["protocol"].get(nested)) {
		checksum.min_reader_version = Integer(nested, "minReaderVersion");
		checksum.min_writer_version = Integer(nested, "minWriterVersion");
	}
	return checksum;
}

std::optional<VersionChecksum> ReadChecksum(LogStore& store, int64_t version) {
	const Result<std::string> text = store.Read(ChecksumPath(version));
	if (!text) return std::nullopt;
	return ParseChecksum(*text);
}

std::string DifferenceFrom(const VersionChecksum& checksum, const Metadata& metadata, const Protocol& protocol,
						   int64_t num_files, int64_t table_size_bytes) {
	if (checksum.metadata_id && *checksum.metadata_id != metadata.id) {
		return "metadata.id is " + *checksum.metadata_id + ", the log has " + metadata.id;
	}
	std::string difference = Compare("numFiles", checksum.num_files, num_files);
	if (difference.empty()) difference = Compare("tableSizeBytes", checksum.table_size_bytes, table_size_bytes);
	if (difference.empty())
		difference = Compare("minReaderVersion", checksum.min_reader_version, protocol.min_reader_version);
	if (difference.empty())
		difference = Compare("minWriterVersion", checksum.min_writer_version, protocol.min_writer_version);
	return difference;
}

}  // namespace braid
