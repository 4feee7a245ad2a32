// SPDX-License-Identifier: Apache-2.0
// The rules of row-level concurrency as tables: what clashes row by row, what clashes file by file where rows are not looked at (`strict`), and
// which statements the published product looks at by rows at all. Numbers R1 to R37 are those of docs/concurrency.md. Pure data.
#pragma once

#include <span>
#include <string_view>

#include "kernel/txn/conflict_report.h"
#include "kernel/txn/isolation.h"

namespace braid {

// kOrderBefore: the pair clashes unless we can be ordered before the append (WriteSerializable).
enum class Verdict { kAccept, kOrderBefore, kConflict };

// ---- by rows: what we do with a row, and what a winner did to the same row
enum class OurAction { kReadsRow, kRemovesRow, kReplacesFile, kReplacesTable };
enum class WinnerEffect { kAppendsBlindly, kAddsRow, kRemovesRow, kMovesRow };

struct ConflictRule {
	OurAction ours;
	WinnerEffect theirs;
	Verdict serializable, write_serializable;
	ConflictClass conflict_class;
	std::string_view rule;  // docs/concurrency.md, Errors

	Verdict At(IsolationLevel level) const {
		return level == IsolationLevel::kSerializable ? serializable : write_serializable;
	}
};

std::span<const ConflictRule> ConflictRules();
const ConflictRule& RuleFor(OurAction ours, WinnerEffect theirs);

// ---- by files (`strict`): what we are, and what a winner did to a file. A vector update is a removal and an addition.
// An append that reads nothing is none of these: it never fails here (R10).
enum class OurKind {
	kChangesByRows,      // DELETE, UPDATE, MERGE, INSERT that reads: with row-level concurrency
	kChangesByFiles,     // the same without
	kRearranges,         // OPTIMIZE, REORG, clustering where the matrix says "cannot": vectors are on, no ZORDER BY
	kRearrangesOrderly,  // the same where it says "can": ZORDER BY, or vectors are off
};
enum class FileChange {
	kAppendsBlindly,         // into a partition that we read
	kAddsFile,               // likewise
	kRemovesFile,            // one that we read
	kRearrangesFile,         // likewise, in a "cannot" cell
	kRearrangesFileOrderly,  // likewise, in a "can" cell
};

struct FileRule {
	OurKind ours;
	FileChange theirs;
	bool serializable, write_serializable;  // does the pair clash?
	std::string_view rule;

	bool At(IsolationLevel level) const {
		return level == IsolationLevel::kSerializable ? serializable : write_serializable;
	}
};

std::span<const FileRule> FileRules();
const FileRule& FileRuleFor(OurKind ours, FileChange theirs);

// ---- which statements get row-level concurrency (R2, R4, R15, R27, R28)
enum class ChangeKind { kDelete, kUpdate, kMerge, kMergeWithoutTargetPredicate };

struct RowLevelSupport {
	CompatRuntime from, to;
	bool clustered_only;
	ChangeKind change;
	bool needs_photon, needs_preview;
};

std::span<const RowLevelSupport> RowLevelSupports();
bool SupportsRowLevel(const CompatOptions& compat, bool clustered, ChangeKind change);

}  // namespace braid
