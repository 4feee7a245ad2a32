// SPDX-License-Identifier: Apache-2.0
// Integers in bytes of a stated order, and the CRC-32 of zlib. No function reads or writes outside what it is given.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace braid {

// Precondition: bytes.size() >= sizeof(T).
template <class T>
T LoadLittleEndian(std::string_view bytes) {
	uint64_t value = 0;
	for (size_t i = sizeof(T); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
	return static_cast<T>(value);
}

template <class T>
T LoadBigEndian(std::string_view bytes) {
	uint64_t value = 0;
	for (size_t i = 0; i < sizeof(T); i++) value = value << 8 | static_cast<uint8_t>(bytes[i]);
	return static_cast<T>(value);
}

template <class T>
void AppendLittleEndian(std::string& out, T value) {
	for (size_t i = 0; i < sizeof(T); i++) out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
}

template <class T>
void AppendBigEndian(std::string& out, T value) {
	for (size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
}

inline uint32_t Crc32(std::string_view bytes) {
	return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace braid
