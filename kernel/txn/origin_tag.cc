// SPDX-License-Identifier: Apache-2.0
// [["path", source_first, count, source_first, count, ...], ...]: the rows of the new file in order.
#include "kernel/txn/origin_tag.h"

#include <simdjson.h>

#include "base/json.h"
#include "kernel/log/log_path.h"

namespace braid {

// The tag stays in the log as long as the file does, and is written again with each of its vectors.
constexpr size_t kLongestTag = 8 << 10;

std::optional<std::string> WriteOriginTag(const NewFile& file, const std::vector<std::string>& origin_files) {
	std::string tag = "[";
	uint64_t known = 0;
	for (size_t i = 0; i < file.origins.size(); i++) {
		const OriginRun& run = file.origins[i];
		if (run.first != known || tag.size() > kLongestTag) return std::nullopt;
		known += run.count;
		if (i == 0 || run.source != file.origins[i - 1].source) {
			tag += i == 0 ? "[" : "],[";
			tag += JsonString(origin_files.at(run.source));
		}
		tag += "," + std::to_string(run.source_first) + "," + std::to_string(run.count);
	}
	if (known == 0 || known != static_cast<uint64_t>(file.num_records)) return std::nullopt;
	return tag + "]]";
}

std::optional<std::vector<NamedRun>> ReadOriginTag(std::string_view tag) {
	simdjson::dom::parser parser;
	simdjson::dom::array sources;
	if (parser.parse(tag).get(sources) != simdjson::SUCCESS) return std::nullopt;
	std::vector<NamedRun> runs;
	uint64_t first = 0;
	for (simdjson::dom::element source : sources) {
		simdjson::dom::array entry;
		std::string_view path;
		if (source.get(entry) != simdjson::SUCCESS || entry.size() % 2 == 0 ||
			entry.at(0).get(path) != simdjson::SUCCESS)
			return std::nullopt;
		for (size_t i = 1; i < entry.size(); i += 2) {
			NamedRun run {DecodePath(std::string(path)), 0, first, 0};
			if (entry.at(i).get(run.source_first) != simdjson::SUCCESS ||
				entry.at(i + 1).get(run.count) != simdjson::SUCCESS)
				return std::nullopt;
			first += run.count;
			runs.push_back(std::move(run));
		}
	}
	return runs;
}

}  // namespace braid
