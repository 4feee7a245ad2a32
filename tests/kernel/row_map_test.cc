// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernel/storage/local_log_store.h"
#include "kernel/storage/memory_log_store.h"
#include "tests/kernel/deterministic.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

constexpr const char* kPath = "_braid/map/01234567-89ab-4def-8123-456789abcdef.map";
using Runs = std::vector<OriginRun>;
using Place = std::pair<std::string, uint64_t>;

struct Move {
	std::string target;
	Runs runs;
};

class RowMap : public testing::Test {
protected:
	void Write(const std::vector<MappedFile>& sources, const std::vector<Move>& moves) {
		auto map = RowMapWriter::Create(store_, kPath, sources);
		ASSERT_TRUE(map) << map.error().message;
		for (const Move& move : moves) ASSERT_TRUE((*map)->Append(move.target, move.runs));
		ASSERT_TRUE((*map)->Finish());
	}
	uint64_t Bits() { return store_.Read(kPath)->size() * 8; }

	// All rows that are wanted, by where they were.
	std::map<Place, Place> Find(const std::map<std::string, PositionSet>& wanted) {
		std::vector<MappedRow> rows;
		const auto files = FindInRowMap(
			store_, kPath,
			[&](const MappedFile& source) -> Result<PositionSet> {
				const auto of_source = wanted.find(source.path);
				return of_source == wanted.end() ? PositionSet() : of_source->second;
			},
			[&](const MappedRow& row) { rows.push_back(row); });
		EXPECT_TRUE(files) << files.error().message;
		std::map<Place, Place> found;
		for (const MappedRow& row : rows) {
			const Place from {files->sources.at(row.source).path, row.position};
			EXPECT_TRUE(found.try_emplace(from, files->targets.at(row.target).path, row.row).second);
		}
		return found;
	}
	Status Read() {
		const auto nothing = [](const MappedFile&) -> Result<PositionSet> { return PositionSet(); };
		BRAID_TRY(FindInRowMap(store_, kPath, nothing, [](const MappedRow&) {}));
		return {};
	}

	ManualClock clock_;
	MemoryLogStore store_ {clock_};
};

TEST_F(RowMap, StretchesAreFollowed) {
	Write({{"a%20b.parquet", 200}, {"b.parquet", 2000}},
		  {{"x", {{1, 0, 0, 1000}}}, {"y", {{0, 0, 0, 3}}}, {"x", {{0, 5, 0, 95}, {1, 1500, 0, 2}}}});
	const std::map<Place, Place> expected = {{{"b.parquet", 0}, {"x", 0}},        {{"b.parquet", 999}, {"x", 999}},
											 {{"a%20b.parquet", 5}, {"x", 1000}}, {{"a%20b.parquet", 99}, {"x", 1094}},
											 {{"a%20b.parquet", 2}, {"y", 2}},    {{"b.parquet", 1501}, {"x", 1096}}};
	EXPECT_EQ(Find({{"a%20b.parquet", {2, 3, 4, 5, 99, 100, 77777}}, {"b.parquet", {0, 999, 1000, 1501}}}), expected);
}

