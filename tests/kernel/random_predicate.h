// SPDX-License-Identifier: Apache-2.0
// Random rows and conditions over a small table, with an evaluator of SQL's three-valued logic that shares nothing
// with the kernel but the plain values: what the property tests of predicates and of pruning are judged by.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernel/predicate/predicate.h"

namespace braid {

enum class Truth { kFalse, kUnknown, kTrue };

// The test table: one column of each kind that has statistics; "p" is its partition column.
inline const std::vector<std::pair<std::string, TypeKind>> kTestColumns {
	{"i", TypeKind::kInteger},    {"l", TypeKind::kLong},           {"f", TypeKind::kFloat},
	{"d", TypeKind::kDouble},     {"s", TypeKind::kString},         {"day", TypeKind::kDate},
	{"ts", TypeKind::kTimestamp}, {"ntz", TypeKind::kTimestampNtz}, {"dec", TypeKind::kDecimal},
	{"b", TypeKind::kBoolean},    {"p", TypeKind::kInteger}};

using Row = std::map<std::string, Scalar>;

inline Scalar RandomValue(std::mt19937_64& random, TypeKind kind) {
	const auto small = static_cast<int64_t>(random() % 13) - 6;
	switch (kind) {
		case TypeKind::kInteger:
		case TypeKind::kLong:
			return {kind, small};
		case TypeKind::kFloat: {
			const double specials[] = {std::numeric_limits<double>::quiet_NaN(), INFINITY, -INFINITY, -0.0};
			if (random() % 6 == 0) return {kind, specials[random() % 4]};
			return {kind, static_cast<double>(static_cast<float>(static_cast<double>(small) * 0.1))};
		}
		case TypeKind::kDouble:
			if (random() % 8 == 0) return {kind, std::numeric_limits<double>::quiet_NaN()};
			return {kind, static_cast<double>(small) * 0.1};
		case TypeKind::kString: {
			// Short ones, and ones that share 32 characters, so that truncated bounds matter.
			static const std::string tails[] = {"", "a", "b", "\xC3\xA9", "\xF0\x9F\x98\x80", "ab", "\x7F"};
			std::string text = random() % 2 == 0 ? std::string(30 + random() % 4, 'x') : "";
			for (uint64_t parts = random() % 3; parts > 0; parts--) text += tails[random() % 7];
			return {kind, text};
		}
		case TypeKind::kDate:
			return {kind, small * 200};
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz:
			return {kind, small * 1000 +
							  static_cast<int64_t>(random() % 3) * 400};  // within and at the borders of milliseconds
		case TypeKind::kDecimal:
			return {kind, Decimal {small * 5, 2}};
		case TypeKind::kBoolean:
			return {kind, random() % 2 == 0};
		default:
			return {kind, {}};
	}
}

inline Scalar RandomNullable(std::mt19937_64& random, TypeKind kind) {
	return random() % 5 == 0 ? Scalar {kind, {}} : RandomValue(random, kind);
}

inline Row RandomRow(std::mt19937_64& random) {
	Row row;
	for (const auto& [name, kind] : kTestColumns) row[name] = RandomNullable(random, kind);
	return row;
}

// Order of two values of one kind, written anew.
inline int NaiveOrder(const Scalar& a, const Scalar& b) {
	const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
	switch (a.kind) {
		case TypeKind::kFloat:
		case TypeKind::kDouble: {
			const double x = std::get<double>(a.value), y = std::get<double>(b.value);
			if (std::isnan(x) || std::isnan(y))
				return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
			return order(x, y);
		}
		case TypeKind::kString: {
			const std::string &x = std::get<std::string>(a.value), &y = std::get<std::string>(b.value);
			return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(),
												[](char c, char d) { return uint8_t(c) < uint8_t(d); })
					   ? -1
				   : x == y ? 0
							: 1;
		}
		case TypeKind::kDecimal:
			return order(std::get<Decimal>(a.value).unscaled,
						 std::get<Decimal>(b.value).unscaled);  // one scale in this table
		case TypeKind::kBoolean:
			return order(std::get<bool>(a.value), std::get<bool>(b.value));
		default:
			return order(std::get<int64_t>(a.value), std::get<int64_t>(b.value));
	}
}

// A condition as the user wrote it, not simplified.
struct NaivePredicate {
	enum Kind { kAnd, kOr, kNot, kCompare, kIn, kIsNull } kind = kIsNull;
	std::vector<NaivePredicate> children;
	std::string column;
	CompareOp op = CompareOp::kEqual;
	std::vector<Scalar> values;
};

