// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_map_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/varint.h"

namespace braid {
namespace {

enum Encoding : uint64_t { kStretches = 0, kNumbers = 1 };

constexpr uint64_t kStretchBits = 40;  // about what another stretch costs
constexpr int kWidestNumber = 56;      // it and the bits before it in its first byte fit into a word
constexpr size_t kWord = sizeof(uint64_t);

std::unexpected<Error> Corrupt(const char* why) { return Fail(ErrorKind::kCorrupt, why); }

uint64_t LoadWord(const char* bytes) {
	uint64_t word;
	std::memcpy(&word, bytes, kWord);
	if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
	return word;
}

uint64_t Rows(std::span<const OriginRun> runs) {
	uint64_t rows = 0;
	for (const OriginRun& run : runs) rows += run.count;
	return rows;
}

// How many of the runs from the first one on make one stretch: a long one alone, short ones as long as the gaps between them are small.
size_t StretchLength(std::span<const OriginRun> runs) {
	size_t length = 1;
	if (runs[0].count >= kStretchBits) return length;
	for (uint64_t end = runs[0].source_first + runs[0].count; length < runs.size(); length++) {
		const OriginRun& next = runs[length];
		if (next.source != runs[0].source || next.source_first < end) break;
		if (next.source_first + next.count - end > kStretchBits) break;
		end = next.source_first + next.count;
	}
	return length;
}

void AppendPresence(std::string& out, std::span<const OriginRun> runs, uint64_t span) {
	const size_t begin = out.size();
	out.append((span + 7) / 8, '\0');
	for (const OriginRun& run : runs) {
		const uint64_t first = run.source_first - runs[0].source_first;
		for (uint64_t bit = first; bit < first + run.count; bit++)
			out[begin + bit / 8] = static_cast<char>(out[begin + bit / 8] | 1 << bit % 8);
	}
}

std::string Stretches(std::span<const OriginRun> runs, size_t sources) {
	std::string out;
	std::vector<uint64_t> ends(sources);
	for (size_t i = 0, length = 0; i < runs.size(); i += length) {
		const OriginRun& first = runs[i];
		length = StretchLength(runs.subspan(i));
		const OriginRun& last = runs[i + length - 1];
		const uint64_t span = last.source_first + last.count - first.source_first;
		AppendVarint(out, first.source);
		AppendVarint(out, ZigZag(static_cast<int64_t>(first.source_first - ends[first.source])));
		AppendVarint(out, span << 1 | (length > 1));
		if (length > 1) AppendPresence(out, runs.subspan(i, length), span);
		ends[first.source] = first.source_first + span;
	}
	return out;
}

std::string Numbers(std::span<const OriginRun> runs, const RowNumbers& numbers) {
	std::string out;
	uint64_t pending = 0;
	int bits = 0;
	for (const OriginRun& run : runs) {
		for (uint64_t i = 0; i < run.count; i++) {
			pending |= numbers.Of(run.source, run.source_first + i) << bits;
			bits += numbers.width();
			for (; bits >= 8; bits -= 8, pending >>= 8) out += static_cast<char>(pending);
		}
	}
	if (bits > 0) out += static_cast<char>(pending);
	out.append(kWord, '\0');  // so that the last one can be loaded as a word
	return out;
}

// Rows first .. first + span - 1 of a source, or those of them whose bit is set.
struct Stretch {
	size_t source;
	uint64_t first, span;
	std::string_view presence;  // "": all
	uint64_t rows;
};

template <class Visit>
Result<uint64_t> ForEachStretch(VarintReader& reader, const RowNumbers& numbers, const Visit& visit) {
	std::vector<uint64_t> ends(numbers.sources());
	uint64_t rows = 0;
	while (!reader.AtEnd()) {
		Stretch stretch {};
		stretch.source = reader.Number();
		const int64_t skip = UnZigZag(reader.Number());
		const uint64_t span = reader.Number();
		stretch.span = stretch.rows = span >> 1;
		if (reader.broken() || stretch.source >= numbers.sources()) return Corrupt("a stretch is damaged");
		stretch.first = ends[stretch.source] + static_cast<uint64_t>(skip);
		const uint64_t limit = numbers.RowsOf(stretch.source);
		if (stretch.first > limit || stretch.span > limit - stretch.first) return Corrupt("a row has no origin");
		if (span & 1) {
			stretch.presence = reader.Bytes((stretch.span + 7) / 8);
			if (reader.broken()) return Corrupt("a stretch is damaged");
			stretch.rows = 0;
			for (const char byte : stretch.presence) stretch.rows += std::popcount(static_cast<uint8_t>(byte));
		}
		ends[stretch.source] = stretch.first + stretch.span;
		visit(stretch, rows);
		rows += stretch.rows;
	}
	return rows;
}

// `row`: that of the stretch's first one.
void FindInStretch(const Stretch& stretch, uint64_t row, const std::vector<uint64_t>& wanted, const FoundRow& found) {
	size_t counted = 0;  // bytes of the presence before which `row` stands
	for (const uint64_t position : wanted) {
		const uint64_t bit = position - stretch.first;
		if (stretch.presence.empty()) {
			found(stretch.source, position, row + bit);
			continue;
		}
		for (; counted < bit / 8; counted++)
			row += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(stretch.presence[counted])));
		const auto byte = static_cast<uint8_t>(stretch.presence[bit / 8]);
		if (!(byte >> bit % 8 & 1)) continue;
		const auto before = std::popcount(static_cast<uint8_t>(byte & ((1u << bit % 8) - 1)));
		found(stretch.source, position, row + static_cast<uint64_t>(before));
	}
}