TEST_F(RowMap, EverythingIsFoundWhateverTheShape) {
	for (unsigned seed = 0; seed < 200; seed++) {
		std::mt19937 dice(seed);
		const auto roll = [&](uint64_t most) { return dice() % (most + 1); };
		std::vector<MappedFile> sources;
		std::vector<Place> rows;  // those that live, in their order
		const uint64_t percent_gone = roll(90), files = 1 + roll(4);
		for (uint64_t file = 0; file < files; file++) {
			sources.push_back({"s" + std::to_string(file), roll(700)});
			for (uint64_t row = 0; row < sources.back().rows; row++) {
				if (roll(99) >= percent_gone) rows.emplace_back(sources.back().path, row);
			}
		}
		if (seed % 2) std::ranges::shuffle(rows, dice);
		std::map<Place, Place> expected;
		std::vector<Move> moves;
		std::map<std::string, uint64_t> lengths;
		std::map<std::string, PositionSet> wanted;
		for (size_t i = 0; i < rows.size();) {
			Move move {"t" + std::to_string(roll(2)), {}};
			for (uint64_t left = roll(200); left > 0 && i < rows.size(); left--, i++) {
				const auto source = std::ranges::find(sources, rows[i].first, &MappedFile::path) - sources.begin();
				if (!move.runs.empty() && move.runs.back().source == size_t(source) &&
					move.runs.back().source_first + move.runs.back().count == rows[i].second) {
					move.runs.back().count++;
				} else {
					move.runs.push_back({size_t(source), rows[i].second, 0, 1});
				}
				const uint64_t place = lengths[move.target]++;
				if (roll(1)) {
					wanted[rows[i].first].Add(rows[i].second);
					expected[rows[i]] = {move.target, place};
				}
			}
			moves.push_back(std::move(move));
		}
		Write(sources, moves);
		ASSERT_EQ(Find(wanted), expected) << "seed " << seed;
		const auto links = LinksOfRowMap(store_, kPath);
		ASSERT_TRUE(links);
		for (const auto& [from, to] : expected) {
			const auto target = std::ranges::find(links->files.targets, to.first, &MappedFile::path);
			const auto source = std::ranges::find(sources, from.first, &MappedFile::path) - sources.begin();
			ASSERT_TRUE(links->made_of.at(size_t(target - links->files.targets.begin())).at(size_t(source)));
		}
		ASSERT_TRUE(store_.Delete(kPath));
	}
}

// The least that can tell which of the rows are left, if each was deleted by chance: bits for each of all rows.
double Entropy(double deleted) {
	if (deleted == 0) return 0;
	return -deleted * std::log2(deleted) - (1 - deleted) * std::log2(1 - deleted);
}

// Sizes that docs/formats/row_map.md names. A map is asked about rows of the old files, deleted ones included.
TEST_F(RowMap, PackingCostsAtMostTwoBitsARow) {
	constexpr uint64_t kRows = 1'000'000;
	struct Case {
		int percent_deleted;
		double of_old, of_new;  // bits a row of the old files, and of the new ones
	};
	for (const auto& [percent_deleted, of_old, of_new] : {Case {0, 0.006, 0.006},
														  {1, 0.30, 0.31},
														  {2, 0.56, 0.57},
														  {5, 0.96, 1.00},
														  {20, 1.01, 1.26},
														  {50, 1.01, 2.02},
														  {90, 1.01, 10}}) {
		std::mt19937 dice(7);
		std::vector<MappedFile> sources;
		std::vector<Move> moves;
		uint64_t rows = 0;
		for (size_t file = 0; file < 20; file++) {
			sources.push_back({"part-" + std::to_string(file), kRows / 20});
			moves.push_back({"new-" + std::to_string(file / 10), {}});
			Runs& runs = moves.back().runs;
			for (uint64_t row = 0; row < kRows / 20; row++) {
				if (dice() % 100 < unsigned(percent_deleted)) continue;
				rows++;
				if (!runs.empty() && runs.back().source_first + runs.back().count == row) {
					runs.back().count++;
				} else {
					runs.push_back({file, row, 0, 1});
				}
			}
		}
		Write(sources, moves);
		const double bits = double(Bits()), least = Entropy(percent_deleted / 100.0);
		EXPECT_LE(bits / kRows, 2);
		EXPECT_LE(bits / kRows, of_old) << percent_deleted << " % deleted";
		EXPECT_LE(bits / double(rows), of_new) << percent_deleted << " % deleted";
		EXPECT_GT(bits / kRows, least * 0.99) << "whoever stays below has not written what was to be written";
		std::printf("%d %% deleted: %.3f bits a row of the old files, at least %.3f; %.3f a row that is left\n",
					percent_deleted, bits / kRows, least, bits / double(rows));
		ASSERT_TRUE(store_.Delete(kPath));
	}
}

