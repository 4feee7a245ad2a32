// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/sim_schedule.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "tests/kernel/sim_fiber.h"
#include "tests/kernel/sim_store.h"

namespace braid::sim {
namespace {

std::string NameOf(size_t transaction) { return "T" + std::to_string(transaction + 1); }

std::string OperationOf(const Program& program) {
	if (program.rearranges) return "OPTIMIZE";
	if (program.raises_level || program.adopts) return "SET TBLPROPERTIES";
	if (program.statements.size() > 1) return "MERGE";
	switch (program.statements.at(0).kind) {
		case Kind::kDelete:
			return "DELETE";
		case Kind::kUpdate:
			return "UPDATE";
		case Kind::kMerge:
			return "MERGE";
		default:
			return "WRITE";
	}
}

// New rows into one file per partition, with their origins and ids.
void WriteNewRows(MemoryTable& table, const std::vector<MemoryTable::Located>& located,
				  const std::vector<Effect::Added>& added, StagedChanges& changes) {
	std::map<std::optional<int64_t>, std::vector<Effect::Added>> partitions;
	for (const auto& entry : added) partitions[table.partitioned ? entry.row.x : std::nullopt].push_back(entry);
	for (const auto& [x, entries] : partitions) {
		Rows rows;
		for (const auto& entry : entries) rows.push_back(entry.row);
		NewFile file = table.WriteFile(rows);
		for (size_t i = 0; i < entries.size(); i++) {
			if (table.row_tracking) {
				const auto& origin = entries[i].origin;
				table.probe.row_ids[file.add.path].push_back(origin ? located[*origin].id : std::nullopt);
			}
			if (!entries[i].origin) continue;
			const auto& source = located[*entries[i].origin];
			auto& known = changes.origin_files;
			const auto index = static_cast<size_t>(std::ranges::find(known, source.path) - known.begin());
			if (index == known.size()) known.push_back(source.path);
			file.origins.push_back({index, source.position, i, 1});
		}
		changes.new_files.push_back(std::move(file));
	}
	changes.keeps_row_ids = table.row_tracking;
}

Transaction StageRearrangement(MemoryTable& table, const SnapshotPtr& base, const Plan& plan) {
	SeededRandom random(plan.seed);
	std::vector<std::string> paths;
	for (const LiveFile* file : base->files->Files()) {
		if (random.Next() % 100 < 70) paths.emplace_back(file->path);
	}
	Transaction transaction = table.Rearrange(base, paths, &random);
	if (!plan.program.lies || transaction.changes.new_files.empty()) return transaction;
	NewFile& file = transaction.changes.new_files.front();
	Rows rows = table.probe.files.at(file.add.path);
	rows.pop_back();
	transaction.changes.new_files.erase(transaction.changes.new_files.begin());
	if (!rows.empty()) transaction.changes.new_files.push_back(table.WriteFile(rows));
	transaction.changes.row_map.clear();  // a foreign engine
	transaction.changes.keeps_row_ids = false;
	return transaction;
}

// Statements that act on each row by itself, for mode max.
bool IsRowLocal(const Program& program) {
	return !program.copy_on_write && !program.statements.empty() && !program.Blind() &&
		   std::ranges::all_of(program.statements, [](const Statement& statement) {
			   return statement.kind == Kind::kInsert || statement.kind == Kind::kDelete ||
					  statement.kind == Kind::kUpdate;
		   });
}

// One statement that changes rows, not only adds some.
bool IsRepairedByRerun(const Program& program) {
	if (program.statements.size() != 1) return false;
	const Kind kind = program.statements[0].kind;
	return kind == Kind::kDelete || kind == Kind::kUpdate || kind == Kind::kMerge;
}

Transaction Stage(MemoryTable& table, const SnapshotPtr& base, const Plan& plan) {
	const Program& program = plan.program;
	if (program.rearranges) return StageRearrangement(table, base, plan);
	Transaction transaction = table.Begin(base, OperationOf(program));
	if (program.raises_level || program.adopts) {
		transaction.changes.metadata = base->metadata;
		auto& configuration = transaction.changes.metadata->configuration;
		if (program.raises_level) configuration["delta.isolationLevel"] = "Serializable";
		if (program.adopts) configuration["delta.checkpointPolicy"] = "v2";
		return transaction;
	}
	const auto located = table.Scan(*base);
	Rows rows;
	for (const auto& row : located) rows.push_back(row.row);
	Effect effect = Run(program, rows);
	for (const Statement& statement : program.statements) {
		if (!statement.Reads()) continue;
		const bool removes = statement.kind == Kind::kDelete || statement.kind == Kind::kUpdate;
		Read read {statement.bound, nullptr, removes};
		if (statement.exact_needed) read.exact = std::make_shared<RowCondition>(statement.where);
		transaction.reads.reads.push_back(std::move(read));
	}
	if (program.statements.at(0).kind == Kind::kOverwrite) {
		transaction.changes.removes_all = true;
		transaction.operation_parameters["mode"] = "\"Overwrite\"";
	} else if (program.copy_on_write) {
		std::set<std::string> touched;
		for (const size_t i : effect.removed) touched.insert(located[i].path);
		for (size_t i = 0; i < located.size(); i++) {
			const bool removed = std::ranges::binary_search(effect.removed, i);
			if (touched.contains(located[i].path) && !removed) effect.added.push_back({located[i].row, i});
		}
		transaction.changes.replaced_files.assign(touched.begin(), touched.end());
	} else {
		for (const size_t i : effect.removed)
			transaction.changes.deleted_rows[located[i].path].Add(located[i].position);
	}
	WriteNewRows(table, located, effect.added, transaction.changes);
	transaction.row_local = IsRowLocal(program);
	transaction.repaired_by_rerun = IsRepairedByRerun(program);
	return transaction;
}

class SimRepairer final : public Repairer {
public:
	SimRepairer(MemoryTable& table, const Plan& plan, std::string tag)
		: table_(table), plan_(plan), tag_(std::move(tag)), program_(plan.program) {
		std::erase_if(program_.statements, [](const Statement& statement) { return statement.kind == Kind::kInsert; });
	}
	Result<std::optional<Rerun>> Run(const SnapshotPtr&, std::span<const ProbeRequest> requests) override {
		std::vector<MemoryTable::Located> located;
		Rows rows;
		std::vector<std::string> sources;
		for (const ProbeRequest& request : requests) {
			sources.push_back(request.file->path);
			for (const uint64_t position : request.only->ToVector()) {
				MemoryTable::Located row {request.file->path, position,
										  table_.probe.files.at(request.file->path)[position]};
				if (const auto hidden = table_.probe.row_ids.find(row.path); hidden != table_.probe.row_ids.end())
					row.id = hidden->second[position];
				if (!row.id && request.file->base_row_id)
					row.id = *request.file->base_row_id + static_cast<int64_t>(position);
				rows.push_back(row.row);
				located.push_back(std::move(row));
			}
		}
		const Effect effect = sim::Run(program_, rows);
		Rerun rerun;
		rerun.removed.resize(requests.size());
		for (const size_t i : effect.removed) {
			const auto source = std::ranges::find(sources, located[i].path) - sources.begin();
			rerun.removed[static_cast<size_t>(source)].Add(located[i].position);
		}
		StagedChanges changes;
		changes.origin_files = sources;
		WriteNewRows(table_, located, effect.added, changes);
		rerun.new_files = std::move(changes.new_files);
		return rerun;
	}
	Result<std::optional<Transaction>> RunAgain() override {
		Transaction transaction = Stage(table_, table_.Latest(), plan_);
		transaction.operation_parameters["simulated"] = tag_;
		return transaction;
	}

private:
	MemoryTable& table_;
	const Plan& plan_;
	const std::string tag_;
	Program program_;
};

// One transaction, from its snapshot to its end.
class Writer {
public:
	Writer(History& history, const Schedule& schedule, size_t index, std::vector<DelayedPut>& delayed)
		: history_(history),
		  plan_(schedule.plans[index]),
		  ending_(history.endings[index]),
		  name_(NameOf(index)),
		  tag_(std::to_string(index)),
		  store_(history, delayed, name_),
		  fiber_([this] { Work(); }) {
		store_.foreign = plan_.foreign;
		store_.maps = schedule.maps;
		for (const PlannedFault& fault : schedule.faults) {
			if (fault.transaction != index) continue;
			const bool everywhere = fault.fault == Fault::kIoError;
			(everywhere ? store_.operations : store_.puts)[fault.operation] = fault.fault;
			if (fault.fault == Fault::kCrash) store_.operations[fault.operation * 3] = fault.fault;
		}
	}
	bool done() const { return fiber_.done(); }
	void Step() { fiber_.Resume(); }

private:
	void Work() {
		const SnapshotPtr base = history_.table.Latest();
		ending_.base = base->version;
		history_.events.push_back(name_ + " reads version " + std::to_string(base->version));
		auto transaction = std::make_shared<Transaction>(Stage(history_.table, base, plan_));
		transaction->operation_parameters["simulated"] = tag_;
		ending_.transaction = transaction;
		store_.own_map = transaction->changes.row_map;
		Fiber::Yield();
		if (transaction->changes.empty()) {
			ending_.end = End::kNothingToDo;
			return;
		}
		MemoryTable& table = history_.table;
		CommitOptions options;
		options.mode = plan_.mode;
		if (plan_.by_file) options.compat.runtime = CompatRuntime::k13_3;
		SimRepairer repairer(table, plan_, tag_);
		Conclude(Commit({store_, table.parquet, table.probe, table.clock, table.random, options, {}, &repairer},
						*transaction));
	}

