// SPDX-License-Identifier: Apache-2.0
// Predicate: a condition over one row of a table in a small closed form, used to prune files, to record what a
// transaction read, and to judge other transactions by what they recorded. A row satisfies it when it IS TRUE (SQL
// three-valued logic). What cannot be expressed is widened: kTrue inside AND. A predicate is always a superset of
// the rows that were really read. NOT is the trap: the complement of a superset is not a superset. Not() therefore
// takes an exact condition only; who translates NOT (a AND b) with an inexpressible b must push the NOT inwards
// first, Or({Not(a), True()}), so that what is widened never stands under a NOT.
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
	std::vector<Predicate> children;   // kAnd, kOr; kNot: exactly one
	std::vector<std::string> column;   // logical path, for kCompare, kIn, kIsNull
	CompareOp op = CompareOp::kEqual;  // kCompare
	std::vector<Scalar> values;        // kCompare: one; kIn: any number, never NULL

	// The constructors simplify: nested ANDs and ORs are flattened, TRUE and FALSE folded, single members taken
	// out, NOT pushed down to the leaves. In what they answer, kNot stands directly over kIn or kIsNull only.
	static Predicate True() { return {}; }
	static Predicate False();
	static Predicate And(std::vector<Predicate> children);
	static Predicate Or(std::vector<Predicate> children);
	static Predicate Not(Predicate exact);  // Not(True()) is True(): a TRUE may stand for something widened
	static Predicate Compare(std::vector<std::string> column, CompareOp op, Scalar value);  // with NULL: never TRUE
	static Predicate In(std::vector<std::string> column, std::vector<Scalar> values);  // NULLs in the list are dropped
	static Predicate IsNull(std::vector<std::string> column);

	bool operator==(const Predicate& other) const;
};

std::string ToString(const Predicate& predicate);  // SQL-like, for messages
// {"and":[...]}, {"or":[...]}, {"not":...}, {"op":"<=","column":["a","b"],"type":"long","value":"7"},
// {"in":["1","2"],"column":["a"],"type":"long"}, {"isNull":["a"]}, true, false. Values are text, so that no digit
// is lost.
std::string PredicateToJson(const Predicate& predicate);
Result<Predicate> PredicateFromJson(std::string_view json);  // kCorrupt; never more than 64 levels deep
// A superset that is at most `max_bytes` of JSON: IN lists become bounds, then whole conditions kTrue.
Predicate Widen(const Predicate& predicate, size_t max_bytes);

}  // namespace braid
