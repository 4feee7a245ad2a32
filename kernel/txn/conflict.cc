// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/conflict.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/log/log_path.h"
#include "kernel/txn/copied_rows.h"
#include "kernel/txn/file_test.h"
#include "kernel/txn/gate.h"
#include "kernel/txn/mover.h"
#include "kernel/txn/write_serializable.h"

namespace braid {

bool TouchesNothing(const Transaction& transaction) {
	const StagedChanges& changes = transaction.changes;
	return transaction.reads.empty() && changes.entries.empty() && changes.deleted_rows.empty() &&
		   changes.replaced_files.empty() && !changes.removes_all;
}

namespace {

struct Clash {
	const ConflictRule* rule;
	const WinningCommit* winner;
	std::string file;
	std::vector<std::string> rows;
	bool unproven = false;
	std::string predicate;
};

class Judgement {
public:
	explicit Judgement(const JudgeContext& context);
	Result<SurvivingAppends> Run();
	Result<std::vector<ConflictReport>> Reports();

private:
	Status FindEveryClash();
	Status TestEveryWinner();
	Status AskAboutAllBut(const std::set<const FileEffect*>& left_out);
	Status AskAbout(FileEffect& effect, std::vector<RowQuestion>& questions);
	Status FindClashes(const FileDelta& delta);
	Status FindLostRows();
	Status FindReplacedTarget(const FileDelta& delta);
	Status FindReads(const FileDelta& delta, const RowSelection& rows, Finding FileEffect::*side);
	Result<Finding> Exactly(const RowSelection& rows, const PositionSet& matching);
	Result<Finding> StillMatched(const RowSelection& rows, const Finding& gross, bool covered);