inline NaivePredicate RandomNaive(std::mt19937_64& random, int depth) {
	NaivePredicate predicate;
	const uint64_t choice = random() % (depth == 0 ? 4 : 8);
	if (choice >= 4) {
		predicate.kind = choice == 4 ? NaivePredicate::kNot : choice == 5 ? NaivePredicate::kOr : NaivePredicate::kAnd;
		for (uint64_t i = predicate.kind == NaivePredicate::kNot ? 1 : 1 + random() % 3; i > 0; i--) {
			predicate.children.push_back(RandomNaive(random, depth - 1));
		}
		return predicate;
	}
	const auto& [name, kind] = kTestColumns[random() % kTestColumns.size()];
	predicate.column = name;
	if (choice == 3) return predicate;
	predicate.kind = choice == 2 ? NaivePredicate::kIn : NaivePredicate::kCompare;
	predicate.op = static_cast<CompareOp>(random() % 6);
	for (uint64_t i = choice == 2 ? 1 + random() % 4 : 1; i > 0; i--)
		predicate.values.push_back(RandomValue(random, kind));
	return predicate;
}

inline Truth Negate(Truth truth) { return static_cast<Truth>(2 - static_cast<int>(truth)); }

inline Truth Evaluate(const NaivePredicate& predicate, const Row& row) {
	Truth result = Truth::kFalse;
	switch (predicate.kind) {
		case NaivePredicate::kNot:
			return Negate(Evaluate(predicate.children[0], row));
		case NaivePredicate::kAnd:
			result = Truth::kTrue;
			for (const NaivePredicate& child : predicate.children) result = std::min(result, Evaluate(child, row));
			return result;
		case NaivePredicate::kOr:
			for (const NaivePredicate& child : predicate.children) result = std::max(result, Evaluate(child, row));
			return result;
		default:
			break;
	}
	const Scalar& value = row.at(predicate.column);
	if (predicate.kind == NaivePredicate::kIsNull) return value.is_null() ? Truth::kTrue : Truth::kFalse;
	if (value.is_null()) return Truth::kUnknown;
	for (const Scalar& constant : predicate.values) {
		const int order = NaiveOrder(value, constant);
		const CompareOp op = predicate.kind == NaivePredicate::kIn ? CompareOp::kEqual : predicate.op;
		const bool holds = op == CompareOp::kEqual       ? order == 0
						   : op == CompareOp::kNotEqual  ? order != 0
						   : op == CompareOp::kLess      ? order < 0
						   : op == CompareOp::kLessEqual ? order <= 0
						   : op == CompareOp::kGreater   ? order > 0
														 : order >= 0;
		if (holds) return Truth::kTrue;
	}
	return Truth::kFalse;
}

// The same condition through the kernel's constructors.
inline Predicate Build(const NaivePredicate& predicate) {
	std::vector<Predicate> children;
	for (const NaivePredicate& child : predicate.children) children.push_back(Build(child));
	switch (predicate.kind) {
		case NaivePredicate::kAnd:
			return Predicate::And(std::move(children));
		case NaivePredicate::kOr:
			return Predicate::Or(std::move(children));
		case NaivePredicate::kNot:
			return Predicate::Not(std::move(children[0]));
		case NaivePredicate::kCompare:
			return Predicate::Compare({predicate.column}, predicate.op, predicate.values[0]);
		case NaivePredicate::kIn:
			return Predicate::In({predicate.column}, predicate.values);
		default:
			return Predicate::IsNull({predicate.column});
	}
}

inline Predicate RandomPredicate(std::mt19937_64& random, int depth) { return Build(RandomNaive(random, depth)); }

// A built predicate back in naive form, to evaluate what simplification made of it.
inline std::optional<NaivePredicate> Unbuild(const Predicate& predicate) {
	NaivePredicate naive;
	for (const Predicate& child : predicate.children) naive.children.push_back(*Unbuild(child));
	switch (predicate.kind) {
		case PredicateKind::kAnd:
			naive.kind = NaivePredicate::kAnd;
			break;
		case PredicateKind::kOr:
			naive.kind = NaivePredicate::kOr;
			break;
		case PredicateKind::kNot:
			naive.kind = NaivePredicate::kNot;
			break;
		case PredicateKind::kCompare:
			naive.kind = NaivePredicate::kCompare;
			break;
		case PredicateKind::kIn:
			naive.kind = NaivePredicate::kIn;
			break;
		case PredicateKind::kIsNull:
			naive.kind = NaivePredicate::kIsNull;
			break;
		case PredicateKind::kTrue:
			naive.kind = NaivePredicate::kAnd;
			break;  // of nothing
		case PredicateKind::kFalse:
			naive.kind = NaivePredicate::kOr;
			break;
	}
	naive.column = predicate.column.empty() ? "" : predicate.column[0];
	naive.op = predicate.op;
	naive.values = predicate.values;
	return naive;
}

inline bool IsTrue(const Predicate& predicate, const Row& row) {
	return Evaluate(*Unbuild(predicate), row) == Truth::kTrue;
}

}  // namespace braid
