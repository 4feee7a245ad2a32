// SPDX-License-Identifier: Apache-2.0
// `strict` follows the published rules with their limits: where rows are not looked at, files are. Each case is run in `sound` beside it, which must
// accept what only the limit refuses. Numbers in names are those of the list of scenarios.
#include <gtest/gtest.h>

#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

constexpr const char* kLevels[] = {"Serializable", "WriteSerializable"};
const Configuration kNoVectors = {{"delta.enableDeletionVectors", "false"}};

Rows Ten() {
	Rows rows;
	for (int64_t k = 0; k < 10; k++) rows.push_back({k, k % 2, 0});
	return rows;
}

// What both modes make of "winner commits, then loser", each on a table of its own.
struct Outcomes {
	std::optional<ConflictReport> strict, sound;
};

class StrictMode : public testing::TestWithParam<const char*> {
protected:
	struct Case {
		std::vector<Rows> files = {Ten()};
		Configuration properties;
		bool partitioned = false;
		std::function<Transaction(MemoryTable&, const SnapshotPtr&)> winner, loser;
		CommitOptions options;
	};

	static std::optional<ConflictReport> Run(const Case& test, ConcurrencyMode mode) {
		MemoryTable table(GetParam());
		table.partitioned = test.partitioned;
		const SnapshotPtr base = table.Create(test.files, test.properties);
		const Transaction loser = test.loser(table, base);
		const auto won = table.Commit(test.winner(table, base));
		EXPECT_TRUE(won) << won.error().message;
		table.options = test.options;
		table.options.mode = mode;
		const auto outcome = table.Commit(loser);
		if (outcome) return std::nullopt;
		EXPECT_TRUE(outcome.error().conflict) << outcome.error().message;
		return outcome.error().conflict ? *outcome.error().conflict : ConflictReport {};
	}
	static Outcomes Run(const Case& test) {
		return {Run(test, ConcurrencyMode::kStrict), Run(test, ConcurrencyMode::kSound)};
	}
	static bool serializable() { return std::string(GetParam()) == "Serializable"; }
};
INSTANTIATE_TEST_SUITE_P(Levels, StrictMode, testing::ValuesIn(kLevels),
						 [](const auto& level) { return std::string(level.param); });

auto Delete(const Predicate& where, ConditionTraits conditions = {}) {
	return [=](MemoryTable& table, const SnapshotPtr& base) {
		Transaction transaction = table.Delete(base, where);
		transaction.conditions = conditions;
		return transaction;
	};
}
auto Insert(const Rows& rows) {
	return [=](MemoryTable& table, const SnapshotPtr& base) { return table.Insert(base, rows); };
}
// A MERGE that changes one row.
auto Merge(int64_t key, bool target_predicate) {
	return [=](MemoryTable& table, const SnapshotPtr& base) {
		Transaction transaction = table.Update(base, Equals("k", key), [](Row& row) { row.y = 7; });
		transaction.operation = "MERGE";
		transaction.conditions.merge_without_target_predicate = !target_predicate;
		return transaction;
	};
}
// All live rows of the given files into new ones, as OPTIMIZE does.
auto Optimize(std::vector<size_t> files, bool zorder = false) {
	return [=](MemoryTable& table, const SnapshotPtr& base) {
		Transaction transaction = table.Begin(base, "OPTIMIZE");
		transaction.changes.data_change = false;
		transaction.operation_parameters["zOrderBy"] = zorder ? "\"[\\\"k\\\"]\"" : "\"[]\"";
		Rows rows;
		const auto all = base->files->Files();
		for (const size_t i : files) {
			transaction.changes.replaced_files.emplace_back(all.at(i)->path);
			for (const auto& located : table.Scan(*base)) {
				if (located.path == all.at(i)->path) rows.push_back(located.row);
			}
		}
		transaction.changes.new_files = table.WriteFiles(rows);
		return transaction;
	};
}

