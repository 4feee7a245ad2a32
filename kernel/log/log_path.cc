// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_path.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/path.h"
#include "kernel/storage/log_store.h"

namespace braid {

namespace {

constexpr size_t kVersionDigits = 20;
constexpr size_t kPartDigits = 10;

std::optional<int64_t> ParseDigits(std::string_view text, size_t digits) {
	int64_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	const bool only_digits = text.find_first_not_of("0123456789") == std::string_view::npos;
	if (text.size() != digits || !only_digits || error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

std::vector<std::string_view> SplitAtDots(std::string_view name) {
	std::vector<std::string_view> pieces;
	for (size_t begin = 0; begin <= name.size();) {
		const size_t end = std::min(name.find('.', begin), name.size());
		pieces.push_back(name.substr(begin, end - begin));
		begin = end + 1;
	}
	return pieces;
}

}  // namespace

std::string VersionPrefix(int64_t version) {
	const std::string digits = std::to_string(version);
	return std::string(kVersionDigits - std::min(kVersionDigits, digits.size()), '0') + digits;
}

std::string LogPath(std::string_view name) { return std::string(kLogDirectory) + "/" + std::string(name); }
std::string CommitPath(int64_t version) { return LogPath(VersionPrefix(version) + ".json"); }
std::string ChecksumPath(int64_t version) { return LogPath(VersionPrefix(version) + ".crc"); }
std::string CheckpointPath(int64_t version) { return LogPath(VersionPrefix(version) + ".checkpoint.parquet"); }

std::string V2CheckpointPath(int64_t version, const std::string& uuid) {
	return LogPath(VersionPrefix(version) + ".checkpoint." + uuid + ".json");
}
std::string SidecarPath(std::string_view name) { return LogPath("_sidecars/" + std::string(name)); }
std::string TemporaryLogPath(Random& random) { return LogPath(".tmp-" + NewUuid(random)); }

std::optional<LogFileName> ParseLogFileName(std::string_view name) {
	const std::vector<std::string_view> pieces = SplitAtDots(name);
	const std::optional<int64_t> version = ParseDigits(pieces[0], kVersionDigits);
	if (!version) return std::nullopt;
	LogFileName file;
	file.version = *version;
	if (pieces.size() == 2) {
		if (pieces[1] == "json") return file;
		file.kind = LogFileKind::kChecksum;
		return pieces[1] == "crc" ? std::optional(file) : std::nullopt;
	}
	if (pieces.size() == 4 && pieces[2] == "compacted" && pieces[3] == "json") {
		const std::optional<int64_t> last = ParseDigits(pieces[1], kVersionDigits);
		if (!last || *last < *version) return std::nullopt;
		file.kind = LogFileKind::kCompacted;
		file.last_version = *last;
		return file;
	}
	if (pieces.size() < 2 || pieces[1] != "checkpoint") return std::nullopt;
	if (pieces.size() == 3 && pieces[2] == "parquet") {
		file.kind = LogFileKind::kClassicCheckpoint;
		return file;
	}
	if (pieces.size() == 4 && (pieces[3] == "parquet" || pieces[3] == "json") && !pieces[2].empty()) {
		file.kind = LogFileKind::kUuidCheckpoint;
		file.json = pieces[3] == "json";
		return file;
	}
	if (pieces.size() == 5 && pieces[4] == "parquet") {
		const std::optional<int64_t> part = ParseDigits(pieces[2], kPartDigits),
									 parts = ParseDigits(pieces[3], kPartDigits);
		if (!part || !parts || *part < 1 || *part > *parts || *parts > 1'000'000) return std::nullopt;
		file.kind = LogFileKind::kMultiPartCheckpoint;
		file.part = static_cast<int>(*part);
		file.parts = static_cast<int>(*parts);
		return file;
	}
	return std::nullopt;
}

bool IsPlainPath(std::string_view path) {
	return path.find('%') == std::string_view::npos && !path.starts_with("file:");
}

std::string DecodePath(std::string_view path) {
	std::string local = PathOfFileUri(path);
	return local.empty() ? PercentDecode(path) : local;
}

std::string StorePath(std::string_view path) {
	const bool absolute = path.starts_with('/') || HasUriScheme(path);
	return absolute ? std::string(path) : DecodePath(path);
}

std::string EncodePath(std::string_view plain) {
	constexpr std::string_view kPlain = "/-._~!$&'()*+,;=:@";
	constexpr char kDigits[] = "0123456789ABCDEF";
	std::string out;
	for (char c : plain) {
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (letter || kPlain.find(c) != std::string_view::npos) {
			out.push_back(c);
		} else {
			auto byte = static_cast<uint8_t>(c);
			out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
		}
	}
	return out;
}

}  // namespace braid
