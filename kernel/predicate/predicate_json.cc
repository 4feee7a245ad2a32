// SPDX-License-Identifier: Apache-2.0
// Predicates as JSON, the form in which a commit records what it read ("braid":{"reads":[...]} of commitInfo), and
// their widening to a size.
#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "kernel/predicate/predicate.h"
#include "simdjson.h"

namespace braid {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::array<std::pair<const char*, CompareOp>, 6> kOperators {{{"=", CompareOp::kEqual},
																		{"<>", CompareOp::kNotEqual},
																		{"<", CompareOp::kLess},
																		{"<=", CompareOp::kLessEqual},
																		{">", CompareOp::kGreater},
																		{">=", CompareOp::kGreaterEqual}}};
constexpr std::array kValueKinds {TypeKind::kString,      TypeKind::kLong,   TypeKind::kInteger, TypeKind::kShort,
								  TypeKind::kByte,        TypeKind::kFloat,  TypeKind::kDouble,  TypeKind::kDecimal,
								  TypeKind::kBoolean,     TypeKind::kBinary, TypeKind::kDate,    TypeKind::kTimestamp,
								  TypeKind::kTimestampNtz};

std::string KindName(TypeKind kind) {
	return kind == TypeKind::kDecimal ? "decimal" : ToString(DataType {.kind = kind});
}

template <class Range, class Append>
void AppendArray(const Range& range, std::string& out, const Append& append) {
	out += '[';
	bool first = true;
	for (const auto& element : range) {
		if (!first) out += ',';
		first = false;
		append(element);
	}
	out += ']';
}

void AppendStrings(const std::vector<std::string>& strings, std::string& out) {
	AppendArray(strings, out, [&](const std::string& text) { AppendJsonString(text, out); });
}

void AppendPredicate(const Predicate& predicate, std::string& out);

void AppendLeaf(const Predicate& predicate, std::string& out) {
	if (predicate.kind == PredicateKind::kIn) {
		out += "{\"in\":";
		AppendArray(predicate.values, out, [&](const Scalar& value) { AppendJsonString(ToText(value), out); });
	} else {
		const auto* found = std::ranges::find(kOperators, predicate.op, &std::pair<const char*, CompareOp>::second);
		out += "{\"op\":\"" + std::string(found->first) + "\",\"value\":";
		AppendJsonString(ToText(predicate.values.front()), out);
	}
	out += ",\"column\":";
	AppendStrings(predicate.column, out);
	out += ",\"type\":\"" + KindName(predicate.values.front().kind) + "\"}";
}

void AppendPredicate(const Predicate& predicate, std::string& out) {
	switch (predicate.kind) {
		case PredicateKind::kTrue:
			out += "true";
			return;
		case PredicateKind::kFalse:
			out += "false";
			return;
		case PredicateKind::kAnd:
		case PredicateKind::kOr:
			out += predicate.kind == PredicateKind::kAnd ? "{\"and\":" : "{\"or\":";
			AppendArray(predicate.children, out, [&](const Predicate& child) { AppendPredicate(child, out); });
			out += '}';
			return;
		case PredicateKind::kNot:
			out += "{\"not\":";
			AppendPredicate(predicate.children.front(), out);
			out += '}';
			return;
		case PredicateKind::kIsNull:
			out += "{\"isNull\":";
			AppendStrings(predicate.column, out);
			out += '}';
			return;
		case PredicateKind::kCompare:
		case PredicateKind::kIn:
			AppendLeaf(predicate, out);
	}
}

std::unexpected<Error> BadPredicate(const std::string& what) {
	return Fail(ErrorKind::kCorrupt, "unreadable predicate in a commit's recorded reads: " + what);
}

Result<std::vector<std::string>> ReadStrings(const simdjson::dom::element& element) {
	simdjson::dom::array array;
	if (element.get(array) != simdjson::SUCCESS) return BadPredicate("a list of names is missing");
	std::vector<std::string> strings;
	for (const simdjson::dom::element member : array) {
		std::string_view text;
		if (member.get(text) != simdjson::SUCCESS) return BadPredicate("a name or value is not a string");
		strings.emplace_back(text);
	}
	return strings;
}

Result<Predicate> ReadPredicate(const simdjson::dom::element& element, int depth);

Result<std::vector<Predicate>> ReadChildren(const simdjson::dom::element& element, int depth) {
	simdjson::dom::array array;
	if (element.get(array) != simdjson::SUCCESS) return BadPredicate("and/or without a list");
	std::vector<Predicate> children;
	for (const simdjson::dom::element member : array) {
		BRAID_TRY(Predicate child, ReadPredicate(member, depth + 1));
		children.push_back(std::move(child));
	}
	return children;
}

Result<Scalar> ReadValue(std::string_view text, std::string_view type) {
	for (const TypeKind kind : kValueKinds) {
		if (KindName(kind) != type) continue;
		auto value = ScalarFromText(text, kind);
		if (!value) return BadPredicate("\"" + std::string(text) + "\" is not of type " + std::string(type));
		return *std::move(value);
	}
	return BadPredicate("unknown type \"" + std::string(type) + "\"");
}

Result<Predicate> ReadLeaf(const simdjson::dom::object& object) {
	simdjson::dom::element column_names, list;
	std::string_view type, op, text;
	if (object["column"].get(column_names) != simdjson::SUCCESS || object["type"].get(type) != simdjson::SUCCESS) {
		return BadPredicate("a condition without column or type");
	}
	BRAID_TRY(std::vector<std::string> column, ReadStrings(column_names));
	if (object["in"].get(list) == simdjson::SUCCESS) {
		BRAID_TRY(const std::vector<std::string> texts, ReadStrings(list));
		std::vector<Scalar> values;
		for (const std::string& member : texts) {
			BRAID_TRY(Scalar value, ReadValue(member, type));
			values.push_back(std::move(value));
		}
		return Predicate::In(std::move(column), std::move(values));
	}
	if (object["op"].get(op) != simdjson::SUCCESS || object["value"].get(text) != simdjson::SUCCESS) {
		return BadPredicate("a condition without operator or value");
	}
	for (const auto& [symbol, compare] : kOperators) {
		if (op != symbol) continue;
		BRAID_TRY(Scalar value, ReadValue(text, type));
		return Predicate::Compare(std::move(column), compare, std::move(value));
	}
	return BadPredicate("unknown operator \"" + std::string(op) + "\"");
}

Result<Predicate> ReadPredicate(const simdjson::dom::element& element, int depth) {
	if (depth > kMaxDepth) return BadPredicate("nested too deeply");
	bool constant = false;
	if (element.get(constant) == simdjson::SUCCESS) return constant ? Predicate::True() : Predicate::False();
	simdjson::dom::object object;
	if (element.get(object) != simdjson::SUCCESS) return BadPredicate("neither an object nor true or false");
	simdjson::dom::element member;
	if (object["and"].get(member) == simdjson::SUCCESS) {
		BRAID_TRY(std::vector<Predicate> children, ReadChildren(member, depth));
		return Predicate::And(std::move(children));
	}
	if (object["or"].get(member) == simdjson::SUCCESS) {
		BRAID_TRY(std::vector<Predicate> children, ReadChildren(member, depth));
		return Predicate::Or(std::move(children));
	}
	if (object["not"].get(member) == simdjson::SUCCESS) {
		BRAID_TRY(Predicate child, ReadPredicate(member, depth + 1));
		return Predicate::Not(std::move(child));
	}
	if (object["isNull"].get(member) == simdjson::SUCCESS) {
		BRAID_TRY(std::vector<std::string> column, ReadStrings(member));
		return Predicate::IsNull(std::move(column));
	}
	return ReadLeaf(object);
}

// The smallest and the largest value as two comparisons; TRUE if the list has no order.
Predicate BoundsOf(const Predicate& in) {
	const Scalar *smallest = &in.values.front(), *largest = smallest;
	for (const Scalar& value : in.values) {
		const auto below = Compare(value, *smallest), above = Compare(value, *largest);
		if (!below || !above) return Predicate::True();
		if (*below < 0) smallest = &value;
		if (*above > 0) largest = &value;
	}
	return Predicate::And({Predicate::Compare(in.column, CompareOp::kGreaterEqual, *smallest),
						   Predicate::Compare(in.column, CompareOp::kLessEqual, *largest)});
}

// Every IN list of more than `longest` values becomes its bounds. Below NOT a list cannot be widened, only dropped
// with its NOT.
Predicate WithoutLongLists(const Predicate& predicate, size_t longest) {
	switch (predicate.kind) {
		case PredicateKind::kIn:
			return predicate.values.size() > longest ? BoundsOf(predicate) : predicate;
		case PredicateKind::kNot:
			return predicate.children.front().values.size() > longest ? Predicate::True() : predicate;
		case PredicateKind::kAnd:
		case PredicateKind::kOr: {
			std::vector<Predicate> children;
			for (const Predicate& child : predicate.children) children.push_back(WithoutLongLists(child, longest));
			return predicate.kind == PredicateKind::kAnd ? Predicate::And(std::move(children))
														 : Predicate::Or(std::move(children));
		}
		default:
			return predicate;
	}
}

}  // namespace

std::string PredicateToJson(const Predicate& predicate) {
	std::string json;
	AppendPredicate(predicate, json);
	return json;
}

Result<Predicate> PredicateFromJson(std::string_view json) {
	simdjson::dom::parser parser;
	simdjson::dom::element root;
	if (const auto error = parser.parse(json.data(), json.size()).get(root); error != simdjson::SUCCESS) {
		return BadPredicate(simdjson::error_message(error));
	}
	return ReadPredicate(root, 0);
}

Predicate Widen(const Predicate& predicate, size_t max_bytes) {
	const auto fits = [&](const Predicate& candidate) { return PredicateToJson(candidate).size() <= max_bytes; };
	if (fits(predicate)) return predicate;
	Predicate widened = WithoutLongLists(predicate, 1);
	if (fits(widened)) return widened;
	// Of an AND any subset of the members is a superset of the rows: keep those that fit, in order.
	if (widened.kind == PredicateKind::kAnd) {
		std::vector<Predicate> kept;
		for (Predicate& member : widened.children) {
			kept.push_back(std::move(member));
			if (!fits(Predicate::And(kept))) kept.pop_back();
		}
		return Predicate::And(std::move(kept));
	}
	return Predicate::True();
}

}  // namespace braid
