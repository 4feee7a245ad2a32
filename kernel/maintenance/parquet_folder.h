// SPDX-License-Identifier: Apache-2.0
// A folder of Parquet files that is to become a table (CONVERT TO DELTA): its files, the partition values in the names of its folders as Hive and
// Spark write them ("day=2024-01-01/part-0.parquet"), and one schema for all files. Nothing is read here but names.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/schema/type.h"
#include "kernel/storage/log_store.h"

namespace braid {

struct FoundFile {
	std::string path;  // relative to the root, plain
	int64_t size = 0;
	int64_t modification_time = 0;
};

// In the order of their paths. Names that begin with _ or . are left out, but for folders of partition values ("_day=1"); so are files of no bytes.
Result<std::vector<FoundFile>> ListDataFiles(LogStore& store, const std::function<bool()>& interrupted);

// The partition values of the file, by the name of the column, as the log writes them. kInvalidArgument: the folders name other columns than
// these, or hold something that is no value of the column's type.
Result<PartitionValues> PartitionValuesOf(const std::string& path, std::span<const Field> columns);

// The columns of both, those that only `b` has behind the others; structs are united field by field. kInvalidArgument: the types of a column
// differ, or names that differ in case only.
Result<StructType> UniteSchemas(const StructType& a, const StructType& b);

}  // namespace braid
