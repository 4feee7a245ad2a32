// SPDX-License-Identifier: Apache-2.0
// File actions as views (an add's is kernel/storage/parquet_gateway.h) and as data that owns its text.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/storage/parquet_gateway.h"

namespace braid {

// A remove as views that live only during the call.
struct RemoveFileView {
	std::string_view path, partition_values_json, stats, tags_json;
	std::optional<int64_t> deletion_timestamp, size, base_row_id, default_row_commit_version;
	bool data_change = true, extended_file_metadata = false;
	const DvDescriptor* deletion_vector = nullptr;
};

Result<AddFile> ToAddFile(const AddFileView& view);
Result<RemoveFile> ToRemoveFile(const RemoveFileView& view);

}  // namespace braid
