// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/sim_oracle.h"

#include <algorithm>
#include <set>

namespace braid::sim {
namespace {

struct CommitOnDisk {
	size_t transaction;
	Rows removed, added;  // sorted; empty for a rearrangement
};

// "simulated" in the commit's operationParameters.
std::optional<size_t> TransactionOf(const std::string& commit) {
	constexpr std::string_view kTag = "\"simulated\":";
	const size_t at = commit.find(kTag);
	if (at == std::string::npos) return std::nullopt;
	return static_cast<size_t>(std::stoul(commit.substr(at + kTag.size())));
}

Rows Minus(const Rows& from, const Rows& rows) {
	Rows rest;
	std::ranges::set_difference(from, rows, std::back_inserter(rest));
	return rest;
}

class Oracle {
public:
	Oracle(const Schedule& schedule, History& history) : schedule_(schedule), history_(history) {}

	std::optional<std::string> Check() {
		if (auto wrong = ReadVersions()) return wrong;
		if (auto wrong = CheckAnswers()) return wrong;
		if (schedule_.level == "Serializable") {
			Rows rows = states_.front();
			for (const CommitOnDisk& commit : commits_) {
				if (!Explains(commit, rows))
					return "T" + std::to_string(commit.transaction + 1) +
						   " would have done something else at its place in the log";
			}
			return std::nullopt;
		}
		std::vector<bool> placed(commits_.size());
		if (SomeOrder(states_.front(), placed)) return std::nullopt;
		return "no order of the transactions explains the table";
	}

private:
	// Rows of every version, and what each commit did to them.
	std::optional<std::string> ReadVersions() {
		MemoryTable& table = history_.table;
		const int64_t last = table.Latest()->version;
		std::set<std::pair<std::string, uint64_t>> places;
		for (int64_t version = 0; version <= last; version++) {
			const auto snapshot = LoadSnapshot({table.memory, table.parquet}, version);
			if (!snapshot) return "version " + std::to_string(version) + " cannot be read: " + snapshot.error().message;
			std::set<std::pair<std::string, uint64_t>> now;
			Rows rows, removed, added;
			for (const auto& located : table.Scan(**snapshot)) {
				rows.push_back(located.row);
				if (!now.emplace(located.path, located.position).second) return "a row is there twice: " + located.path;
				if (!places.contains({located.path, located.position})) added.push_back(located.row);
			}
			for (const auto& [path, position] : places) {
				if (!now.contains({path, position})) removed.push_back(table.probe.files.at(path).at(position));
			}
			for (const auto& [path, entries] : table.LiveEntries(version)) {
				if (entries > 1) return path + " has two live entries in version " + std::to_string(version);
			}
			places = std::move(now);
			for (Rows* sorted : {&rows, &removed, &added}) std::ranges::sort(*sorted);
			states_.push_back(std::move(rows));
			if (version == 0) continue;
			const auto transaction = TransactionOf(table.CommitText(version));
			if (!transaction) return "version " + std::to_string(version) + " is nobody's";
			owners_.push_back(*transaction);
			const Program& program = schedule_.plans[*transaction].program;
			if (program.rearranges && !program.lies) {
				if (removed != added) return "a rearrangement changed rows, version " + std::to_string(version);
			} else if (!program.raises_level && !program.adopts) {
				const Rows gone = Minus(removed, added), come = Minus(added, removed);
				commits_.push_back({*transaction, program.copy_on_write || program.lies ? gone : removed,
									program.copy_on_write || program.lies ? come : added});
			}
		}
		return std::nullopt;
	}

	// What the committer told the client is what is in the log.
	std::optional<std::string> CheckAnswers() {
		for (size_t i = 0; i < schedule_.plans.size(); i++) {
			const Ending& ending = history_.endings[i];
			const auto written = std::ranges::count(owners_, i);
			const std::string name = "T" + std::to_string(i + 1);
			if (written > 1) return name + " is in the log twice";
			if (ending.end == End::kCommitted &&
				(written != 1 || owners_.at(static_cast<size_t>(ending.version) - 1) != i))
				return name + " was told that it has committed version " + std::to_string(ending.version) +
					   ", which it has not";
			const bool denied =
				ending.end == End::kRefused || ending.end == End::kNothingToDo || ending.end == End::kFailed;
			if (denied && written != 0) return name + " was told that nothing was written, but it is in the log";
		}
		return std::nullopt;
	}

	// Does the program of this commit do on `rows` what the commit has done? Then `rows` becomes what is left.
	bool Explains(const CommitOnDisk& commit, Rows& rows) const {
		const Program& program = schedule_.plans[commit.transaction].program;
		Rows removed = commit.removed, added = commit.added;
		if (!program.lies) {
			const Effect effect = Run(program, rows);
			removed.clear();
			for (const size_t i : effect.removed) removed.push_back(rows[i]);
			std::ranges::sort(removed);
			added = effect.AddedRows();
			if (program.copy_on_write) {
				const Rows gone = Minus(removed, added), come = Minus(added, removed);
				if (gone != commit.removed || come != commit.added) return false;
			} else if (removed != commit.removed || added != commit.added) {
				return false;
			}
		}
		Rows rest = Minus(rows, removed);
		if (rest.size() + removed.size() != rows.size()) return false;
		rest.insert(rest.end(), added.begin(), added.end());
		std::ranges::sort(rest);
		rows = std::move(rest);
		return true;
	}

