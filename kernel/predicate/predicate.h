// SPDX-License-Identifier: Apache-2.0
// Predicate: a condition over one row of a table in a small closed form, used to prune files, to record what a transaction read, and to judge
// other transactions by what they recorded. A row satisfies it when it IS TRUE (SQL three-valued logic).
// What cannot be expressed is widened: kTrue inside AND. A predicate is always a superset of the rows that were really read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/predicate/scalar.h"

namespace braid {

enum class PredicateKind { kTrue, kFalse, kAnd, kOr, kNot, kCompare, kIn, kIsNull };
enum class CompareOp { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Predicate {
	PredicateKind kind = PredicateKind::kTrue;
	std::vector<Predicate> children;       // kAnd, kOr; kNot: exactly one
	std::vector<std::string> column;       // logical path, for kCompare, kIn, kIsNull
	CompareOp op = CompareOp::kEqual;      // kCompare
	std::vector<Scalar> values;            // kCompare: one; kIn: any number, never NULL

	static Predicate True() { return {}; }
	static Predicate False();
	static Predicate And(std::vector<Predicate> children);
	static Predicate Or(std::vector<Predicate> children);
	static Predicate Not(Predicate child);
	static Predicate Compare(std::vector<std::string> column, CompareOp op, Scalar value);
	static Predicate In(std::vector<std::string> column, std::vector<Scalar> values);
	static Predicate IsNull(std::vector<std::string> column);
};

std::string ToString(const Predicate& predicate);                 // SQL-like, for messages
std::string PredicateToJson(const Predicate& predicate);          // properties.md 6.3, "braid":{"reads":[...]}
Result<Predicate> PredicateFromJson(std::string_view json);
// A superset that is at most `max_bytes` of JSON: IN lists become bounds, then kTrue.
Predicate Widen(const Predicate& predicate, size_t max_bytes);

}  // namespace braid
