// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/memory_table.h"

#include <algorithm>

#include "kernel/action/action_codec.h"
#include "kernel/deletion/dv_file.h"
#include "kernel/log/log_path.h"
#include "kernel/txn/row_map.h"

namespace braid {
namespace {

std::string Text(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "NULL"; }

std::string Picture(const Row& row) { return "k=" + Text(row.k) + ", x=" + Text(row.x) + ", y=" + Text(row.y); }

const std::optional<int64_t>& Column(const Row& row, const std::string& name) {
	return name == "k" ? row.k : name == "x" ? row.x : row.y;
}

// Three-valued logic, independent of the kernel's own folding; nullopt is UNKNOWN.
std::optional<bool> Evaluate(const Predicate& predicate, const Row& row) {
	switch (predicate.kind) {
		case PredicateKind::kTrue:
			return true;
		case PredicateKind::kFalse:
			return false;
		case PredicateKind::kIsNull:
			return !Column(row, predicate.column.at(0)).has_value();
		case PredicateKind::kNot: {
			const auto inner = Evaluate(predicate.children.at(0), row);
			if (!inner) return std::nullopt;
			return !*inner;
		}
		case PredicateKind::kAnd:
		case PredicateKind::kOr: {
			const bool decisive = predicate.kind == PredicateKind::kOr;
			bool unknown = false;
			for (const Predicate& child : predicate.children) {
				const auto value = Evaluate(child, row);
				if (value == decisive) return decisive;
				unknown |= !value;
			}
			if (unknown) return std::nullopt;
			return !decisive;
		}
		case PredicateKind::kIn:
		case PredicateKind::kCompare:
			break;
	}
	const auto& value = Column(row, predicate.column.at(0));
	if (!value) return std::nullopt;
	const auto holds = [&](const Scalar& scalar) {
		const int64_t other = std::get<int64_t>(scalar.value);
		if (predicate.kind == PredicateKind::kIn) return *value == other;
		switch (predicate.op) {
			case CompareOp::kEqual:
				return *value == other;
			case CompareOp::kNotEqual:
				return *value != other;
			case CompareOp::kLess:
				return *value < other;
			case CompareOp::kLessEqual:
				return *value <= other;
			case CompareOp::kGreater:
				return *value > other;
			case CompareOp::kGreaterEqual:
				return *value >= other;
		}
		return false;
	};
	return std::ranges::any_of(predicate.values, holds);
}

Scalar Number(int64_t value) { return {TypeKind::kLong, value}; }

std::string Stats(const Rows& rows) {
	std::string minimum, maximum, nulls;
	for (const std::string name : {"k", "x", "y"}) {
		std::optional<int64_t> low, high;
		int64_t null_count = 0;
		for (const Row& row : rows) {
			const auto& value = Column(row, name);
			null_count += !value;
			if (!value) continue;
			low = std::min(low.value_or(*value), *value);
			high = std::max(high.value_or(*value), *value);
		}
		const auto append = [&](std::string& out, int64_t value) {
			out += (out.empty() ? "\"" : ",\"") + name + "\":" + std::to_string(value);
		};
		if (low) append(minimum, *low), append(maximum, *high);
		append(nulls, null_count);
	}
	return "{\"numRecords\":" + std::to_string(rows.size()) + ",\"minValues\":{" + minimum + "},\"maxValues\":{" +
		   maximum + "},\"nullCount\":{" + nulls + "},\"tightBounds\":true}";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << "(" << Picture(row) << ")"; }

Predicate Is(const std::string& column, CompareOp op, int64_t value) {
	return Predicate::Compare({column}, op, Number(value));
}

Predicate AnyOf(const std::string& column, const std::vector<int64_t>& values) {
	std::vector<Scalar> scalars;
	std::ranges::transform(values, std::back_inserter(scalars), Number);
	return Predicate::In({column}, std::move(scalars));
}

bool Satisfies(const Predicate& predicate, const Row& row) { return Evaluate(predicate, row).value_or(false); }

static Status ForEachAsked(std::map<std::string, Rows>& files, std::span<const ProbeRequest> requests,
						   const std::function<Status(size_t request, uint64_t position, const Row& row)>& visit) {
	for (size_t i = 0; i < requests.size(); i++) {
		const auto file = files.find(requests[i].file->path);
		if (file == files.end()) return Fail(ErrorKind::kNotFound, requests[i].file->path + " does not exist");
		for (uint64_t position = 0; position < file->second.size(); position++) {
			if (requests[i].only && !requests[i].only->Contains(position)) continue;
			if (requests[i].except && requests[i].except->Contains(position)) continue;
			BRAID_TRY(visit(i, position, file->second[position]));
		}
	}
	return {};
}

static bool Holds(const Predicate& bound, const RowPredicate* exact, const Row& row) {
	return exact ? static_cast<const RowCondition*>(exact)->test(row) : Satisfies(bound, row);
}

Result<std::vector<ProbeMatch>> MemoryProbe::Match(std::span<const ProbeRequest> requests, const Predicate& bound,
												   const RowPredicate* exact, size_t limit) {
	if (on_match) on_match();
	std::vector<ProbeMatch> matches;
	BRAID_TRY(ForEachAsked(files, requests, [&](size_t i, uint64_t position, const Row& row) -> Status {
		if (matches.size() == limit) return {};
		rows_tested++;
		if (Holds(bound, exact, row)) matches.push_back({i, position, Picture(row)});
		return {};
	}));
	return matches;
}

Result<std::vector<PositionSet>> MemoryProbe::MatchAll(std::span<const ProbeRequest> requests, const Predicate& bound,
													   const RowPredicate* exact) {
	if (on_match) on_match();
	std::vector<PositionSet> matches(requests.size());
	BRAID_TRY(ForEachAsked(files, requests, [&](size_t i, uint64_t position, const Row& row) -> Status {
		rows_tested++;
		if (Holds(bound, exact, row)) matches[i].Add(position);
		return {};
	}));
	return matches;
}

Status MemoryProbe::ReadRowIds(std::span<const ProbeRequest> requests, const std::string& column,
							   const RowIdSink& sink) {
	if (on_match) on_match();
	return ForEachAsked(files, requests, [&](size_t i, uint64_t position, const Row&) -> Status {
		const AddFile& file = *requests[i].file;
		std::optional<int64_t> id;
		if (const auto hidden = row_ids.find(file.path); hidden != row_ids.end() && !column.empty())
			id = hidden->second.at(position);
		if (!id && file.base_row_id) id = *file.base_row_id + static_cast<int64_t>(position);
		if (!id) return Fail(ErrorKind::kNotFound, file.path + " has rows without ids");
		return sink(i, std::span(&position, 1), std::span(&*id, 1));
	});
}

Status MemoryProbe::ReadContents(std::span<const ProbeRequest> requests, const RowContentSink& sink) {
	if (on_match) on_match();
	return ForEachAsked(files, requests, [&](size_t i, uint64_t position, const Row& row) -> Status {
		return sink(i, position, Picture(row));
	});
}

Result<std::vector<std::string>> MemoryProbe::Describe(const AddFile& file, std::span<const uint64_t> positions) {
	if (!files.contains(file.path)) return Fail(ErrorKind::kNotFound, file.path + " does not exist");
	std::vector<std::string> pictures;
	for (const uint64_t position : positions) pictures.push_back(Picture(files.at(file.path).at(position)));
	return pictures;
}

static std::string InStore(const LogStore& store, const std::string& location) {
	return location.substr(location.find(kLogDirectory, store.Location("").size()));
}

Status TextGateway::ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) {
	for (const std::string& location : locations) {
		BRAID_TRY(const std::string text, store_.Read(InStore(store_, location)));
		BRAID_TRY(ParseCommit(text, location, [&](Action&& action) -> Status {
			const auto* add = std::get_if<AddFile>(&action);
			if (!add) return sink.OnAction(std::move(action));
			AddFileView view;
			view.path = add->path;
			view.partition_values_json = "{}";
			view.stats = add->stats;
			view.tags_json = "{}";
			view.size = add->size;
			view.modification_time = add->modification_time;
			view.deletion_vector = add->deletion_vector ? &*add->deletion_vector : nullptr;
			view.base_row_id = add->base_row_id;
			view.default_row_commit_version = add->default_row_commit_version;
			return sink.OnAdd(view);
		}));
	}
	return {};
}

Result<int64_t> TextGateway::WriteCheckpoint(const std::string& location, FileKind,
											 const std::function<Status(const Emit& emit)>& produce) {
	std::string text;
	BRAID_TRY(produce([&](const Action& action) -> Status {
		AppendActionLine(action, text);
		return {};
	}));
	BRAID_TRY(store_.Create(InStore(store_, location), text));
	return static_cast<int64_t>(text.size());
}

MemoryTable::MemoryTable(const std::string& level, uint64_t seed) : random(seed), level_(level) {}

NewFile MemoryTable::WriteFile(const Rows& rows) {
	NewFile file;
	file.add.path = "part-" + std::to_string(files_++) + ".parquet";
	file.add.size = static_cast<int64_t>(100 + rows.size());
	file.add.modification_time = clock.NowMs();
	if (partitioned) {
		const auto& x = rows.at(0).x;
		for (const Row& row : rows) EXPECT_EQ(row.x, x) << "a file lies in one partition";
		file.add.partition_values = {{"x", x ? std::optional(std::to_string(*x)) : std::nullopt}};
	}
	file.add.stats = Stats(rows);
	file.num_records = static_cast<int64_t>(rows.size());
	probe.files[file.add.path] = rows;
	EXPECT_TRUE(memory.Create(file.add.path, "rows"));
	return file;
}

std::vector<NewFile> MemoryTable::WriteFiles(const Rows& rows) {
	if (!partitioned) return {WriteFile(rows)};
	std::map<std::optional<int64_t>, Rows> partitions;
	for (const Row& row : rows) partitions[row.x].push_back(row);
	std::vector<NewFile> files;
	for (const auto& [x, members] : partitions) files.push_back(WriteFile(members));
	return files;
}

Transaction MemoryTable::Begin(SnapshotPtr base, const std::string& operation) const {
	Transaction transaction;
	transaction.base = std::move(base);
	transaction.operation = operation;
	return transaction;
}

Transaction MemoryTable::Creation(const std::vector<Rows>& files, Configuration properties) {
	Transaction transaction = Begin(nullptr, "CREATE TABLE AS SELECT");
	transaction.changes.protocol = Protocol {3, 7, std::vector<std::string> {"deletionVectors"},
											 std::vector<std::string> {"deletionVectors", "appendOnly", "invariants"}};
	Metadata metadata;
	metadata.id = "00000000-0000-4000-8000-000000000001";
	metadata.schema_string =
		R"({"type":"struct","fields":[{"name":"k","type":"long","nullable":true,"metadata":{}},)"
		R"({"name":"x","type":"long","nullable":true,"metadata":{}},{"name":"y","type":"long","nullable":true,"metadata":{}}]})";
	metadata.configuration = {{"delta.enableDeletionVectors", "true"}, {"delta.isolationLevel", level_}};
	for (auto& [key, value] : properties) metadata.configuration[key] = value;
	if (partitioned) metadata.partition_columns = {"x"};
	if (row_tracking) {
		for (const char* feature : {"rowTracking", "domainMetadata"})
			transaction.changes.protocol->writer_features->push_back(feature);
		metadata.configuration["delta.enableRowTracking"] = "true";
		metadata.configuration["delta.rowTracking.materializedRowIdColumnName"] = "_row-id";
		metadata.configuration["delta.rowTracking.materializedRowCommitVersionColumnName"] = "_row-version";
	}
	transaction.changes.metadata = std::move(metadata);
	for (const Rows& rows : files) transaction.changes.new_files.push_back(WriteFile(rows));
	return transaction;
}

SnapshotPtr MemoryTable::Create(const std::vector<Rows>& files, Configuration properties) {
	auto outcome = Commit(Creation(files, std::move(properties)));
	EXPECT_TRUE(outcome) << outcome.error().message;
	return outcome ? outcome->snapshot : nullptr;
}

SnapshotPtr MemoryTable::Latest() {
	auto snapshot = LoadSnapshot({memory, parquet});
	EXPECT_TRUE(snapshot) << snapshot.error().message;
	return snapshot ? *snapshot : nullptr;
}

std::vector<MemoryTable::Located> MemoryTable::Scan(const Snapshot& snapshot) {
	std::vector<Located> found;
	for (const LiveFile* file : snapshot.files->Files()) {
		PositionSet deleted;
		if (file->deletion_vector) {
			auto vector = ReadDeletionVector(memory, *file->deletion_vector, file->path);
			EXPECT_TRUE(vector) << vector.error().message;
			if (vector) deleted = *std::move(vector);
		}
		const Rows& rows = probe.files.at(std::string(file->path));
		for (uint64_t i = 0; i < rows.size(); i++) {
			if (deleted.Contains(i)) continue;
			Located row {std::string(file->path), i, rows[i]};
			if (const auto hidden = probe.row_ids.find(row.path); hidden != probe.row_ids.end())
				row.id = hidden->second[i];
			if (!row.id && file->base_row_id) row.id = *file->base_row_id + static_cast<int64_t>(i);
			found.push_back(std::move(row));
		}
	}
	return found;
}

Rows MemoryTable::LiveRows(const Snapshot& snapshot) {
	Rows rows;
	for (const Located& located : Scan(snapshot)) rows.push_back(located.row);
	std::ranges::sort(rows);
	return rows;
}

Transaction MemoryTable::Insert(SnapshotPtr base, const Rows& rows) {
	Transaction transaction = Begin(std::move(base), "WRITE");
	transaction.operation_parameters = {{"mode", "\"Append\""}, {"partitionBy", "\"[]\""}};
	transaction.changes.new_files = WriteFiles(rows);
	return transaction;
}

Transaction MemoryTable::Delete(SnapshotPtr base, const Predicate& where) {
	Transaction transaction = Begin(base, "DELETE");
	transaction.reads.reads.push_back({where, nullptr, true});
	for (const Located& located : Scan(*base)) {
		if (Satisfies(where, located.row)) transaction.changes.deleted_rows[located.path].Add(located.position);
	}
	return transaction;
}

Transaction MemoryTable::Update(SnapshotPtr base, const Predicate& where, const std::function<void(Row&)>& set) {
	Transaction transaction = Delete(base, where);
	transaction.operation = "UPDATE";
	std::map<std::optional<int64_t>, std::pair<std::vector<Located>, Rows>> partitions;
	for (const Located& located : Scan(*base)) {
		if (!Satisfies(where, located.row)) continue;
		Row image = located.row;
		set(image);
		auto& [sources, images] = partitions[partitioned ? image.x : std::nullopt];
		sources.push_back(located);
		images.push_back(image);
	}
	for (const auto& [x, partition] : partitions)
		transaction.changes.new_files.push_back(WriteImages(partition.first, partition.second, transaction.changes));
	return transaction;
}

NewFile MemoryTable::WriteImages(const std::vector<Located>& sources, const Rows& rows, StagedChanges& changes) {
	NewFile file = WriteFile(rows);
	for (size_t i = 0; i < sources.size(); i++) {
		auto& known = changes.origin_files;
		const auto source = static_cast<size_t>(std::ranges::find(known, sources[i].path) - known.begin());
		if (source == known.size()) known.push_back(sources[i].path);
		file.origins.push_back({source, sources[i].position, i, 1});
		if (row_tracking) probe.row_ids[file.add.path].push_back(sources[i].id);
	}
	changes.keeps_row_ids = row_tracking;
	return file;
}

Transaction MemoryTable::Rearrange(SnapshotPtr base, const std::vector<std::string>& paths, Random* dice) {
	return RearrangeBins(std::move(base), {paths}, dice);
}

Transaction MemoryTable::RearrangeBins(SnapshotPtr base, const std::vector<std::vector<std::string>>& bins,
									   Random* dice) {
	Transaction transaction = Begin(base, "OPTIMIZE");
	StagedChanges& changes = transaction.changes;
	changes.data_change = false;
	changes.keeps_row_ids = row_tracking;
	std::map<std::pair<size_t, std::optional<int64_t>>, std::vector<Located>> groups;
	for (const Located& located : Scan(*base)) {
		for (size_t bin = 0; bin < bins.size(); bin++) {
			if (std::ranges::find(bins[bin], located.path) != bins[bin].end())
				groups[{bin, partitioned ? located.row.x : std::nullopt}].push_back(located);
		}
	}
	if (groups.empty()) return transaction;
	for (const auto& paths : bins)
		changes.replaced_files.insert(changes.replaced_files.end(), paths.begin(), paths.end());
	std::vector<MappedFile> map_sources;
	for (const std::string& path : changes.replaced_files) map_sources.push_back({path, probe.files.at(path).size()});
	const auto map = RowMapWriter::Create(memory, NewRowMapPath(random), map_sources);
	EXPECT_TRUE(map);
	for (auto& [group, sources] : groups) {
		for (size_t i = sources.size(); dice && i > 1; i--) std::swap(sources[i - 1], sources[dice->Next() % i]);
		Rows rows;
		std::vector<OriginRun> origins;
		for (const Located& located : sources) {
			rows.push_back(located.row);
			const auto source =
				std::ranges::find(changes.replaced_files, located.path) - changes.replaced_files.begin();
			origins.push_back({static_cast<size_t>(source), located.position, 0, 1});
		}
		changes.new_files.push_back(WriteFile(rows));
		const std::string& path = changes.new_files.back().add.path;
		if (row_tracking) {
			for (const Located& located : sources) probe.row_ids[path].push_back(located.id);
		}
		EXPECT_TRUE((*map)->Append(path, origins));
	}
	EXPECT_TRUE((*map)->Finish());
	changes.row_map = (*map)->path();
	return transaction;
}

Transaction MemoryTable::RearrangeAll(SnapshotPtr base, Random* dice) {
	std::vector<std::string> paths;
	for (const LiveFile* file : base->files->Files()) paths.emplace_back(file->path);
	return Rearrange(base, paths, dice);
}

Result<CommitOutcome> MemoryTable::Commit(const Transaction& transaction) {
	return braid::Commit({store, parquet, probe, clock, random, options, {}}, transaction);
}

std::string MemoryTable::CommitText(int64_t version) { return memory.Read(CommitPath(version)).value_or(""); }

std::map<std::string, int> MemoryTable::LiveEntries(int64_t version) {
	std::map<std::pair<std::string, std::string>, bool> active;  // by logical file, as the protocol replays
	for (int64_t v = 0; v <= version; v++) {
		const Status parsed = ParseCommit(CommitText(v), "commit", [&](Action&& action) -> Status {
			const auto key = [](const auto& file) {
				return std::pair(file.path, file.deletion_vector ? UniqueId(*file.deletion_vector) : "");
			};
			if (const auto* add = std::get_if<AddFile>(&action)) active[key(*add)] = true;
			if (const auto* remove = std::get_if<RemoveFile>(&action)) active[key(*remove)] = false;
			return {};
		});
		EXPECT_TRUE(parsed) << parsed.error().message;
	}
	std::map<std::string, int> entries;
	for (const auto& [key, live] : active) entries[key.first] += live;
	return entries;
}

ConflictReport ExpectConflict(const Result<CommitOutcome>& outcome, ConflictClass expected) {
	if (outcome || !outcome.error().conflict) {
		ADD_FAILURE() << "expected " << ErrorClassName(expected) << ", got "
					  << (outcome ? "version " + std::to_string(outcome->version) : outcome.error().message);
		return {};
	}
	EXPECT_EQ(outcome.error().kind, ErrorKind::kConflict);
	EXPECT_EQ(ErrorClassName(outcome.error().conflict->conflict_class), ErrorClassName(expected))
		<< outcome.error().message;
	return *outcome.error().conflict;
}

}  // namespace braid
