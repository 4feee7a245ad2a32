// SPDX-License-Identifier: Apache-2.0
// The actions of a Delta log as plain data (PROTOCOL: Actions). Each owns its text. Paths are kept as in the log (URL-encoded); the
// decoded form is what files are compared by (kernel/log/log_path.h, DecodePath).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernel/deletion/dv_descriptor.h"

namespace braid {

// nullopt: the partition value is null. The key is the physical column name.
using PartitionValues = std::map<std::string, std::optional<std::string>>;
using Tags = std::map<std::string, std::optional<std::string>>;
using Configuration = std::map<std::string, std::string>;

struct AddFile {
	std::string path;
	PartitionValues partition_values;
	int64_t size = 0;               // bytes
	int64_t modification_time = 0;  // ms
	bool data_change = true;
	std::string stats;  // JSON text, "" if absent (PROTOCOL: Per-file Statistics)
	Tags tags;
	std::optional<DvDescriptor> deletion_vector;
	std::optional<int64_t> base_row_id;
	std::optional<int64_t> default_row_commit_version;
	std::optional<std::string> clustering_provider;
};

struct RemoveFile {
	std::string path;
	std::optional<int64_t> deletion_timestamp;  // ms
	bool data_change = true;
	bool extended_file_metadata = false;
	PartitionValues partition_values;
	std::optional<int64_t> size;
	std::string stats;
	Tags tags;
	std::optional<DvDescriptor> deletion_vector;
	std::optional<int64_t> base_row_id;
	std::optional<int64_t> default_row_commit_version;
};

struct AddCdcFile {
	std::string path;
	PartitionValues partition_values;
	int64_t size = 0;
	Tags tags;
};

struct Format {
	std::string provider = "parquet";
	Configuration options;
};

struct Metadata {
	std::string id;
	std::optional<std::string> name;
	std::optional<std::string> description;
	Format format;
	std::string schema_string;
	std::vector<std::string> partition_columns;  // logical names
	Configuration configuration;
	std::optional<int64_t> created_time;  // ms
};

struct Protocol {
	int min_reader_version = 1;
	int min_writer_version = 2;
	std::optional<std::vector<std::string>> reader_features;  // present exactly when min_reader_version is 3
	std::optional<std::vector<std::string>> writer_features;  // present exactly when min_writer_version is 7
};

struct SetTransaction {
	std::string app_id;
	int64_t version = 0;
	std::optional<int64_t> last_updated;
};

struct DomainMetadata {
	std::string domain;
	std::string configuration;
	bool removed = false;
};

// What a commit says of itself (PROTOCOL: Commit Provenance Information). Unknown keys are not kept.
struct CommitInfo {
	std::optional<int64_t> in_commit_timestamp;  // first in the object when present
	std::optional<int64_t> timestamp;            // ms
	std::string operation;
	std::map<std::string, std::string> operation_parameters;  // values are JSON text, written raw
	std::optional<int64_t> read_version;
	std::optional<std::string> isolation_level;
	std::optional<bool> is_blind_append;
	std::map<std::string, std::string> operation_metrics;
	std::optional<std::string> user_metadata;
	Tags tags;
	std::string engine_info;
	std::string txn_id;
	// Our own object "braid".
	std::string reads;    // JSON text of the array of that name, "" if absent
	std::string row_map;  // "rowMap": path of the map of a rearrangement (kernel/txn/row_map.h), "" if absent
};

using Action =
	std::variant<CommitInfo, Protocol, Metadata, AddFile, RemoveFile, AddCdcFile, SetTransaction, DomainMetadata>;

}  // namespace braid
