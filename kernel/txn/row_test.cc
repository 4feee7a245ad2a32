// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_test.h"

#include <algorithm>

namespace braid {

// Files in one question to the engine: enough to read them in parallel, few enough to keep the budget.
static constexpr size_t kBatch = 32;

struct RowTester::Pending {
	const RowQuestion* question;
	AddFile add;

	ProbeRequest Request() const {
		const RowSelection& rows = question->selection;
		ProbeRequest request;
		request.file = &add;
		if (!rows.whole_file) request.only = &rows.rows;
		if (rows.whole_file && !rows.rows.Empty()) request.except = &rows.rows;
		return request;
	}
};

Status RowTester::Test(std::span<RowQuestion> questions, std::span<const Read> reads, const Snapshot& of) {
	for (const Read& read : reads) {
		const FilePruner pruner(of.metadata, of.schema, of.column_mapping, read.bound);
		std::vector<Pending> pending;
		for (const RowQuestion& question : questions) {
			if (question.selection.Empty() || question.finding->matched) continue;
			// Without any budget no row is looked at, not even by bitmaps.
			if (question.covered_by_deletes && read.matches_are_removed && limits_.budget_ms > 0) continue;
			if (!pruner.MayMatch(*question.selection.file)) continue;
			BRAID_TRY(AddFile add, ToAddFile(*question.selection.file));
			pending.push_back({&question, std::move(add)});
		}
		BRAID_TRY(TestOne(pending, read));
	}
	for (const RowQuestion& question : questions) question.finding->tested = true;
	return {};
}

Status RowTester::TestOne(std::vector<Pending>& pending, const Read& read) {
	for (size_t first = 0; first < pending.size(); first += kBatch) {
		const std::span batch = std::span(pending).subspan(first, std::min(kBatch, pending.size() - first));
		if (OutOfTime()) {
			for (const Pending& file : batch) file.question->finding->matched = file.question->finding->unproven = true;
			continue;
		}
		BRAID_TRY(Spend([&] { return Ask(batch, read); }));
	}
	return {};
}

Status RowTester::Spend(const std::function<Status()>& question) {
	if (OutOfTime()) return Fail(ErrorKind::kNotFound, "The time to look at rows of concurrent commits is used up");
	if (limits_.interrupted && limits_.interrupted())
		return Fail(ErrorKind::kInterrupted, "The commit was interrupted");
	const int64_t start = limits_.clock.MonotonicMs();
	const Status answer = question();
	spent_ms_ += limits_.clock.MonotonicMs() - start;
	return answer;
}

// One question for all; only where something matches, one for each, because the sample limit may have hidden the later
// files.
Status RowTester::Ask(std::span<Pending> batch, const Read& read) {
	std::vector<ProbeRequest> requests;
	for (const Pending& file : batch) requests.push_back(file.Request());
	const size_t limit = std::max<size_t>(limits_.samples, 1);
	auto answer = probe_.Match(requests, read.bound, read.exact.get(), limit);
	if (!answer &&
		answer.error().kind == ErrorKind::kNotFound) {  // a file is vacuumed already: nobody can tell any more
		for (const Pending& file : batch) file.question->finding->matched = file.question->finding->unproven = true;
		return {};
	}
	BRAID_TRY(std::vector<ProbeMatch> matches, std::move(answer));
	if (matches.empty()) return {};
	for (size_t i = 0; i < batch.size(); i++) {
		if (batch.size() > 1) {
			BRAID_TRY(matches, probe_.Match(std::span(requests).subspan(i, 1), read.bound, read.exact.get(), limit));
		}
		Finding& finding = *batch[i].question->finding;
		finding.matched = !matches.empty();
		if (finding.matched) finding.predicate = ToString(read.bound);
		finding.samples = std::move(matches);
	}
	return {};
}

}  // namespace braid
