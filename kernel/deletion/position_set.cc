// SPDX-License-Identifier: Apache-2.0
#include "kernel/deletion/position_set.h"

#include <roaring.h>

#include <algorithm>
#include <utility>

namespace braid {
namespace {

struct FreeIterator {
	void operator()(roaring64_iterator_t* iterator) const { roaring64_iterator_free(iterator); }
};
using Iterator = std::unique_ptr<roaring64_iterator_t, FreeIterator>;

Roaring64* Owned(Roaring64* bitmap) {
	BRAID_CHECK(bitmap != nullptr);  // out of memory
	return bitmap;
}

}  // namespace

PositionSet::PositionSet() : bitmap_(Owned(roaring64_bitmap_create())) {}

PositionSet::PositionSet(std::initializer_list<uint64_t> positions) : PositionSet() {
	AddMany({positions.begin(), positions.size()});
}

PositionSet::PositionSet(const PositionSet& other) : bitmap_(Owned(roaring64_bitmap_copy(other.bitmap_))) {}

PositionSet::PositionSet(PositionSet&& other) noexcept : bitmap_(std::exchange(other.bitmap_, nullptr)) {}

PositionSet& PositionSet::operator=(PositionSet other) noexcept {
	std::swap(bitmap_, other.bitmap_);
	return *this;
}

PositionSet::~PositionSet() {
	if (bitmap_ != nullptr) roaring64_bitmap_free(bitmap_);
}

PositionSet PositionSet::Adopt(Roaring64* owned) {
	PositionSet set;
	roaring64_bitmap_free(std::exchange(set.bitmap_, Owned(owned)));
	return set;
}

PositionSet PositionSet::Range(uint64_t first, uint64_t last_exclusive) {
	PositionSet set;
	if (first < last_exclusive) roaring64_bitmap_add_range(set.bitmap_, first, last_exclusive);
	return set;
}

bool PositionSet::Add(uint64_t position) { return roaring64_bitmap_add_checked(bitmap_, position); }

void PositionSet::AddMany(std::span<const uint64_t> positions) {
	roaring64_bitmap_add_many(bitmap_, positions.size(), positions.data());
}

bool PositionSet::Contains(uint64_t position) const { return roaring64_bitmap_contains(bitmap_, position); }

bool PositionSet::ContainsAny(uint64_t first, uint64_t last_exclusive) const {
	return first < last_exclusive && roaring64_bitmap_intersect_with_range(bitmap_, first, last_exclusive);
}

uint64_t PositionSet::Cardinality() const { return roaring64_bitmap_get_cardinality(bitmap_); }

bool PositionSet::Empty() const { return roaring64_bitmap_is_empty(bitmap_); }

PositionSet& PositionSet::operator|=(const PositionSet& other) {
	if (this != &other) roaring64_bitmap_or_inplace(bitmap_, other.bitmap_);
	return *this;
}

PositionSet& PositionSet::operator&=(const PositionSet& other) {
	if (this != &other) roaring64_bitmap_and_inplace(bitmap_, other.bitmap_);
	return *this;
}

PositionSet& PositionSet::operator-=(const PositionSet& other) {
	if (this == &other) {
		roaring64_bitmap_clear(bitmap_);
	} else {
		roaring64_bitmap_andnot_inplace(bitmap_, other.bitmap_);
	}
	return *this;
}

bool PositionSet::Intersects(const PositionSet& other) const {
	return roaring64_bitmap_intersect(bitmap_, other.bitmap_);
}

bool PositionSet::operator==(const PositionSet& other) const { return roaring64_bitmap_equals(bitmap_, other.bitmap_); }

void PositionSet::Collect(uint64_t first, uint64_t last_exclusive, std::vector<uint64_t>& out) const {
	constexpr uint64_t kBlock = 64;  // a vector of a scan meets few deleted rows: larger blocks read far past them
	if (first >= last_exclusive) return;
	const Iterator iterator(roaring64_iterator_create(bitmap_));
	BRAID_CHECK(iterator != nullptr);
	roaring64_iterator_move_equalorlarger(iterator.get(), first);
	while (roaring64_iterator_has_value(iterator.get()) && roaring64_iterator_value(iterator.get()) < last_exclusive) {
		const size_t before = out.size();
		// Never reads more than the range can hold, so that a narrow range in a dense set stays cheap.
		const uint64_t room = std::min(kBlock, last_exclusive - roaring64_iterator_value(iterator.get()));
		out.resize(before + room);
		const uint64_t got = roaring64_iterator_read(iterator.get(), out.data() + before, room);
		out.resize(before + got);
		while (out.size() > before && out.back() >= last_exclusive) out.pop_back();
	}
}

std::vector<uint64_t> PositionSet::ToVector(size_t limit) const {
	std::vector<uint64_t> positions(std::min<uint64_t>(limit, Cardinality()));
	if (positions.empty()) return positions;
	const Iterator iterator(roaring64_iterator_create(bitmap_));
	BRAID_CHECK(iterator != nullptr);
	roaring64_iterator_read(iterator.get(), positions.data(), positions.size());
	return positions;
}

uint64_t PositionSet::NextFrom(uint64_t from) const {
	const Iterator iterator(roaring64_iterator_create(bitmap_));
	BRAID_CHECK(iterator != nullptr);
	return roaring64_iterator_move_equalorlarger(iterator.get(), from) ? roaring64_iterator_value(iterator.get())
																	   : UINT64_MAX;
}

PositionSet operator|(PositionSet a, const PositionSet& b) { return std::move(a |= b); }
PositionSet operator&(PositionSet a, const PositionSet& b) { return std::move(a &= b); }
PositionSet operator-(PositionSet a, const PositionSet& b) { return std::move(a -= b); }

}  // namespace braid
