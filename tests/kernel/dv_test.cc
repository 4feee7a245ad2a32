// SPDX-License-Identifier: Apache-2.0
// Deletion vector bytes (PROTOCOL: Deletion Vectors): golden vectors of other writers, every verification, and hostile
// bytes.
#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "base/environment.h"
#include "kernel/deletion/dv_codec.h"
#include "kernel/deletion/dv_file.h"
#include "kernel/storage/local_log_store.h"
#include "tests/kernel/golden.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

DvDescriptor OnDisk(std::string id, int32_t offset, int32_t size, int64_t cardinality) {
	return {.storage_type = 'u',
			.path_or_inline_dv = std::move(id),
			.offset = offset,
			.size_in_bytes = size,
			.cardinality = cardinality};
}

DvDescriptor Inline(std::string text, int32_t size, int64_t cardinality) {
	return {.storage_type = 'i',
			.path_or_inline_dv = std::move(text),
			.offset = {},
			.size_in_bytes = size,
			.cardinality = cardinality};
}

Result<PositionSet> ReadGolden(const std::string& table, const DvDescriptor& dv) {
	LocalLogStore store(GoldenRoot() + "/" + table, false);
	return ReadDeletionVector(store, dv, "part-0.parquet");
}

TEST(DvDescriptor, UniqueIdAndPath) {
	const DvDescriptor dv = OnDisk("vBn[lx{q8@P<9BNH/isA", 1, 36, 2);
	EXPECT_EQ(UniqueId(dv), "uvBn[lx{q8@P<9BNH/isA@1");
	EXPECT_EQ(FilePath(dv), "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin");
	EXPECT_EQ(FilePath(OnDisk("abvBn[lx{q8@P<9BNH/isA", 1, 36, 2)),
			  "ab/deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin");
	const DvDescriptor without_offset = Inline("x", 1, 1);
	EXPECT_EQ(UniqueId(without_offset), "ix");
	EXPECT_EQ(FilePath(without_offset).error().kind, ErrorKind::kCorrupt);
	EXPECT_EQ(FilePath(OnDisk("short", 1, 36, 2)).error().kind, ErrorKind::kCorrupt);
	EXPECT_EQ(FilePath(OnDisk("\"Bn[lx{q8@P<9BNH/isA", 1, 36, 2)).error().kind, ErrorKind::kCorrupt);
}

TEST(DvGolden, RelativeFiles) {
	BRAID_REQUIRE_GOLDEN();
	EXPECT_EQ(ReadGolden("delta-kernel-rs/table-with-dv-small", OnDisk("vBn[lx{q8@P<9BNH/isA", 1, 36, 2)),
			  (PositionSet {0, 9}));
	EXPECT_EQ(ReadGolden("delta-kernel-rs/with-short-dv", OnDisk("U5OWRz5k%CFT.Td}yCPW", 1, 38, 3)),
			  (PositionSet {0, 1, 2}));
	const auto dat = ReadGolden("dat/deletion_vectors/delta", OnDisk("ITfmIXOK!>U^L:if1E+a", 1, 40, 4));
	ASSERT_TRUE(dat) << dat.error().message;
	EXPECT_EQ(dat->Cardinality(), 4u);
}

TEST(DvGolden, SeveralVectorsInOneFileInAnyOrder) {
	BRAID_REQUIRE_GOLDEN();
	const std::string first = "UGM+pBY.mtVeP<X.WD9m", second = "m9JzgVlI!?Oy<+3x+y^b";
	const DvDescriptor vectors[] = {OnDisk(first, 215, 36, 2),  OnDisk(first, 1, 34, 1),   OnDisk(first, 43, 36, 2),
									OnDisk(first, 87, 36, 2),   OnDisk(first, 131, 34, 1), OnDisk(first, 173, 34, 1),
									OnDisk(second, 127, 34, 1), OnDisk(second, 169, 34, 1)};
	for (const DvDescriptor& dv : vectors) {
		const auto positions = ReadGolden("delta-spark/table-with-dv-large", dv);
		ASSERT_TRUE(positions) << positions.error().message;
		EXPECT_EQ(positions->Cardinality(), static_cast<uint64_t>(dv.cardinality)) << UniqueId(dv);
	}
}

