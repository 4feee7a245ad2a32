// SPDX-License-Identifier: Apache-2.0
// Decimals pass as 128-bit integers with their scale, points in time as microseconds.
#include "engine/scan/scalar_bridge.h"

#include "duckdb/common/exception/conversion_exception.hpp"
#include "duckdb/common/types/hugeint.hpp"

namespace braid::engine {

namespace {

using duckdb::LogicalTypeId;
using duckdb::Value;

__int128 UnscaledOf(const Value& value) {
	switch (value.type().InternalType()) {
		case duckdb::PhysicalType::INT16:
			return value.GetValueUnsafe<int16_t>();
		case duckdb::PhysicalType::INT32:
			return value.GetValueUnsafe<int32_t>();
		case duckdb::PhysicalType::INT64:
			return value.GetValueUnsafe<int64_t>();
		default: {
			auto wide = value.GetValueUnsafe<duckdb::hugeint_t>();
			return static_cast<__int128>((static_cast<unsigned __int128>(static_cast<uint64_t>(wide.upper)) << 64) |
										 wide.lower);
		}
	}
}

std::optional<Value> CastTo(const Value& value, const duckdb::LogicalType& type) {
	Value result;
	std::string problem;
	return value.DefaultTryCastAs(type, result, &problem, true) ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Value> DecimalValue(const Decimal& decimal, const duckdb::LogicalType& type) {
	auto bits = static_cast<unsigned __int128>(decimal.unscaled);
	duckdb::hugeint_t wide;
	wide.upper = static_cast<int64_t>(static_cast<uint64_t>(bits >> 64));
	wide.lower = static_cast<uint64_t>(bits);
	return CastTo(Value::DECIMAL(wide, 38, static_cast<uint8_t>(decimal.scale)), type);
}

}  // namespace

std::optional<Scalar> ToScalar(const Value& value) {
	if (value.IsNull()) return Scalar {};
	switch (value.type().id()) {
		case LogicalTypeId::BOOLEAN:
			return Scalar {TypeKind::kBoolean, value.GetValueUnsafe<bool>()};
		case LogicalTypeId::TINYINT:
			return Scalar {TypeKind::kByte, int64_t {value.GetValueUnsafe<int8_t>()}};
		case LogicalTypeId::SMALLINT:
			return Scalar {TypeKind::kShort, int64_t {value.GetValueUnsafe<int16_t>()}};
		case LogicalTypeId::INTEGER:
			return Scalar {TypeKind::kInteger, int64_t {value.GetValueUnsafe<int32_t>()}};
		case LogicalTypeId::BIGINT:
			return Scalar {TypeKind::kLong, value.GetValueUnsafe<int64_t>()};
		case LogicalTypeId::FLOAT:
			return Scalar {TypeKind::kFloat, double {value.GetValueUnsafe<float>()}};
		case LogicalTypeId::DOUBLE:
			return Scalar {TypeKind::kDouble, value.GetValueUnsafe<double>()};
		case LogicalTypeId::DECIMAL:
			return Scalar {TypeKind::kDecimal,
						   Decimal {UnscaledOf(value), duckdb::DecimalType::GetScale(value.type())}};
		case LogicalTypeId::VARCHAR:
			return Scalar {TypeKind::kString, duckdb::StringValue::Get(value)};
		case LogicalTypeId::BLOB:
			return Scalar {TypeKind::kBinary, duckdb::StringValue::Get(value)};
		case LogicalTypeId::DATE:
			return Scalar {TypeKind::kDate, int64_t {value.GetValueUnsafe<duckdb::date_t>().days}};
		case LogicalTypeId::TIMESTAMP_TZ:
			return Scalar {TypeKind::kTimestamp, value.GetValueUnsafe<duckdb::timestamp_t>().value};
		case LogicalTypeId::TIMESTAMP:
			return Scalar {TypeKind::kTimestampNtz, value.GetValueUnsafe<duckdb::timestamp_t>().value};
		default:
			return std::nullopt;
	}
}

std::optional<Value> TryToValue(const Scalar& scalar, const duckdb::LogicalType& type) {
	if (scalar.is_null()) return Value(type);
	switch (type.id()) {
		case LogicalTypeId::BOOLEAN:
			return Value::BOOLEAN(std::get<bool>(scalar.value));
		case LogicalTypeId::TINYINT:
		case LogicalTypeId::SMALLINT:
		case LogicalTypeId::INTEGER:
		case LogicalTypeId::BIGINT:
			return CastTo(Value::BIGINT(std::get<int64_t>(scalar.value)), type);
		case LogicalTypeId::FLOAT:
			return Value::FLOAT(static_cast<float>(std::get<double>(scalar.value)));
		case LogicalTypeId::DOUBLE:
			return Value::DOUBLE(std::get<double>(scalar.value));
		case LogicalTypeId::DECIMAL:
			return DecimalValue(std::get<Decimal>(scalar.value), type);
		case LogicalTypeId::VARCHAR:
			return Value(std::get<std::string>(scalar.value));
		case LogicalTypeId::BLOB:
			return Value::BLOB_RAW(std::get<std::string>(scalar.value));
		case LogicalTypeId::DATE:
			return Value::DATE(duckdb::date_t(static_cast<int32_t>(std::get<int64_t>(scalar.value))));
		case LogicalTypeId::TIMESTAMP_TZ:
			return Value::TIMESTAMPTZ(duckdb::timestamp_tz_t(std::get<int64_t>(scalar.value)));
		case LogicalTypeId::TIMESTAMP:
			return Value::TIMESTAMP(duckdb::timestamp_t(std::get<int64_t>(scalar.value)));
		default:
			return std::nullopt;
	}
}

Value ToValue(const Scalar& scalar, const duckdb::LogicalType& type) {
	if (auto value = TryToValue(scalar, type)) return *std::move(value);
	throw duckdb::ConversionException("\"%s\" is no value of type %s", ToText(scalar), type.ToString());
}

}  // namespace braid::engine