TEST_P(StrictMode, RowLevelWhereTheRulesGrantIt) {
	const Outcomes disjoint = Run({.winner = Delete(Equals("k", 1)), .loser = Delete(Equals("k", 2))});
	EXPECT_FALSE(disjoint.strict);
	const Outcomes same = Run({.winner = Delete(Equals("k", 1)), .loser = Delete(Equals("k", 1))});
	ASSERT_TRUE(same.strict && same.sound);
	EXPECT_EQ(same.strict->sub_condition, "ROW_LEVEL_CHANGES");
}

TEST_P(StrictMode, N3a_N19_NoVectors) {
	const Outcomes insert = Run({.properties = kNoVectors,
								 .winner = Insert({{50, 9, 0}}),
								 .loser = Delete(Is("k", CompareOp::kGreaterEqual, 0))});  // whole file: no vector
	EXPECT_EQ(insert.strict.has_value(), serializable());
	const Outcomes reverse = Run({.properties = kNoVectors,
								  .winner = Delete(Is("k", CompareOp::kGreaterEqual, 0)),
								  .loser = Insert({{50, 9, 0}})});
	EXPECT_FALSE(reverse.strict);
	const Outcomes beside =
		Run({.properties = kNoVectors, .winner = Insert({{50, 9, 0}}), .loser = Delete(Is("k", CompareOp::kLess, 20))});
	EXPECT_FALSE(beside.sound);
	EXPECT_EQ(beside.strict.has_value(), serializable());
	if (beside.strict) {
		EXPECT_EQ(beside.strict->conflict_class, ConflictClass::kConcurrentAppend);
		EXPECT_EQ(beside.strict->rule, "R8, R19, R20");
	}
}

TEST_P(StrictMode, N3b_N5_PartitionedTable) {
	const std::vector<Rows> files = {{{1, 0, 0}, {2, 0, 0}}, {{3, 1, 0}, {4, 1, 0}}};
	const Outcomes same_file =
		Run({.files = files, .partitioned = true, .winner = Delete(Equals("k", 1)), .loser = Delete(Equals("k", 2))});
	EXPECT_FALSE(same_file.sound);
	ASSERT_TRUE(same_file.strict);
	EXPECT_EQ(same_file.strict->conflict_class, ConflictClass::kConcurrentAppend);
	EXPECT_EQ(same_file.strict->sub_condition, "PARTITIONED_TABLE_WITHOUT_MERGE_SOURCE");

	const Predicate one = Predicate::And({Equals("x", 1), Equals("k", 3)});
	const Outcomes other_partition =
		Run({.files = files, .partitioned = true, .winner = Delete(Equals("k", 1)), .loser = Delete(one)});
	EXPECT_FALSE(other_partition.strict) << "R13, R18: a literal for the partition keeps them apart";
	const Outcomes same_partition =
		Run({.files = files, .partitioned = true, .winner = Delete(Equals("k", 4)), .loser = Delete(one)});
	ASSERT_TRUE(same_partition.strict);
	EXPECT_EQ(same_partition.strict->sub_condition, "WITH_PARTITION_HINT");
	EXPECT_EQ(same_partition.strict->partition, R"({"x":"1"})");
	EXPECT_FALSE(same_partition.sound);

	const Outcomes insert =
		Run({.files = files, .partitioned = true, .winner = Insert({{9, 1, 0}}), .loser = Delete(one)});
	EXPECT_EQ(insert.strict.has_value(), serializable());
	EXPECT_FALSE(insert.sound);
	EXPECT_FALSE(
		Run({.files = files, .partitioned = true, .winner = Delete(one), .loser = Insert({{9, 1, 0}})}).strict);
}

TEST_P(StrictMode, N11_ExcludedConditions) {
	ConditionTraits complex, random, subquery;
	complex.complex_type = random.non_deterministic = subquery.subquery = true;
	for (const ConditionTraits& conditions : {complex, random, subquery}) {
		const Outcomes update = Run({.winner = Delete(Equals("k", 9)), .loser = Delete(Equals("k", 1), conditions)});
		EXPECT_FALSE(update.sound);
		ASSERT_TRUE(update.strict);
		EXPECT_EQ(update.strict->conflict_class, ConflictClass::kConcurrentAppend);
		EXPECT_EQ(update.strict->sub_condition, "PREDICATES_NEED_REWRITE");
		// T's own clauses decide, not the winner's.
		EXPECT_FALSE(Run({.winner = Delete(Equals("k", 9), conditions), .loser = Delete(Equals("k", 1))}).strict);
		// N11b: a blind append under WriteSerializable.
		const Outcomes append = Run({.winner = Insert({{50, 1, 0}}), .loser = Delete(Equals("k", 1), conditions)});
		EXPECT_EQ(append.strict.has_value(), serializable());
	}
}

