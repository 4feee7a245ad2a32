// SPDX-License-Identifier: Apache-2.0
// Values as text and in order: decimals, dates, timestamps, floats, and partition values in every spelling of the
// protocol.
#include "kernel/predicate/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernel/predicate/temporal_text.h"

namespace braid {
namespace {

using Order = std::strong_ordering;

Scalar Long(int64_t value) { return {TypeKind::kLong, value}; }
Scalar Double(double value) { return {TypeKind::kDouble, value}; }
Scalar Dec(const char* text) { return {TypeKind::kDecimal, *ParseDecimal(text)}; }

TEST(Decimal, TextRoundTripKeepsEveryDigit) {
	for (const char* text : {"0", "7", "-7", "0.05", "-0.05", "123.450", "99999999999999999999999999999999999999",
							 "-0.99999999999999999999999999999999999999"}) {
		ASSERT_TRUE(ParseDecimal(text)) << text;
		EXPECT_EQ(DecimalText(*ParseDecimal(text)), text);
	}
	EXPECT_EQ(DecimalText(*ParseDecimal("1.5E+3")), "1500");
	EXPECT_EQ(DecimalText(*ParseDecimal("15e-4")), "0.0015");
	EXPECT_EQ(DecimalText(*ParseDecimal("+1.0")), "1.0");
	EXPECT_EQ(DecimalText(*ParseDecimal("0E-10")), "0.0000000000");
	for (const char* text : {"", "-", ".", "1.2.3", "1e", "abc", "1e99", "1e-99",
							 "999999999999999999999999999999999999999", "0x1", "1 "}) {
		EXPECT_FALSE(ParseDecimal(text)) << text;
	}
}

TEST(Decimal, RescaleIsExactOrNothing) {
	EXPECT_EQ(DecimalText(*Rescale(*ParseDecimal("1.5"), 3)), "1.500");
	EXPECT_EQ(DecimalText(*Rescale(*ParseDecimal("1.500"), 1)), "1.5");
	EXPECT_FALSE(Rescale(*ParseDecimal("1.55"), 1));
	EXPECT_FALSE(Rescale(*ParseDecimal("99999999999999999999999999999999999999"), 1));
}

TEST(Decimal, OrderAgreesWithWholeNumbersOfOneScale) {
	std::mt19937_64 random(5);
	for (int round = 0; round < 20'000; round++) {
		const auto a = static_cast<int64_t>(random() % 4001) - 2000, b = static_cast<int64_t>(random() % 4001) - 2000;
		// The same number in a random scale at least 3.
		const auto scaled = [&](int64_t thousandths) {
			const int more = static_cast<int>(random() % 30);
			return *Rescale(Decimal {thousandths, 3}, 3 + more);
		};
		EXPECT_EQ(CompareDecimals(scaled(a), scaled(b)), a <=> b) << a << " " << b;
	}
	EXPECT_EQ(CompareDecimals(*ParseDecimal("99999999999999999999999999999999999999"),
							  *ParseDecimal("0.00000000000000000000000000000000000001")),
			  Order::greater);
}

TEST(Compare, NumbersAcrossKinds) {
	EXPECT_EQ(Compare(Long(5), Scalar(TypeKind::kByte, int64_t {5})), Order::equal);
	EXPECT_EQ(Compare(Long(5), Dec("5.01")), Order::less);
	EXPECT_EQ(Compare(Dec("5.00"), Long(5)), Order::equal);
	EXPECT_EQ(Compare(Long(5), Double(5.5)), Order::less);
	EXPECT_EQ(Compare(Double(5.5), Long(5)), Order::greater);
	EXPECT_EQ(Compare(Long(5), Double(5)), Order::equal);
	// Equal only because the double is rounded: no answer.
	EXPECT_EQ(Compare(Long((int64_t {1} << 53) + 1), Double(9007199254740992.0)), std::nullopt);
	EXPECT_EQ(Compare(Dec("0.1"), Double(0.1)), std::nullopt);
	EXPECT_EQ(Compare(Long(INT64_MAX), Double(1e19)), Order::less);
	EXPECT_EQ(Compare(Long(INT64_MIN), Double(-INFINITY)), Order::greater);
}

TEST(Compare, NanIsAboveEverythingAndEqualToItself) {
	const double nan = std::numeric_limits<double>::quiet_NaN();
	EXPECT_EQ(Compare(Double(nan), Double(INFINITY)), Order::greater);
	EXPECT_EQ(Compare(Double(nan), Double(-nan)), Order::equal);
	EXPECT_EQ(Compare(Long(5), Double(nan)), Order::less);
	EXPECT_EQ(Compare(Double(-0.0), Double(0.0)), Order::equal);
}

TEST(Compare, StringsByUnsignedBytes) {
	const auto text = [](std::string value) { return Scalar {TypeKind::kString, std::move(value)}; };
	EXPECT_EQ(Compare(text("a"), text("B")), Order::greater);
	EXPECT_EQ(Compare(text("z"), text("é")), Order::less);
	EXPECT_EQ(Compare(text("ab"), text("abc")), Order::less);
	EXPECT_EQ(Compare(text(std::string("a\0b", 3)), text("a")), Order::greater);
}

TEST(Compare, NullsAndForeignKindsHaveNoOrder) {
	EXPECT_EQ(Compare(Long(5), Scalar {TypeKind::kLong, {}}), std::nullopt);
	EXPECT_EQ(Compare(Long(5), Scalar {TypeKind::kString, std::string("5")}), std::nullopt);
	EXPECT_EQ(Compare(Scalar {TypeKind::kDate, int64_t {5}}, Long(5)), std::nullopt);
	EXPECT_EQ(Compare(Scalar {TypeKind::kTimestamp, int64_t {5}}, Scalar {TypeKind::kTimestampNtz, int64_t {5}}),
			  std::nullopt);
	EXPECT_EQ(Compare(Scalar {TypeKind::kString, std::string("a")}, Scalar {TypeKind::kBinary, std::string("a")}),
			  std::nullopt);
}

// Days counted one by one from the epoch, with the calendar's rules only.
TEST(TemporalText, EveryDayOfFourHundredYears) {
	int64_t year = 1970, month = 1, day = 1;
	for (int64_t days = 0; days < 146'097 + 1000; days++) {
		char expected[32];
		std::snprintf(expected, sizeof(expected), "%04d-%02d-%02d", static_cast<int>(year), static_cast<int>(month),
					  static_cast<int>(day));
		std::string text;
		AppendDate(days, text);
		ASSERT_EQ(text, expected);
		ASSERT_EQ(ParseDate(text), days);
		const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
		const int64_t lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
		if (++day > lengths[month - 1]) day = 1, month++;
		if (month > 12) month = 1, year++;
	}
}

TEST(TemporalText, DatesBeforeTheEpochAndFarAway) {
	EXPECT_EQ(ParseDate("1969-12-31"), -1);
	EXPECT_EQ(ParseDate("0001-01-01"), -719'162);
	EXPECT_EQ(ParseDate("9999-12-31"), 2'932'896);
	for (const int64_t days : {-1'000'000, -719'529, -719'528, -366, 0, 2'932'897, 100'000'000}) {
		std::string text;
		AppendDate(days, text);
		EXPECT_EQ(ParseDate(text), days) << text;
	}
	for (const char* text :
		 {"", "2024", "2024-13-01", "2024-00-01", "2023-02-29", "2024-04-31", "2024-1-1x", "24-01", "x2024-01-01"}) {
		EXPECT_FALSE(ParseDate(text)) << text;
	}
	EXPECT_TRUE(ParseDate("2024-02-29"));
}

TEST(TemporalText, TimestampSpellings) {
	constexpr int64_t kNoon = 1'704'110'400'000'000;  // 2024-01-01 12:00:00 UTC
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00:00"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01T12:00:00Z"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01T12:00:00.000000Z"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00:00+00"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01T04:00:00.000-08:00"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01 17:30:00 +0530"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00:00 UTC"), kNoon);
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00:00.5"), kNoon + 500'000);
	EXPECT_EQ(ParseTimestamp("2024-01-01 12:00:00.123456789"), kNoon + 123'456);
	EXPECT_EQ(ParseTimestamp("2024-01-01"), kNoon - 43'200'000'000);
	EXPECT_EQ(ParseTimestamp("1969-12-31 23:59:59.999999"), -1);
	for (const char* text : {"2024-01-01 25:00:00", "2024-01-01 12", "2024-01-01T", "2024-01-01 12:00:00 CET",
							 "2024-01-0112:00:00", "12:00:00", "2024-01-01 12:00:00.", "999999-01-01 00:00:00"}) {
		EXPECT_FALSE(ParseTimestamp(text)) << text;
	}
}

TEST(TemporalText, TimestampWriting) {
	const auto write = [](int64_t micros, int digits) {
		std::string text;
		AppendTimestamp(micros, 'T', digits, text);
		return text;
	};
	EXPECT_EQ(write(0, 3), "1970-01-01T00:00:00.000");
	EXPECT_EQ(write(-1, 6), "1969-12-31T23:59:59.999999");
	EXPECT_EQ(write(-1, 3), "1969-12-31T23:59:59.999");
	EXPECT_EQ(write(1'704'110'400'123'456, 3), "2024-01-01T12:00:00.123");
	EXPECT_EQ(write(1'704'110'400'000'000, 0), "2024-01-01T12:00:00");
	EXPECT_EQ(write(1'704'110'400'000'001, 0), "2024-01-01T12:00:00.000001");
}

DataType TypeOf(TypeKind kind) { return {.kind = kind}; }

TEST(PartitionValue, TextFormsByType) {
	const auto parse = [](TypeKind kind, const char* text) {
		const auto value = ParsePartitionValue(text, TypeOf(kind));
		return value ? ToText(*value) : "error: " + value.error().message;
	};
	EXPECT_EQ(parse(TypeKind::kString, "a b%/="), "a b%/=");
	EXPECT_EQ(parse(TypeKind::kLong, "-9223372036854775808"), "-9223372036854775808");
	EXPECT_EQ(parse(TypeKind::kInteger, "2147483647"), "2147483647");
	EXPECT_EQ(parse(TypeKind::kInteger, "2147483648"),
			  "error: partition value \"2147483648\" is not a value of type integer");
	EXPECT_EQ(parse(TypeKind::kByte, "-129"), "error: partition value \"-129\" is not a value of type byte");
	EXPECT_EQ(parse(TypeKind::kShort, "7"), "7");
	EXPECT_EQ(parse(TypeKind::kShort, "7.0"), "error: partition value \"7.0\" is not a value of type short");
	EXPECT_EQ(parse(TypeKind::kDouble, "NaN"), "NaN");
	EXPECT_EQ(parse(TypeKind::kDouble, "Infinity"), "Infinity");
	EXPECT_EQ(parse(TypeKind::kFloat, "-Infinity"), "-Infinity");
	EXPECT_EQ(parse(TypeKind::kDouble, "1.0E10"), "1e+10");
	EXPECT_EQ(parse(TypeKind::kFloat, "3.14"), "3.14");
	EXPECT_EQ(parse(TypeKind::kBoolean, "true"), "true");
	EXPECT_EQ(parse(TypeKind::kBoolean, "1"), "error: partition value \"1\" is not a value of type boolean");
	EXPECT_EQ(parse(TypeKind::kDate, "2024-02-29"), "2024-02-29");
	EXPECT_EQ(parse(TypeKind::kTimestamp, "2021-09-08 11:11:11"), "2021-09-08 11:11:11");
	EXPECT_EQ(parse(TypeKind::kTimestamp, "1971-07-22T03:06:40.123456Z"), "1971-07-22 03:06:40.123456");
	EXPECT_EQ(parse(TypeKind::kTimestampNtz, "2021-09-08 11:11:11.000001"), "2021-09-08 11:11:11.000001");
	EXPECT_EQ(parse(TypeKind::kBinary, "\xE2\x82\xAC"), "e282ac");
	EXPECT_EQ(parse(TypeKind::kVariant, "x"), "error: partition value \"x\" is not a value of type variant");
}

TEST(PartitionValue, DecimalsTakeTheScaleOfTheirType) {
	const DataType type {.kind = TypeKind::kDecimal, .precision = 5, .scale = 2};
	EXPECT_EQ(ToText(*ParsePartitionValue("1.5", type)), "1.50");
	EXPECT_EQ(ToText(*ParsePartitionValue("-999.99", type)), "-999.99");
	EXPECT_FALSE(ParsePartitionValue("1000.00", type));
	EXPECT_FALSE(ParsePartitionValue("1.555", type));
}

TEST(PartitionValue, EmptyAndAbsentAreNull) {
	for (const TypeKind kind : {TypeKind::kString, TypeKind::kLong, TypeKind::kDate, TypeKind::kBinary}) {
		EXPECT_TRUE(ParsePartitionValue(std::nullopt, TypeOf(kind))->is_null());
		EXPECT_TRUE(ParsePartitionValue("", TypeOf(kind))->is_null());
	}
}

TEST(PartitionValue, WhatIsWrittenReadsBack) {
	const double nan = std::numeric_limits<double>::quiet_NaN();
	const Scalar values[] = {Long(-5),
							 Double(nan),
							 Double(INFINITY),
							 Double(0.1),
							 {TypeKind::kFloat, static_cast<double>(3.14F)},
							 {TypeKind::kBoolean, true},
							 {TypeKind::kDate, int64_t {-719'162}},
							 {TypeKind::kTimestamp, int64_t {-1}},
							 {TypeKind::kTimestampNtz, int64_t {1'704'110'400'123'456}},
							 {TypeKind::kString, std::string("a/b=c%20 ü")},
							 {TypeKind::kBinary, std::string("\x01\x02")}};
	for (const Scalar& value : values) {
		const auto text = WritePartitionValue(value);
		ASSERT_TRUE(text) << text.error().message;
		const auto read = ParsePartitionValue(*text, TypeOf(value.kind));
		ASSERT_TRUE(read) << *text;
		EXPECT_EQ(Compare(*read, value), Order::equal) << *text;
	}
	EXPECT_EQ(WritePartitionValue({TypeKind::kTimestamp, int64_t {1'000'000}}), "1970-01-01T00:00:01.000000Z");
	EXPECT_EQ(WritePartitionValue({TypeKind::kTimestampNtz, int64_t {1'000'000}}), "1970-01-01 00:00:01.000000");
}

TEST(PartitionValue, WhatTheLogCannotHoldIsRefused) {
	EXPECT_EQ(WritePartitionValue({TypeKind::kString, std::string()}).error().kind, ErrorKind::kConstraintViolation);
	EXPECT_EQ(WritePartitionValue({TypeKind::kBinary, std::string("\xFF\xFE")}).error().kind,
			  ErrorKind::kConstraintViolation);
}

}  // namespace
}  // namespace braid
