// SPDX-License-Identifier: Apache-2.0
// Timings of the kernel alone, without DuckDB, each beside the bare work that it cannot avoid; repetitions alternate.
// Prints one JSON object {"measured": [...], "reference": [...]} in milliseconds. Any failure ends the program with a message and status 1.
//
// braid_bench commit TABLE N: a commit that registers an existing file, beside temporary file, fsync, link, fsync of the directory.
// braid_bench open TABLE N: LoadSnapshot of a log of JSON commits, beside simdjson reading every value of the same files.
// braid_bench refresh TABLE N: RefreshSnapshot by one commit.
// braid_bench follow-packed|follow-shuffled TABLE N: a delete of 100 000 rows finds them again after its file of 10 million was rewritten, by the map.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/txn/committer.h"
#include "kernel/txn/relocation.h"
#include "kernel/txn/row_map.h"
#include "simdjson.h"
#include "tests/kernel/no_probe.h"

namespace braid {
namespace {

[[noreturn]] void Stop(std::string_view what) {
	std::fprintf(stderr, "braid_bench: %.*s\n", int(what.size()), what.data());
	std::exit(1);
}

template <class T>
T Take(Result<T> result) {
	if (!result) Stop(result.error().message);
	return *std::move(result);
}

template <>
void Take(Status status) {
	if (!status) Stop(status.error().message);
}

void Require(bool good, std::string_view what) {
	if (!good) Stop(std::string(what) + ": " + std::strerror(errno));
}

template <class Body>
double Milliseconds(Body&& body) {
	const auto start = std::chrono::steady_clock::now();
	body();
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// The tables measured here have no checkpoint, and one that the committer wants to write may fail.
class NoParquet final : public ParquetGateway {
public:
	Status ReadCheckpoint(std::span<const std::string>, CheckpointSink&) override { return Refuse(); }
	Result<int64_t> WriteCheckpoint(const std::string&, FileKind, const std::function<Status(const Emit&)>&) override {
		return Refuse();
	}

private:
	static std::unexpected<Error> Refuse() { return Fail(ErrorKind::kUnsupported, "no Parquet in this benchmark"); }
};

void WriteDurably(const std::string& path, std::string_view bytes) {
	const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
	Require(file >= 0, path);
	Require(write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()), path);
	Require(fsync(file) == 0 && close(file) == 0, path);
}

void SyncDirectory(const std::string& path) {
	const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY);
	Require(directory >= 0 && fsync(directory) == 0 && close(directory) == 0, path);
}

// What a commit file costs at least.
void BareCommit(const std::string& directory, int64_t version, std::string_view bytes) {
	const std::string temporary = directory + "/.tmp", path = directory + "/" + std::to_string(version);
	WriteDurably(temporary, bytes);
	Require(link(temporary.c_str(), path.c_str()) == 0, path);
	SyncDirectory(directory);
	Require(unlink(temporary.c_str()) == 0, temporary);
}

void Print(const std::vector<double>& measured, const std::vector<double>& reference) {
	const auto list = [](const char* name, const std::vector<double>& values) {
		std::printf("\"%s\": [", name);
		for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.6f", i ? ", " : "", values[i]);
		std::printf("]");
	};
	std::printf("{");
	list("measured", measured);
	std::printf(", ");
	list("reference", reference);
	std::printf("}\n");
}

Transaction Registration(const SnapshotPtr& base, const std::string& file) {
	Transaction transaction;
	transaction.base = base;
	transaction.operation = "WRITE";
	transaction.operation_parameters["mode"] = "\"Append\"";
	NewFile added;
	added.add.path = file;
	added.add.size = 1000;
	added.add.stats = R"({"numRecords":1000,"minValues":{"id":0},"maxValues":{"id":999},"nullCount":{"id":0}})";
	added.num_records = 1000;
	transaction.changes.new_files.push_back(std::move(added));
	return transaction;
}

// The data file is durable before the clock starts; each repetition registers another one.
void MeasureCommit(const std::string& table, int repetitions) {
	LocalLogStore store(table, true);
	NoParquet parquet;
	NoProbe probe;
	const CommitContext context {store, parquet, probe, SystemClock(), SystemRandom(), {}, {}};
	SnapshotPtr snapshot = Take(LoadSnapshot({store, parquet}));
	const std::string floor = table + "/bare";
	Require(mkdir(floor.c_str(), 0755) == 0, floor);
	std::vector<double> measured, reference;
	for (int i = 0; i < repetitions; ++i) {
		const std::string file = "part-" + std::to_string(i) + ".parquet";
		WriteDurably(table + "/" + file, std::string(1000, 'x'));
		SyncDirectory(table);
		const Transaction transaction = Registration(snapshot, file);
		CommitOutcome outcome;
		measured.push_back(Milliseconds([&] { outcome = Take(Commit(context, transaction)); }));
		snapshot = outcome.snapshot;
		const std::string bytes = Take(store.Read(CommitPath(outcome.version)));
		reference.push_back(Milliseconds([&] { BareCommit(floor, i, bytes); }));
	}
	Print(measured, reference);
}

// Reads the files and parses every document in full; answers the number of adds.
int64_t SimdjsonPass(const std::vector<std::string>& paths) {
	simdjson::dom::parser parser;
	int64_t adds = 0;
	for (const std::string& path : paths) {
		simdjson::padded_string json;
		simdjson::dom::document_stream documents;
		if (simdjson::padded_string::load(path).get(json) || parser.parse_many(json).get(documents)) {
			Stop("simdjson cannot read " + path);
		}
		for (auto document : documents) adds += document["add"].error() == simdjson::SUCCESS;
	}
	return adds;
}

void MeasureOpen(const std::string& table, int repetitions) {
	LocalLogStore store(table, true);
	NoParquet parquet;
	std::vector<std::string> commits;
	while (store.Stat(CommitPath(int64_t(commits.size())))) {
		commits.push_back(store.Location(CommitPath(int64_t(commits.size()))));
	}
	std::vector<double> measured, reference;
	for (int i = -1; i < repetitions; ++i) {
		SnapshotPtr snapshot;
		int64_t adds = 0;
		const double ours = Milliseconds([&] { snapshot = Take(LoadSnapshot({store, parquet})); });
		const double bare = Milliseconds([&] { adds = SimdjsonPass(commits); });
		if (int64_t(snapshot->files->size()) != adds) Stop("the snapshot and simdjson count different files");
		if (i < 0) continue;  // warm-up
		measured.push_back(ours);
		reference.push_back(bare);
	}
	Print(measured, reference);
}

// Each repetition puts one commit of one add beside the log, outside the clock.
void MeasureRefresh(const std::string& table, int repetitions) {
	LocalLogStore store(table, true);
	NoParquet parquet;
	SnapshotPtr snapshot = Take(LoadSnapshot({store, parquet}));
	std::vector<double> measured;
	for (int i = 0; i < repetitions; ++i) {
		std::string line;
		AppendActionLine(Registration(snapshot, "new-" + std::to_string(i) + ".parquet").changes.new_files[0].add,
						 line);
		Take(store.PutIfAbsent(CommitPath(snapshot->version + 1), line));
		const size_t before = snapshot->files->size();
		measured.push_back(Milliseconds([&] { snapshot = Take(RefreshSnapshot({store, parquet}, snapshot)); }));
		if (snapshot->files->size() != before + 1) Stop("the refreshed snapshot has another number of files");
	}
	Print(measured, {});
}

constexpr uint64_t kMovedRows = 10'000'000, kFollowedRows = 100'000, kNewFiles = 10, kRowGroup = 122'880;

NewFile FileOfRows(const std::string& path, uint64_t rows) {
	NewFile file;
	file.add.path = path;
	file.add.size = 1000;
	file.add.stats = "{\"numRecords\":" + std::to_string(rows) + "}";
	file.num_records = int64_t(rows);
	return file;
}

// As OPTIMIZE does, without data: the map is all that is read.
Transaction Rearrangement(LogStore& store, const SnapshotPtr& base, const std::string& source, bool shuffled) {
	Transaction transaction;
	transaction.base = base;
	transaction.operation = "OPTIMIZE";
	StagedChanges& changes = transaction.changes;
	changes.data_change = false;
	changes.replaced_files = {source};
	std::vector<uint64_t> order(kMovedRows);
	std::iota(order.begin(), order.end(), uint64_t {0});
	if (shuffled) std::ranges::shuffle(order, std::mt19937_64(7));
	const MappedFile sources[] = {{source, kMovedRows}};
	auto map = Take(RowMapWriter::Create(store, NewRowMapPath(SystemRandom()), sources));
	for (uint64_t file = 0, next = 0; file < kNewFiles; ++file) {
		const std::string path = "moved-" + std::to_string(file) + ".parquet";
		const uint64_t end = next + kMovedRows / kNewFiles;
		while (next < end) {
			std::vector<OriginRun> runs;
			for (const uint64_t group_end = std::min(end, next + kRowGroup); next < group_end; ++next) {
				const uint64_t row = order[next];
				if (!runs.empty() && runs.back().source_first + runs.back().count == row)
					runs.back().count++;
				else
					runs.push_back({0, row, 0, 1});
			}
			Take(map->Append(path, runs));
		}
		changes.new_files.push_back(FileOfRows(path, kMovedRows / kNewFiles));
	}
	Take(map->Finish());
	changes.row_map = map->path();
	return transaction;
}

void MeasureFollow(const std::string& table, int repetitions, bool shuffled) {
	LocalLogStore store(table, true);
	NoParquet parquet;
	NoProbe probe;
	const CommitContext context {store, parquet, probe, SystemClock(), SystemRandom(), {}, {}};
	Transaction insert = Registration(Take(LoadSnapshot({store, parquet})), "old.parquet");
	insert.changes.new_files = {FileOfRows("old.parquet", kMovedRows)};
	WriteDurably(table + "/old.parquet", "x");
	const SnapshotPtr base = Take(Commit(context, insert)).snapshot;
	Transaction rearrangement = Rearrangement(store, base, "old.parquet", shuffled);
	for (const NewFile& file : rearrangement.changes.new_files) WriteDurably(table + "/" + file.add.path, "x");
	const SnapshotPtr after = Take(Commit(context, rearrangement)).snapshot;
	Transaction loser;
	loser.base = base;
	std::mt19937_64 dice(8);
	PositionSet& rows = loser.changes.deleted_rows["old.parquet"];
	while (rows.Cardinality() < kFollowedRows) rows.Add(dice() % kMovedRows);
	std::vector<WinningCommit> winners(1);
	winners[0] = Take(ParseWinningCommit(Take(store.Read(CommitPath(after->version))), after->version, "bench"));
	AttachEffects(winners[0], base, after);

	std::vector<double> measured;
	for (int i = -1; i < repetitions; ++i) {
		VectorCache vectors(store);
		RowTester tester(probe, {SystemClock(), 10'000, 5, context.interrupted});
		uint64_t found = 0;
		const double taken = Milliseconds([&] {
			Relocation relocation(loser, store, probe, vectors, tester);
			Take(relocation.Follow(winners));
			for (const auto& [path, place] : relocation.rows()) found += place.rows.Cardinality();
		});
		if (found != kFollowedRows) Stop("rows were lost");
		if (i >= 0) measured.push_back(taken);
	}
	Print(measured, {});
}

}  // namespace
}  // namespace braid

int main(int argc, char** argv) {
	if (argc != 4)
		braid::Stop("usage: braid_bench commit|open|refresh|follow-packed|follow-shuffled TABLE REPETITIONS");
	const std::string mode = argv[1], table = argv[2];
	const int repetitions = std::atoi(argv[3]);
	if (mode == "commit")
		braid::MeasureCommit(table, repetitions);
	else if (mode == "open")
		braid::MeasureOpen(table, repetitions);
	else if (mode == "refresh")
		braid::MeasureRefresh(table, repetitions);
	else if (mode == "follow-packed" || mode == "follow-shuffled")
		braid::MeasureFollow(table, repetitions, mode == "follow-shuffled");
	else
		braid::Stop("unknown mode " + mode);
}