TEST(DvGolden, InlineOfOtherWriters) {
	BRAID_REQUIRE_GOLDEN();
	// VERSIONS.tsv: the ten values 0..9 sum to 45; versions 3, 4 and 5 leave sums 35, 40 and 42.
	const std::string table = "delta-kernel-rs/cdf-table-with-dv";
	EXPECT_EQ(ReadGolden(table, Inline("^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9", 40, 4)),
			  (PositionSet {0, 1, 4, 5}));
	EXPECT_EQ(ReadGolden(table, Inline("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5", 36, 2)), (PositionSet {0, 5}));
	EXPECT_EQ(ReadGolden(table, Inline("^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093", 34, 1)), (PositionSet {3}));
	EXPECT_EQ(ReadGolden("derived/dv-inline", Inline("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000r9", 36, 2)),
			  (PositionSet {0, 9}));
}

TEST(DvGolden, AllContainerKindsUnderAPrefix) {
	BRAID_REQUIRE_GOLDEN();
	const std::string id = "abzX1v&j6UBlOMc1oeiM:n";
	EXPECT_EQ(ReadGolden("derived/dv-containers", OnDisk(id, 1, 38, 3))->Cardinality(), 3u);
	EXPECT_EQ(ReadGolden("derived/dv-containers", OnDisk(id, 47, 8238, 21849))->Cardinality(), 21849u);
	EXPECT_EQ(ReadGolden("derived/dv-containers", OnDisk(id, 8293, 8263, 88705))->Cardinality(), 88705u);
}

TEST(DvGolden, AbsolutePathWithSpecialCharacters) {
	BRAID_REQUIRE_GOLDEN();
	const DvDescriptor dv {
		.storage_type = 'p',
		.path_or_inline_dv = "file:" + GoldenRoot() +
							 "/derived/dv-absolute-path-template/folder&with%25special%20char/" +
							 "test%25dv%25prefix-deletion_vector_67bc892e-2979-4760-a78c-856aba806564.bin",
		.offset = 1,
		.size_in_bytes = 42,
		.cardinality = 5};
	const auto positions = ReadGolden("derived/dv-absolute-path-template", dv);
	ASSERT_TRUE(positions) << positions.error().message;
	EXPECT_EQ(*positions, (PositionSet {0, 2, 4, 6, 8}));
}

struct Invalid {
	const char* table;
	DvDescriptor dv;
	ErrorKind kind;
	const char* reason;
};

TEST(DvGolden, InvalidVectorsAreRefusedWithTheReason) {
	BRAID_REQUIRE_GOLDEN();
	const DvDescriptor dv = OnDisk("vBn[lx{q8@P<9BNH/isA", 1, 36, 2);
	DvDescriptor larger = dv;
	larger.size_in_bytes = 40;
	DvDescriptor more = dv;
	more.cardinality = 3;
	const Invalid cases[] = {
		{"invalid/derived/dv-bad-crc", dv, ErrorKind::kCorrupt, "checksum"},
		{"invalid/derived/dv-bad-magic", dv, ErrorKind::kCorrupt, "magic number"},
		{"invalid/derived/dv-size-mismatch", larger, ErrorKind::kCorrupt, "size is 40 in the log but 36"},
		{"invalid/derived/dv-file-missing", dv, ErrorKind::kNotFound, "No such file"},
		{"invalid/derived/dv-version-byte", dv, ErrorKind::kCorrupt, "file format version 0"},
		{"delta-kernel-rs/table-with-dv-small", more, ErrorKind::kCorrupt, "cardinality is 3 in the log but 2"}};
	for (const Invalid& invalid : cases) {
		const auto read = ReadGolden(invalid.table, invalid.dv);
		ASSERT_FALSE(read) << invalid.table;
		EXPECT_EQ(read.error().kind, invalid.kind) << invalid.table;
		EXPECT_NE(read.error().message.find(invalid.reason), std::string::npos) << read.error().message;
		EXPECT_NE(read.error().message.find("part-0.parquet"), std::string::npos) << read.error().message;
	}
}

