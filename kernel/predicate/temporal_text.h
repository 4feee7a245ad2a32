// SPDX-License-Identifier: Apache-2.0
// Dates and timestamps as text in every spelling that logs hold. Proleptic Gregorian calendar, any year that fits;
// nothing here knows a time zone but UTC and the offset that a text states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid {

inline constexpr int64_t kMicrosPerMilli = 1000;
inline constexpr int64_t kMicrosPerDay = int64_t {86'400} * 1'000'000;

// "2024-02-29", also with a sign or more than four digits in the year. Days since the epoch.
std::optional<int64_t> ParseDate(std::string_view text);
// A date, or a date and a time behind 'T' or blanks: "2024-01-01 10:00", "2024-01-01T10:00:00.123456Z", "...
// 10:00:00+05:30". Microseconds since the epoch; without a zone as if UTC. Digits behind the sixth are cut off.
std::optional<int64_t> ParseTimestamp(std::string_view text);

void AppendDate(int64_t days, std::string& out);
// `fraction_digits`: 3 or 6 (milliseconds are floored); 0: six digits, or none if they are all zero.
void AppendTimestamp(int64_t micros, char separator, int fraction_digits, std::string& out);
// Whether the year has four digits, as the texts of statistics demand.
bool HasPlainYear(int64_t days);

}  // namespace braid
