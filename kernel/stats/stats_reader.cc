// SPDX-License-Identifier: Apache-2.0
#include "kernel/stats/stats_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/excerpt.h"
#include "base/padded_json.h"
#include "kernel/predicate/temporal_text.h"
#include "simdjson.h"

namespace braid {
namespace {

namespace od = simdjson::ondemand;

constexpr int kDigitsOfDouble = 15;  // every decimal of so many digits survives the way through a double

enum class Group { kMin, kMax, kNullCount };

// A JSON value as text; `quoted` tells "5" from 5.
struct Token {
	std::string_view text;
	bool quoted = false;
};

std::optional<Token> TokenOf(od::value& value) {
	od::json_type type {};
	if (value.type().get(type) != simdjson::SUCCESS) return std::nullopt;
	Token token;
	if (type == od::json_type::string) {
		token.quoted = true;
		if (value.get_string().get(token.text) != simdjson::SUCCESS) return std::nullopt;
		return token;
	}
	if (type != od::json_type::number && type != od::json_type::boolean) return std::nullopt;
	token.text = value.raw_json_token();
	while (!token.text.empty() && static_cast<unsigned char>(token.text.back()) <= ' ') token.text.remove_suffix(1);
	return token;
}

std::optional<Scalar> ParseIntegerBound(const Token& token, TypeKind kind) {
	if (auto value = ScalarFromText(token.text, kind)) return value;
	const auto decimal = ParseDecimal(token.text);  // "5.0", "1E3"
	const auto whole = decimal ? Rescale(*decimal, 0) : std::nullopt;
	return whole ? ScalarFromText(DecimalText(*whole), kind) : std::nullopt;
}

// NaN is above every number: as a bound from above it says nothing, and as one from below it is a writer's mistake.
std::optional<Scalar> ParseFloatBound(const Token& token, const StatsShape::Node& node, Group group) {
	auto value = ScalarFromText(token.text, node.kind);
	if (!value || std::isnan(std::get<double>(value->value))) return std::nullopt;
	if (node.kind == TypeKind::kDouble && node.type_changed) {
		// A file of the time when this was a float column: its "3.14" stands for the float next to 3.14.
		if (const auto narrow = ScalarFromText(token.text, TypeKind::kFloat)) {
			double& bound = std::get<double>(value->value);
			const double other = std::get<double>(narrow->value);
			bound = group == Group::kMin ? std::min(bound, other) : std::max(bound, other);
		}
	}
	return value;
}

// Spark cuts timestamps of statistics down to milliseconds, the maximum as well (golden:
// timestamp-truncation-stats, where the largest value is 4.0005 s and maxValues says 4.000): a maximum without
// microseconds stands for the whole millisecond.
std::optional<Scalar> ParseTimestampBound(const Token& token, TypeKind kind, Group group) {
	auto value = ScalarFromText(token.text, kind);
	if (!value || group != Group::kMax) return value;
	int64_t& micros = std::get<int64_t>(value->value);
	if (micros % kMicrosPerMilli == 0 && micros <= INT64_MAX - kMicrosPerMilli) micros += kMicrosPerMilli - 1;
	return value;
}

// delta-rs writes decimals as doubles: its 1.2345678901234567e+27 may stand for a value that is a little above or
// below. A number of more digits than a double holds is widened by what rounding can have moved it.
std::optional<Scalar> ParseDecimalBound(const Token& token, const StatsShape::Node& node, Group group) {
	auto value = ParseDecimal(token.text);
	if (!value) return std::nullopt;
	const auto at_scale = Rescale(*value, node.scale);
	const bool exact = token.quoted || (at_scale && FitsPrecision(*at_scale, kDigitsOfDouble));
	if (!exact) {
		const __int128 slack = ((value->unscaled < 0 ? -value->unscaled : value->unscaled) >> 52) + 1;
		value->unscaled += group == Group::kMin ? -slack : slack;
		if (!FitsPrecision(*value, kMaxDecimalDigits)) return std::nullopt;
	}
	return Scalar {node.kind, *value};
}

std::optional<Scalar> ParseBound(const Token& token, const StatsShape::Node& node, Group group) {
	switch (node.kind) {
		case TypeKind::kLong:
		case TypeKind::kInteger:
		case TypeKind::kShort:
		case TypeKind::kByte:
			return ParseIntegerBound(token, node.kind);
		case TypeKind::kFloat:
		case TypeKind::kDouble:
			return ParseFloatBound(token, node, group);
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz:
			return ParseTimestampBound(token, node.kind, group);
		case TypeKind::kDecimal:
			return ParseDecimalBound(token, node, group);
		case TypeKind::kDate:
		case TypeKind::kBoolean:
			return ScalarFromText(token.text, node.kind);
		case TypeKind::kString:
			if (!token.quoted) return std::nullopt;
			return Scalar {node.kind, std::string(token.text)};
		default:
			return std::nullopt;  // binary and nested types have no bounds
	}
}

void ReadLeaf(od::value& value, const StatsShape::Node& node, Group group, StatsValues& values) {
	const auto token = TokenOf(value);
	if (!token) return;
	ColumnStats& column = values.leaves[static_cast<size_t>(node.leaf)];
	if (group == Group::kMin) {
		column.min = ParseBound(*token, node, group);
	} else if (group == Group::kMax) {
		column.max = ParseBound(*token, node, group);
	} else if (const auto count = ScalarFromText(token->text, TypeKind::kLong)) {
		column.null_count = std::get<int64_t>(count->value);
	}
}

const StatsShape::Node* FindNode(od::field& field, const std::vector<StatsShape::Node>& nodes) {
	const std::string_view key = field.escaped_key();
	if (key.find('\\') == std::string_view::npos) {
		const auto found = std::ranges::find(nodes, key, &StatsShape::Node::name);
		return found == nodes.end() ? nullptr : &*found;
	}
	std::string_view plain;
	if (field.unescaped_key().get(plain) != simdjson::SUCCESS) return nullptr;
	const auto found = std::ranges::find(nodes, plain, &StatsShape::Node::name);
	return found == nodes.end() ? nullptr : &*found;
}

void ReadGroup(od::value& value, const std::vector<StatsShape::Node>& nodes, Group group, StatsValues& values) {
	od::object object;
	if (nodes.empty() || value.get_object().get(object) != simdjson::SUCCESS) return;
	size_t found = 0;
	for (auto member : object) {
		od::field field;
		if (std::move(member).get(field) != simdjson::SUCCESS) return;
		const StatsShape::Node* node = FindNode(field, nodes);
		if (node == nullptr) continue;
		if (node->leaf >= 0) {
			ReadLeaf(field.value(), *node, group, values);
		} else {
			ReadGroup(field.value(), node->children, group, values);
		}
		if (++found == nodes.size()) return;
	}
}

}  // namespace

int StatsShape::AddLeaf(const std::vector<const Field*>& path, ColumnMappingMode mode) {
	std::vector<Node>* level = &roots;
	Node* node = nullptr;
	for (const Field* field : path) {
		const std::string name = PhysicalName(*field, mode);
		auto found = std::ranges::find(*level, name, &Node::name);
		if (found == level->end()) {
			level->push_back({.name = name,
							  .kind = field->type->kind,
							  .scale = field->type->scale,
							  .type_changed = field->metadata.contains("delta.typeChanges")});
			found = level->end() - 1;
		}
		node = &*found;
		level = &node->children;
	}
	if (node->leaf < 0) node->leaf = leaves++;
	return node->leaf;
}

Status ReadStats(std::string_view json, const StatsShape& shape, StatsValues& values) {
	values.num_records.reset();
	values.tight_bounds = true;
	values.leaves.assign(static_cast<size_t>(shape.leaves), {});
	if (json.empty()) return {};
	od::document document;
	od::object object;
	if (ParseOnDemand(json).get(document) != simdjson::SUCCESS ||
		document.get_object().get(object) != simdjson::SUCCESS) {
		return Fail(ErrorKind::kCorrupt, "file statistics are not a JSON object: " + Excerpt(json, 200));
	}
	for (auto member : object) {
		od::field field;
		if (std::move(member).get(field) != simdjson::SUCCESS) {
			return Fail(ErrorKind::kCorrupt, "malformed file statistics: " + Excerpt(json, 200));
		}
		const std::string_view key = field.escaped_key();
		if (key == "minValues") {
			ReadGroup(field.value(), shape.roots, Group::kMin, values);
		} else if (key == "maxValues") {
			ReadGroup(field.value(), shape.roots, Group::kMax, values);
		} else if (key == "nullCount") {
			ReadGroup(field.value(), shape.roots, Group::kNullCount, values);
		} else if (key == "numRecords") {
			int64_t count = 0;
			if (field.value().get_int64().get(count) == simdjson::SUCCESS) values.num_records = count;
		} else if (key == "tightBounds") {
			bool tight = true;
			if (field.value().get_bool().get(tight) == simdjson::SUCCESS) values.tight_bounds = tight;
		}
	}
	return {};
}

}  // namespace braid
