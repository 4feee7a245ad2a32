// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_path.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/path.h"
#include "kernel/storage/log_store.h"
#include "simdjson.h"

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

// Bytes of the character beyond ASCII with which the text begins; 0: it is none, or one that java.net.URI quotes (controls, spaces, line ends).
static size_t ForeignCharacter(std::string_view text) {
	const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
	const size_t length = byte(0) < 0xC0 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
	if (length == 0 || !simdjson::validate_utf8(text.data(), std::min(length, text.size()))) return 0;
	if (length == 4) return length;
	const uint32_t code = length == 2 ? (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu)
									  : (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
	const bool quoted = code <= 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
						code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
	return quoted ? 0 : length;
}

// VACUUM of Spark compares this text with its own spelling of the files that it finds, and deletes those that it does not know: it must be spelled as
// java.net.URI does. Which leaves characters beyond ASCII as they are.
std::string EncodePath(std::string_view plain) {
	constexpr std::string_view kPlain = "/-._~!$&'()*+,;=:@";
	constexpr char kDigits[] = "0123456789ABCDEF";
	std::string out;
	for (size_t i = 0; i < plain.size();) {
		const char c = plain[i];
		const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		const size_t length =
			letter || kPlain.find(c) != std::string_view::npos ? 1 : ForeignCharacter(plain.substr(i));
		out += plain.substr(i, length);
		i += std::max<size_t>(length, 1);
		if (length > 0) continue;
		const auto byte = static_cast<uint8_t>(c);
		out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
	}
	return out;
}

}  // namespace braid