TEST(DvCodec, BytesOfTheProtocolExample) {
	// Magic, one bucket, key 0, then the 32-bit bitmap {0, 9} without runs.
	std::string expected;
	AppendLittleEndian<uint32_t>(expected, 1681511377);
	AppendLittleEndian<uint64_t>(expected, 1);
	AppendLittleEndian<uint32_t>(expected, 0);
	AppendLittleEndian<uint32_t>(expected, 12346);
	AppendLittleEndian<uint32_t>(expected, 1);
	AppendLittleEndian<uint16_t>(expected, 0);
	AppendLittleEndian<uint16_t>(expected, 1);
	AppendLittleEndian<uint32_t>(expected, 16);
	AppendLittleEndian<uint16_t>(expected, 0);
	AppendLittleEndian<uint16_t>(expected, 9);
	EXPECT_EQ(SerializePositions({0, 9}), expected);
	EXPECT_EQ(DeserializePositions(expected), (PositionSet {0, 9}));
}

std::string Bitmap32Of(uint16_t low) {
	std::string bytes;
	AppendLittleEndian<uint32_t>(bytes, 12346);
	AppendLittleEndian<uint32_t>(bytes, 1);
	AppendLittleEndian<uint16_t>(bytes, 0);
	AppendLittleEndian<uint16_t>(bytes, 0);
	AppendLittleEndian<uint32_t>(bytes, 16);
	AppendLittleEndian<uint16_t>(bytes, low);
	return bytes;
}

std::string EmptyBitmap32() {
	std::string bytes;
	AppendLittleEndian<uint32_t>(bytes, 12346);
	AppendLittleEndian<uint32_t>(bytes, 0);
	return bytes;
}

std::string Portable(const std::vector<std::pair<uint32_t, std::string>>& buckets) {
	std::string bytes;
	AppendLittleEndian<uint32_t>(bytes, 1681511377);
	AppendLittleEndian<uint64_t>(bytes, buckets.size());
	for (const auto& [key, bitmap] : buckets) {
		AppendLittleEndian(bytes, key);
		bytes += bitmap;
	}
	return bytes;
}

TEST(DvCodec, EmptyBucketsAreAccepted) {
	const uint64_t third = uint64_t {2} << 32;
	EXPECT_EQ(DeserializePositions(Portable({{0, Bitmap32Of(5)}, {1, EmptyBitmap32()}, {2, Bitmap32Of(8)}})),
			  (PositionSet {5, third + 8}));
	EXPECT_EQ(DeserializePositions(Portable({})), PositionSet {});
}

TEST(DvCodec, BucketsOutOfOrderAreRefused) {
	EXPECT_EQ(DeserializePositions(Portable({{1, Bitmap32Of(5)}, {0, Bitmap32Of(6)}})).error().kind,
			  ErrorKind::kCorrupt);
	EXPECT_EQ(DeserializePositions(Portable({{1, Bitmap32Of(5)}, {1, Bitmap32Of(6)}})).error().kind,
			  ErrorKind::kCorrupt);
	EXPECT_EQ(DeserializePositions(Portable({{0x80000000, Bitmap32Of(5)}})).error().kind, ErrorKind::kCorrupt);
}

TEST(DvCodec, NativeFormIsRead) {
	std::string bytes;
	AppendLittleEndian<uint32_t>(bytes, 1681511376);
	AppendLittleEndian<uint32_t>(bytes, 3);
	for (const std::string& bitmap : {Bitmap32Of(3), EmptyBitmap32(), Bitmap32Of(4)}) {
		AppendLittleEndian(bytes, static_cast<uint32_t>(bitmap.size()));
		bytes += bitmap;
	}
	const auto read = DeserializePositions(bytes);
	ASSERT_TRUE(read) << read.error().message;
	EXPECT_EQ(*read, (PositionSet {3, (uint64_t {2} << 32) + 4}));
	for (size_t length = 0; length < bytes.size(); length++) {
		EXPECT_FALSE(DeserializePositions(std::string(bytes, 0, length))) << length;
	}
}

