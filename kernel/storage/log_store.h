// SPDX-License-Identifier: Apache-2.0
// LogStore: the only way the kernel touches storage. One store serves one table root; all paths are relative to that root with '/'
// ("_delta_log/00000000000000000003.json"), or absolute file URIs where the log names such.
// PutIfAbsent is the commit point (PROTOCOL: Delta Log Entries, "atomic"): of several callers for one path exactly one succeeds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace braid {

inline constexpr std::string_view kLogDirectory = "_delta_log";

struct StoredFile {
	std::string name;  // relative to the listed directory
	int64_t size = 0;  // bytes
	int64_t modification_time_ms = 0;
	bool is_directory = false;
};

// The turn to write the next version, among the writers of one machine. A courtesy that spares lost races: nothing relies on it, and who is
// refused goes on without.
class Turn {
public:
	virtual ~Turn() = default;  // ends the turn
	bool waited = false;        // others had it first: the newest version may be another by now
};

// A new file that is written piece by piece. One that is not closed is incomplete: whoever made it deletes it.
class FileStream {
public:
	virtual ~FileStream() = default;
	virtual Status Append(std::string_view bytes) = 0;
	virtual Status Close() = 0;  // once, after the last piece
};

class LogStore {
public:
	virtual ~LogStore() = default;

	// The entries of a directory with name >= first_name, sorted by name bytes. A missing directory: kNotFound.
	virtual Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name) = 0;
	// The same where only names are asked for: sizes and times may be 0.
	virtual Result<std::vector<StoredFile>> ListNames(std::string_view directory, std::string_view first_name) {
		return List(directory, first_name);
	}
	// Whole file. kNotFound, kIo.
	virtual Result<std::string> Read(std::string_view path) = 0;
	// `length` bytes from `offset`; fewer at the end of the file.
	virtual Result<std::string> ReadRange(std::string_view path, int64_t offset, int64_t length) = 0;
	// The file in blocks of bounded size, in order; the sink's error stops the reading and is handed on.
	virtual Status ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) = 0;
	virtual Result<StoredFile> Stat(std::string_view path) = 0;

	// Creates the file with these bytes durably, or answers kAlreadyExists and changes nothing. kOutcomeUnknown: it may or may not be there.
	virtual Status PutIfAbsent(std::string_view path, std::string_view bytes) = 0;
	// Waits for the turn, at most `patience_ms`. Null: others had it all the time, or the store knows no turns.
	virtual std::unique_ptr<Turn> TakeTurn(int64_t /*patience_ms*/) { return nullptr; }
	// PutIfAbsent of who may have the turn: a success ends it, as soon as the version can be seen.
	virtual Status PutInTurn(std::string_view path, std::string_view bytes, std::unique_ptr<Turn>& turn) {
		Status put = PutIfAbsent(path, bytes);
		if (put) turn.reset();
		return put;
	}
	// Creates or atomically replaces a file that is not a commit (_last_checkpoint, checksum, deletion vector, checkpoint).
	virtual Status Put(std::string_view path, std::string_view bytes) = 0;
	// Creates a new file that is not yet durable: MakeDurable makes it so. kAlreadyExists if there is one. For files that nothing names yet
	// (deletion vectors): a crash leaves at most an unreferenced file.
	virtual Status Create(std::string_view path, std::string_view bytes) = 0;
	// The same for a file that is too large to be held.
	virtual Result<std::unique_ptr<FileStream>> CreateStream(std::string_view path);
	// Before a commit names these files: their bytes and the directory entries that lead to them are on stable storage when this returns.
	virtual Status MakeDurable(std::span<const std::string> paths) = 0;
	// A hint: what the file has by now will have to be durable, so that MakeDurable has less to wait for. Any failure shows there.
	virtual void BeginToMakeDurable(std::string_view /*path*/) {}
	// Gives a finished file its final name, never replacing one (kAlreadyExists). Atomic, not durable by itself.
	virtual Status MoveIfAbsent(std::string_view from, std::string_view to) = 0;
	// Removes a file; a missing one is success.
	virtual Status Delete(std::string_view path) = 0;

	// How to name the file to a person, and to DuckDB's readers: an absolute path or URL.
	virtual std::string Location(std::string_view path) const = 0;
};

}  // namespace braid
