// SPDX-License-Identifier: Apache-2.0
// Makes a FileIndex: from nothing while a log is replayed, or from an older one by the adds and removes of a few commits.
// Files are keyed by decoded path and deletion vector (PROTOCOL: Action Reconciliation). The older index is never touched.
//
// An index is a base, shared by all versions since the last merge and immutable, and a small top: files added since, and a bit per file of
// the base that is gone. Once the top has grown to a share of the base, both are merged into a new base.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernel/snapshot/file_arena.h"
#include "kernel/snapshot/file_index.h"
#include "kernel/snapshot/path_table.h"

namespace braid {

struct FileLayer {
	std::vector<const LiveFile*> files;  // nullptr: gone
	PathTable table;                     // ordinals of `files` by hash of the decoded path
};

struct FileIndex::State {
	std::shared_ptr<const FileLayer> base = std::make_shared<FileLayer>();
	std::vector<uint64_t> hidden;  // a bit per file of the base; empty: none hidden
	FileLayer top;
	std::vector<std::shared_ptr<const FileArena>> arenas;  // own what base and top point to
	size_t base_arenas = 0;                                // the first ones belong to the base
	size_t count = 0;
	int64_t bytes = 0;
	size_t dead_text = 0;  // bytes of text of files that are gone

	bool Hidden(uint32_t ordinal) const { return !hidden.empty() && (hidden[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
};

class FileIndexBuilder {
public:
	FileIndexBuilder();
	explicit FileIndexBuilder(const FileIndex& base);

	// Adds after this belong to one commit.
	void BeginCommit();
	// A file with the same key is replaced; one that the same commit has added is refused. Adds take effect a few at a time, when the places where
	// they belong have come into the cache; false: one of these, added_twice(), was refused.
	bool Add(const AddFileView& add);
	// All adds so far take effect, as before everything below; false as above.
	bool Settle();
	std::string_view added_twice() const { return added_twice_; }
	// A file that is not active is ignored.
	void Remove(std::string_view path, const DvDescriptor* deletion_vector);
	bool Contains(std::string_view path, const DvDescriptor* deletion_vector) const;
	// The builder is used up.
	std::shared_ptr<const FileIndex> Finish();

private:
	struct Place {
		bool in_top = false;
		uint32_t ordinal = PathTable::kNone;
	};
	struct Waiting {
		uint32_t hash;
		bool plain;  // the path needs no decoding
		const LiveFile* file;
	};
	Place Locate(uint32_t hash, std::string_view decoded, const DvDescriptor* deletion_vector) const;
	void Drop(uint32_t hash, const Place& place);
	void AddBytes(uint64_t bytes);
	void DropDeadText();
	void Merge();

	std::unique_ptr<FileIndex::State> state_;
	std::shared_ptr<FileArena> arena_ = std::make_shared<FileArena>();
	std::vector<Waiting> waiting_;
	std::string_view added_twice_;
	size_t commit_begin_ = 0;
	bool fresh_ = true;  // no older index
};

}  // namespace braid
