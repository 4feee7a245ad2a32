// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/partition_folder.h"

namespace braid {

static void AppendEscaped(std::string_view text, std::string& out) {
	constexpr std::string_view kSpecial = "\"#%'*/:=?\\{[]^\x7f";
	constexpr char kDigits[] = "0123456789ABCDEF";
	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);
		if (byte >= 0x20 && kSpecial.find(c) == std::string_view::npos) {
			out.push_back(c);
		} else {
			out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
		}
	}
}

std::string PartitionFolder(std::string_view column, const std::optional<std::string>& value) {
	std::string folder;
	AppendEscaped(column, folder);
	folder += '=';
	if (value) {
		AppendEscaped(*value, folder);
	} else {
		folder += kNullPartition;
	}
	return folder;
}

}  // namespace braid
