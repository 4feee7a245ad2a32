// SPDX-License-Identifier: Apache-2.0
#include "kernel/deletion/dv_file.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/uuid.h"
#include "kernel/deletion/dv_codec.h"
#include "kernel/storage/table_lease.h"

namespace braid {
namespace {

constexpr char kFileVersion = 1;
constexpr int64_t kWord = 4;  // bytes of the size and of the checksum around each bitmap

// "deletion vector <where> of data file <file>: <what>".
std::unexpected<Error> BadVector(ErrorKind kind, const std::string& where, std::string_view data_file,
								 const std::string& what) {
	return Fail(kind, "deletion vector " + where + " of data file " + std::string(data_file) + ": " + what);
}

std::string Mismatch(const char* what, int64_t log, int64_t stored) {
	return std::string(what) + " is " + std::to_string(log) + " in the log but " + std::to_string(stored) +
		   " in the vector";
}

Result<std::string> ReadStored(LogStore& store, const DvDescriptor& dv, const std::string& path) {
	const int64_t offset = dv.offset.value_or(0);
	if (offset < 0) return Fail(ErrorKind::kCorrupt, "negative offset " + std::to_string(offset));
	// One read serves the file's version byte and the record when the record stands near the beginning, as nearly
	// all do.
	constexpr int64_t kNear = 64 * 1024;
	const int64_t start = offset <= kNear ? 0 : offset;
	BRAID_TRY(std::string bytes, store.ReadRange(path, start, offset - start + kWord + dv.size_in_bytes + kWord));
	std::string version = start == 0 ? bytes.substr(0, 1) : "";
	if (start != 0) {
		BRAID_TRY(version, store.ReadRange(path, 0, 1));
	}
	if (version.empty() || version[0] != kFileVersion) {
		return Fail(ErrorKind::kCorrupt, version.empty()
											 ? "the file is empty"
											 : "unknown file format version " +
												   std::to_string(static_cast<uint8_t>(version[0])) + " (known is 1)");
	}
	const std::string_view record =
		std::string_view(bytes).substr(std::min<size_t>(bytes.size(), static_cast<size_t>(offset - start)));
	if (record.size() < static_cast<size_t>(kWord)) return Fail(ErrorKind::kCorrupt, "the file ends before the vector");
	const auto stored_size = LoadBigEndian<int32_t>(record);
	if (stored_size != dv.size_in_bytes)
		return Fail(ErrorKind::kCorrupt, Mismatch("size", dv.size_in_bytes, stored_size));
	if (record.size() < static_cast<size_t>(2 * kWord + dv.size_in_bytes))
		return Fail(ErrorKind::kCorrupt, "the file ends within the vector");
	const std::string_view bitmap = record.substr(kWord, static_cast<size_t>(dv.size_in_bytes));
	const auto stored_checksum = LoadBigEndian<uint32_t>(record.substr(kWord + bitmap.size()));
	if (stored_checksum != Crc32(bitmap)) return Fail(ErrorKind::kCorrupt, "its checksum does not match its bytes");
	return std::string(bitmap);
}

Result<std::string> BitmapBytes(LogStore& store, const DvDescriptor& dv, const std::string& path) {
	if (dv.storage_type != 'i') return ReadStored(store, dv, path);
	BRAID_TRY(std::string bytes, DecodeZ85(dv.path_or_inline_dv));
	// Decoding leaves up to three bytes of padding, no more.
	const auto decoded = static_cast<int64_t>(bytes.size());
	if (decoded < dv.size_in_bytes || decoded - dv.size_in_bytes >= kWord) {
		return Fail(ErrorKind::kCorrupt, Mismatch("size", dv.size_in_bytes, decoded));
	}
	bytes.resize(static_cast<size_t>(dv.size_in_bytes));
	return bytes;
}

}  // namespace

Result<PositionSet> ReadDeletionVector(LogStore& store, const DvDescriptor& dv, std::string_view data_file) {
	std::string path, where = "(inline)";
	if (dv.storage_type != 'i') {
		auto found = FilePath(dv);
		if (!found) return BadVector(found.error().kind, UniqueId(dv), data_file, found.error().message);
		path = *std::move(found);
		where = store.Location(path) + " at offset " + std::to_string(dv.offset.value_or(0));
	}
	if (dv.size_in_bytes < 0) return BadVector(ErrorKind::kCorrupt, where, data_file, "negative size in the log");
	const auto bytes = BitmapBytes(store, dv, path);
	if (!bytes) return BadVector(bytes.error().kind, where, data_file, bytes.error().message);
	auto positions = DeserializePositions(*bytes);
	if (!positions) return BadVector(positions.error().kind, where, data_file, positions.error().message);
	const auto cardinality = static_cast<int64_t>(positions->Cardinality());
	if (cardinality != dv.cardinality) {
		return BadVector(ErrorKind::kCorrupt, where, data_file, Mismatch("cardinality", dv.cardinality, cardinality));
	}
	return positions;
}

Result<WrittenDvs> WriteDeletionVectors(LogStore& store, Random& random, std::span<const PositionSet* const> sets,
										const std::string& lease_token) {
	WrittenDvs written;
	std::string uuid, encoded_uuid, file(1, kFileVersion);
	for (const PositionSet* set : sets) {
		BRAID_CHECK(!set->Empty());
		const std::string bytes = SerializePositions(*set);
		if (bytes.size() + file.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) - 2 * kWord) {
			return Fail(ErrorKind::kUnsupported,
						"the deletion vectors of this change exceed 2 GiB; change fewer rows at once, or rewrite the "
						"files (OPTIMIZE) first");
		}
		DvDescriptor dv;
		dv.size_in_bytes = static_cast<int32_t>(bytes.size());
		dv.cardinality = static_cast<int64_t>(set->Cardinality());
		if (dv.size_in_bytes < kInlineDvLimit) {
			dv.storage_type = 'i';
			dv.path_or_inline_dv = EncodeZ85(bytes);
		} else {
			if (uuid.empty()) {
				uuid = WithToken(NewUuid(random), lease_token);
				encoded_uuid = EncodeZ85(UuidBytes(uuid));
			}
			dv.storage_type = 'u';
			dv.path_or_inline_dv = encoded_uuid;
			dv.offset = static_cast<int32_t>(file.size());
			AppendBigEndian(file, dv.size_in_bytes);
			file += bytes;
			AppendBigEndian(file, Crc32(bytes));
		}
		written.descriptors.push_back(std::move(dv));
	}
	if (uuid.empty()) return written;
	written.files.push_back("deletion_vector_" + uuid + ".bin");
	BRAID_TRY(store.Create(written.files.back(), file));
	return written;
}

}  // namespace braid
