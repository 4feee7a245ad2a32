// SPDX-License-Identifier: Apache-2.0
// Statistics come as nested structs of primitives.
#include "engine/io/json_value.h"

#include <cmath>

#include "base/json.h"
#include "duckdb/common/types/timestamp.hpp"

namespace braid::engine {

namespace {

using duckdb::LogicalTypeId;
using duckdb::Value;

// "2024-01-31 01:02:03.5" as "2024-01-31T01:02:03.5Z".
std::string IsoInstant(const Value& value, bool utc) {
	std::string text = duckdb::Timestamp::ToString(value.GetValueUnsafe<duckdb::timestamp_t>());
	size_t space = text.find(' ');
	if (space != std::string::npos) text[space] = 'T';
	return utc ? text + "Z" : text;
}

// Values that JSON has no form for are left out: a missing bound is sound.
bool HasJsonForm(const Value& value) {
	if (value.IsNull()) return false;
	switch (value.type().id()) {
		case LogicalTypeId::FLOAT:
			return std::isfinite(value.GetValueUnsafe<float>());
		case LogicalTypeId::DOUBLE:
			return std::isfinite(value.GetValueUnsafe<double>());
		case LogicalTypeId::BLOB:
		case LogicalTypeId::LIST:
		case LogicalTypeId::MAP:
			return false;
		default:
			return true;
	}
}

void AppendStruct(const Value& value, std::string& out) {
	const auto& types = duckdb::StructType::GetChildTypes(value.type());
	const auto& children = duckdb::StructValue::GetChildren(value);
	out += '{';
	bool first = true;
	for (size_t i = 0; i < children.size(); ++i) {
		if (!HasJsonForm(children[i])) continue;
		if (!first) out += ',';
		first = false;
		AppendJsonString(types[i].first, out);
		out += ':';
		AppendJsonValue(children[i], out);
	}
	out += '}';
}

}  // namespace

void AppendJsonValue(const Value& value, std::string& out) {
	if (!HasJsonForm(value)) {
		out += "null";
		return;
	}
	switch (value.type().id()) {
		case LogicalTypeId::STRUCT:
			AppendStruct(value, out);
			break;
		case LogicalTypeId::BOOLEAN:
		case LogicalTypeId::TINYINT:
		case LogicalTypeId::SMALLINT:
		case LogicalTypeId::INTEGER:
		case LogicalTypeId::BIGINT:
		case LogicalTypeId::FLOAT:
		case LogicalTypeId::DOUBLE:
		case LogicalTypeId::DECIMAL:
			out += value.ToString();
			break;
		case LogicalTypeId::TIMESTAMP_TZ:
			AppendJsonString(IsoInstant(value, true), out);
			break;
		case LogicalTypeId::TIMESTAMP:
			AppendJsonString(IsoInstant(value, false), out);
			break;
		default:
			AppendJsonString(value.ToString(), out);
			break;
	}
}

}  // namespace braid::engine