	const JudgeContext& context_;
	const StagedChanges& changes_;
	std::vector<Read> reads_;
	std::set<std::string> replaced_;  // decoded paths
	std::vector<Clash> clashes_;
};

Judgement::Judgement(const JudgeContext& context)
	: context_(context), changes_(context.transaction.changes), reads_(context.transaction.reads.reads) {
	if (changes_.removes_all) reads_.push_back({Predicate::True(), nullptr, false});
	for (const auto& path : changes_.replaced_files) replaced_.insert(DecodePath(path));
}

// A plain DELETE or UPDATE put every row that it read into its deletes, for files that it has seen.
static bool Covered(const FileEffect& effect, const Snapshot& base) {
	return effect.before && base.files->Find(effect.before->path);
}

Status Judgement::AskAbout(FileEffect& effect, std::vector<RowQuestion>& questions) {
	if (effect.moved) return {};
	if (!effect.removed.tested) {
		BRAID_TRY(RowSelection rows, RemovedRows(effect.before, effect.after, context_.vectors));
		effect.removed.tested = true;
		questions.push_back({std::move(rows), Covered(effect, *context_.transaction.base), &effect.removed});
	}
	if (!effect.added.tested) {
		BRAID_TRY(RowSelection rows, AddedRows(effect.before, effect.after, context_.vectors));
		questions.push_back({std::move(rows), false, &effect.added});
	}
	return {};
}

// Rows of appends that others removed again, the whole file: they are not in the net delta, so the file need not be read. Nobody copied them from
// elsewhere (copied_rows.h), because the append took nothing away.
static std::set<const FileEffect*> CameAndWent(std::span<WinningCommit> winners) {
	std::set<const FileEffect*> effects;
	for (const FileDelta& life : NetDelta(winners)) {
		if (life.first || life.last) continue;
		const WinningCommit& creator = *life.history.front().first;
		if (std::ranges::any_of(creator.effects, [](const FileEffect& effect) { return effect.before; })) continue;
		for (const auto& [winner, effect] : life.history) effects.insert(effect);
	}
	return effects;
}

Status Judgement::AskAboutAllBut(const std::set<const FileEffect*>& left_out) {
	std::vector<RowQuestion> questions;
	for (WinningCommit& winner : context_.winners) {
		for (FileEffect& effect : winner.effects) {
			if (!left_out.contains(&effect)) BRAID_TRY(AskAbout(effect, questions));
		}
	}
	return context_.tester.Test(questions, reads_, *context_.transaction.base);
}

Status Judgement::TestEveryWinner() {
	BRAID_TRY(AskAboutAllBut(CameAndWent(context_.winners)));
	RowsOfBase base(*context_.transaction.base);
	for (WinningCommit& winner : context_.winners) {
		BRAID_TRY(DiscardCopiedRows(winner, reads_, base, context_.probe, context_.vectors, context_.tester));
		base.Advance(winner);
	}
	return context_.relocation.Follow(context_.winners);
}

// Rows that we delete and that a winner removed, or moved where we cannot follow.
Status Judgement::FindLostRows() {
	for (const LostRows& lost : context_.relocation.lost()) {
		const auto winner = std::ranges::find(context_.winners, lost.winner, &WinningCommit::version);
		BRAID_CHECK(winner != context_.winners.end());
		const auto theirs = lost.moved ? WinnerEffect::kMovesRow : WinnerEffect::kRemovesRow;
		Clash clash {&RuleFor(OurAction::kRemovesRow, theirs), &*winner, lost.file.path, {}, lost.unproven};
		auto pictures = context_.probe.Describe(lost.file, lost.rows.ToVector(context_.explain_rows));
		if (pictures && !lost.moved) clash.rows = *std::move(pictures);
		clashes_.push_back(std::move(clash));
	}
	return {};
}

// Copy-on-write is judged per file: the entry that we replace must be the one that we read. A mover need only know that no row has come back.
Status Judgement::FindReplacedTarget(const FileDelta& delta) {
	if (!delta.first || delta.moved_in || !replaced_.contains(delta.path)) return {};
	if (IsMover(context_.transaction)) {
		BRAID_TRY(const RowSelection back, AddedRows(delta, context_.vectors));
		if (back.Empty()) return {};
	}
	if (delta.last && !delta.moved_away && SameVector(*delta.first, *delta.last)) return {};
	const auto theirs = delta.moved_away ? WinnerEffect::kMovesRow : WinnerEffect::kRemovesRow;
	clashes_.push_back({&RuleFor(OurAction::kReplacesFile, theirs),
						delta.history.back().first,
						std::string(delta.first->path),
						{},
						false});
	return {};
}

// A winner's match counts only if the row is still in the net delta: it may have been inserted and deleted again.
Result<Finding> Judgement::StillMatched(const RowSelection& rows, const Finding& gross, bool covered) {
	Finding net;
	if (rows.Empty()) return net;
	if (gross.rows) return Exactly(rows, rows.Among(*gross.rows));
	for (const ProbeMatch& sample : gross.samples) {
		if (rows.Contains(sample.position)) net.samples.push_back(sample);
	}
	net.matched = !net.samples.empty();
	if (net.matched) return net;
	RowQuestion question {rows, covered, &net};
	BRAID_TRY(context_.tester.Test(std::span(&question, 1), reads_, *context_.transaction.base));
	return net;
}

Result<Finding> Judgement::Exactly(const RowSelection& rows, const PositionSet& matching) {
	Finding net;
	net.matched = !matching.Empty();
	const auto positions = matching.ToVector(context_.explain_rows);
	if (positions.empty()) return net;
	BRAID_TRY(const AddFile add, ToAddFile(*rows.file));
	const auto pictures = context_.probe.Describe(add, positions);
	for (size_t i = 0; i < positions.size(); i++)
		net.samples.push_back({0, positions[i], pictures ? (*pictures)[i] : ""});
	return net;
}

Status Judgement::FindReads(const FileDelta& delta, const RowSelection& rows, Finding FileEffect::*side) {
	const OurAction ours = changes_.removes_all ? OurAction::kReplacesTable : OurAction::kReadsRow;
	for (const auto& [winner, effect] : delta.history) {
		if (!(effect->*side).matched) continue;
		const bool removal = side == &FileEffect::removed;
		const bool covered = removal && Covered(*effect, *context_.transaction.base);
		BRAID_TRY(const Finding net, StillMatched(rows, effect->*side, covered));
		if (!net.matched) continue;
		// What was not tested is judged by file: a vector update is a removal and an addition (R8, R16).
		const WinnerEffect theirs = removal && !(net.unproven && effect->after) ? WinnerEffect::kRemovesRow
									: winner->blind                             ? WinnerEffect::kAppendsBlindly
																				: WinnerEffect::kAddsRow;
		Clash clash {&RuleFor(ours, theirs),   winner, std::string(rows.file->path), {}, net.unproven,
					 (effect->*side).predicate};
		for (const ProbeMatch& sample : net.samples) clash.rows.push_back(sample.row);
		clashes_.push_back(std::move(clash));
	}
	return {};
}

Status Judgement::FindClashes(const FileDelta& delta) {
	BRAID_TRY(const RowSelection removed, RemovedRows(delta, context_.vectors));
	BRAID_TRY(const RowSelection added, AddedRows(delta, context_.vectors));
	BRAID_TRY(FindReplacedTarget(delta));
	BRAID_TRY(FindReads(delta, removed, &FileEffect::removed));
	return FindReads(delta, added, &FileEffect::added);
}

// Which of several clashes is reported: an added row first, then a row that we delete too, then one that we read.
const Clash* Worst(const std::vector<Clash>& clashes, IsolationLevel level, Verdict verdict) {
	const Clash* worst = nullptr;
	for (const Clash& clash : clashes) {
		if (clash.rule->At(level) != verdict) continue;
		const auto rank = [](const Clash& c) {
			if (c.rule->conflict_class == ConflictClass::kConcurrentAppend) return 0;
			return c.rule->conflict_class == ConflictClass::kConcurrentDeleteDelete ? 1 : 2;
		};
		if (!worst || rank(clash) < rank(*worst)) worst = &clash;
	}
	return worst;
}

std::string SubCondition(const Clash& clash) {
	if (clash.unproven) return "ALLOTTED_TIME_EXCEEDED";
	if (ReplacesWholeTable(*clash.winner)) return "WHOLE_TABLE_REPLACE";
	return clash.rows.empty() ? "WITHOUT_HINT" : "ROW_LEVEL_CHANGES";
}

// What the same winner did to other rows that concern us belongs to the story: the old image of the row whose new one we should have read.
void TellOldAndNew(const std::vector<Clash>& clashes, const Clash& worst, ConflictReport& report) {
	for (const Clash& clash : clashes) {
		if (clash.winner != worst.winner) continue;
		const bool added = clash.rule->conflict_class == ConflictClass::kConcurrentAppend;
		auto& rows = added ? report.new_rows : report.old_rows;
		for (const std::string& row : clash.rows) {
			if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
		}
	}
}

// As JSON; "" if the table has no partitions.
std::string PartitionOf(const Snapshot& base, const Clash& clash) {
	if (base.metadata.partition_columns.empty()) return "";
	for (const FileEffect& effect : clash.winner->effects) {
		for (const LiveFile* file : {effect.before, effect.after}) {
			if (file && file->path == clash.file) return std::string(file->partition_values);
		}
	}
	const LiveFile* read = base.files->Find(clash.file);
	return read ? std::string(read->partition_values) : "";
}

ConflictReport ReportOf(const JudgeContext& context, const std::vector<Clash>& clashes, const Clash& clash) {
	ConflictReport report = ReportAgainst(context.transaction, *clash.winner, context.transaction.base->table);
	report.conflict_class = clash.rule->conflict_class;
	report.sub_condition = SubCondition(clash);
	report.file = clash.file;
	report.partition = PartitionOf(*context.transaction.base, clash);
	report.rows = clash.rows;
	report.matched_predicate = clash.predicate;
	TellOldAndNew(clashes, clash, report);
	report.rule = clash.rule->rule;
	return report;
}

Status Judgement::FindEveryClash() {
	BRAID_TRY(TestEveryWinner());
	BRAID_TRY(FindLostRows());
	for (const FileDelta& delta : NetDelta(context_.winners)) BRAID_TRY(FindClashes(delta));
	return {};
}

Result<SurvivingAppends> Judgement::Run() {
	BRAID_TRY(FindEveryClash());
	if (const Clash* clash = Worst(clashes_, context_.level, Verdict::kConflict))
		return AsError(ReportOf(context_, clashes_, *clash));
	SurvivingAppends survivors;
	if (const Clash* clash = Worst(clashes_, context_.level, Verdict::kOrderBefore)) {
		BRAID_TRY(AskAboutAllBut({}));  // winner by winner, a row counts even if it is gone again
		BRAID_TRY(const bool possible, CanOrderBeforeAppends(context_, survivors));
		if (!possible) return AsError(ReportOf(context_, clashes_, *clash));
	}
	return survivors;
}

Result<std::vector<ConflictReport>> Judgement::Reports() {
	BRAID_TRY(FindEveryClash());
	std::vector<ConflictReport> reports;
	SurvivingAppends survivors;
	const bool appends = Worst(clashes_, context_.level, Verdict::kOrderBefore) != nullptr;
	bool ordered_before = false;
	if (appends) {
		BRAID_TRY(ordered_before, CanOrderBeforeAppends(context_, survivors));
	}
	for (const Clash& clash : clashes_) {
		const Verdict verdict = clash.rule->At(context_.level);
		if (verdict == Verdict::kConflict || (verdict == Verdict::kOrderBefore && !ordered_before))
			reports.push_back(ReportOf(context_, {clash}, clash));
	}
	std::ranges::stable_sort(reports, {}, &ConflictReport::winner_version);
	return reports;
}

}  // namespace

Result<std::vector<ConflictReport>> AllClashes(const JudgeContext& context) {
	if (TouchesNothing(context.transaction) || context.winners.empty()) return std::vector<ConflictReport> {};
	if (context.mode == ConcurrencyMode::kStrict) {
		const Status by_file = TestFiles(context);
		if (!by_file && by_file.error().conflict) return std::vector<ConflictReport> {*by_file.error().conflict};
		BRAID_TRY(by_file);
	}
	return Judgement(context).Reports();
}

Result<SurvivingAppends> Judge(const JudgeContext& context) {
	if (TouchesNothing(context.transaction) || context.winners.empty()) return SurvivingAppends {};
	if (context.mode == ConcurrencyMode::kStrict) BRAID_TRY(TestFiles(context));
	return Judgement(context).Run();
}

}  // namespace braid
