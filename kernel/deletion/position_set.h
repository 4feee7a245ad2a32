// SPDX-License-Identifier: Apache-2.0
// PositionSet: a set of 0-based physical row positions of one Parquet file, a value type over CRoaring's 64-bit bitmap.
// Memory grows with the positions held (a Roaring container covers 65 536 rows), never with the rows of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace roaring::api {
struct roaring64_bitmap_s;
}

namespace braid {

using Roaring64 = ::roaring::api::roaring64_bitmap_s;

class PositionSet {
public:
	PositionSet();
	PositionSet(std::initializer_list<uint64_t> positions);
	PositionSet(const PositionSet& other);
	PositionSet(PositionSet&& other) noexcept;
	PositionSet& operator=(PositionSet other) noexcept;
	~PositionSet();

	static PositionSet Adopt(Roaring64* owned);  // takes over a valid bitmap
	static PositionSet Range(uint64_t first, uint64_t last_exclusive);

	bool Add(uint64_t position);  // false if it was there
	void AddMany(std::span<const uint64_t> positions);
	bool Contains(uint64_t position) const;
	bool ContainsAny(uint64_t first, uint64_t last_exclusive) const;
	uint64_t Cardinality() const;
	bool Empty() const;

	PositionSet& operator|=(const PositionSet& other);
	PositionSet& operator&=(const PositionSet& other);
	PositionSet& operator-=(const PositionSet& other);
	bool Intersects(const PositionSet& other) const;
	bool operator==(const PositionSet& other) const;

	// The positions of [first, last_exclusive) that are in the set, ascending, appended to out.
	void Collect(uint64_t first, uint64_t last_exclusive, std::vector<uint64_t>& out) const;
	std::vector<uint64_t> ToVector(size_t limit = SIZE_MAX) const;
	// Position of the smallest member that is >= from, or UINT64_MAX.
	uint64_t NextFrom(uint64_t from) const;

	const Roaring64* bitmap() const { return bitmap_; }
	Roaring64* mutable_bitmap() { return bitmap_; }

private:
	Roaring64* bitmap_;  // owned; null only after a move
};

PositionSet operator|(PositionSet a, const PositionSet& b);
PositionSet operator&(PositionSet a, const PositionSet& b);
PositionSet operator-(PositionSet a, const PositionSet& b);

}  // namespace braid
