// SPDX-License-Identifier: Apache-2.0
// The table of conflict rules, enumerated: every pair of actions on one row has exactly one rule, and it is the published one.
#include <gtest/gtest.h>

#include <set>

#include "kernel/txn/conflict_rules.h"

namespace braid {
namespace {

// Columns: the winner appends the row blindly, adds it otherwise, removes it, moves it. "S/WS", o = only if we can be ordered before.
struct Expected {
	OurAction ours;
	const char* verdicts[4];
};
constexpr Expected kExpected[] = {
	{OurAction::kReadsRow, {"conflict/o APPEND", "conflict/conflict APPEND", "conflict/conflict DELETE_READ", "ok/ok"}},
	{OurAction::kRemovesRow, {"ok/ok", "ok/ok", "conflict/conflict DELETE_DELETE", "conflict/conflict DELETE_DELETE"}},
	{OurAction::kReplacesFile,
	 {"ok/ok", "ok/ok", "conflict/conflict DELETE_DELETE", "conflict/conflict DELETE_DELETE"}},
	{OurAction::kReplacesTable,
	 {"conflict/o APPEND", "conflict/conflict APPEND", "conflict/conflict DELETE_DELETE", "ok/ok"}},
};
constexpr WinnerEffect kEffects[] = {WinnerEffect::kAppendsBlindly, WinnerEffect::kAddsRow, WinnerEffect::kRemovesRow,
									 WinnerEffect::kMovesRow};

std::string Name(Verdict verdict) {
	return verdict == Verdict::kAccept ? "ok" : verdict == Verdict::kOrderBefore ? "o" : "conflict";
}

TEST(ConflictRules, AreThePublishedOnes) {
	for (const Expected& expected : kExpected) {
		for (size_t i = 0; i < std::size(kEffects); i++) {
			const ConflictRule& rule = RuleFor(expected.ours, kEffects[i]);
			std::string text =
				Name(rule.At(IsolationLevel::kSerializable)) + "/" + Name(rule.At(IsolationLevel::kWriteSerializable));
			if (text != "ok/ok")
				text += ErrorClassName(rule.conflict_class)
							.substr(std::string("DELTA_CONCURRENT").size())
							.replace(0, 1, " ");
			EXPECT_EQ(text, expected.verdicts[i]) << static_cast<int>(expected.ours) << " x " << i;
			EXPECT_FALSE(rule.rule.empty());
		}
	}
}

TEST(ConflictRules, CoverEveryPairOnce) {
	EXPECT_EQ(ConflictRules().size(), std::size(kExpected) * std::size(kEffects));
	std::set<std::pair<OurAction, WinnerEffect>> pairs;
	for (const ConflictRule& rule : ConflictRules()) pairs.emplace(rule.ours, rule.theirs);
	EXPECT_EQ(pairs.size(), ConflictRules().size());
}

// R10: an append that reads nothing has no row in the table at all. R29, R30: WriteSerializable never refuses what Serializable accepts.
TEST(ConflictRules, WriteSerializableIsTheWeakerLevel) {
	for (const ConflictRule& rule : ConflictRules()) {
		EXPECT_TRUE(rule.serializable != Verdict::kAccept || rule.write_serializable == Verdict::kAccept) << rule.rule;
	}
}

// ------------------------------------------------------------ the matrices of `strict`

// Columns: a winner appends blindly, adds, removes, rearranges in a "cannot" cell, in a "can" cell. "S/WS", x = clash.
constexpr struct {
	OurKind ours;
	const char* clashes[5];
} kExpectedByFile[] = {
	{OurKind::kChangesByRows, {"-/-", "-/-", "-/-", "-/-", "x/x"}},
	{OurKind::kChangesByFiles, {"x/-", "x/x", "x/x", "-/-", "x/x"}},
	{OurKind::kRearranges, {"-/-", "-/-", "-/-", "-/-", "x/x"}},
	{OurKind::kRearrangesOrderly, {"-/-", "-/-", "x/x", "x/x", "x/x"}},
};
constexpr FileChange kChanges[] = {FileChange::kAppendsBlindly, FileChange::kAddsFile, FileChange::kRemovesFile,
								   FileChange::kRearrangesFile, FileChange::kRearrangesFileOrderly};

TEST(FileRules, AreThePublishedOnes) {
	for (const auto& expected : kExpectedByFile) {
		for (size_t i = 0; i < std::size(kChanges); i++) {
			const FileRule& rule = FileRuleFor(expected.ours, kChanges[i]);
			const std::string text = std::string(rule.At(IsolationLevel::kSerializable) ? "x" : "-") + "/" +
									 (rule.At(IsolationLevel::kWriteSerializable) ? "x" : "-");
			EXPECT_EQ(text, expected.clashes[i]) << static_cast<int>(expected.ours) << " x " << i;
		}
	}
	EXPECT_EQ(FileRules().size(), std::size(kExpectedByFile) * std::size(kChanges));
}

// N12: which statements are looked at by rows. P: only with Photon, s: only with the preview switch, ok: always, -: never.
// Columns: DELETE, UPDATE, MERGE with a predicate on the target, MERGE without.
constexpr struct {
	CompatRuntime runtime;
	bool clustered;
	const char* support[4];
} kExpectedSupport[] = {
	{CompatRuntime::k13_3, false, {"-", "-", "-", "-"}},     {CompatRuntime::k13_3, true, {"ok", "P", "P", "P"}},
	{CompatRuntime::k14_0, false, {"s", "sP", "sP", "sP"}},  {CompatRuntime::k14_0, true, {"ok", "P", "P", "P"}},
	{CompatRuntime::k14_1, false, {"s", "sP", "sP", "sP"}},  {CompatRuntime::k14_1, true, {"ok", "P", "P", "P"}},
	{CompatRuntime::k14_2, false, {"ok", "ok", "P", "-"}},   {CompatRuntime::k14_2, true, {"ok", "ok", "P", "-"}},
	{CompatRuntime::k14_3, false, {"ok", "ok", "ok", "ok"}}, {CompatRuntime::k14_3, true, {"ok", "ok", "ok", "ok"}},
};

TEST(RowLevelSupport, IsThePublishedOne) {
	constexpr ChangeKind kinds[] = {ChangeKind::kDelete, ChangeKind::kUpdate, ChangeKind::kMerge,
									ChangeKind::kMergeWithoutTargetPredicate};
	for (const auto& expected : kExpectedSupport) {
		for (size_t i = 0; i < std::size(kinds); i++) {
			const std::string_view cell = expected.support[i];
			for (const bool photon : {false, true}) {
				for (const bool preview : {false, true}) {
					const bool supported = cell != "-" && (photon || cell.find('P') == cell.npos) &&
										   (preview || cell.find('s') == cell.npos);
					EXPECT_EQ(SupportsRowLevel({expected.runtime, photon, preview}, expected.clustered, kinds[i]),
							  supported)
						<< static_cast<int>(expected.runtime) << (expected.clustered ? " clustered " : " plain ") << i
						<< " photon " << photon << " preview " << preview;
				}
			}
		}
	}
}

TEST(ConflictMessage, NamesEverything) {
	ConflictReport report;
	report.conflict_class = ConflictClass::kConcurrentAppend;
	report.sub_condition = "ROW_LEVEL_CHANGES";
	report.table = "lake/t";
	report.operation = "DELETE";
	report.predicate = "v = 3";
	report.read_version = 4;
	report.winner_version = 6;
	report.winner_operation = "WRITE";
	report.file = "part-1.parquet";
	report.rows = {"id=200, v=3"};
	report.rule = "R19";
	report.winner_engine = "Apache-Spark/4.1";
	report.winner_timestamp = 1'700'000'000'123;
	report.old_rows = {"id=200, v=2"};
	report.new_rows = report.rows;
	report.matched_predicate = "v IS NULL";
	const std::string message = ConflictMessage(report);
	EXPECT_TRUE(message.starts_with("[DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES] ")) << message;
	EXPECT_TRUE(message.ends_with("SQLSTATE: 2D521")) << message;
	for (const char* part : {"lake/t", "DELETE", "v = 3", "version 4", "version 6", "WRITE", "part-1.parquet",
							 "id=200, v=3", "R19", "by Apache-Spark/4.1 at 2023-11-14 22:13:20.123 UTC",
							 "They were: (id=200, v=2)", "They satisfy v IS NULL", "Run the transaction again"}) {
		EXPECT_NE(message.find(part), std::string::npos) << part << " is missing in: " << message;
	}
	EXPECT_EQ(message.find("They are now"), std::string::npos) << "said once is enough";
}

}  // namespace
}  // namespace braid
