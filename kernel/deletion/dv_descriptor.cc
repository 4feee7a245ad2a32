// SPDX-License-Identifier: Apache-2.0
#include "kernel/deletion/dv_descriptor.h"

#include "base/uuid.h"
#include "kernel/deletion/dv_codec.h"

namespace braid {
namespace {

constexpr size_t kEncodedUuidLength = 20;

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
