// SPDX-License-Identifier: Apache-2.0
#include "kernel/predicate/predicate.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace braid {
namespace {

// AND and OR are each other's mirror: `neutral` vanishes, `absorbing` decides.
Predicate Junction(PredicateKind kind, PredicateKind neutral, PredicateKind absorbing,
				   std::vector<Predicate> children) {
	Predicate junction {.kind = kind};
	for (Predicate& child : children) {
		if (child.kind == absorbing) return Predicate {.kind = absorbing};
		if (child.kind == kind) {
			std::ranges::move(child.children, std::back_inserter(junction.children));
		} else if (child.kind != neutral) {
			junction.children.push_back(std::move(child));
		}
	}
	if (junction.children.empty()) return Predicate {.kind = neutral};
	if (junction.children.size() == 1) return Predicate(std::move(junction.children.front()));
	return junction;
}

CompareOp Opposite(CompareOp op) {
	switch (op) {
		case CompareOp::kEqual:
			return CompareOp::kNotEqual;
		case CompareOp::kNotEqual:
			return CompareOp::kEqual;
		case CompareOp::kLess:
			return CompareOp::kGreaterEqual;
		case CompareOp::kLessEqual:
			return CompareOp::kGreater;
		case CompareOp::kGreater:
			return CompareOp::kLessEqual;
		case CompareOp::kGreaterEqual:
			return CompareOp::kLess;
	}
	return op;
}

const char* Symbol(CompareOp op) {
	switch (op) {
		case CompareOp::kEqual:
			return "=";
		case CompareOp::kNotEqual:
			return "<>";
		case CompareOp::kLess:
			return "<";
		case CompareOp::kLessEqual:
			return "<=";
		case CompareOp::kGreater:
			return ">";
		case CompareOp::kGreaterEqual:
			return ">=";
	}
	return "?";
}

bool SameScalar(const Scalar& a, const Scalar& b) {
	return a.kind == b.kind && (a.is_null() ? b.is_null() : Compare(a, b) == std::strong_ordering::equal);
}

std::string Quoted(std::string_view text, char quote) {
	std::string quoted(1, quote);
	for (const char c : text) {
		if (c == quote) quoted.push_back(quote);
		quoted.push_back(c);
	}
	return quoted + quote;
}

std::string Literal(const Scalar& value) {
	if (value.is_null()) return "NULL";
	const std::string text = ToText(value);
	switch (value.kind) {
		case TypeKind::kString:
			return Quoted(text, '\'');
		case TypeKind::kDate:
			return "DATE '" + text + "'";
		case TypeKind::kTimestamp:
			return "TIMESTAMPTZ '" + text + "+00'";
		case TypeKind::kTimestampNtz:
			return "TIMESTAMP '" + text + "'";
		case TypeKind::kBinary:
			return "X'" + text + "'";
		default:
			return text;
	}
}

std::string ColumnText(const std::vector<std::string>& column) {
	std::string text;
	for (const std::string& part : column) {
		if (!text.empty()) text.push_back('.');
		const bool plain = !part.empty() && std::ranges::all_of(part, [](char c) {
			return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
				   static_cast<uint8_t>(c) >= 0x80;
		});
		text += plain ? part : Quoted(part, '"');
	}
	return text;
}

std::string JunctionText(const Predicate& predicate, const char* separator) {
	std::string text;
	for (const Predicate& child : predicate.children) {
		if (!text.empty()) text += separator;
		const bool parenthesised = child.kind == PredicateKind::kAnd || child.kind == PredicateKind::kOr;
		text += parenthesised ? "(" + ToString(child) + ")" : ToString(child);
	}
	return text;
}

std::string InText(const Predicate& predicate, bool negated) {
	std::string text = ColumnText(predicate.column) + (negated ? " NOT IN (" : " IN (");
	for (const Scalar& value : predicate.values) {
		if (&value != &predicate.values.front()) text += ", ";
		text += Literal(value);
	}
	return text + ")";
}

}  // namespace

Predicate Predicate::False() { return {.kind = PredicateKind::kFalse}; }

Predicate Predicate::And(std::vector<Predicate> children) {
	return Junction(PredicateKind::kAnd, PredicateKind::kTrue, PredicateKind::kFalse, std::move(children));
}

Predicate Predicate::Or(std::vector<Predicate> children) {
	return Junction(PredicateKind::kOr, PredicateKind::kFalse, PredicateKind::kTrue, std::move(children));
}

// "IS TRUE" of a negation is "IS FALSE" of what is negated. De Morgan and the opposite comparison keep exactly that
// in three-valued logic.
Predicate Predicate::Not(Predicate exact) {
	switch (exact.kind) {
		case PredicateKind::kTrue:
		case PredicateKind::kFalse:
			return True();
		case PredicateKind::kAnd:
		case PredicateKind::kOr: {
			std::vector<Predicate> negated;
			for (Predicate& child : exact.children) negated.push_back(Not(std::move(child)));
			return exact.kind == PredicateKind::kAnd ? Or(std::move(negated)) : And(std::move(negated));
		}
		case PredicateKind::kNot:
			return Predicate(std::move(exact.children.front()));
		case PredicateKind::kCompare:
			exact.op = Opposite(exact.op);
			return exact;
		case PredicateKind::kIn:
		case PredicateKind::kIsNull:
			break;
	}
	Predicate negation {.kind = PredicateKind::kNot};
	negation.children.push_back(std::move(exact));
	return negation;
}

Predicate Predicate::Compare(std::vector<std::string> column, CompareOp op, Scalar value) {
	if (value.is_null()) return False();
	Predicate predicate {.kind = PredicateKind::kCompare, .column = std::move(column), .op = op};
	predicate.values.push_back(std::move(value));
	return predicate;
}

Predicate Predicate::In(std::vector<std::string> column, std::vector<Scalar> values) {
	std::erase_if(values, [](const Scalar& value) { return value.is_null(); });
	if (values.empty()) return False();
	if (values.size() == 1) return Compare(std::move(column), CompareOp::kEqual, std::move(values.front()));
	return {.kind = PredicateKind::kIn, .column = std::move(column), .values = std::move(values)};
}

Predicate Predicate::IsNull(std::vector<std::string> column) {
	return {.kind = PredicateKind::kIsNull, .column = std::move(column)};
}

bool Predicate::operator==(const Predicate& other) const {
	return kind == other.kind && children == other.children && column == other.column && op == other.op &&
		   std::ranges::equal(values, other.values, SameScalar);
}

std::string ToString(const Predicate& predicate) {
	switch (predicate.kind) {
		case PredicateKind::kTrue:
			return "TRUE";
		case PredicateKind::kFalse:
			return "FALSE";
		case PredicateKind::kAnd:
			return JunctionText(predicate, " AND ");
		case PredicateKind::kOr:
			return JunctionText(predicate, " OR ");
		case PredicateKind::kCompare:
			return ColumnText(predicate.column) + " " + Symbol(predicate.op) + " " + Literal(predicate.values.front());
		case PredicateKind::kIn:
			return InText(predicate, false);
		case PredicateKind::kIsNull:
			return ColumnText(predicate.column) + " IS NULL";
		case PredicateKind::kNot: {
			const Predicate& child = predicate.children.front();
			if (child.kind == PredicateKind::kIn) return InText(child, true);
			if (child.kind == PredicateKind::kIsNull) return ColumnText(child.column) + " IS NOT NULL";
			return "NOT (" + ToString(child) + ")";
		}
	}
	return "";
}

}  // namespace braid
