// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/conflict_rules.h"

#include <algorithm>

#include "base/result.h"

namespace braid {

std::span<const ConflictRule> ConflictRules() {
	using O = OurAction;
	using W = WinnerEffect;
	using enum Verdict;
	using enum ConflictClass;
	// Both columns of verdicts speak of one and the same row: Serializable, then WriteSerializable.
	static constexpr ConflictRule kRules[] = {
		{O::kReadsRow, W::kAppendsBlindly, kConflict, kOrderBefore, kConcurrentAppend, "R19, R20, R21"},
		{O::kReadsRow, W::kAddsRow, kConflict, kConflict, kConcurrentAppend, "R19"},
		{O::kReadsRow, W::kRemovesRow, kConflict, kConflict, kConcurrentDeleteRead, "R6, R22"},
		{O::kReadsRow, W::kMovesRow, kAccept, kAccept, kConcurrentDeleteRead, "R6"},
		{O::kRemovesRow, W::kAppendsBlindly, kAccept, kAccept, kConcurrentAppend, "R10"},
		{O::kRemovesRow, W::kAddsRow, kAccept, kAccept, kConcurrentAppend, "R6"},
		{O::kRemovesRow, W::kRemovesRow, kConflict, kConflict, kConcurrentDeleteDelete, "R6, R23"},
		// Only if we cannot follow the row: else it is where the rearrangement put it.
		{O::kRemovesRow, W::kMovesRow, kConflict, kConflict, kConcurrentDeleteDelete, "moved"},
		{O::kReplacesFile, W::kAppendsBlindly, kAccept, kAccept, kConcurrentAppend, "R10"},
		{O::kReplacesFile, W::kAddsRow, kAccept, kAccept, kConcurrentAppend, "R8, R13"},
		{O::kReplacesFile, W::kRemovesRow, kConflict, kConflict, kConcurrentDeleteDelete, "R8, R23"},
		{O::kReplacesFile, W::kMovesRow, kConflict, kConflict, kConcurrentDeleteDelete, "R8, R23"},
		{O::kReplacesTable, W::kAppendsBlindly, kConflict, kOrderBefore, kConcurrentAppend, "R20, R21"},
		{O::kReplacesTable, W::kAddsRow, kConflict, kConflict, kConcurrentAppend, "R19"},
		{O::kReplacesTable, W::kRemovesRow, kConflict, kConflict, kConcurrentDeleteDelete, "R23"},
		{O::kReplacesTable, W::kMovesRow, kAccept, kAccept, kConcurrentDeleteDelete, "R6"},
	};
	return kRules;
}

const ConflictRule& RuleFor(OurAction ours, WinnerEffect theirs) {
	const auto rules = ConflictRules();
	const auto rule = std::ranges::find_if(rules, [&](const auto& r) { return r.ours == ours && r.theirs == theirs; });
	BRAID_CHECK(rule != rules.end());
	return *rule;
}

std::span<const FileRule> FileRules() {
	using O = OurKind;
	using F = FileChange;
	// Serializable, then WriteSerializable.
	static constexpr FileRule kRules[] = {
		{O::kChangesByRows, F::kAppendsBlindly, false, false, "R6"},
		{O::kChangesByRows, F::kAddsFile, false, false, "R6"},
		{O::kChangesByRows, F::kRemovesFile, false, false, "R6"},
		{O::kChangesByRows, F::kRearrangesFile, false, false, "R6"},
		{O::kChangesByRows, F::kRearrangesFileOrderly, true, true, "R6, R22"},
		{O::kChangesByFiles, F::kAppendsBlindly, true, false, "R8, R19, R20"},
		{O::kChangesByFiles, F::kAddsFile, true, true, "R8, R19"},
		{O::kChangesByFiles, F::kRemovesFile, true, true, "R8, R22"},
		{O::kChangesByFiles, F::kRearrangesFile, false, false, "R3, R8"},
		{O::kChangesByFiles, F::kRearrangesFileOrderly, true, true, "R8, R22"},
		{O::kRearranges, F::kAppendsBlindly, false, false, "R6, R8"},
		{O::kRearranges, F::kAddsFile, false, false, "R6, R8"},
		{O::kRearranges, F::kRemovesFile, false, false, "R6, R8"},
		{O::kRearranges, F::kRearrangesFile, false, false, "R6, R8"},
		{O::kRearranges, F::kRearrangesFileOrderly, true, true, "R8, R23"},
		{O::kRearrangesOrderly, F::kAppendsBlindly, false, false, "R6, R8"},
		{O::kRearrangesOrderly, F::kAddsFile, false, false, "R6, R8"},
		{O::kRearrangesOrderly, F::kRemovesFile, true, true, "R8, R22"},
		{O::kRearrangesOrderly, F::kRearrangesFile, true, true, "R8, R23"},
		{O::kRearrangesOrderly, F::kRearrangesFileOrderly, true, true, "R8, R23"},
	};
	return kRules;
}

const FileRule& FileRuleFor(OurKind ours, FileChange theirs) {
	const auto rules = FileRules();
	const auto rule = std::ranges::find_if(rules, [&](const auto& r) { return r.ours == ours && r.theirs == theirs; });
	BRAID_CHECK(rule != rules.end());
	return *rule;
}

std::span<const RowLevelSupport> RowLevelSupports() {
	using enum CompatRuntime;
	using C = ChangeKind;
	constexpr bool kClustered = true, kAny = false, kPhoton = true, kPreview = true;
	static constexpr RowLevelSupport kSupports[] = {
		{k13_3, k14_1, kClustered, C::kDelete, !kPhoton, !kPreview},
		{k13_3, k14_1, kClustered, C::kUpdate, kPhoton, !kPreview},
		{k13_3, k14_1, kClustered, C::kMerge, kPhoton, !kPreview},
		{k13_3, k14_1, kClustered, C::kMergeWithoutTargetPredicate, kPhoton, !kPreview},
		{k14_0, k14_1, kAny, C::kDelete, !kPhoton, kPreview},
		{k14_0, k14_1, kAny, C::kUpdate, kPhoton, kPreview},
		{k14_0, k14_1, kAny, C::kMerge, kPhoton, kPreview},
		{k14_0, k14_1, kAny, C::kMergeWithoutTargetPredicate, kPhoton, kPreview},
		{k14_2, k14_2, kAny, C::kDelete, !kPhoton, !kPreview},
		{k14_2, k14_2, kAny, C::kUpdate, !kPhoton, !kPreview},
		{k14_2, k14_2, kAny, C::kMerge, kPhoton, !kPreview},
		{k14_3, k14_3, kAny, C::kDelete, !kPhoton, !kPreview},
		{k14_3, k14_3, kAny, C::kUpdate, !kPhoton, !kPreview},
		{k14_3, k14_3, kAny, C::kMerge, !kPhoton, !kPreview},
		{k14_3, k14_3, kAny, C::kMergeWithoutTargetPredicate, !kPhoton, !kPreview},
	};
	return kSupports;
}

bool SupportsRowLevel(const CompatOptions& compat, bool clustered, ChangeKind change) {
	return std::ranges::any_of(RowLevelSupports(), [&](const RowLevelSupport& row) {
		return row.change == change && row.from <= compat.runtime && compat.runtime <= row.to &&
			   (clustered || !row.clustered_only) && (compat.photon || !row.needs_photon) &&
			   (compat.preview || !row.needs_preview);
	});
}

}  // namespace braid
