// SPDX-License-Identifier: Apache-2.0
// Fault points: places where a test can kill the process, as `kill -9` or a power cut would. BRAID_FAULT_POINT=name:n
// makes the n-th passage through `name` end the process at once with status 137. Without the variable a fault point is
// one branch.
#pragma once

#include <string_view>

namespace braid {

// Every step of making a table change visible, in the order in which one commit passes them.
inline constexpr std::string_view kFaultPoints[] = {
	"create.before",        // a deletion vector file is about to be created
	"create.written",       // its bytes are handed to the system, nothing is durable
	"durable.before",       // before the first fsync of a commit's files
	"durable.file_synced",  // after each file's fsync, before the directories'
	"durable.after",        // all files and directory entries are durable, no commit names them
	"commit.before",        // before the temporary commit file exists
	"commit.temp_written",  // it is written, not fsynced
	"commit.temp_synced",   // it is durable, the version does not exist
	"commit.linked",        // the version exists and may not be durable
	"commit.dir_synced",    // the version is durable, the temporary name still there
	"commit.temp_removed",  // all done, not yet acknowledged
	"put.before",           // the same for checksum, checkpoint and _last_checkpoint
	"put.temp_written",    "put.temp_synced", "put.renamed", "put.dir_synced",
};

// A place where a test can hold a commit: BRAID_HOLD_COMMIT=<named pipe> makes it wait until somebody has opened the pipe for writing, which succeeds as
// soon as the commit has come here, and closed it. Looked up each time, so that a test can hold one commit of several.
void HoldPoint();

namespace internal {
extern const char* const armed_fault_point;  // nullptr unless the variable was set when the process started
void HitFaultPoint(std::string_view name);
}  // namespace internal

inline void FaultPoint(std::string_view name) {
	if (internal::armed_fault_point != nullptr) [[unlikely]]
		internal::HitFaultPoint(name);
}

}  // namespace braid
