// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/committer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kernel/action/action_codec.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/table_name.h"
#include "kernel/storage/fault_point.h"
#include "kernel/txn/commit_info.h"
#include "kernel/txn/conflict.h"
#include "kernel/txn/gate.h"
#include "kernel/txn/join_creation.h"
#include "kernel/txn/mover.h"
#include "kernel/txn/post_commit.h"
#include "kernel/txn/repair.h"
#include "kernel/txn/row_rebase.h"

namespace braid {
namespace {

constexpr int kManyWinners = 8;           // read at one go: others wrote while we read and tested
constexpr int kApproaches = 16;           // then the turn is taken in any case
constexpr int64_t kTurnPatienceMs = 300;  // once in a commit: a holder that is stopped does not stop the others
constexpr uint64_t kLongestPauseMs = 4;

class CommitRun {
public:
	CommitRun(const CommitContext& context, const Transaction& transaction);
	Result<CommitOutcome> Run();
	Result<std::vector<ConflictReport>> Rehearse();

private:
	Result<CommitOutcome> Race();
	Result<std::optional<CommitOutcome>> CatchUp();
	Result<std::optional<CommitOutcome>> Meet(std::string bytes);
	Status CheckHeadStands();
	std::unexpected<Error> TableReplaced() const;
	Status CheckPatience();
	JudgeContext Question();
	Status JudgeWinners();
	Status GoOnWith(Repaired repaired);
	Status Join(const WinningCommit& creation);
	bool MayRunAgain(const Error& error) const;
	Result<bool> StartOver();
	void Become(Transaction transaction);
	void DeleteFiles();
	int Winners() const { return earlier_winners_ + static_cast<int>(winners_.size()); }
	Result<RebasedCommit> Rebase(int64_t now_ms);
	Result<std::string> Serialize(RebasedCommit rebased, int64_t now_ms);
	Status MakeDurable();
	CommitOutcome Won(const std::string& bytes);
	CommitOutcome NothingLeft(const std::vector<std::string>& dropped_files);
	bool WaitForTurn();
	void BackOff();

	int64_t NextVersion() const { return head_ ? head_->version + 1 : 0; }

