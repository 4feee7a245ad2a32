// SPDX-License-Identifier: Apache-2.0
// Which files that a table's log names are not in storage (any more), data files and the files of their deletion vectors.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/deletion/dv_descriptor.h"
#include "kernel/storage/log_store.h"

namespace braid {

struct NamedFile {
	std::string_view path;  // as in the log
	const DvDescriptor* deletion_vector = nullptr;
};

std::vector<NamedFile> NamesOf(std::span<const AddFile> files);

struct MissingFile {
	size_t index = 0;    // of the files asked for
	bool data = false;   // the data file itself
	std::string vector;  // its vector's file, "" if that is there or not needed

	std::string Describe(std::string_view path) const;
};

// The first few of them, for an error.
std::string Describe(std::span<const MissingFile> missing, std::span<const NamedFile> files);
// In the order asked for. kInterrupted as soon as `interrupted` (may be empty) says so; other errors than a missing file are errors.
Result<std::vector<MissingFile>> FindMissingFiles(LogStore& store, std::span<const NamedFile> files,
												  const std::function<bool()>& interrupted);

}  // namespace braid
