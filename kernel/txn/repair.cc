// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/repair.h"

#include <algorithm>
#include <map>

#include "kernel/log/log_path.h"
#include "kernel/txn/net_delta.h"

namespace braid {
namespace {

using Place = std::pair<std::string, uint64_t>;  // decoded path and position

class RepairRun {
public:
	RepairRun(const JudgeContext& context, const SnapshotPtr& head, Repairer* repairer)
		: context_(context), repairer_(repairer), repaired_ {context.transaction} {
		repaired_.transaction.base = head;
	}

	Result<std::optional<Repaired>> Run() {
		if (!Possible()) return std::nullopt;
		DropLostRows();
		TranslateOrigins();
		Status found = FindAddedRows();
		if (!found && found.error().kind == ErrorKind::kNotFound) return std::nullopt;  // nobody can tell any more
		BRAID_TRY(found);
		if (!added_.empty()) {
			if (!repairer_) return std::nullopt;
			BRAID_TRY(const bool done, RunAgain());
			if (!done) return std::nullopt;
		}
		AdjustMetrics();
		return std::move(repaired_);
	}

private:
	// Only rows can have clashed, and it is known where they are.
	bool Possible() const {
		const Transaction& transaction = context_.transaction;
		const StagedChanges& changes = transaction.changes;
		return transaction.row_local && changes.data_change && changes.replaced_files.empty() && !changes.removes_all &&
			   !changes.metadata && !changes.protocol &&
			   std::ranges::none_of(context_.relocation.lost(),
									[](const LostRows& lost) { return lost.moved || lost.unproven; });
	}

	// D := D minus removed; what is left stands where the winners have put it.
	void DropLostRows() {
		StagedChanges& changes = repaired_.transaction.changes;
		changes.deleted_rows.clear();
		for (const auto& [path, place] : context_.relocation.rows()) changes.deleted_rows[place.path] = place.rows;
		for (const LostRows& lost : context_.relocation.lost())
			repaired_.rows_dropped += static_cast<int64_t>(lost.rows.Cardinality());
	}

	// A := A minus the images of removed rows; the others are images of rows of the newest version now.
	void TranslateOrigins() {
		StagedChanges& changes = repaired_.transaction.changes;
		const std::vector<std::string> old_files = std::move(changes.origin_files);
		changes.origin_files.clear();
		for (NewFile& file : changes.new_files) {
			std::vector<OriginRun> runs;
			for (const OriginRun& run : file.origins) {
				for (uint64_t i = 0; i < run.count; i++) {
					const auto now = context_.relocation.WhereIs(old_files[run.source], run.source_first + i);
					if (now) {
						runs.push_back({SourceOf(now->first), now->second, run.first + i, 1});
					} else {
						file.deleted.Add(run.first + i);
						updates_--;
					}
				}
			}
			file.origins = std::move(runs);
		}
	}

	size_t SourceOf(const std::string& path) {
		auto& files = repaired_.transaction.changes.origin_files;
		const auto known = std::ranges::find(files, path);
		if (known == files.end()) files.push_back(path);
		return static_cast<size_t>(std::ranges::find(files, path) - files.begin());
	}

	// dA: rows of the newest version that were not there, and that our conditions select. A copy of a row of ours is one that we have followed, else
	// it is as good as a new row.
	Status FindAddedRows() {
		for (const FileDelta& delta : NetDelta(context_.winners)) {
			if (!delta.last || delta.moved_away) continue;
			// What a rearrangement brought may be new or ours; ours are known.
			const LiveFile* before = delta.moved_in ? nullptr : delta.first;
			BRAID_TRY(const RowSelection rows, AddedRows(before, delta.last, context_.vectors));
			if (rows.Empty()) continue;
			BRAID_TRY(AddFile file, ToAddFile(*rows.file));
			PositionSet matching;
			for (const Read& read : context_.transaction.reads.reads) {
				const ProbeRequest request {&file, rows.whole_file ? nullptr : &rows.rows,
											rows.whole_file && !rows.rows.Empty() ? &rows.rows : nullptr};
				BRAID_TRY(context_.tester.Spend([&]() -> Status {
					BRAID_TRY(auto matches,
							  context_.probe.MatchAll(std::span(&request, 1), read.bound, read.exact.get()));
					matching |= matches.at(0);
					return {};
				}));
			}
			const auto ours = context_.relocation.rows().find(delta.path);
			if (ours != context_.relocation.rows().end()) matching -= ours->second.rows;
			if (!matching.Empty()) added_.emplace_back(std::move(file), std::move(matching));
		}
		return {};
	}

	// D and A grow by what the statements do to the added rows.
	Result<bool> RunAgain() {
		std::vector<ProbeRequest> requests;
		for (const auto& [file, rows] : added_) requests.push_back({&file, &rows, nullptr});
		BRAID_TRY(std::optional<Rerun> again, repairer_->Run(repaired_.transaction.base, requests));
		if (!again) return false;
		Rerun& rerun = *again;
		StagedChanges& changes = repaired_.transaction.changes;
		for (size_t i = 0; i < added_.size(); i++) {
			repaired_.rows_added += static_cast<int64_t>(rerun.removed[i].Cardinality());
			changes.deleted_rows[added_[i].first.path] |= rerun.removed[i];
		}
		for (NewFile& file : rerun.new_files) {
			for (OriginRun& run : file.origins) {
				run.source = SourceOf(added_[run.source].first.path);
				updates_ += static_cast<int64_t>(run.count);
			}
			changes.new_files.push_back(std::move(file));
		}
		return true;
	}

	// The commit tells what it has really done: a row that left an image was updated, else deleted.
	void AdjustMetrics() {
		const int64_t deletes = repaired_.rows_added - repaired_.rows_dropped - updates_;
		const std::pair<const char*, int64_t> changes[] = {
			{"numUpdatedRows", updates_},
			{"numTargetRowsUpdated", updates_},
			{"numOutputRows", updates_},
			{"numTargetRowsMatchedUpdated", updates_},
			{"numDeletedRows", deletes},
			{"numTargetRowsDeleted", deletes},
			{"numTargetRowsMatchedDeleted", deletes},
		};
		for (const auto& [name, change] : changes) {
			const auto metric = repaired_.transaction.operation_metrics.find(name);
			if (metric == repaired_.transaction.operation_metrics.end()) continue;
			metric->second = std::to_string(std::max<int64_t>(std::atoll(metric->second.c_str()) + change, 0));
		}
	}

	const JudgeContext& context_;
	Repairer* repairer_;
	Repaired repaired_;
	int64_t updates_ = 0;  // images that came, less those that went
	std::vector<std::pair<AddFile, PositionSet>> added_;
};

}  // namespace

Result<std::optional<Repaired>> Repair(const JudgeContext& context, const SnapshotPtr& head, Repairer* repairer) {
	return RepairRun(context, head, repairer).Run();
}

}  // namespace braid
