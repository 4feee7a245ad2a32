// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/file_view.h"

#include "kernel/action/string_map.h"

namespace braid {

Result<AddFile> ToAddFile(const AddFileView& view) {
	AddFile add;
	add.path = view.path;
	BRAID_TRY(add.partition_values, ParseStringMap(view.partition_values_json));
	add.size = view.size;
	add.modification_time = view.modification_time;
	add.data_change = view.data_change;
	add.stats = view.stats;
	BRAID_TRY(add.tags, ParseStringMap(view.tags_json));
	if (view.deletion_vector != nullptr) add.deletion_vector = *view.deletion_vector;
	add.base_row_id = view.base_row_id;
	add.default_row_commit_version = view.default_row_commit_version;
	add.clustering_provider = view.clustering_provider;
	return add;
}

Result<RemoveFile> ToRemoveFile(const RemoveFileView& view) {
	RemoveFile remove;
	remove.path = view.path;
	remove.deletion_timestamp = view.deletion_timestamp;
	remove.data_change = view.data_change;
	remove.extended_file_metadata = view.extended_file_metadata;
	BRAID_TRY(remove.partition_values, ParseStringMap(view.partition_values_json));
	remove.size = view.size;
	remove.stats = view.stats;
	BRAID_TRY(remove.tags, ParseStringMap(view.tags_json));
	if (view.deletion_vector != nullptr) remove.deletion_vector = *view.deletion_vector;
	remove.base_row_id = view.base_row_id;
	remove.default_row_commit_version = view.default_row_commit_version;
	return remove;
}

}  // namespace braid
