// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_path.h"

#include "base/path.h"

namespace braid {

static std::string InLog(int64_t version, std::string_view suffix) {
	std::string digits = std::to_string(version);
	std::string path = "_delta_log/";
	path.append(digits.size() < 20 ? 20 - digits.size() : 0, '0').append(digits).append(suffix);
	return path;
}

std::string CommitPath(int64_t version) { return InLog(version, ".json"); }
std::string ChecksumPath(int64_t version) { return InLog(version, ".crc"); }
std::string CheckpointPath(int64_t version) { return InLog(version, ".checkpoint.parquet"); }

std::string TemporaryLogPath(Random& random) { return "_delta_log/.tmp-" + NewUuid(random); }

std::string DecodePath(std::string_view path) { return PercentDecode(path); }

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
