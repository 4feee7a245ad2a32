// SPDX-License-Identifier: Apache-2.0
// FileStats as the JSON text of `stats`, in the spelling of Spark. Bounds only ever become wider by being written.
#include <cmath>
#include <optional>

#include "base/json.h"
#include "kernel/predicate/temporal_text.h"
#include "kernel/stats/file_stats.h"
#include "simdjson.h"

namespace braid {
namespace {

constexpr size_t kStringPrefix = 32;  // characters
constexpr uint32_t kLastCodePoint = 0x10FFFF;

enum class Side { kMin, kMax };

// Byte offset behind the first `characters` characters of valid UTF-8.
size_t PrefixBytes(std::string_view text, size_t characters) {
	size_t at = 0;
	for (; at < text.size(); at++) {
		const bool starts_character = (static_cast<uint8_t>(text[at]) & 0xC0) != 0x80;
		if (starts_character && characters-- == 0) break;
	}
	return at;
}

uint32_t DecodeLast(std::string_view text, size_t start) {
	const auto lead = static_cast<uint8_t>(text[start]);
	uint32_t code = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
	for (size_t i = start + 1; i < text.size(); i++) code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
	return code;
}

void AppendUtf8(uint32_t code, std::string& out) {
	if (code < 0x80) {
		out.push_back(static_cast<char>(code));
		return;
	}
	const int continuation = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	const uint32_t lead = continuation == 1 ? 0xC0 : continuation == 2 ? 0xE0 : 0xF0;
	out.push_back(static_cast<char>(lead | code >> (6 * continuation)));
	for (int i = continuation; i-- > 0;) out.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3F)));
}

// The smallest text, in byte order, that is above everything that begins with `prefix`; nullopt if there is none.
std::optional<std::string> Above(std::string prefix) {
	while (!prefix.empty()) {
		size_t start = prefix.size() - 1;
		while ((static_cast<uint8_t>(prefix[start]) & 0xC0) == 0x80) start--;
		uint32_t code = DecodeLast(prefix, start);
		prefix.resize(start);
		if (code == kLastCodePoint) continue;
		code = code + 1 == 0xD800 ? 0xE000 : code + 1;  // surrogates are no characters
		AppendUtf8(code, prefix);
		return prefix;
	}
	return std::nullopt;
}

std::optional<std::string> StringBound(const std::string& value, Side side) {
	if (!simdjson::validate_utf8(value)) return std::nullopt;
	const size_t bytes = PrefixBytes(value, kStringPrefix);
	if (bytes == value.size()) return JsonString(value);
	const auto bound = side == Side::kMin ? std::optional(value.substr(0, bytes)) : Above(value.substr(0, bytes));
	return bound ? std::optional(JsonString(*bound)) : std::nullopt;
}

std::optional<std::string> TimestampBound(int64_t micros, bool with_zone, Side side) {
	if (side == Side::kMax) {
		if (micros > INT64_MAX - kMicrosPerMilli) return std::nullopt;
		micros += kMicrosPerMilli - 1;  // writing floors
	}
	if (!HasPlainYear(micros / kMicrosPerDay)) return std::nullopt;
	std::string text;
	AppendTimestamp(micros, 'T', 3, text);
	return JsonString(with_zone ? text + "Z" : text);
}

// The bound as a JSON value; nullopt if JSON cannot hold it.
std::optional<std::string> BoundJson(const Scalar& value, Side side) {
	if (value.is_null()) return std::nullopt;
	switch (value.kind) {
		case TypeKind::kString:
			return StringBound(std::get<std::string>(value.value), side);
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz:
			return TimestampBound(std::get<int64_t>(value.value), value.kind == TypeKind::kTimestamp, side);
		case TypeKind::kDate:
			if (!HasPlainYear(std::get<int64_t>(value.value))) return std::nullopt;
			return JsonString(ToText(value));
		case TypeKind::kFloat:
		case TypeKind::kDouble:
			if (!std::isfinite(std::get<double>(value.value))) return std::nullopt;
			return ToText(value);
		case TypeKind::kLong:
		case TypeKind::kInteger:
		case TypeKind::kShort:
		case TypeKind::kByte:
		case TypeKind::kDecimal:
		case TypeKind::kBoolean:
			return ToText(value);
		default:
			return std::nullopt;
	}
}

// One of minValues, maxValues, nullCount: the members in the order of the schema, structs as objects, nothing for
// columns without a value.
template <class ValueOf>
std::string GroupJson(const StructType& type, ColumnMappingMode mode, const FileStats& stats,
					  std::vector<std::string>& path, const ValueOf& value_of) {
	std::string json;
	for (const Field& field : type.fields) {
		path.push_back(PhysicalName(field, mode));
		std::optional<std::string> value;
		if (field.type->kind == TypeKind::kStruct) {
			value = GroupJson(*field.type, mode, stats, path, value_of);
			if (*value == "{}") value.reset();
		} else if (const auto column = stats.columns.find(path); column != stats.columns.end()) {
			value = value_of(column->second);
		}
		if (value) {
			json += json.empty() ? "{" : ",";
			AppendJsonString(path.back(), json);
			json += ":" + *value;
		}
		path.pop_back();
	}
	return json.empty() ? "{}" : json + "}";
}

}  // namespace

std::string WriteFileStats(const FileStats& stats, const StructType& schema, ColumnMappingMode mode) {
	std::vector<std::string> path;
	const auto group = [&](const auto& value_of) { return GroupJson(schema, mode, stats, path, value_of); };
	std::string json = "{";
	if (stats.num_records) json += "\"numRecords\":" + std::to_string(*stats.num_records) + ",";
	json += "\"minValues\":" + group([](const ColumnStats& column) {
				return column.min ? BoundJson(*column.min, Side::kMin) : std::nullopt;
			});
	json += ",\"maxValues\":" + group([](const ColumnStats& column) {
				return column.max ? BoundJson(*column.max, Side::kMax) : std::nullopt;
			});
	json += ",\"nullCount\":" + group([](const ColumnStats& column) {
				return column.null_count ? std::optional(std::to_string(*column.null_count)) : std::nullopt;
			});
	return json + (stats.tight_bounds ? ",\"tightBounds\":true}" : ",\"tightBounds\":false}");
}

}  // namespace braid