TEST_F(RowMap, APermutationCostsTheNumberOfARow) {
	constexpr uint64_t kRows = 1'000'000;  // 20 bits tell them apart
	std::vector<uint64_t> order(kRows);
	for (uint64_t i = 0; i < kRows; i++) order[i] = i;
	std::ranges::shuffle(order, std::mt19937(7));
	std::vector<MappedFile> sources;
	for (int i = 0; i < 20; i++) sources.push_back({"part-" + std::to_string(i), kRows / 20});
	std::vector<Move> moves {{"x", {}}, {"y", {}}};
	for (const uint64_t number : order)
		moves[number % 3 == 0].runs.push_back({number / (kRows / 20), number % (kRows / 20), 0, 1});
	Write(sources, moves);
	EXPECT_LE(double(Bits()) / kRows, 20.01);
}

TEST_F(RowMap, DamageIsNoticed) {
	Write({{"a", 1000}, {"b", 10}}, {{"x", {{0, 0, 0, 1000}}}, {"y", {{1, 3, 0, 1}, {1, 5, 0, 1}, {1, 0, 0, 1}}}});
	const std::string good = *store_.Read(kPath);
	ASSERT_TRUE(Read());
	const auto refuses = [&](const std::string& bytes) {
		EXPECT_TRUE(store_.Put(kPath, bytes));
		const Status read = Read();
		return !read && read.error().kind == ErrorKind::kCorrupt;
	};
	for (size_t i = 0; i < good.size(); i++) {
		EXPECT_TRUE(refuses(good.substr(0, i))) << i;
		for (const char bit : {1, 16, -128}) {
			std::string bad = good;
			bad[i] ^= bit;
			EXPECT_TRUE(refuses(bad)) << i;
		}
	}
	EXPECT_TRUE(refuses(good + "x"));
	EXPECT_TRUE(refuses(good + good));
	ASSERT_TRUE(store_.Delete(kPath));
	EXPECT_EQ(Read().error().kind, ErrorKind::kNotFound);
}

TEST_F(RowMap, OfAnotherCommit) {
	Write({{"a", 1}}, {{"x", {{0, 0, 0, 1}}}});
	const std::string other = "_braid/map/another.map";
	ASSERT_TRUE(store_.Create(other, *store_.Read(kPath)));
	const auto links = LinksOfRowMap(store_, other);
	ASSERT_FALSE(links);
	EXPECT_EQ(links.error().kind, ErrorKind::kCorrupt);
	EXPECT_NE(links.error().message.find("another commit"), std::string::npos);
}

// Whole frames with right checksums, but rows that cannot be: the writer does not check what it is given.
TEST_F(RowMap, RowsThatNoSourceHas) {
	Write({{"a", 10}}, {{"x", {{0, 5, 0, 6}}}});
	EXPECT_EQ(Read().error().kind, ErrorKind::kCorrupt);
}

TEST(RowMapFile, IsWrittenPieceByPiece) {
	const TemporaryDirectory directory;
	LocalLogStore store(directory.path(), true);
	const MappedFile source {"a", 1'000'000};
	auto map = RowMapWriter::Create(store, kPath, std::span(&source, 1));
	ASSERT_TRUE(map) << map.error().message;
	Runs shuffled;
	for (uint64_t i = 0; i < 500'000; i++) shuffled.push_back({0, i * 7919 % 1'000'000, 0, 1});
	ASSERT_TRUE((*map)->Append("x", shuffled));
	EXPECT_GT(store.Stat(kPath)->size, 1'200'000) << "what was appended is in the file already";
	EXPECT_EQ(LinksOfRowMap(store, kPath).error().kind, ErrorKind::kCorrupt) << "not finished";
	ASSERT_TRUE((*map)->Finish());
	EXPECT_TRUE(LinksOfRowMap(store, kPath));
	EXPECT_EQ(RowMapWriter::Create(store, kPath, std::span(&source, 1)).error().kind, ErrorKind::kAlreadyExists);
}

TEST(RowMapFile, Paths) {
	SeededRandom random(1);
	EXPECT_TRUE(IsRowMapPath(NewRowMapPath(random)));
	for (const char* path :
		 {"", "_braid/map/a/b.map", "_braid/map/../map/x.map", "/etc/x.map", "_braid/map/x", "x.map"})
		EXPECT_FALSE(IsRowMapPath(path)) << path;
}

}  // namespace
}  // namespace braid