TEST_P(StrictMode, N12_OlderRuntimes) {
	CommitOptions runtime;
	runtime.compat.runtime = CompatRuntime::k14_2;
	const auto merge = [&](bool target_predicate) {
		return Run({.winner = Delete(Equals("k", 9)), .loser = Merge(1, target_predicate), .options = runtime}).strict;
	};
	EXPECT_FALSE(merge(true));
	EXPECT_TRUE(merge(false)) << "R15";
	runtime.compat.photon = false;
	EXPECT_TRUE(merge(true)) << "R4";
	EXPECT_FALSE(Run({.winner = Delete(Equals("k", 9)), .loser = Delete(Equals("k", 1)), .options = runtime}).strict);
	runtime.compat.runtime = CompatRuntime::k14_0;
	EXPECT_TRUE(Run({.winner = Delete(Equals("k", 9)), .loser = Delete(Equals("k", 1)), .options = runtime}).strict);
	runtime.compat.preview = true;
	EXPECT_FALSE(Run({.winner = Delete(Equals("k", 9)), .loser = Delete(Equals("k", 1)), .options = runtime}).strict);
}

TEST_P(StrictMode, N13_NoBudgetAtAll) {
	CommitOptions none;
	none.conflict_time_budget_ms = 0;
	const Outcomes apart = Run({.files = {{{1, 0, 0}, {2, 0, 0}}, {{8, 0, 0}, {9, 0, 0}}},
								.winner = Delete(Equals("k", 1)),
								.loser = Delete(Equals("k", 9)),
								.options = none});
	EXPECT_FALSE(apart.strict) << "bounds tell the files apart";
	EXPECT_FALSE(apart.sound);
	const Outcomes together = Run({.winner = Delete(Equals("k", 1)), .loser = Delete(Equals("k", 9)), .options = none});
	for (const auto& report : {together.strict, together.sound}) {
		ASSERT_TRUE(report);
		EXPECT_EQ(report->conflict_class, ConflictClass::kConcurrentAppend);
		EXPECT_EQ(report->sub_condition, "ALLOTTED_TIME_EXCEEDED");
	}
}

// R6, R8: "cannot" with vectors and without ZORDER BY.
TEST_P(StrictMode, N6_N7_N8_Rearrangements) {
	const std::vector<Rows> files = {{{1, 0, 0}}, {{8, 0, 0}}, {{9, 0, 0}}};
	const auto strict = [&](auto winner, auto loser, Configuration properties = {}) {
		return Run({.files = files, .properties = std::move(properties), .winner = winner, .loser = loser},
				   ConcurrencyMode::kStrict);
	};
	const auto erase = Delete(Equals("k", 9));
	EXPECT_FALSE(strict(Optimize({0, 1}), erase));
	EXPECT_FALSE(strict(Optimize({0, 1}, true), erase)) << "not the same files";
	const auto zorder = strict(Optimize({1, 2}, true), erase);
	ASSERT_TRUE(zorder);
	EXPECT_EQ(zorder->conflict_class, ConflictClass::kConcurrentDeleteDelete);
	EXPECT_FALSE(strict(Optimize({1, 2}, true), Insert({{5, 0, 0}})));
	EXPECT_FALSE(strict(Insert({{5, 0, 0}}), Optimize({1, 2}, true)));
	ASSERT_TRUE(strict(erase, Optimize({1, 2}, true)));
	EXPECT_FALSE(strict(erase, Optimize({0, 1}, true)));
	ASSERT_TRUE(strict(Optimize({0, 1}, true), Optimize({1, 2}, true)));
	// Vectors off.
	ASSERT_TRUE(strict(Optimize({1, 2}), erase, kNoVectors));
	EXPECT_FALSE(strict(Optimize({0, 1}), erase, kNoVectors));
	ASSERT_TRUE(strict(erase, Optimize({1, 2}), kNoVectors));
	ASSERT_TRUE(strict(Optimize({0, 1}), Optimize({1, 2}), kNoVectors));
}