	void Conclude(const Result<CommitOutcome>& outcome) {
		if (store_.crashed()) {
			ending_.end = End::kCrashed;
		} else if (outcome) {
			ending_.end = outcome->attempts > 0 && outcome->version > ending_.base && Committed(outcome->version)
							  ? End::kCommitted
							  : End::kNothingToDo;
			ending_.version = outcome->version;
			ending_.attempts = outcome->attempts;
			ending_.rows_repaired = outcome->rows_repaired;
		} else {
			const ErrorKind kind = outcome.error().kind;
			ending_.end = kind == ErrorKind::kConflict         ? End::kRefused
						  : kind == ErrorKind::kOutcomeUnknown ? End::kUnknown
															   : End::kFailed;
			ending_.version = store_.newest_seen() + 1;
			ending_.message = outcome.error().message;
			if (outcome.error().conflict) ending_.report = *outcome.error().conflict;
		}
		static constexpr const char* kNames[] = {
			"has committed", "had nothing to do", "is refused", "does not know", "fails", "is gone"};
		history_.events.push_back(name_ + " " + kNames[static_cast<int>(ending_.end)] +
								  (ending_.message.empty() ? "" : ": " + ending_.message));
	}

	bool Committed(int64_t version) const {
		return history_.table.CommitText(version).find("\"simulated\":" + tag_) != std::string::npos;
	}

