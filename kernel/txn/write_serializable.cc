// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/write_serializable.h"

#include <algorithm>

namespace braid {

static bool Rearranges(const WinningCommit& winner) { return !winner.data_changing && !winner.effects.empty(); }

// Condition (i): a winner that is not blind changed none of our rows, so we may follow it.
static bool MayFollow(const WinningCommit& winner) {
	if (winner.blind || !winner.data_changing) return true;
	return std::ranges::none_of(
		winner.effects, [](const FileEffect& effect) { return effect.removed.matched || effect.added.matched; });
}

// Did `reader` remove a row that `append` inserted? After a rearrangement the row may be in any file.
static bool RemovedRowsOf(const WinningCommit& append, const WinningCommit& reader, bool rearranged_between) {
	return std::ranges::any_of(reader.effects, [&](const FileEffect& effect) {
		if (!effect.before) return false;
		return rearranged_between ||
			   std::ranges::any_of(append.effects, [&](const FileEffect& added) { return added.path == effect.path; });
	});
}

// Condition (ii), for one pair: `reader` had seen the append and read one of its rows, so it must come after the
// append, hence after us.
static Result<bool> SawAndRead(const JudgeContext& context, const WinningCommit& append, const WinningCommit& reader,
							   bool rearranged_between) {
	if (reader.info.read_version && *reader.info.read_version < append.version) return false;
	if (!reader.info.read_version || !reader.reads) return true;
	if (RemovedRowsOf(append, reader, rearranged_between)) return true;
	std::vector<Read> recorded;
	for (const Predicate& predicate : *reader.reads) recorded.push_back({predicate, nullptr, false});
	std::vector<Finding> findings(append.effects.size());
	std::vector<RowQuestion> questions;
	for (size_t i = 0; i < append.effects.size(); i++) {
		const FileEffect& effect = append.effects[i];
		BRAID_TRY(RowSelection rows, AddedRows(effect.before, effect.after, context.vectors));
		questions.push_back({std::move(rows), false, &findings[i]});
	}
	BRAID_TRY(context.tester.Test(questions, recorded, *append.after));
	return std::ranges::any_of(findings, &Finding::matched);
}

Result<bool> CanOrderBeforeAppends(const JudgeContext& context, SurvivingAppends& survivors) {
	const auto winners = context.winners;
	if (!std::ranges::all_of(winners, MayFollow)) return false;
	for (size_t k = 0; k < winners.size(); k++) {
		const WinningCommit& append = winners[k];
		if (!append.blind ||
			std::ranges::none_of(append.effects, [](const auto& effect) { return effect.added.matched; }))
			continue;
		bool rearranged = false;
		for (size_t x = k + 1; x < winners.size(); x++) {
			rearranged |= Rearranges(winners[x]);
			if (winners[x].blind || !winners[x].data_changing) continue;
			BRAID_TRY(const bool closes_a_cycle, SawAndRead(context, append, winners[x], rearranged));
			if (closes_a_cycle) return false;
		}
		// A rearrangement may have put the append's rows beside ours; a whole-table replacement could not leave them alone.
		if (rearranged && context.transaction.changes.removes_all) return false;
		for (const FileEffect& effect : append.effects) survivors.insert(effect.path);
	}
	return true;
}

}  // namespace braid
