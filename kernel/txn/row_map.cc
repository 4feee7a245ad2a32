// SPDX-License-Identifier: Apache-2.0
// A file is the magic and then frames: kind (1 byte), length (4 bytes), payload, CRC-32 of all three. The first one has the sources, the last one
// the targets, those in between the rows.
#include "kernel/txn/row_map.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/varint.h"

namespace braid {
namespace {

constexpr std::string_view kDirectory = "_braid/map/";
constexpr std::string_view kSuffix = ".map";
constexpr std::string_view kMagic = "BRAIDMAP";
constexpr char kSources = 'S', kRows = 'R', kTargets = 'T';
constexpr size_t kHeadBytes = 5, kChecksumBytes = 4;
constexpr uint32_t kLongestFrame = 256 << 20;
constexpr size_t kRunsOfABlock = 128 << 10;
constexpr uint64_t kMostRows = uint64_t {1} << 38;  // of all files of a map: what says more is damaged

// The part of the path that no other map has.
std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Frame(char kind, std::string_view payload) {
	std::string out(1, kind);
	AppendLittleEndian(out, static_cast<uint32_t>(payload.size()));
	out += payload;
	AppendLittleEndian(out, Crc32(out));
	return out;
}

void AppendFiles(std::string& out, std::span<const MappedFile> files) {
	AppendVarint(out, files.size());
	for (const MappedFile& file : files) {
		AppendText(out, file.path);
		AppendVarint(out, file.rows);
	}
}

std::vector<MappedFile> ReadFiles(VarintReader& reader) {
	std::vector<MappedFile> files;
	for (uint64_t left = reader.Number(); left > 0 && !reader.broken(); left--) {
		std::string path(reader.Text());
		files.push_back({std::move(path), reader.Number()});
	}
	return files;
}

std::vector<uint64_t> RowsOf(std::span<const MappedFile> files) {
	std::vector<uint64_t> rows;
	for (const MappedFile& file : files) rows.push_back(file.rows);
	return rows;
}

// Reads a map frame by frame and checks all that can be checked without knowing the rows.
class MapReader {
public:
	MapReader(LogStore& store, const std::string& path) : store_(store), path_(path) {}

	// `begin` knows the sources; `block` gets the rows of a target and answers how many they are.
	Status Read(const std::function<Status()>& begin,
				const std::function<Result<uint64_t>(size_t target, std::string_view block)>& block) {
		std::string pending;
		BRAID_TRY(store_.ReadBlocks(path_, [&](std::string_view bytes) -> Status {
			pending += bytes;
			size_t at = 0;
			if (!magic_seen_ && pending.size() >= kMagic.size()) {
				if (!pending.starts_with(kMagic)) return Corrupt("it is no such file");
				magic_seen_ = true;
				at = kMagic.size();
			}
			while (magic_seen_) {
				BRAID_TRY(const size_t read, TakeFrame(std::string_view(pending).substr(at), begin, block));
				if (read == 0) break;
				at += read;
			}
			pending.erase(0, at);
			return {};
		}));
		if (!ended_ || !pending.empty()) return Corrupt("it is not complete");
		for (size_t i = 0; i < seen_.size(); i++) {
			if (files.targets[i].rows != seen_[i]) return Corrupt("it has too few rows");
		}
		return {};
	}

	MapFiles files;

private:
	std::unexpected<Error> Corrupt(const std::string& why) const {
		return Fail(ErrorKind::kCorrupt, "The row map " + path_ + " cannot be used: " + why +
											 ". Whoever needs it does without; or delete it.");
	}

	// Answers its length; 0: there is more to come.
	Result<size_t> TakeFrame(std::string_view bytes, const std::function<Status()>& begin,
							 const std::function<Result<uint64_t>(size_t, std::string_view)>& block) {
		if (bytes.size() < kHeadBytes) return 0;
		const auto length = LoadLittleEndian<uint32_t>(bytes.substr(1));
		if (length > kLongestFrame || ended_) return Corrupt("a part of it is damaged");
		const size_t checked = kHeadBytes + length;
		if (bytes.size() < checked + kChecksumBytes) return 0;
		if (LoadLittleEndian<uint32_t>(bytes.substr(checked)) != Crc32(bytes.substr(0, checked)))
			return Corrupt("a checksum is wrong");
		BRAID_TRY(TakePayload(bytes[0], bytes.substr(kHeadBytes, length), begin, block));
		return checked + kChecksumBytes;
	}

