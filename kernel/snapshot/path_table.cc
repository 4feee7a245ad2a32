// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/path_table.h"

#include <utility>

namespace braid {

void PathTable::Insert(uint32_t hash, uint32_t ordinal) {
	if ((used_ + 1) * 4 > slots_.size() * 3) Rehash((used_ - erased_ + 1) * 2);  // fewer moves than doubling
	size_t i = hash & (slots_.size() - 1);
	while (slots_[i].ordinal != kNone) i = (i + 1) & (slots_.size() - 1);
	slots_[i] = {hash, ordinal};
	++used_;
}

void PathTable::Erase(uint32_t hash, uint32_t ordinal) {
	if (slots_.empty()) return;
	for (size_t i = hash & (slots_.size() - 1); slots_[i].ordinal != kNone; i = (i + 1) & (slots_.size() - 1)) {
		if (slots_[i].ordinal != ordinal) continue;
		slots_[i].ordinal = kErased;
		++erased_;
		return;
	}
}

void PathTable::Reserve(size_t count) {
	if (count * 4 > slots_.size() * 3) Rehash(count);
}

// Erased slots are given up, so a table that only changes does not grow.
void PathTable::Rehash(size_t count) {
	size_t size = 16;
	while (size < count * 2) size *= 2;
	std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
	used_ = erased_ = 0;
	for (const Slot& slot : old) {
		if (slot.ordinal < kErased) Insert(slot.hash, slot.ordinal);
	}
}

}  // namespace braid
