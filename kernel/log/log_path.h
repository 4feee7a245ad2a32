// SPDX-License-Identifier: Apache-2.0
// Names of the files in _delta_log and the form in which data paths are compared (PROTOCOL: File Types; Add File, "path").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace braid {

std::string CommitPath(int64_t version);      // "_delta_log/00000000000000000007.json"
std::string ChecksumPath(int64_t version);    // "_delta_log/00000000000000000007.crc"
std::string CheckpointPath(int64_t version);  // "_delta_log/00000000000000000007.checkpoint.parquet"
std::string V2CheckpointPath(int64_t version,
							 const std::string& uuid);  // "_delta_log/00000000000000000007.checkpoint.<uuid>.json"
std::string SidecarPath(std::string_view name);         // "_delta_log/_sidecars/" + name
std::string TemporaryLogPath(
	Random& random);  // hidden from readers: becomes a file of the log by LogStore::MoveIfAbsent
inline constexpr std::string_view kLastCheckpointPath = "_delta_log/_last_checkpoint";

std::string LogPath(std::string_view name);  // "_delta_log/" + name
// "00000000000000000007": the files of that version and of later ones sort from here.
std::string VersionPrefix(int64_t version);

enum class LogFileKind { kCommit, kCompacted, kChecksum, kClassicCheckpoint, kMultiPartCheckpoint, kUuidCheckpoint };

struct LogFileName {
	LogFileKind kind = LogFileKind::kCommit;
	int64_t version = 0;
	int64_t last_version = 0;  // kCompacted: the end of the range
	int part = 0, parts = 0;   // kMultiPartCheckpoint: 1 to parts
	bool json = false;         // kUuidCheckpoint
};
// nullopt: not a file of a version (temporary files, _last_checkpoint, folders, ...).
std::optional<LogFileName> ParseLogFileName(std::string_view name);

// A path as written in an action in the form by which files are compared: percent-decoded, a local file URI as its absolute path. Two
// spellings of one file compare equal ("a%20b" and "a b"; "file:///x", "file:/x" and "/x").
std::string DecodePath(std::string_view path);
bool IsPlainPath(std::string_view path);  // DecodePath would change nothing
// The name by which the store finds the file of an action: relative names are plain there, absolute ones stay as written.
std::string StorePath(std::string_view path);
// A plain relative path as an action spells it: every byte that Spark does not leave in a URI path is percent-encoded ('%' too).
std::string EncodePath(std::string_view plain);

}  // namespace braid
