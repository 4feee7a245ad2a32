// SPDX-License-Identifier: Apache-2.0
// PathTable: hash of a path -> ordinals of files, eight bytes a slot, copied by one block copy. It knows no paths: the caller compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace braid {

class PathTable {
public:
	static constexpr uint32_t kNone = UINT32_MAX;

	void Reserve(size_t count);  // room for so many
	// Has the place of a hash brought into the cache: a large table is waited for at every look.
	void Prefetch(uint32_t hash) const {
		if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
	}
	void Insert(uint32_t hash, uint32_t ordinal);
	void Erase(uint32_t hash, uint32_t ordinal);
	// The first ordinal with this hash that `matches` accepts, kNone if there is none.
	template <class Matches>
	uint32_t Find(uint32_t hash, const Matches& matches) const {
		if (slots_.empty()) return kNone;
		for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
			const Slot& slot = slots_[i];
			if (slot.ordinal == kNone) return kNone;
			if (slot.hash == hash && slot.ordinal != kErased && matches(slot.ordinal)) return slot.ordinal;
		}
	}
	template <class Visit>
	void ForEach(const Visit& visit) const {
		for (const Slot& slot : slots_) {
			if (slot.ordinal < kErased) visit(slot.hash, slot.ordinal);
		}
	}

private:
	static constexpr uint32_t kErased = UINT32_MAX - 1;
	struct Slot {
		uint32_t hash = 0;
		uint32_t ordinal = kNone;
	};
	void Rehash(size_t count);

	std::vector<Slot> slots_;  // a power of two of them, at most three quarters in use
	size_t used_ = 0;          // erased ones included
	size_t erased_ = 0;
};

}  // namespace braid
