// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/conflict.h"

#include <algorithm>
#include <map>

#include "kernel/log/log_path.h"
#include "kernel/txn/file_test.h"
#include "kernel/txn/gate.h"
#include "kernel/txn/write_serializable.h"

namespace braid {

bool TouchesNothing(const Transaction& transaction) {
	const StagedChanges& changes = transaction.changes;
	return transaction.reads.empty() && changes.deleted_rows.empty() && changes.replaced_files.empty() &&
		   !changes.removes_all;
}

namespace {

struct Clash {
	const ConflictRule* rule;
	const WinningCommit* winner;
	std::string file;
	std::vector<std::string> rows;
	bool unproven = false;
};

class Judgement {
public:
	explicit Judgement(const JudgeContext& context);
	Result<SurvivingAppends> Run();

private:
	Status TestEveryWinner();
	Status AskAbout(FileEffect& effect, std::vector<RowQuestion>& questions);
	Status FindClashes(const FileDelta& delta);
	Status FindDeletedTargets(const FileDelta& delta, const RowSelection& removed);
	void FindReplacedTarget(const FileDelta& delta);
	Status FindReads(const FileDelta& delta, const RowSelection& rows, Finding FileEffect::*side);
	Result<Finding> StillMatched(const RowSelection& rows, const Finding& gross, bool covered);
	const PositionSet* DeletesOf(const LiveFile* before) const;

