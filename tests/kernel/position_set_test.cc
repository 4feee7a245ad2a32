// SPDX-License-Identifier: Apache-2.0
// PositionSet against std::set: every operation is done on both and everything observable is compared.
#include "kernel/deletion/position_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace braid {
namespace {

class CheckedSet {
public:
	CheckedSet() = default;
	CheckedSet(PositionSet set, std::set<uint64_t> model) : set_(std::move(set)), model_(std::move(model)) {}

	void Add(uint64_t position) { EXPECT_EQ(set_.Add(position), model_.insert(position).second); }
	void AddMany(const std::vector<uint64_t>& positions) {
		set_.AddMany(positions);
		model_.insert(positions.begin(), positions.end());
	}
	CheckedSet Union(const CheckedSet& other) const {
		auto model = model_;
		model.insert(other.model_.begin(), other.model_.end());
		return {set_ | other.set_, std::move(model)};
	}
	CheckedSet Intersection(const CheckedSet& other) const {
		std::set<uint64_t> model;
		std::ranges::set_intersection(model_, other.model_, std::inserter(model, model.end()));
		EXPECT_EQ(set_.Intersects(other.set_), !model.empty());
		return {set_ & other.set_, std::move(model)};
	}
	CheckedSet Difference(const CheckedSet& other) const {
		std::set<uint64_t> model;
		std::ranges::set_difference(model_, other.model_, std::inserter(model, model.end()));
		return {set_ - other.set_, std::move(model)};
	}
	void Check(std::mt19937_64& random, uint64_t limit) const {
		EXPECT_EQ(set_.Cardinality(), model_.size());
		EXPECT_EQ(set_.Empty(), model_.empty());
		EXPECT_EQ(set_.ToVector(), std::vector<uint64_t>(model_.begin(), model_.end()));
		const size_t few = random() % 5;
		EXPECT_EQ(set_.ToVector(few).size(), std::min(few, model_.size()));
		const uint64_t first = random() % limit, last = first + random() % (limit - first + 1);
		const auto from = model_.lower_bound(first), to = model_.lower_bound(last);
		std::vector<uint64_t> collected {7};
		set_.Collect(first, last, collected);
		std::vector<uint64_t> expected {7};
		expected.insert(expected.end(), from, to);
		EXPECT_EQ(collected, expected);
		EXPECT_EQ(set_.ContainsAny(first, last), from != to);
		EXPECT_EQ(set_.NextFrom(first), from == model_.end() ? UINT64_MAX : *from);
		EXPECT_EQ(set_.Contains(first), model_.contains(first));
		const PositionSet copy = set_;
		EXPECT_EQ(copy, set_);
	}
	size_t size() const { return model_.size(); }

private:
	PositionSet set_;
	std::set<uint64_t> model_;
};

TEST(PositionSet, AgreesWithStdSetOnRandomOperations) {
	std::mt19937_64 random(20240601);
	for (int round = 0; round < 300; round++) {
		const uint64_t limit = std::vector<uint64_t> {50, 5000, 200'000, uint64_t {1} << 33}[random() % 4];
		CheckedSet sets[3];
		for (int step = 0; step < 12; step++) {
			CheckedSet& target = sets[random() % 3];
			const CheckedSet& other = sets[random() % 3];
			std::vector<uint64_t> positions(random() % 300);
			for (uint64_t& position : positions) position = random() % limit;
			switch (random() % 5) {
				case 0:
					target.Add(random() % limit);
					break;
				case 1:
					target.AddMany(positions);
					break;
				case 2:
					target = target.Union(other);
					break;
				case 3:
					target = target.Intersection(other);
					break;
				default:
					target = target.Difference(other);
					break;
			}
			target.Check(random, limit);
			if (HasFailure()) FAIL() << "round " << round << " step " << step;
		}
	}
}

TEST(PositionSet, RangeIsHalfOpen) {
	EXPECT_EQ(PositionSet::Range(3, 6), (PositionSet {3, 4, 5}));
	EXPECT_TRUE(PositionSet::Range(6, 6).Empty());
	EXPECT_TRUE(PositionSet::Range(7, 6).Empty());
	EXPECT_EQ(PositionSet::Range(0, 1'000'000).Cardinality(), 1'000'000u);
}

TEST(PositionSet, OperationsWithItself) {
	PositionSet set {1, 70'000, uint64_t {5} << 32};
	const PositionSet same = set;
	set |= set;
	EXPECT_EQ(set, same);
	set &= set;
	EXPECT_EQ(set, same);
	set -= set;
	EXPECT_TRUE(set.Empty());
}

TEST(PositionSet, CollectOfANarrowRangeInADenseSet) {
	const PositionSet set = PositionSet::Range(0, 1 << 20);
	std::vector<uint64_t> out;
	set.Collect(65'534, 65'538, out);
	EXPECT_EQ(out, (std::vector<uint64_t> {65'534, 65'535, 65'536, 65'537}));
}

TEST(PositionSet, MovedFromCanBeAssigned) {
	PositionSet a {1, 2};
	PositionSet b = std::move(a);
	a = b;
	EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace braid
