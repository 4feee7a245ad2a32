// SPDX-License-Identifier: Apache-2.0
// Numbers of 7 bits a byte, lowest first (LEB128), and texts that are preceded by their length. Reading never leaves the bytes that it was given:
// past the end it answers zeros and remembers it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace braid {

inline void AppendVarint(std::string& out, uint64_t value) {
	for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
	out += static_cast<char>(value);
}

inline void AppendText(std::string& out, std::string_view text) {
	AppendVarint(out, text.size());
	out += text;
}

// Small for small differences in both directions.
constexpr uint64_t ZigZag(int64_t value) {
	return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
	return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

class VarintReader {
public:
	explicit VarintReader(std::string_view bytes) : rest_(bytes) {}

	uint64_t Number() {
		uint64_t value = 0;
		for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
			const auto byte = static_cast<uint8_t>(rest_.front());
			rest_.remove_prefix(1);
			value |= static_cast<uint64_t>(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
		broken_ = true;
		return 0;
	}
	std::string_view Bytes(uint64_t count) {
		broken_ |= count > rest_.size();
		if (broken_) return {};
		const std::string_view bytes = rest_.substr(0, count);
		rest_.remove_prefix(count);
		return bytes;
	}
	std::string_view Text() { return Bytes(Number()); }

	bool broken() const { return broken_; }
	bool AtEnd() const { return rest_.empty(); }
	std::string_view Rest() const { return rest_; }

private:
	std::string_view rest_;
	bool broken_ = false;
};

}  // namespace braid