TEST_P(StrictMode, N20_InsertsThatReadEachOther) {
	const auto insert = [](MemoryTable& table, const SnapshotPtr& base) {
		Transaction transaction = table.Insert(base, {{500, 0, 0}});
		transaction.reads.reads.push_back({Equals("k", 500), nullptr, false});
		return transaction;
	};
	const Outcomes both = Run({.winner = insert, .loser = insert});
	ASSERT_TRUE(both.strict && both.sound);
	EXPECT_EQ(both.strict->conflict_class, ConflictClass::kConcurrentAppend);
	EXPECT_EQ(both.sound->conflict_class, ConflictClass::kConcurrentAppend);
}

TEST_P(StrictMode, N2_IsolationLevelIsMetadata) {
	const auto raise = [](MemoryTable& table, const SnapshotPtr& base) {
		Transaction alter = table.Begin(base, "SET TBLPROPERTIES");
		alter.changes.metadata = base->metadata;
		alter.changes.metadata->configuration["delta.isolationLevel"] =
			std::string(GetParam()) == "Serializable" ? "WriteSerializable" : "Serializable";
		return alter;
	};
	const Outcomes changed = Run({.winner = raise, .loser = Delete(Equals("k", 1))});
	EXPECT_FALSE(changed.sound);
	ASSERT_TRUE(changed.strict);
	EXPECT_EQ(changed.strict->conflict_class, ConflictClass::kMetadataChanged);
	EXPECT_TRUE(Run({.winner = raise, .loser = Insert({{5, 0, 0}})}).strict) << "R9: INSERTs included";
}

// Scenario 87: RESTORE allows no winner; `strict` has no DELTA_CONCURRENT_WRITE.
TEST_P(StrictMode, N87_OperationsThatAllowNoWinner) {
	const auto restore = [](MemoryTable& table, const SnapshotPtr& base) {
		Transaction transaction = table.Delete(base, Equals("k", 1));
		transaction.operation = "RESTORE";
		return transaction;
	};
	const Outcomes over_insert = Run({.winner = Insert({{5, 0, 0}}), .loser = restore});
	EXPECT_EQ(over_insert.sound->conflict_class, ConflictClass::kConcurrentWrite);
	EXPECT_EQ(over_insert.strict->conflict_class, ConflictClass::kMetadataChanged);
	const Outcomes over_delete = Run({.winner = Delete(Equals("k", 9)), .loser = restore});
	EXPECT_EQ(over_delete.strict->conflict_class, ConflictClass::kConcurrentDeleteRead);
}

// R11: any winner at all.
TEST_P(StrictMode, TablesWithIdentityColumns) {
	MemoryTable table(GetParam());
	Transaction creation = table.Creation({Ten()});
	std::string& schema = creation.changes.metadata->schema_string;
	const std::string plain = R"("name":"y","type":"long","nullable":true,"metadata":{})";
	schema.replace(schema.find(plain), plain.size(),
				   R"("name":"y","type":"long","nullable":true,"metadata":{"delta.identity.start":1})");
	ASSERT_TRUE(table.Commit(creation));
	const Transaction insert = table.Insert(table.Latest(), {{50, 0, 0}});
	ASSERT_TRUE(
		table.memory.PutIfAbsent("_delta_log/00000000000000000001.json", R"({"commitInfo":{"operation":"WRITE"}})"));
	table.options.mode = ConcurrencyMode::kStrict;
	EXPECT_EQ(ExpectConflict(table.Commit(insert), ConflictClass::kMetadataChanged).rule, "R11");
}

}  // namespace
}  // namespace braid