	const JudgeContext& context_;
	const StagedChanges& changes_;
	std::vector<Read> reads_;
	std::map<std::string, const PositionSet*> deletes_;  // by decoded path
	std::set<std::string> replaced_;                     // likewise
	std::vector<Clash> clashes_;
};

Judgement::Judgement(const JudgeContext& context)
	: context_(context), changes_(context.transaction.changes), reads_(context.transaction.reads.reads) {
	if (changes_.removes_all) reads_.push_back({Predicate::True(), nullptr, false});
	for (const auto& [path, rows] : changes_.deleted_rows) deletes_[DecodePath(path)] = &rows;
	for (const auto& path : changes_.replaced_files) replaced_.insert(DecodePath(path));
}

const PositionSet* Judgement::DeletesOf(const LiveFile* before) const {
	if (!before) return nullptr;
	const auto found = deletes_.find(DecodePath(before->path));
	return found == deletes_.end() ? nullptr : found->second;
}

// A plain DELETE or UPDATE put every row that it read into its deletes, for files that it has seen.
static bool Covered(const FileEffect& effect, const Snapshot& base) {
	return effect.before && base.files->Find(effect.before->path);
}

Status Judgement::AskAbout(FileEffect& effect, std::vector<RowQuestion>& questions) {
	if (effect.moved) return {};
	if (!effect.removed.tested) {
		BRAID_TRY(RowSelection rows, RemovedRows(effect.before, effect.after, context_.vectors));
		const PositionSet* deletes = DeletesOf(effect.before);
		effect.removed.tested = true;
		effect.removed.matched = deletes && !rows.Among(*deletes).Empty();
		questions.push_back({std::move(rows), Covered(effect, *context_.transaction.base), &effect.removed});
	}
	if (!effect.added.tested) {
		BRAID_TRY(RowSelection rows, AddedRows(effect.before, effect.after, context_.vectors));
		questions.push_back({std::move(rows), false, &effect.added});
	}
	return {};
}

Status Judgement::TestEveryWinner() {
	std::vector<RowQuestion> questions;
	for (WinningCommit& winner : context_.winners) {
		for (FileEffect& effect : winner.effects) BRAID_TRY(AskAbout(effect, questions));
	}
	return context_.tester.Test(questions, reads_, *context_.transaction.base);
}

// Rows that we delete and that a winner deleted, or moved to a place that we do not know.
Status Judgement::FindDeletedTargets(const FileDelta& delta, const RowSelection& removed) {
	const PositionSet* deletes = delta.moved_in ? nullptr : DeletesOf(delta.first);
	if (!deletes) return {};
	const PositionSet hits = removed.Among(*deletes);
	if (!hits.Empty()) {
		BRAID_TRY(AddFile add, ToAddFile(*delta.first));
		auto pictures = context_.probe.Describe(add, hits.ToVector(context_.explain_rows));
		const WinningCommit* culprit = delta.history.back().first;
		for (const auto& [winner, effect] : delta.history) {
			if (effect->removed.matched) culprit = winner;
		}
		clashes_.push_back({&RuleFor(OurAction::kRemovesRow, WinnerEffect::kRemovesRow), culprit, add.path,
							pictures ? *std::move(pictures) : std::vector<std::string> {}, false});
	}
	if (delta.moved_away && hits.Cardinality() < deletes->Cardinality()) {
		clashes_.push_back({&RuleFor(OurAction::kRemovesRow, WinnerEffect::kMovesRow),
							delta.history.back().first,
							std::string(delta.first->path),
							{},
							false});
	}
	return {};
}

// Copy-on-write is judged per file: the entry that we replace must be the one that we read.
void Judgement::FindReplacedTarget(const FileDelta& delta) {
	if (!delta.first || delta.moved_in || !replaced_.contains(delta.path)) return;
	if (delta.last && !delta.moved_away && SameVector(*delta.first, *delta.last)) return;
	const auto theirs = delta.moved_away ? WinnerEffect::kMovesRow : WinnerEffect::kRemovesRow;
	clashes_.push_back({&RuleFor(OurAction::kReplacesFile, theirs),
						delta.history.back().first,
						std::string(delta.first->path),
						{},
						false});
}

// A winner's match counts only if the row is still in the net delta: it may have been inserted and deleted again.
Result<Finding> Judgement::StillMatched(const RowSelection& rows, const Finding& gross, bool covered) {
	Finding net;
	if (rows.Empty()) return net;
	for (const ProbeMatch& sample : gross.samples) {
		if (rows.Contains(sample.position)) net.samples.push_back(sample);
	}
	net.matched = !net.samples.empty();
	if (net.matched) return net;
	RowQuestion question {rows, covered, &net};
	BRAID_TRY(context_.tester.Test(std::span(&question, 1), reads_, *context_.transaction.base));
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
		Clash clash {&RuleFor(ours, theirs), winner, std::string(rows.file->path), {}, net.unproven};
		for (const ProbeMatch& sample : net.samples) clash.rows.push_back(sample.row);
		clashes_.push_back(std::move(clash));
	}
	return {};
}

Status Judgement::FindClashes(const FileDelta& delta) {
	BRAID_TRY(const RowSelection removed, RemovedRows(delta.first, delta.last, context_.vectors));
	BRAID_TRY(const RowSelection added, AddedRows(delta.first, delta.last, context_.vectors));
	BRAID_TRY(FindDeletedTargets(delta, removed));
	FindReplacedTarget(delta);
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

std::unexpected<Error> Raise(const JudgeContext& context, const Clash& clash) {
	ConflictReport report = ReportAgainst(context.transaction, *clash.winner, context.transaction.base->table);
	report.conflict_class = clash.rule->conflict_class;
	report.sub_condition = SubCondition(clash);
	report.file = clash.file;
	report.rows = clash.rows;
	report.rule = clash.rule->rule;
	return AsError(std::move(report));
}

Result<SurvivingAppends> Judgement::Run() {
	BRAID_TRY(TestEveryWinner());
	for (const FileDelta& delta : NetDelta(context_.winners)) BRAID_TRY(FindClashes(delta));
	if (const Clash* clash = Worst(clashes_, context_.level, Verdict::kConflict)) return Raise(context_, *clash);
	SurvivingAppends survivors;
	if (const Clash* clash = Worst(clashes_, context_.level, Verdict::kOrderBefore)) {
		BRAID_TRY(const bool possible, CanOrderBeforeAppends(context_, survivors));
		if (!possible) return Raise(context_, *clash);
	}
	return survivors;
}

}  // namespace

Result<SurvivingAppends> Judge(const JudgeContext& context) {
	if (TouchesNothing(context.transaction) || context.winners.empty()) return SurvivingAppends {};
	if (context.mode == ConcurrencyMode::kStrict) BRAID_TRY(TestFiles(context));
	return Judgement(context).Run();
}

}  // namespace braid
