// SPDX-License-Identifier: Apache-2.0
#include "kernel/deletion/dv_codec.h"

#include <roaring.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace braid {
namespace {

constexpr uint32_t kPortableMagic = 1681511377;
constexpr uint32_t kNativeMagic = 1681511376;
constexpr uint64_t kMaxBuckets = uint64_t {1} << 31;  // the key's top bit must be 0
constexpr std::string_view kZ85Alphabet =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

std::unexpected<Error> BadBitmap(std::string reason) {
	return Fail(ErrorKind::kCorrupt, "unreadable deletion vector: " + std::move(reason));
}

// Takes a bitmap out of a C deserializer, which checks bounds only: the content must be validated before any other use.
Result<PositionSet> Adopt(Roaring64* bitmap) {
	if (bitmap == nullptr) return BadBitmap("truncated, or its containers are not in ascending order");
	PositionSet positions = PositionSet::Adopt(bitmap);
	const char* reason = nullptr;
	if (!roaring64_bitmap_internal_validate(bitmap, &reason))
		return BadBitmap(reason == nullptr ? "invalid container" : reason);
	if (!roaring64_bitmap_is_empty(bitmap) && roaring64_bitmap_maximum(bitmap) >> 63 != 0) {
		return BadBitmap("a row position above 2^63");
	}
	return positions;
}

// An i32 count, then for each 32-bit bitmap its size and bytes; the bitmap's index is the key. Rewritten into the
// portable form.
Result<PositionSet> DeserializeNative(std::string_view bytes) {
	if (bytes.size() < sizeof(uint32_t)) return BadBitmap("truncated before the number of bitmaps");
	const auto count = LoadLittleEndian<uint32_t>(bytes);
	bytes.remove_prefix(sizeof(uint32_t));
	if (count > bytes.size() / sizeof(uint32_t)) return BadBitmap("more bitmaps announced than bytes are there");
	std::string portable;
	portable.reserve(bytes.size() + sizeof(uint64_t));
	AppendLittleEndian<uint64_t>(portable, count);
	for (uint32_t key = 0; key < count; key++) {
		if (bytes.size() < sizeof(uint32_t))
			return BadBitmap("truncated before the size of bitmap " + std::to_string(key));
		const auto size = LoadLittleEndian<uint32_t>(bytes);
		bytes.remove_prefix(sizeof(uint32_t));
		if (size > bytes.size()) return BadBitmap("truncated within bitmap " + std::to_string(key));
		if (roaring_bitmap_portable_deserialize_size(bytes.data(), size) != size) {
			return BadBitmap("bitmap " + std::to_string(key) + " does not have the size that is stated");
		}
		AppendLittleEndian<uint32_t>(portable, key);
		portable.append(bytes.substr(0, size));
		bytes.remove_prefix(size);
	}
	return Adopt(roaring64_bitmap_portable_deserialize_safe(portable.data(), portable.size()));
}

constexpr std::array<int8_t, 256> MakeZ85Values() {
	std::array<int8_t, 256> values {};
	values.fill(-1);
	for (size_t i = 0; i < kZ85Alphabet.size(); i++)
		values[static_cast<uint8_t>(kZ85Alphabet[i])] = static_cast<int8_t>(i);
	return values;
}
constexpr std::array<int8_t, 256> kZ85Values = MakeZ85Values();

}  // namespace

std::string SerializePositions(const PositionSet& positions) {
	PositionSet compact = positions;  // runs make contiguous deletions small
	roaring64_bitmap_run_optimize(compact.mutable_bitmap());
	const size_t size = roaring64_bitmap_portable_size_in_bytes(compact.bitmap());
	std::string bytes;
	bytes.reserve(sizeof(kPortableMagic) + size);
	AppendLittleEndian(bytes, kPortableMagic);
	bytes.resize(sizeof(kPortableMagic) + size);
	roaring64_bitmap_portable_serialize(compact.bitmap(), bytes.data() + sizeof(kPortableMagic));
	return bytes;
}

Result<PositionSet> DeserializePositions(std::string_view bytes) {
	if (bytes.size() < sizeof(kPortableMagic)) return BadBitmap("shorter than a magic number");
	const auto magic = LoadLittleEndian<uint32_t>(bytes);
	bytes.remove_prefix(sizeof(magic));
	if (magic == kNativeMagic) return DeserializeNative(bytes);
	if (magic != kPortableMagic) return BadBitmap("unknown format (magic number " + std::to_string(magic) + ")");
	if (bytes.size() < sizeof(uint64_t)) return BadBitmap("truncated before the number of buckets");
	if (LoadLittleEndian<uint64_t>(bytes) > kMaxBuckets) return BadBitmap("more than 2^31 buckets announced");
	return Adopt(roaring64_bitmap_portable_deserialize_safe(bytes.data(), bytes.size()));
}

std::string EncodeZ85(std::string_view bytes) {
	std::string padded(bytes);
	padded.resize((bytes.size() + 3) / 4 * 4, '\0');
	std::string text;
	text.reserve(padded.size() / 4 * 5);
	for (size_t i = 0; i < padded.size(); i += 4) {
		const auto word = LoadBigEndian<uint32_t>(std::string_view(padded).substr(i));
		for (uint32_t divisor = 85 * 85 * 85 * 85; divisor > 0; divisor /= 85)
			text.push_back(kZ85Alphabet[word / divisor % 85]);
	}
	return text;
}

Result<std::string> DecodeZ85(std::string_view text) {
	if (text.size() % 5 != 0)
		return BadBitmap("Z85 text of " + std::to_string(text.size()) + " characters, not a multiple of 5");
	std::string bytes;
	bytes.reserve(text.size() / 5 * 4);
	for (size_t i = 0; i < text.size(); i += 5) {
		std::string_view group = text.substr(i, 5);
		// Some writers shorten the last group instead of padding the bytes: each leading '#' stands for one byte
		// that is not there. It cannot be meant as a digit: 84 * 85^4 is above 2^32, and so on for shorter groups.
		const size_t missing = i + 5 == text.size() ? std::min(group.find_first_not_of('#'), group.size()) : 0;
		if (missing > 3) return BadBitmap("Z85 group without a byte");
		group.remove_prefix(missing);
		uint64_t word = 0;
		for (const char c : group) {
			const int value = kZ85Values[static_cast<uint8_t>(c)];
			if (value < 0) return BadBitmap(std::string("character '") + c + "' is not Z85");
			word = word * 85 + static_cast<uint64_t>(value);
		}
		if (word >> (8 * (4 - missing)) != 0) return BadBitmap("Z85 group out of range");
		for (size_t byte = 4 - missing; byte-- > 0;) bytes.push_back(static_cast<char>(word >> (8 * byte)));
	}
	return bytes;
}

}  // namespace braid