PositionSet RandomSet(std::mt19937_64& random) {
	PositionSet set;
	const int parts = static_cast<int>(random() % 4) + 1;
	for (int part = 0; part < parts; part++) {
		const uint64_t base = random() % 3 == 0 ? (random() % 5) << 32 : random() % 1'000'000;
		if (random() % 2 == 0) {
			set |= PositionSet::Range(base, base + random() % 100'000);
		} else {
			for (uint64_t count = random() % 6000; count > 0; count--) set.Add(base + random() % 70'000);
		}
	}
	set.Add(random() % 100);
	return set;
}

TEST(DvCodec, RoundTripOfRandomSets) {
	std::mt19937_64 random(7);
	for (int round = 0; round < 100; round++) {
		const PositionSet set = RandomSet(random);
		EXPECT_EQ(DeserializePositions(SerializePositions(set)), set);
	}
}

// Under the address sanitizer this also shows that no byte past the end is read: each input has its own exact
// allocation.
TEST(DvCodec, GarbledBytesNeverCrash) {
	std::mt19937_64 random(11);
	std::vector<std::string> originals;
	for (int i = 0; i < 100; i++) originals.push_back(SerializePositions(RandomSet(random)));
	int refused = 0;
	for (int round = 0; round < 4000; round++) {
		std::string bytes = originals[random() % originals.size()];
		if (bytes.size() > 2000) bytes.resize(2000);
		for (uint64_t changes = random() % 4; changes > 0; changes--) {
			bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random());
		}
		bytes.resize(random() % bytes.size());
		bytes.shrink_to_fit();
		const auto read = DeserializePositions(bytes);
		if (read) {
			EXPECT_EQ(read->ToVector().size(), read->Cardinality());
		} else {
			EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
			refused++;
		}
	}
	EXPECT_GT(refused, 2000);
}

TEST(DvCodec, Z85) {
	// The test vector of the Z85 specification (ZeroMQ RFC 32).
	const std::string hello = "\x86\x4F\xD2\x6F\xB5\x59\xF7\x5B";
	EXPECT_EQ(EncodeZ85(hello), "HelloWorld");
	EXPECT_EQ(DecodeZ85("HelloWorld"), hello);
	EXPECT_EQ(DecodeZ85(EncodeZ85("abcde")), std::string("abcde\0\0\0", 8));
	EXPECT_FALSE(DecodeZ85("Hell"));
	EXPECT_FALSE(DecodeZ85("Hel~o"));
	EXPECT_FALSE(DecodeZ85("#####"));
	EXPECT_FALSE(DecodeZ85("##093HelloWorld"));  // only the last group may be short
	EXPECT_EQ(DecodeZ85("Hello##093"), std::string("\x86\x4F\xD2\x6F\x03\x00", 6));
}

class DvFile : public testing::Test {
protected:
	TemporaryDirectory directory_;
	LocalLogStore store_ {directory_.path(), false};
};

TEST_F(DvFile, SmallVectorsAreInlineLargeOnesShareAFile) {
	std::mt19937_64 random(3);
	PositionSet large_a, large_b;
	for (int i = 0; i < 5000; i++) large_a.Add(random() % 1'000'000);
	for (int i = 0; i < 3000; i++) large_b.Add(random() % 1'000'000);
	const PositionSet small {1, 2, 1000};
	const PositionSet* sets[] = {&large_a, &small, &large_b};
	const auto written = WriteDeletionVectors(store_, SystemRandom(), sets);
	ASSERT_TRUE(written) << written.error().message;
	ASSERT_EQ(written->descriptors.size(), 3u);
	ASSERT_EQ(written->files.size(), 1u);
	EXPECT_EQ(written->descriptors[0].storage_type, 'u');
	EXPECT_EQ(written->descriptors[0].offset, 1);
	EXPECT_EQ(written->descriptors[1].storage_type, 'i');
	EXPECT_EQ(written->descriptors[1].offset, std::nullopt);
	EXPECT_EQ(written->descriptors[2].offset, 1 + 8 + written->descriptors[0].size_in_bytes);
	EXPECT_EQ(FilePath(written->descriptors[2]), written->files[0]);
	for (size_t i = 0; i < 3; i++) EXPECT_EQ(ReadDeletionVector(store_, written->descriptors[i], "f"), *sets[i]);
}

TEST_F(DvFile, TruncationAnywhereIsRefused) {
	const PositionSet set = PositionSet::Range(0, 10) | PositionSet {20, 30, 40};
	PositionSet large = set;
	for (uint64_t i = 100; i < 1000; i += 3) large.Add(i);
	const PositionSet* sets[] = {&large};
	const auto written = WriteDeletionVectors(store_, SystemRandom(), sets);
	ASSERT_TRUE(written);
	const std::string bytes = *store_.Read(written->files[0]);
	for (size_t length = 0; length < bytes.size(); length++) {
		ASSERT_TRUE(store_.Put(written->files[0], std::string_view(bytes).substr(0, length)));
		ASSERT_EQ(ReadDeletionVector(store_, written->descriptors[0], "f").error().kind, ErrorKind::kCorrupt) << length;
	}
	for (size_t byte = 0; byte < bytes.size(); byte++) {
		std::string flipped = bytes;
		flipped[byte] = static_cast<char>(flipped[byte] ^ 0x10);
		ASSERT_TRUE(store_.Put(written->files[0], flipped));
		ASSERT_EQ(ReadDeletionVector(store_, written->descriptors[0], "f").error().kind, ErrorKind::kCorrupt) << byte;
	}
}

TEST_F(DvFile, VectorFarInsideALargeFile) {
	std::string file(1, '\x01');
	file.resize(200'000, 'x');
	const std::string bitmap = SerializePositions({4, 8});
	const auto offset = static_cast<int32_t>(file.size());
	AppendBigEndian(file, static_cast<int32_t>(bitmap.size()));
	file += bitmap;
	AppendBigEndian(file, Crc32(bitmap));
	DvDescriptor dv = OnDisk("vBn[lx{q8@P<9BNH/isA", offset, static_cast<int32_t>(bitmap.size()), 2);
	ASSERT_TRUE(store_.Put(*FilePath(dv), file));
	EXPECT_EQ(ReadDeletionVector(store_, dv, "f"), (PositionSet {4, 8}));
	file[0] = 2;
	ASSERT_TRUE(store_.Put(*FilePath(dv), file));
	EXPECT_EQ(ReadDeletionVector(store_, dv, "f").error().kind, ErrorKind::kCorrupt);
}

TEST_F(DvFile, DescriptorsThatCannotBe) {
	EXPECT_EQ(ReadDeletionVector(store_, Inline("^Bg9^0rr91", 36, 2), "f").error().kind, ErrorKind::kCorrupt);
	EXPECT_EQ(ReadDeletionVector(store_, Inline("^Bg9^0rr91", -1, 2), "f").error().kind, ErrorKind::kCorrupt);
	EXPECT_EQ(ReadDeletionVector(store_, Inline("", 0, 0), "f").error().kind, ErrorKind::kCorrupt);
	DvDescriptor unknown = Inline("x", 1, 1);
	unknown.storage_type = 'z';
	EXPECT_EQ(ReadDeletionVector(store_, unknown, "f").error().kind, ErrorKind::kCorrupt);
	DvDescriptor negative = OnDisk("vBn[lx{q8@P<9BNH/isA", -5, 36, 2);
	ASSERT_TRUE(store_.Put(*FilePath(negative), "x"));
	EXPECT_EQ(ReadDeletionVector(store_, negative, "f").error().kind, ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace braid