// visit(number, row). False: a number is out of range.
template <class Visit>
bool ForEachNumber(std::string_view bytes, uint64_t rows, const RowNumbers& numbers, const Visit& visit) {
	const auto width = static_cast<uint64_t>(numbers.width());
	const uint64_t mask = (uint64_t {1} << width) - 1, count = numbers.count();
	for (uint64_t row = 0, bit = 0; row < rows; row++, bit += width) {
		const uint64_t number = LoadWord(bytes.data() + bit / 8) >> bit % 8 & mask;
		if (number >= count) return false;
		visit(number, row);
	}
	return true;
}

// The bytes of that many numbers, with a word behind them; nothing: there are others.
std::optional<std::string_view> NumberBytes(VarintReader& reader, uint64_t rows, const RowNumbers& numbers) {
	const auto width = static_cast<uint64_t>(numbers.width());
	if (reader.broken() || width > kWidestNumber || rows > UINT64_MAX / 64 - 1) return std::nullopt;
	const std::string_view bytes = reader.Bytes((rows * width + 7) / 8 + kWord);
	if (reader.broken() || !reader.AtEnd()) return std::nullopt;
	return bytes;
}

}  // namespace

RowNumbers::RowNumbers(std::span<const uint64_t> rows_of_sources) {
	for (const uint64_t rows : rows_of_sources) first_.push_back(first_.back() + rows);
}

size_t RowNumbers::SourceOf(uint64_t number) const {
	return static_cast<size_t>(std::ranges::upper_bound(first_, number) - first_.begin()) - 1;
}

int RowNumbers::width() const { return count() < 2 ? 1 : static_cast<int>(std::bit_width(count() - 1)); }

WantedRows::WantedRows(std::vector<PositionSet> by_source, const RowNumbers& numbers)
	: by_source_(std::move(by_source)), chunks_(numbers.count() / kChunk + 1) {
	for (size_t source = 0; source < by_source_.size(); source++) {
		for (const uint64_t position : by_source_[source].ToVector()) {
			if (position >= numbers.RowsOf(source)) break;
			const uint64_t number = numbers.Of(source, position);
			std::vector<uint64_t>& chunk = chunks_[number / kChunk];
			if (chunk.empty()) chunk.resize(kChunk / 64);
			chunk[number % kChunk / 64] |= uint64_t {1} << number % 64;
		}
	}
}

std::string EncodeRowMapBlock(std::span<const OriginRun> runs, const RowNumbers& numbers) {
	const uint64_t rows = Rows(runs);
	std::string stretches = Stretches(runs, numbers.sources());
	const uint64_t bytes_of_numbers = rows * static_cast<uint64_t>(numbers.width()) / 8 + kWord;
	const bool numbered = numbers.width() <= kWidestNumber && bytes_of_numbers < stretches.size();
	std::string out;
	AppendVarint(out, numbered ? kNumbers : kStretches);
	AppendVarint(out, rows);
	return out + (numbered ? Numbers(runs, numbers) : stretches);
}

// on_number(number, row) or on_stretch(stretch, first row), whatever the block is made of.
template <class OnNumber, class OnStretch>
static Result<uint64_t> Decode(std::string_view block, const RowNumbers& numbers, const OnNumber& on_number,
							   const OnStretch& on_stretch) {
	VarintReader reader(block);
	const uint64_t encoding = reader.Number(), rows = reader.Number();
	if (encoding == kNumbers) {
		const auto bytes = NumberBytes(reader, rows, numbers);
		if (!bytes || !ForEachNumber(*bytes, rows, numbers, on_number)) return Corrupt("its numbers are damaged");
		return rows;
	}
	if (reader.broken() || encoding != kStretches) return Corrupt("it has an unknown encoding");
	BRAID_TRY(const uint64_t counted, ForEachStretch(reader, numbers, on_stretch));
	if (counted != rows) return Corrupt("its rows are not as many as it says");
	return rows;
}

Result<uint64_t> FindInRowMapBlock(std::string_view block, const RowNumbers& numbers, const WantedRows& wanted,
								   const FoundRow& found) {
	const auto on_number = [&](uint64_t number, uint64_t row) {
		if (!wanted.Has(number)) return;
		const size_t source = numbers.SourceOf(number);
		found(source, number - numbers.FirstOf(source), row);
	};
	std::vector<uint64_t> among;
	return Decode(block, numbers, on_number, [&](const Stretch& stretch, uint64_t row) {
		among.clear();
		wanted.Of(stretch.source).Collect(stretch.first, stretch.first + stretch.span, among);
		FindInStretch(stretch, row, among, found);
	});
}

Result<uint64_t> MarkSourcesOfBlock(std::string_view block, const RowNumbers& numbers, std::vector<bool>& sources) {
	return Decode(
		block, numbers, [&](uint64_t number, uint64_t) { sources[numbers.SourceOf(number)] = true; },
		[&](const Stretch& stretch, uint64_t) { sources[stretch.source] = true; });
}

}  // namespace braid
