// SPDX-License-Identifier: Apache-2.0
#include "kernel/predicate/temporal_text.h"

#include <charconv>
#include <cstdio>

namespace braid {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kDaysPerEra = 146'097;        // 400 years
constexpr int64_t kDaysFromYearZero = 719'468;  // 0000-03-01 to the epoch
constexpr int64_t kMaxYear = 5'000'000;         // beyond what days or microseconds can hold

struct Civil {
	int64_t year = 0;
	int64_t month = 1, day = 1;
};

// Years begin in March here, so that the leap day is a year's last.
int64_t DaysFromCivil(const Civil& civil) {
	const int64_t year = civil.month <= 2 ? civil.year - 1 : civil.year;
	const int64_t era = (year >= 0 ? year : year - 399) / 400;
	const int64_t year_of_era = year - era * 400;
	const int64_t day_of_year = (153 * (civil.month > 2 ? civil.month - 3 : civil.month + 9) + 2) / 5 + civil.day - 1;
	const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * kDaysPerEra + day_of_era - kDaysFromYearZero;
}

Civil CivilFromDays(int64_t days) {
	days += kDaysFromYearZero;
	const int64_t era = (days >= 0 ? days : days - kDaysPerEra + 1) / kDaysPerEra;
	const int64_t day_of_era = days - era * kDaysPerEra;
	const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
	const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	const int64_t march_month = (5 * day_of_year + 2) / 153;
	const int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
	return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day_of_year - (153 * march_month + 2) / 5 + 1};
}

int64_t DaysInMonth(int64_t year, int64_t month) {
	if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
	return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Reads from the front of a text; every function answers false if the text does not go on as wanted.
class Reader {
public:
	explicit Reader(std::string_view text) : rest_(text) {}
	bool Done() const { return rest_.empty(); }
	bool Literal(char c) {
		if (rest_.empty() || rest_.front() != c) return false;
		rest_.remove_prefix(1);
		return true;
	}
	bool Number(size_t min_digits, size_t max_digits, int64_t& value) {
		size_t digits = 0;
		value = 0;
		while (digits < rest_.size() && digits < max_digits && rest_[digits] >= '0' && rest_[digits] <= '9') {
			value = value * 10 + (rest_[digits++] - '0');
		}
		rest_.remove_prefix(digits);
		return digits >= min_digits;
	}
	bool Date(int64_t& days) {
		Civil civil;
		const bool negative = Literal('-');
		if (!negative) Literal('+');
		if (!Number(1, 7, civil.year) || !Literal('-') || !Number(1, 2, civil.month) || !Literal('-') ||
			!Number(1, 2, civil.day))
			return false;
		if (negative) civil.year = -civil.year;
		if (civil.year > kMaxYear || civil.year < -kMaxYear || civil.month < 1 || civil.month > 12) return false;
		if (civil.day < 1 || civil.day > DaysInMonth(civil.year, civil.month)) return false;
		days = DaysFromCivil(civil);
		return true;
	}
	bool Time(int64_t& micros) {
		int64_t hour = 0, minute = 0, second = 0, fraction = 0;
		if (!Number(1, 2, hour) || !Literal(':') || !Number(1, 2, minute)) return false;
		if (Literal(':') && !Number(1, 2, second)) return false;
		if (Literal('.')) {
			const size_t before = rest_.size();
			if (!Number(1, 6, fraction)) return false;
			for (size_t digits = before - rest_.size(); digits < 6; digits++) fraction *= 10;
			int64_t ignored = 0;
			Number(0, 12, ignored);
		}
		if (hour > 23 || minute > 59 || second > 59) return false;
		micros = ((hour * 60 + minute) * 60 + second) * kMicrosPerSecond + fraction;
		return true;
	}
	// "Z", "UTC", "+05", "+05:30", "-0800" or nothing.
	bool Zone(int64_t& offset_micros) {
		offset_micros = 0;
		if (Done() || Literal('Z') || rest_ == "UTC") {
			if (rest_ == "UTC") rest_ = {};
			return true;
		}
		const bool negative = rest_.front() == '-';
		int64_t hours = 0, minutes = 0;
		if (!Literal('+') && !Literal('-')) return false;
		if (!Number(2, 2, hours)) return false;
		Literal(':');
		if (!Done() && !Number(2, 2, minutes)) return false;
		offset_micros = (hours * 60 + minutes) * 60 * kMicrosPerSecond * (negative ? -1 : 1);
		return true;
	}

private:
	std::string_view rest_;
};

int64_t FloorDivide(int64_t value, int64_t divisor) { return value / divisor - (value % divisor < 0 ? 1 : 0); }

}  // namespace

std::optional<int64_t> ParseDate(std::string_view text) {
	Reader reader(text);
	int64_t days = 0;
	if (!reader.Date(days) || !reader.Done()) return std::nullopt;
	return days;
}

std::optional<int64_t> ParseTimestamp(std::string_view text) {
	Reader reader(text);
	int64_t days = 0, time = 0, offset = 0, micros = 0;
	if (!reader.Date(days)) return std::nullopt;
	if (!reader.Done()) {
		bool separated = reader.Literal('T');
		while (reader.Literal(' ')) separated = true;
		if (!separated || !reader.Time(time)) return std::nullopt;
		reader.Literal(' ');
		if (!reader.Zone(offset)) return std::nullopt;
	}
	if (!reader.Done()) return std::nullopt;
	if (__builtin_mul_overflow(days, kMicrosPerDay, &micros) || __builtin_add_overflow(micros, time - offset, &micros))
		return std::nullopt;
	return micros;
}

void AppendDate(int64_t days, std::string& out) {
	const Civil civil = CivilFromDays(days);
	char text[48];
	const int64_t year = civil.year < 0 ? -civil.year : civil.year;
	const int length =
		std::snprintf(text, sizeof(text), "%s%04lld-%02d-%02d", civil.year < 0 ? "-" : "", static_cast<long long>(year),
					  static_cast<int>(civil.month), static_cast<int>(civil.day));
	out.append(text, static_cast<size_t>(length));
}

void AppendTimestamp(int64_t micros, char separator, int fraction_digits, std::string& out) {
	const int64_t days = FloorDivide(micros, kMicrosPerDay);
	const int64_t time = micros - days * kMicrosPerDay;
	const auto seconds = static_cast<int>(time / kMicrosPerSecond);
	const auto fraction = static_cast<int>(time % kMicrosPerSecond);
	AppendDate(days, out);
	char text[48];
	int length = std::snprintf(text, sizeof(text), "%c%02d:%02d:%02d", separator, seconds / 3600, seconds / 60 % 60,
							   seconds % 60);
	out.append(text, static_cast<size_t>(length));
	if (fraction_digits == 3) {
		length = std::snprintf(text, sizeof(text), ".%03d", fraction / 1000);
	} else if (fraction_digits == 6 || fraction != 0) {
		length = std::snprintf(text, sizeof(text), ".%06d", fraction);
	} else {
		return;
	}
	out.append(text, static_cast<size_t>(length));
}

bool HasPlainYear(int64_t days) {
	const int64_t year = CivilFromDays(days).year;
	return year >= 0 && year <= 9999;
}

}  // namespace braid