	Status TakePayload(char kind, std::string_view payload, const std::function<Status()>& begin,
					   const std::function<Result<uint64_t>(size_t, std::string_view)>& block) {
		VarintReader reader(payload);
		if (kind == kSources && !begun_) {
			begun_ = true;
			if (reader.Text() != NameOf(path_)) return Corrupt("it belongs to another commit");
			files.sources = ReadFiles(reader);
			uint64_t rows = 0;
			for (const MappedFile& file : files.sources)
				rows = std::min(rows, kMostRows) + std::min(file.rows, kMostRows);
			if (reader.broken() || rows > kMostRows) return Corrupt("its files are damaged");
			return begin();
		}
		if (!begun_ || (kind != kRows && kind != kTargets)) return Corrupt("its parts are out of order");
		if (kind == kTargets) {
			ended_ = true;
			files.targets = ReadFiles(reader);
			if (reader.broken() || files.targets.size() != seen_.size()) return Corrupt("its files are damaged");
			return {};
		}
		const uint64_t target = reader.Number();
		if (reader.broken() || target > seen_.size()) return Corrupt("its parts are out of order");
		if (target == seen_.size()) seen_.push_back(0);
		auto rows = block(target, reader.Rest());
		if (!rows && rows.error().kind == ErrorKind::kCorrupt) return Corrupt(rows.error().message);
		BRAID_TRY(const uint64_t count, std::move(rows));
		seen_[target] += count;
		return {};
	}

	LogStore& store_;
	const std::string& path_;
	bool magic_seen_ = false, begun_ = false, ended_ = false;
	std::vector<uint64_t> seen_;  // rows, by target
};

}  // namespace

std::string NewRowMapPath(Random& random) { return std::string(kDirectory) + NewUuid(random) + std::string(kSuffix); }

bool IsRowMapPath(const std::string& path) {
	return path.starts_with(kDirectory) && path.ends_with(kSuffix) && path.find('/', kDirectory.size()) == path.npos;
}

RowMapWriter::RowMapWriter(std::string path, std::unique_ptr<FileStream> file,
						   const std::vector<uint64_t>& rows_of_sources)
	: path_(std::move(path)), file_(std::move(file)), numbers_(rows_of_sources) {}

Result<std::unique_ptr<RowMapWriter>> RowMapWriter::Create(LogStore& store, std::string path,
														   std::span<const MappedFile> sources) {
	std::string payload;
	AppendText(payload, NameOf(path));
	AppendFiles(payload, sources);
	BRAID_TRY(auto file, store.CreateStream(path));
	BRAID_TRY(file->Append(std::string(kMagic) + Frame(kSources, payload)));
	return std::unique_ptr<RowMapWriter>(new RowMapWriter(std::move(path), std::move(file), RowsOf(sources)));
}

Status RowMapWriter::Append(const std::string& target, std::span<const OriginRun> runs) {
	if (runs.empty()) return {};
	const auto [known, is_new] = target_by_path_.try_emplace(target, targets_.size());
	if (is_new) targets_.push_back({target, 0});
	for (const OriginRun& run : runs) targets_[known->second].rows += run.count;
	for (size_t first = 0; first < runs.size(); first += kRunsOfABlock) {
		std::string payload;
		AppendVarint(payload, known->second);
		payload += EncodeRowMapBlock(runs.subspan(first, std::min(kRunsOfABlock, runs.size() - first)), numbers_);
		BRAID_TRY(file_->Append(Frame(kRows, payload)));
	}
	return {};
}

Status RowMapWriter::Finish() {
	std::string payload;
	AppendFiles(payload, targets_);
	BRAID_TRY(file_->Append(Frame(kTargets, payload)));
	return file_->Close();
}

Result<MapFiles> FindInRowMap(LogStore& store, const std::string& path,
							  const std::function<Result<PositionSet>(const MappedFile& source)>& wanted,
							  const std::function<void(const MappedRow& row)>& found) {
	MapReader reader(store, path);
	std::optional<RowNumbers> numbers;
	std::optional<WantedRows> looked_for;
	std::vector<uint64_t> rows_before;  // by target
	const auto begin = [&]() -> Status {
		std::vector<PositionSet> by_source;
		for (const MappedFile& source : reader.files.sources) {
			BRAID_TRY(by_source.emplace_back(), wanted(source));
		}
		numbers.emplace(RowsOf(reader.files.sources));
		looked_for.emplace(std::move(by_source), *numbers);
		return {};
	};
	BRAID_TRY(reader.Read(begin, [&](size_t target, std::string_view block) -> Result<uint64_t> {
		if (target == rows_before.size()) rows_before.push_back(0);
		const auto found_here = [&](size_t source, uint64_t position, uint64_t row) {
			found({source, position, target, rows_before[target] + row});
		};
		BRAID_TRY(const uint64_t rows, FindInRowMapBlock(block, *numbers, *looked_for, found_here));
		rows_before[target] += rows;
		return rows;
	}));
	return std::move(reader.files);
}

Result<MapLinks> LinksOfRowMap(LogStore& store, const std::string& path) {
	MapReader reader(store, path);
	MapLinks links;
	std::optional<RowNumbers> numbers;
	const auto begin = [&]() -> Status {
		numbers.emplace(RowsOf(reader.files.sources));
		return {};
	};
	BRAID_TRY(reader.Read(begin, [&](size_t target, std::string_view block) {
		if (target == links.made_of.size()) links.made_of.emplace_back(numbers->sources());
		return MarkSourcesOfBlock(block, *numbers, links.made_of[target]);
	}));
	links.files = std::move(reader.files);
	return links;
}

}  // namespace braid
