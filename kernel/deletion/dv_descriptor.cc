// SPDX-License-Identifier: Apache-2.0
#include "kernel/deletion/dv_descriptor.h"

#include "base/bytes.h"
#include "kernel/deletion/dv_codec.h"

namespace braid {
namespace {

constexpr size_t kEncodedUuidLength = 20;

std::string UuidText(std::string_view bytes) {
	const char* const digits = "0123456789abcdef";
	std::string text;
	for (size_t i = 0; i < bytes.size(); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
		const auto byte = static_cast<uint8_t>(bytes[i]);
		text.push_back(digits[byte >> 4]);
		text.push_back(digits[byte & 0xF]);
	}
	return text;
}

}  // namespace

std::string UniqueId(const DvDescriptor& dv) {
	std::string id(1, dv.storage_type);
	id += dv.path_or_inline_dv;
	if (dv.offset) id += "@" + std::to_string(*dv.offset);
	return id;
}

Result<std::string> FilePath(const DvDescriptor& dv) {
	if (dv.storage_type == 'p') return dv.path_or_inline_dv;
	if (dv.storage_type != 'u') {
		return Fail(ErrorKind::kCorrupt,
					std::string("deletion vector storage type '") + dv.storage_type + "' names no file");
	}
	const std::string_view text = dv.path_or_inline_dv;
	if (text.size() < kEncodedUuidLength) {
		return Fail(ErrorKind::kCorrupt, "deletion vector path \"" + std::string(text) +
											 "\" is shorter than an encoded UUID (20 characters)");
	}
	const std::string_view prefix = text.substr(0, text.size() - kEncodedUuidLength);
	BRAID_TRY(const std::string uuid, DecodeZ85(text.substr(prefix.size())));
	std::string path = prefix.empty() ? "" : std::string(prefix) + "/";
	return path + "deletion_vector_" + UuidText(uuid) + ".bin";
}

}  // namespace braid
