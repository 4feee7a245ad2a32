// SPDX-License-Identifier: Apache-2.0
// Partition values as the log writes them (PROTOCOL: Partition Value Serialization).
#include "kernel/predicate/scalar.h"
#include "kernel/predicate/temporal_text.h"

#include "simdjson.h"

namespace braid {

Result<Scalar> ParsePartitionValue(const std::optional<std::string>& text, const DataType& type) {
	if (!text || text->empty()) return Scalar {type.kind, {}};
	if (type.kind == TypeKind::kBinary) return Scalar {type.kind, *text};  // the characters are the bytes
	auto value = ScalarFromText(*text, type.kind);
	if (value && type.kind == TypeKind::kDecimal) {
		const auto rescaled = Rescale(std::get<Decimal>(value->value), type.scale);
		if (rescaled && FitsPrecision(*rescaled, type.precision)) return Scalar {type.kind, *rescaled};
		value.reset();
	}
	if (!value)
		return Fail(ErrorKind::kCorrupt, "partition value \"" + *text + "\" is not a value of type " + ToString(type));
	return *std::move(value);
}

Result<std::string> WritePartitionValue(const Scalar& value) {
	BRAID_CHECK(!value.is_null());
	std::string text;
	switch (value.kind) {
		case TypeKind::kTimestamp:
			// With a zone: without one Spark would read it in its session's.
			AppendTimestamp(std::get<int64_t>(value.value), 'T', 6, text);
			return text + "Z";
		case TypeKind::kTimestampNtz:
			AppendTimestamp(std::get<int64_t>(value.value), ' ', 6, text);
			return text;
		case TypeKind::kString:
		case TypeKind::kBinary:
			text = std::get<std::string>(value.value);
			if (text.empty()) {
				return Fail(ErrorKind::kConstraintViolation,
							"an empty value cannot be kept in a partition column: Delta reads it back as NULL; "
							"write NULL or another value");
			}
			if (!simdjson::validate_utf8(text)) {
				return Fail(ErrorKind::kConstraintViolation,
							"the binary value 0x" + ToText(value) +
								" cannot be kept in a partition column: the "
								"log holds text (UTF-8) only; partition by another column");
			}
			return text;
		default:
			return ToText(value);
	}
}

}  // namespace braid
