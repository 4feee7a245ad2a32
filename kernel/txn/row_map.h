// SPDX-License-Identifier: Apache-2.0
// Row map: where a rearrangement of ours put each row, as a file in _braid/map/ of the table that its commit names (commitInfo.braid.rowMap). Losers follow
// their rows through it without reading data, and the rearrangement itself finds in it which rows of its new files others have changed. Written
// and read block by block (row_map_block.h), so that memory does not grow with the table. Other engines ignore it; who finds none, or one
// that is damaged or another commit's, does without. Format: docs/formats/row_map.md.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/environment.h"
#include "kernel/storage/log_store.h"
#include "kernel/txn/row_map_block.h"

namespace braid {

std::string NewRowMapPath(Random& random);
// Is that the path of a map, as a commit may name it?
bool IsRowMapPath(const std::string& path);

struct MappedFile {
	std::string path;  // as in the log
	uint64_t rows = 0;
};

class RowMapWriter {
public:
	// The files whose rows move, and all physical rows that they have; OriginRun::source is an index into them.
	static Result<std::unique_ptr<RowMapWriter>> Create(LogStore& store, std::string path,
														std::span<const MappedFile> sources);
	// Of the next rows of a new file. Not thread-safe.
	Status Append(const std::string& target, std::span<const OriginRun> runs);
	Status Finish();  // after the last rows; before that it is no map
	const std::string& path() const { return path_; }

private:
	RowMapWriter(std::string path, std::unique_ptr<FileStream> file, const std::vector<uint64_t>& rows_of_sources);

	const std::string path_;
	const std::unique_ptr<FileStream> file_;
	const RowNumbers numbers_;
	std::vector<MappedFile> targets_;
	std::map<std::string, size_t> target_by_path_;
};

struct MapFiles {
	std::vector<MappedFile> sources, targets;
};
struct MappedRow {
	size_t source = 0;
	uint64_t position = 0;
	size_t target = 0;
	uint64_t row = 0;  // of the target
};
// Hands on each row that is looked for, target by target in the order of blocks; believe it only after success. `wanted` says which rows of a source
// are looked for. kNotFound: there is no map. kCorrupt: it is damaged, or not the one of this name.
Result<MapFiles> FindInRowMap(LogStore& store, const std::string& path,
							  const std::function<Result<PositionSet>(const MappedFile& source)>& wanted,
							  const std::function<void(const MappedRow& row)>& found);

struct MapLinks {
	MapFiles files;
	std::vector<std::vector<bool>> made_of;  // by target, by source
};
Result<MapLinks> LinksOfRowMap(LogStore& store, const std::string& path);

}  // namespace braid