	const CommitContext& context_;
	const Transaction* transaction_;  // the caller's, or the newest of rewritten_
	const std::string txn_id_;
	const std::string table_;
	const int64_t deadline_ms_;
	const int64_t first_version_;  // that the first run has read
	SnapshotPtr head_;             // newest version known; null while the table does not exist
	std::vector<WinningCommit> winners_;
	size_t judged_ = 0;                                          // winners that we may commit after
	std::vector<std::unique_ptr<const Transaction>> rewritten_;  // repaired, or joined to the table of another creator
	std::vector<std::string> repair_files_;                      // written when something was executed again
	int earlier_winners_ = 0;                                    // before the transaction was last rewritten
	int64_t rows_repaired_ = 0;
	int64_t reruns_ = 0;
	SurvivingAppends survivors_;
	VectorCache vectors_;
	RowTester tester_;
	std::optional<Relocation> relocation_;
	RowRebase rebase_;
	std::set<std::string> durable_;  // files of ours
	bool outcome_unknown_ = false;   // some attempt may have been written: its version has not been read since
	int attempts_ = 0;
	int64_t rows_rebased_ = 0;
	std::unique_ptr<Turn> turn_;
	int64_t turn_patience_ms_ = kTurnPatienceMs;
	int known_ = 0;  // winners met before the last look
	int approaches_ = 0;
};

}  // namespace

CommitRun::CommitRun(const CommitContext& context, const Transaction& transaction)
	: context_(context),
	  transaction_(&transaction),
	  txn_id_(NewUuid(context.random)),
	  table_(transaction.base ? transaction.base->table : TableName(context.store)),
	  deadline_ms_(context.clock.MonotonicMs() + context.options.commit_timeout_ms),
	  first_version_(transaction.base ? transaction.base->version : -1),
	  head_(transaction.base),
	  vectors_(context.store),
	  tester_(context.probe, {context.clock, context.options.conflict_time_budget_ms,
							  static_cast<size_t>(std::max(context.options.explain_rows, 1)), context.interrupted}),
	  relocation_(std::in_place, transaction, context.store, context.probe, vectors_, tester_),
	  rebase_(context.store, context.random, vectors_, context.options.lease_token) {}

static bool IsCommitOf(const Snapshot& snapshot, const StoredFile& file) {
	const bool same_size = snapshot.commit_size < 0 || snapshot.commit_size == file.size;
	return same_size &&
		   (snapshot.commit_modification_time < 0 || snapshot.commit_modification_time == file.modification_time_ms);
}

// On failure nothing of ours stays, unless a commit file that names it may exist.
Result<CommitOutcome> CommitRun::Run() {
	Result<CommitOutcome> outcome = Race();
	while (!outcome && MayRunAgain(outcome.error())) {
		const Result<bool> again = StartOver();
		if (!again) outcome = std::unexpected(again.error());
		if (!again || !*again) break;
		outcome = transaction_->changes.empty() ? NothingLeft({}) : Race();
	}
	if (outcome) return outcome;
	if (!outcome_unknown_) {
		DeleteFiles();
		return outcome;
	}
	return Fail(
		ErrorKind::kOutcomeUnknown,
		"Table " + table_ + ": it is not known whether version " + std::to_string(NextVersion()) +
			" was written by this transaction (txnId " + txn_id_ + "): " + outcome.error().message +
			". Its files are kept. Look for the txnId in the table's history from that version on; if it is not "
			"there, run the transaction again.");
}

// Each round learns what others committed, checks that we may follow, and tries the next version.
Result<CommitOutcome> CommitRun::Race() {
	HoldPoint();
	for (;;) {
		BRAID_TRY(CheckPatience());
		BRAID_TRY(std::optional<CommitOutcome> already, CatchUp());
		if (already) return *std::move(already);
		BRAID_TRY(JudgeWinners());
		const int64_t now = context_.clock.NowMs();
		BRAID_TRY(RebasedCommit rebased, Rebase(now));
		const std::vector<std::string> dropped_files = rebased.dropped_files;
		if (rebased.Empty() && !transaction_->changes.note) return NothingLeft(dropped_files);
		BRAID_TRY(const std::string bytes, Serialize(std::move(rebased), now));
		BRAID_TRY(MakeDurable());
		if (WaitForTurn()) continue;
		attempts_++;
		const Status put = context_.store.PutInTurn(CommitPath(NextVersion()), bytes, turn_);
		if (put) {
			for (const std::string& file : dropped_files) (void)context_.store.Delete(file);
			return Won(bytes);
		}
		if (put.error().kind == ErrorKind::kOutcomeUnknown) {
			outcome_unknown_ = true;  // the next round reads that version and finds us, somebody else or nothing
		} else if (put.error().kind != ErrorKind::kAlreadyExists) {
			return std::unexpected(put.error());
		}
		BackOff();
	}
}

// Reads every version after head_, each once. Answers the outcome if one of them is our own.
Result<std::optional<CommitOutcome>> CommitRun::CatchUp() {
	BRAID_TRY(CheckHeadStands());
	for (;;) {
		Result<std::string> bytes = context_.store.Read(CommitPath(NextVersion()));
		if (!bytes && bytes.error().kind == ErrorKind::kNotFound) break;
		BRAID_TRY(std::string text, std::move(bytes));
		BRAID_TRY(std::optional<CommitOutcome> own, Meet(std::move(text)));
		if (own) return own;
	}
	return std::nullopt;
}

// A version that somebody wrote: ourselves (an answer got lost), or a winner, which must pass the gates.
Result<std::optional<CommitOutcome>> CommitRun::Meet(std::string bytes) {
	BRAID_TRY(WinningCommit winner, ParseWinningCommit(bytes, NextVersion(), table_));
	const bool own = winner.info.txn_id == txn_id_;
	if (own && context_.options.durable) {  // the store may have failed between writing it and making it durable
		const std::string path = CommitPath(winner.version);
		BRAID_TRY(context_.store.MakeDurable(std::span(&path, 1)));
	}
	outcome_unknown_ = false;
	if (own) return Won(bytes);
	if (!head_) {
		BRAID_TRY(Join(winner));
		if (transaction_->changes.empty()) return NothingLeft({});
		return std::nullopt;
	}
	BRAID_TRY(CheckGates(*transaction_, winner, *head_, context_.options.mode));
	const auto stored = context_.store.Stat(CommitPath(winner.version));
	BRAID_TRY(SnapshotPtr after,
			  ApplyCommit(head_, bytes, stored ? stored->modification_time_ms : context_.clock.NowMs()));
	AttachEffects(winner, head_, after);
	head_ = std::move(after);
	winners_.push_back(std::move(winner));
	return std::nullopt;
}

// The version that we build on must still be there, as it was: the table may have been dropped and made anew, or the log cleaned up past us,
// and then a missing next version does not mean that nobody wrote it. Cleaning removes the oldest commits first.
Status CommitRun::CheckHeadStands() {
	if (head_) {
		const auto stored = context_.store.Stat(CommitPath(head_->version));
		if (stored && IsCommitOf(*head_, *stored)) return {};
		if (stored) return TableReplaced();
	}
	const auto listing = context_.store.List(kLogDirectory, VersionPrefix(head_ ? head_->version : 0));
	if (!listing && listing.error().kind != ErrorKind::kNotFound) return std::unexpected(listing.error());
	bool stands = !head_, next_is_there = false;
	std::string later;
	for (const StoredFile& file : listing ? *listing : std::vector<StoredFile> {}) {
		const auto name = ParseLogFileName(file.name);
		if (!name || name->kind == LogFileKind::kChecksum) continue;
		if (name->version < NextVersion()) {
			stands = true;  // a checkpoint
		} else {
			later = file.name;
			next_is_there |= name->kind == LogFileKind::kCommit && name->version == NextVersion();
		}
	}
	if (later.empty() && !stands) return TableReplaced();
	if (later.empty() || next_is_there) return {};
	return Fail(ErrorKind::kNotFound, "Table " + table_ + ": the commits after version " +
										  std::to_string(NextVersion() - 1) + " are gone from the log, though " +
										  later +
										  " exists, so this transaction cannot be checked against them. Run it again.");
}

std::unexpected<Error> CommitRun::TableReplaced() const {
	return Fail(ErrorKind::kNotFound,
				"Table " + table_ + " was dropped or made anew since version " + std::to_string(head_->version) +
					" was read. Nothing was written. Run the transaction again if it still makes sense.");
}

Status CommitRun::CheckPatience() {
	if (context_.interrupted && context_.interrupted())
		return Fail(ErrorKind::kInterrupted, "The commit was interrupted");
	if (attempts_ == 0 || context_.clock.MonotonicMs() < deadline_ms_) return {};
	if (winners_.empty())
		return Fail(ErrorKind::kIo, "Table " + table_ + ": no commit succeeded before the commit timeout");
	ConflictReport report = ReportAgainst(*transaction_, winners_.back(), table_);
	report.conflict_class = ConflictClass::kConcurrentWrite;
	report.rule = "commit timeout of " + std::to_string(context_.options.commit_timeout_ms) + " ms after " +
				  std::to_string(attempts_) + " attempts";
	return AsError(std::move(report));
}

JudgeContext CommitRun::Question() {
	IsolationLevel level = Stricter(LevelOf(transaction_->base->metadata), LevelOf(head_->metadata));
	// What was appended meanwhile was not checked against new constraints, and a replacement cannot leave it behind.
	const StagedChanges& changes = transaction_->changes;
	if (changes.metadata && !changes.moves_only_identity_marks) level = IsolationLevel::kSerializable;
	return {*transaction_,
			level,
			context_.options.mode,
			context_.options.compat,
			winners_,
			vectors_,
			*relocation_,
			tester_,
			context_.probe,
			static_cast<size_t>(std::max(context_.options.explain_rows, 0))};
}

Status CommitRun::JudgeWinners() {
	if (judged_ == winners_.size()) return {};
	const JudgeContext judge = Question();
	Result<SurvivingAppends> judged = Judge(judge);
	if (!judged && judged.error().kind == ErrorKind::kConflict && context_.options.mode == ConcurrencyMode::kMax) {
		BRAID_TRY(std::optional<Repaired> repaired, Repair(judge, head_, context_.repairer));
		if (repaired) return GoOnWith(*std::move(repaired));
	}
	BRAID_TRY(survivors_, std::move(judged));
	judged_ = winners_.size();
	return {};
}

Result<std::vector<ConflictReport>> CommitRun::Rehearse() {
	const auto caught_up = CatchUp();
	if (!caught_up && caught_up.error().conflict) return std::vector<ConflictReport> {*caught_up.error().conflict};
	BRAID_TRY(caught_up);
	return AllClashes(Question());
}

// From now on the transaction is one that has read the newest version.
Status CommitRun::GoOnWith(Repaired repaired) {
	for (size_t i = transaction_->changes.new_files.size(); i < repaired.transaction.changes.new_files.size(); i++)
		repair_files_.push_back(StorePath(repaired.transaction.changes.new_files[i].add.path));
	rows_repaired_ += repaired.rows_dropped + repaired.rows_added;
	earlier_winners_ += static_cast<int>(winners_.size());
	Become(std::move(repaired.transaction));
	return {};
}

// After the conflict of a transaction that can be executed again: in mode max as the repair of what cannot be repaired row by row, else as often
// as the user has allowed.
bool CommitRun::MayRunAgain(const Error& error) const {
	if (!error.conflict || outcome_unknown_ || !context_.repairer) return false;
	if (context_.clock.MonotonicMs() >= deadline_ms_) return false;
	if (context_.options.mode == ConcurrencyMode::kMax && transaction_->repaired_by_rerun && RowsClash(*error.conflict))
		return true;
	return reruns_ < context_.options.statement_retries && error.conflict->retry_would_help;
}

// False: there is no other run to go on with.
Result<bool> CommitRun::StartOver() {
	turn_.reset();
	BRAID_TRY(std::optional<Transaction> again, context_.repairer->RunAgain());
	if (!again) return false;
	for (const NewFile& file : transaction_->changes.new_files) repair_files_.push_back(StorePath(file.add.path));
	DeleteFiles();
	for (const NewFile& file : again->changes.new_files) repair_files_.push_back(StorePath(file.add.path));
	reruns_++;
	earlier_winners_ = static_cast<int>(again->base->version - first_version_);
	head_ = again->base;
	Become(*std::move(again));
	return true;
}

void CommitRun::DeleteFiles() {
	rebase_.DeleteVectorFiles();
	for (const std::string& file : repair_files_) (void)context_.store.Delete(file);
	repair_files_.clear();
}

// The table is there, made by somebody else.
Status CommitRun::Join(const WinningCommit& creation) {
	BRAID_TRY(SnapshotPtr created, LoadSnapshot({context_.store, context_.parquet}, creation.version));
	std::optional<Transaction> joined;
	if (context_.options.mode != ConcurrencyMode::kStrict) joined = JoinCreation(*transaction_, creation, created);
	if (!joined) return CreatedBySomebodyElse(*transaction_, creation, table_);
	head_ = std::move(created);
	earlier_winners_++;
	Become(*std::move(joined));
	return {};
}

void CommitRun::Become(Transaction transaction) {
	rewritten_.push_back(std::make_unique<const Transaction>(std::move(transaction)));
	transaction_ = rewritten_.back().get();
	relocation_.emplace(*transaction_, context_.store, context_.probe, vectors_, tester_);
	winners_.clear();
	survivors_.clear();
	judged_ = 0;
}

// What the commit does to the table, for the features and properties that restrict it (PROTOCOL: Append-only Tables: a rearrangement may remove
// files of an append-only table).
static TableOperation OperationOf(const Transaction& transaction) {
	const StagedChanges& changes = transaction.changes;
	if ((changes.metadata && !changes.moves_only_identity_marks) || changes.protocol) return TableOperation::kAlter;
	if (transaction.operation == "RESTORE") return TableOperation::kAlter;  // changes no row itself
	const bool removes = !changes.deleted_rows.empty() || !changes.replaced_files.empty() || changes.removes_all;
	if (!changes.data_change) return TableOperation::kMaintain;
	return removes ? TableOperation::kChange : TableOperation::kAppend;
}

// What our changes are on top of the newest version.
Result<RebasedCommit> CommitRun::Rebase(int64_t now_ms) {
	const Snapshot* head = head_.get();
	if (head) BRAID_TRY(CheckWrite(*head, OperationOf(*transaction_)));
	RebasePlan plan = PlanAsStaged(*transaction_);
	plan.survivors = survivors_;
	if (!winners_.empty()) {
		plan.deleted_rows.clear();
		for (const auto& [path, place] : relocation_->rows()) plan.deleted_rows[place.path] = place.rows;
	}
	if (!winners_.empty() && IsMover(*transaction_)) {
		BRAID_TRY(MovedFiles moved, MoveOnto(*transaction_, *head, context_.store, vectors_));
		plan.replaced_files = std::move(moved.replaced_files);
		plan.masks = std::move(moved.masks);
		plan.dropped = std::move(moved.dropped);
	}
	return rebase_.Onto(*transaction_, plan, head, NextVersion(), now_ms);
}

// The bytes of the next version; the whole text is made anew for each attempt.
Result<std::string> CommitRun::Serialize(RebasedCommit rebased, int64_t now) {
	const Snapshot* head = head_.get();
	AttemptFacts facts;
	facts.version = NextVersion();
	facts.now_ms = now;
	facts.in_commit_timestamp = InCommitTimestamp(*transaction_, head, now);
	for (Action& action : rebased.actions) {
		if (auto* metadata = std::get_if<Metadata>(&action)) RecordTimestampEnablement(*metadata, head, facts);
	}
	facts.txn_id = txn_id_;
	facts.engine_info = context_.options.engine_info;
	facts.level = LevelOf(transaction_->changes.metadata ? *transaction_->changes.metadata : head->metadata);
	if (transaction_->base) facts.level = Stricter(facts.level, LevelOf(transaction_->base->metadata));
	constexpr auto kRowTracking = "delta.enableRowTracking";
	const Metadata& metadata = transaction_->changes.metadata ? *transaction_->changes.metadata : head->metadata;
	facts.row_ids = PropertyEnabled(metadata.configuration, kRowTracking);
	facts.row_ids_new = transaction_->base && !transaction_->changes.metadata &&
						!PropertyEnabled(transaction_->base->metadata.configuration, kRowTracking);
	facts.attempts = attempts_ + 1;
	facts.winners = Winners();
	facts.rows_repaired = rows_repaired_;
	facts.reruns = reruns_;
	facts.conflict_check_ms = tester_.spent_ms();
	std::string bytes;
	AppendActionLine(MakeCommitInfo(*transaction_, rebased.counts, facts), bytes);
	for (const Action& action : rebased.actions) AppendActionLine(action, bytes);
	rows_rebased_ = rebased.counts.rows_rebased;
	return bytes;
}

// Everything that the commit is about to name is on stable storage before the commit is; what earlier attempts made durable stays so.
Status CommitRun::MakeDurable() {
	if (!context_.options.durable) return {};
	std::vector<std::string> files = rebase_.vector_files();
	for (const NewFile& file : transaction_->changes.new_files) files.push_back(StorePath(file.add.path));
	std::erase_if(files, [&](const std::string& file) { return durable_.contains(file); });
	if (!files.empty()) BRAID_TRY(context_.store.MakeDurable(files));
	durable_.insert(files.begin(), files.end());
	return {};
}

CommitOutcome CommitRun::Won(const std::string& bytes) {
	turn_.reset();
	CommitOutcome outcome;
	outcome.version = NextVersion();
	outcome.txn_id = txn_id_;
	outcome.attempts = attempts_;
	outcome.winners = Winners();
	outcome.rows_repaired = rows_repaired_;
	outcome.reruns = reruns_;
	outcome.rows_rebased = rows_rebased_;
	const auto stored = context_.store.Stat(CommitPath(outcome.version));
	const int64_t written_ms = stored ? stored->modification_time_ms : context_.clock.NowMs();
	Result<SnapshotPtr> snapshot = head_ ? ApplyCommit(head_, bytes, written_ms) : Result<SnapshotPtr>(nullptr);
	if (!snapshot || !*snapshot) snapshot = LoadSnapshot({context_.store, context_.parquet}, outcome.version);
	if (snapshot) {
		outcome.snapshot = *std::move(snapshot);
		PostCommit(context_, *outcome.snapshot, txn_id_);
	}
	return outcome;
}

// Others have done or undone all that we wanted to do: success without a version of our own.
CommitOutcome CommitRun::NothingLeft(const std::vector<std::string>& dropped_files) {
	rebase_.DeleteVectorFiles();
	for (const std::string& file : dropped_files) (void)context_.store.Delete(file);
	if (!transaction_->changes.row_map.empty()) (void)context_.store.Delete(transaction_->changes.row_map);
	CommitOutcome outcome;
	outcome.version = head_->version;
	outcome.snapshot = head_;
	outcome.txn_id = txn_id_;
	outcome.attempts = attempts_;
	outcome.winners = Winners();
	outcome.rows_repaired = rows_repaired_;
	outcome.reruns = reruns_;
	return outcome;
}

// Writers of one machine take turns at the last step, so that who is slow is not overtaken for ever. All that takes long is done before the
// turn: who has just read many winners first comes nearer to the newest version. True: look for newer versions again.
bool CommitRun::WaitForTurn() {
	const int met = Winners() - std::exchange(known_, Winners());
	if (turn_) return false;
	if (met > kManyWinners && approaches_++ < kApproaches) return true;
	turn_ = context_.store.TakeTurn(turn_patience_ms_);
	if (!turn_) turn_patience_ms_ = 0;
	return turn_ && turn_->waited;
}

// Writers elsewhere know no turns. Looking again is cheap, so nobody waits for long, whoever has lost how often.
void CommitRun::BackOff() {
	if (attempts_ < 2 || turn_) return;
	context_.clock.SleepMs(static_cast<int64_t>(context_.random.Next() % kLongestPauseMs));
}

// A path may be staged for one thing only: a commit names it at most once in an add and once in a remove.
static Status CheckStaged(const Transaction& transaction, const std::string& table) {
	const StagedChanges& changes = transaction.changes;
	if (!transaction.base && !(changes.protocol && changes.metadata))
		return Fail(ErrorKind::kInvalidArgument, "Table " + table + ": its first version needs protocol and metadata");
	std::set<std::string> paths;
	const auto twice = [&](const std::string& path) { return !paths.insert(DecodePath(path)).second; };
	const auto refuse = [&](const std::string& path) {
		return Fail(ErrorKind::kInvalidArgument,
					"Table " + table + ": " + path + " is staged twice in one transaction");
	};
	for (const auto& [path, rows] : changes.deleted_rows) {
		if (twice(path)) return refuse(path);
	}
	for (const std::string& path : changes.replaced_files) {
		if (twice(path)) return refuse(path);
	}
	for (const NewFile& file : changes.new_files) {
		if (twice(file.add.path) || (transaction.base && transaction.base->files->Find(file.add.path)))
			return refuse(file.add.path);
	}
	std::set<std::string> entries;
	for (const AddFile& file : changes.entries) {
		if (!entries.insert(DecodePath(file.path)).second) return refuse(file.path);
	}
	return {};
}

Result<CommitOutcome> Commit(const CommitContext& context, const Transaction& transaction) {
	if (transaction.changes.empty()) {
		if (!transaction.base) return Fail(ErrorKind::kInvalidArgument, "An empty transaction cannot create a table");
		CommitOutcome outcome;
		outcome.version = transaction.base->version;
		outcome.snapshot = transaction.base;
		outcome.attempts = 0;
		return outcome;
	}
	BRAID_TRY(CheckStaged(transaction, transaction.base ? transaction.base->table : TableName(context.store)));
	return CommitRun(context, transaction).Run();
}

Result<std::vector<ConflictReport>> Rehearse(const CommitContext& context, const Transaction& transaction) {
	return CommitRun(context, transaction).Rehearse();
}

}  // namespace braid
