// SPDX-License-Identifier: Apache-2.0
// KeySet: the distinct join keys that the other side of a join had while a statement ran, kept until the commit is
// judged: a row of the table that has none of them cannot have met the condition of the join, now or later. What is
// kept are 64-bit hashes (a collision makes the set larger, never smaller), the extremes of each column and, while they
// are few, its values. Beyond kMaxKeys only the extremes stay. A set that has not seen every row says so and lets
// everything pass.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/planner/expression.hpp"
#include "engine/scan/filter_bridge.h"

namespace braid::engine {

// Hashes in open addressing; half of the slots stay empty.
class HashList {
public:
	void Insert(uint64_t hash);
	bool Contains(uint64_t hash) const;
	size_t size() const { return count_ + (has_zero_ ? 1 : 0); }
	void InsertAll(const HashList& other);
	void Clear();

private:
	void Grow();

	std::vector<uint64_t> slots_;  // 0: empty
	size_t count_ = 0;
	bool has_zero_ = false;
};

// What is known of one column of the keys.
struct KeyColumn {
	static constexpr size_t kMaxValues = 32;

	// `hashes` is flat; `rows` are `count` of the first `size` entries of both.
	void Add(duckdb::Vector& keys, duckdb::Vector& hashes, duckdb::idx_t size, const duckdb::SelectionVector& rows,
			 duckdb::idx_t count);
	void Merge(const KeyColumn& other);

	duckdb::Value min;  // NULL: no key yet, or a type that has no bounds here
	duckdb::Value max;
	bool has_null = false;
	bool many = false;             // more than kMaxValues: `values` is empty
	std::vector<uint64_t> hashes;  // of `values`
	std::vector<duckdb::Value> values;
};

class KeySet {
public:
	static constexpr size_t kMaxKeys = 4 << 20;

	// null_matches: of which columns NULL equals NULL (IS NOT DISTINCT FROM).
	KeySet(duckdb::vector<duckdb::LogicalType> types, std::vector<bool> null_matches);

	// One thread's part.
	struct Share {
		HashList hashes;
		std::vector<KeyColumn> columns;
	};

	Share Open();                                     // a thread begins
	void Add(Share& share, duckdb::DataChunk& keys);  // any thread
	void Close(Share& share);                         // the thread has seen all its rows

	// Everything that follows: when the statement is over.
	bool complete() const { return opened_ > 0 && opened_ == closed_; }
	// TRUE for rows whose keys may be in the set.
	void Test(duckdb::DataChunk& keys, duckdb::Vector& result) const;
	// A condition that the keys of the set satisfy, for `keys` that stand for the columns.
	Predicate Bound(const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& keys,
					const ResolveColumn& resolve) const;

private:
	void Flush(Share& share);
	duckdb::idx_t Hash(duckdb::DataChunk& keys, duckdb::Vector& hashes, std::vector<duckdb::Vector>* by_column,
					   duckdb::SelectionVector& rows) const;

	const duckdb::vector<duckdb::LogicalType> types_;
	const std::vector<bool> null_matches_;
	std::mutex mutex_;  // guards what follows while the statement runs
	HashList hashes_;
	bool overflown_ = false;
	std::vector<KeyColumn> columns_;
	size_t opened_ = 0;
	size_t closed_ = 0;
};

// The condition "the keys may be in the set" as an expression like any other, for a read set.
duckdb::unique_ptr<duckdb::Expression> MakeKeyTest(std::shared_ptr<const KeySet> set,
												   duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys);
// What `exact` says by key tests, alone or first in an OR, in the kernel's form. Only when the statement is over.
Predicate BoundOfKeyTests(const BoundRowPredicate& exact);

}  // namespace braid::engine