	History& history_;
	const Plan& plan_;
	Ending& ending_;
	const std::string name_, tag_;
	SimStore store_;
	Fiber fiber_;
};

}  // namespace

History::History(const Schedule& schedule) : table(schedule.level, schedule.seed), endings(schedule.plans.size()) {
	table.partitioned = schedule.partitioned;
	table.row_tracking = schedule.row_tracking;
	std::vector<Rows> files;
	if (schedule.partitioned) {
		std::map<std::optional<int64_t>, Rows> partitions;
		for (const Row& row : schedule.start) partitions[row.x].push_back(row);
		for (const auto& [x, rows] : partitions) files.push_back(rows);
	} else {
		files.resize(schedule.files);
		for (size_t i = 0; i < schedule.start.size(); i++) files[i % schedule.files].push_back(schedule.start[i]);
		std::erase_if(files, [](const Rows& rows) { return rows.empty(); });
	}
	table.Create(files);
}

std::unique_ptr<History> Play(const Schedule& schedule) {
	auto history = std::make_unique<History>(schedule);
	std::vector<DelayedPut> delayed;
	std::vector<std::unique_ptr<Writer>> writers;
	for (size_t i = 0; i < schedule.plans.size(); i++)
		writers.push_back(std::make_unique<Writer>(*history, schedule, i, delayed));
	size_t current = 0;
	const auto deliver = [&](bool at_once) {
		for (DelayedPut& put : delayed) {
			if (put.steps > 0 && (at_once || --put.steps == 0)) {
				put.steps = 0;
				const Status arrived = history->table.memory.PutIfAbsent(put.path, put.bytes);
				history->events.push_back(std::string("a delayed commit arrives") + (arrived ? "" : " too late"));
			}
		}
	};
	for (size_t step = 0;; step++) {
		const auto ended = static_cast<size_t>(std::ranges::count_if(writers, [](const auto& w) { return w->done(); }));
		if (ended == writers.size()) break;
		std::vector<size_t> ready;
		for (size_t i = 0; i < writers.size(); i++) {
			if (!writers[i]->done() && schedule.plans[i].starts_after <= ended) ready.push_back(i);
		}
		if (ready.empty())
			ready.push_back(static_cast<size_t>(
				std::ranges::find_if(writers, [](const auto& w) { return !w->done(); }) - writers.begin()));
		const uint8_t choice = schedule.choices.empty() ? 0 : schedule.choices[step % schedule.choices.size()];
		const bool stay = choice < 190 && std::ranges::find(ready, current) != ready.end();
		if (!stay) current = ready[choice % ready.size()];
		writers[current]->Step();
		deliver(false);
	}
	deliver(true);
	return history;
}

// ------------------------------------------------------------ drawing and telling

Schedule Draw(uint64_t seed, const Shape& shape) {
	Dice dice(seed);
	Schedule schedule;
	schedule.seed = seed;
	schedule.level = shape.level;
	schedule.row_tracking = dice.Chance(30);
	schedule.maps = std::array {Maps::kThere, Maps::kThere, Maps::kGone, Maps::kDamaged}[seed % 4];
	if (shape.near) {
		for (int64_t k = 0, rows = dice.Roll(2, 4); k < rows; k++) schedule.start.push_back({k, dice.Roll(0, 3), 0});
	} else {
		for (int i = 0; i < 8; i++) schedule.start.push_back(DrawRow(dice));
		schedule.files = static_cast<size_t>(dice.Roll(1, 3));
		schedule.partitioned = dice.Chance(20);
	}
	for (size_t i = 0; i < shape.transactions; i++) {
		Plan plan;
		plan.program = !shape.near ? AnyProgram(dice) : i == 0 ? NearAppend(dice, 2) : NearProgram(dice);
		plan.mode = shape.mode;
		if (shape.mixed)
			plan.mode =
				dice.Pick<ConcurrencyMode>({ConcurrencyMode::kSound, ConcurrencyMode::kStrict, ConcurrencyMode::kMax});
		plan.foreign = shape.foreign && dice.Chance(25);
		plan.seed = static_cast<uint64_t>(dice.Roll(0, 1'000'000));
		const auto before = static_cast<int64_t>(i);
		plan.starts_after =
			static_cast<size_t>(shape.near        ? dice.Pick<int64_t>({0, 0, before, before, dice.Roll(0, before)})
								: dice.Chance(60) ? 0
												  : dice.Roll(0, before));
		schedule.plans.push_back(std::move(plan));
	}
	for (int64_t i = shape.faults ? dice.Roll(0, 3) : 0; i > 0; i--) {
		const auto fault = dice.Pick<Fault>({Fault::kCrash, Fault::kLostAnswer, Fault::kLostAnswer, Fault::kNotDone,
											 Fault::kDelayed, Fault::kTwice, Fault::kIoError});
		const auto transaction = static_cast<size_t>(dice.Roll(0, static_cast<int64_t>(shape.transactions) - 1));
		schedule.faults.push_back(
			{transaction, static_cast<int>(dice.Roll(1, fault == Fault::kIoError ? 12 : 3)), fault});
	}
	const int64_t calm = dice.Roll(0, 2);  // some schedules switch often, some rarely
	for (int i = 0; i < 200; i++) {
		const int64_t stay = calm == 0 ? 50 : calm == 1 ? 80 : 97;
		schedule.choices.push_back(static_cast<uint8_t>(dice.Chance(static_cast<int>(stay)) ? 0 : dice.Roll(190, 255)));
	}
	return schedule;
}

std::string Schedule::Text() const {
	std::ostringstream out;
	out << "seed " << seed << ", " << level << ", "
		<< (partitioned ? "partitioned by x" : std::to_string(files) + " files")
		<< (row_tracking ? ", row tracking" : "")
		<< std::array {"", ", maps are gone", ", maps are damaged"}[static_cast<size_t>(maps)] << "\n  rows (k, x, y):";
	out << " " << sim::Text(start);
	for (size_t i = 0; i < plans.size(); i++) {
		static constexpr const char* kModes[] = {"strict", "sound", "max"};
		out << "\n  " << NameOf(i) << ": " << plans[i].program.Text() << ", " << kModes[static_cast<int>(plans[i].mode)]
			<< ", starts after " << plans[i].starts_after << " others" << (plans[i].foreign ? ", foreign" : "");
	}
	static constexpr const char* kFaults[] = {
		"none", "crash", "answer lost after the write", "not written, no answer", "delayed", "sent twice", "I/O error"};
	for (const PlannedFault& fault : faults)
		out << "\n  fault: " << NameOf(fault.transaction) << ", operation " << fault.operation << ": "
			<< kFaults[static_cast<int>(fault.fault)];
	return out.str();
}

}  // namespace braid::sim
