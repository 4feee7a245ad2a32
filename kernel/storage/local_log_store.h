// SPDX-License-Identifier: Apache-2.0
// LocalLogStore: a table on a POSIX file system (PROTOCOL: Delta Log Entries). PutIfAbsent = temporary file, fsync,
// link(2), fsync of the directory, unlink: link never replaces, and a version is never visible before its bytes are
// durable. Missing directories are created, durably too. Temporary files begin with ".tmp-"; List does not show them,
// other readers ignore hidden names. A turn is an advisory lock (flock) on the log directory, which the system releases when
// its holder dies. With durable = false no fsync happens: atomic between processes, not against a
// power cut. Safe to use from several threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernel/storage/log_store.h"

namespace braid {

class LocalLogStore final : public LogStore {
public:
	// `root`: the table's directory; it need not exist yet.
	LocalLogStore(std::string root, bool durable);

	Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name) override;
	Result<std::vector<StoredFile>> ListNames(std::string_view directory, std::string_view first_name) override;
	Result<std::string> Read(std::string_view path) override;
	Result<std::string> ReadRange(std::string_view path, int64_t offset, int64_t length) override;
	Status ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) override;
	Result<StoredFile> Stat(std::string_view path) override;
	Status PutIfAbsent(std::string_view path, std::string_view bytes) override;
	std::unique_ptr<Turn> TakeTurn(int64_t patience_ms) override;
	Status PutInTurn(std::string_view path, std::string_view bytes, std::unique_ptr<Turn>& turn) override;
	Status Put(std::string_view path, std::string_view bytes) override;
	Status Create(std::string_view path, std::string_view bytes) override;
	Result<std::unique_ptr<FileStream>> CreateStream(std::string_view path) override;
	Status MakeDurable(std::span<const std::string> paths) override;
	void BeginToMakeDurable(std::string_view path) override;
	Status MoveIfAbsent(std::string_view from, std::string_view to) override;
	Status Delete(std::string_view path) override;
	// Paths are relative to the root and plain, or absolute paths and file: URIs as a log spells them
	// (percent-encoded).
	std::string Location(std::string_view path) const override;

private:
	Result<std::string> Resolve(std::string_view path) const;
	Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name, bool details) const;
	Status SyncNewNames(const std::string& directory, const std::vector<std::string>& created_directories) const;

	std::string root_;
	bool durable_;
};

}  // namespace braid