	// Everybody keeps his place in the log; only blind appends may come later (docs/concurrency.md).
	bool SomeOrder(const Rows& rows, std::vector<bool>& placed) const {
		bool all = true, next_changer = true;
		for (size_t i = 0; i < commits_.size(); i++) {
			if (placed[i]) continue;
			all = false;
			const bool blind = schedule_.plans[commits_[i].transaction].program.Blind();
			if (!blind && !next_changer) continue;
			if (!blind) next_changer = false;
			Rows after = rows;
			if (!Explains(commits_[i], after)) continue;
			placed[i] = true;
			const bool found = SomeOrder(after, placed);
			placed[i] = false;
			if (found) return true;
		}
		return all && rows == states_.back();
	}

	const Schedule& schedule_;
	History& history_;
	std::vector<Rows> states_;    // by version, sorted
	std::vector<size_t> owners_;  // of versions 1, 2, ...
	std::vector<CommitOnDisk> commits_;
};

}  // namespace

std::optional<std::string> Violation(const Schedule& schedule, History& history) {
	return Oracle(schedule, history).Check();
}

namespace {

// Rows that a program reads, at one version, and where they are.
struct ReadRows {
	Rows rows;  // sorted
	std::set<std::pair<std::string, uint64_t>> places;
	std::set<std::optional<int64_t>> ids;
};

ReadRows RowsReadAt(const Program& program, MemoryTable& table, int64_t version) {
	const auto snapshot = LoadSnapshot({table.memory, table.parquet}, version);
	ReadRows read;
	for (const auto& located : table.Scan(**snapshot)) {
		const bool matches = std::ranges::any_of(program.statements, [&](const Statement& statement) {
			return statement.kind == Kind::kOverwrite || (statement.Reads() && statement.where(located.row));
		});
		if (!matches) continue;
		read.rows.push_back(located.row);
		read.places.emplace(located.path, located.position);
		read.ids.insert(located.id);
	}
	std::ranges::sort(read.rows);
	return read;
}

}  // namespace

Reason WhyRefused(const Schedule& schedule, History& history, size_t transaction) {
	const Ending& ending = history.endings[transaction];
	const Program& program = schedule.plans[transaction].program;
	if (program.copy_on_write || program.lies || program.raises_level || program.adopts) return Reason::kByFile;
	const auto liar = std::ranges::any_of(schedule.plans, [](const Plan& plan) { return plan.program.lies; });
	if (liar || ending.report->conflict_class == ConflictClass::kMetadataChanged) return Reason::kByFile;
	const ReadRows then = RowsReadAt(program, history.table, ending.base);
	const ReadRows now = RowsReadAt(program, history.table, ending.version - 1);
	if (then.rows != now.rows) return Reason::kRows;
	if (then.places != now.places && (!schedule.row_tracking || then.ids != now.ids)) return Reason::kEqualRows;
	return Reason::kNeedless;
}

// Leaves out transactions, statements, faults and switches as long as something stays wrong.
Schedule Shrink(Schedule schedule, const std::function<bool(const Schedule&)>& wrong) {
	for (bool smaller = true; smaller;) {
		smaller = false;
		const auto attempt = [&](Schedule candidate) {
			if (!wrong(candidate)) return false;
			schedule = std::move(candidate);
			return smaller = true;
		};
		for (size_t i = 0; i < schedule.plans.size() && schedule.plans.size() > 1; i++) {
			Schedule candidate = schedule;
			candidate.plans.erase(candidate.plans.begin() + static_cast<std::ptrdiff_t>(i));
			std::erase_if(candidate.faults, [&](const PlannedFault& fault) { return fault.transaction == i; });
			for (PlannedFault& fault : candidate.faults) fault.transaction -= fault.transaction > i;
			for (Plan& plan : candidate.plans)
				plan.starts_after = std::min(plan.starts_after, candidate.plans.size() - 1);
			if (attempt(std::move(candidate))) break;
		}
		for (size_t i = 0; i < schedule.faults.size(); i++) {
			Schedule candidate = schedule;
			candidate.faults.erase(candidate.faults.begin() + static_cast<std::ptrdiff_t>(i));
			if (attempt(std::move(candidate))) break;
		}
		for (size_t i = 0; i < schedule.plans.size(); i++) {
			for (size_t s = 0;
				 schedule.plans[i].program.statements.size() > 1 && s < schedule.plans[i].program.statements.size();
				 s++) {
				Schedule candidate = schedule;
				auto& statements = candidate.plans[i].program.statements;
				statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(s));
				if (attempt(std::move(candidate))) break;
			}
		}
		for (size_t i = 0; i < schedule.start.size(); i++) {
			Schedule candidate = schedule;
			candidate.start.erase(candidate.start.begin() + static_cast<std::ptrdiff_t>(i));
			if (!candidate.start.empty() && attempt(std::move(candidate))) break;
		}
		if (std::ranges::any_of(schedule.choices, [](uint8_t choice) { return choice != 0; })) {
			Schedule candidate = schedule;
			candidate.choices.assign(1, 0);
			attempt(std::move(candidate));
		}
	}
	return schedule;
}

}  // namespace braid::sim
