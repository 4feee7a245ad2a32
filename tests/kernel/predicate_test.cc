// SPDX-License-Identifier: Apache-2.0
// Building, simplifying, recording and widening predicates. Meaning is checked against a naive evaluator over
// random rows.
#include "kernel/predicate/predicate.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/kernel/random_predicate.h"

namespace braid {
namespace {

Scalar Long(int64_t value) { return {TypeKind::kLong, value}; }
Predicate A(CompareOp op, int64_t value) { return Predicate::Compare({"a"}, op, Long(value)); }

TEST(Predicate, ConstructorsSimplify) {
	const Predicate a = A(CompareOp::kEqual, 1), b = A(CompareOp::kLess, 5);
	EXPECT_EQ(Predicate::And({}), Predicate::True());
	EXPECT_EQ(Predicate::Or({}), Predicate::False());
	EXPECT_EQ(Predicate::And({a}), a);
	EXPECT_EQ(Predicate::And({a, Predicate::True()}), a);
	EXPECT_EQ(Predicate::And({a, Predicate::False()}), Predicate::False());
	EXPECT_EQ(Predicate::Or({a, Predicate::True()}), Predicate::True());
	EXPECT_EQ(Predicate::Or({Predicate::False(), a}), a);
	EXPECT_EQ(Predicate::And({Predicate::And({a, b}), a}).children.size(), 3u);
	EXPECT_EQ(Predicate::In({"a"}, {Long(1)}), a);
	EXPECT_EQ(Predicate::In({"a"}, {Long(1), {TypeKind::kLong, {}}}), a);
	EXPECT_EQ(Predicate::In({"a"}, {}), Predicate::False());
	EXPECT_EQ(Predicate::Compare({"a"}, CompareOp::kLess, {TypeKind::kLong, {}}), Predicate::False());
}

TEST(Predicate, NotIsPushedDown) {
	const Predicate a = A(CompareOp::kEqual, 1), b = A(CompareOp::kLess, 5);
	EXPECT_EQ(Predicate::Not(Predicate::And({a, b})),
			  Predicate::Or({A(CompareOp::kNotEqual, 1), A(CompareOp::kGreaterEqual, 5)}));
	EXPECT_EQ(Predicate::Not(Predicate::Or({a, b})),
			  Predicate::And({A(CompareOp::kNotEqual, 1), A(CompareOp::kGreaterEqual, 5)}));
	EXPECT_EQ(Predicate::Not(Predicate::Not(Predicate::IsNull({"a"}))), Predicate::IsNull({"a"}));
	EXPECT_EQ(Predicate::Not(Predicate::False()), Predicate::True());
}

TEST(Predicate, NotOfSomethingWidenedStaysASuperset) {
	// TRUE may stand for a condition that could not be expressed; its negation is as unknown.
	EXPECT_EQ(Predicate::Not(Predicate::True()), Predicate::True());
}

TEST(Predicate, TextForPeople) {
	const Predicate predicate = Predicate::Or(
		{Predicate::And({A(CompareOp::kGreaterEqual, 3), Predicate::Not(Predicate::IsNull({"st", "odd name"}))}),
		 Predicate::In({"s"}, {{TypeKind::kString, std::string("it's")}, {TypeKind::kString, std::string("b")}}),
		 Predicate::Compare({"d"}, CompareOp::kEqual, {TypeKind::kDate, int64_t {0}})});
	EXPECT_EQ(ToString(predicate),
			  "(a >= 3 AND st.\"odd name\" IS NOT NULL) OR s IN ('it''s', 'b') OR d = DATE '1970-01-01'");
}

TEST(Predicate, JsonForm) {
	EXPECT_EQ(PredicateToJson(A(CompareOp::kLessEqual, 7)), R"({"op":"<=","value":"7","column":["a"],"type":"long"})");
	EXPECT_EQ(PredicateToJson(Predicate::In({"a", "b"}, {Long(1), Long(2)})),
			  R"({"in":["1","2"],"column":["a","b"],"type":"long"})");
	EXPECT_EQ(PredicateToJson(Predicate::Not(Predicate::IsNull({"a"}))), R"({"not":{"isNull":["a"]}})");
	EXPECT_EQ(PredicateToJson(Predicate::True()), "true");
}

TEST(Predicate, JsonRoundTripOfRandomPredicates) {
	std::mt19937_64 random(23);
	for (int round = 0; round < 3000; round++) {
		const Predicate predicate = RandomPredicate(random, 3);
		const std::string json = PredicateToJson(predicate);
		const auto read = PredicateFromJson(json);
		ASSERT_TRUE(read) << read.error().message << "\n" << json;
		EXPECT_EQ(*read, predicate) << json;
	}
}

TEST(Predicate, MalformedJsonIsRefused) {
	for (const char* json :
		 {"", "{", "1", "\"x\"", "{}", "{\"and\":1}", "{\"and\":[1]}",
		  "{\"op\":\"=\",\"column\":[\"a\"],\"type\":\"long\"}",
		  "{\"op\":\"~\",\"value\":\"1\",\"column\":[\"a\"],\"type\":\"long\"}",
		  "{\"op\":\"=\",\"value\":\"x\",\"column\":[\"a\"],\"type\":\"long\"}",
		  "{\"op\":\"=\",\"value\":\"1\",\"column\":[\"a\"],\"type\":\"quaternion\"}", "{\"isNull\":[1]}"}) {
		const auto read = PredicateFromJson(json);
		ASSERT_FALSE(read) << json;
		EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
	}
	std::string deep = "true";
	for (int i = 0; i < 200; i++) deep = "{\"not\":" + deep + "}";
	EXPECT_FALSE(PredicateFromJson(deep));
}

// The meaning: simplification keeps it for exact predicates, and widening only ever adds rows.
TEST(Predicate, NotAndWidenAgainstTheNaiveEvaluator) {
	std::mt19937_64 random(29);
	int widened_at_all = 0;
	for (int round = 0; round < 3000; round++) {
		const NaivePredicate naive = RandomNaive(random, 3);
		const Predicate built = Build(naive);
		const Predicate widened = Widen(built, 100 + random() % 400);
		EXPECT_LE(PredicateToJson(widened).size(), 500u);
		widened_at_all += widened == built ? 0 : 1;
		for (int i = 0; i < 20; i++) {
			const Row row = RandomRow(random);
			const bool truth = Evaluate(naive, row) == Truth::kTrue;
			EXPECT_EQ(IsTrue(built, row), truth) << ToString(built);
			if (truth) {
				EXPECT_TRUE(IsTrue(widened, row)) << ToString(built) << " -> " << ToString(widened);
			}
		}
		if (HasFailure()) FAIL();
	}
	EXPECT_GT(widened_at_all, 100);
}

TEST(Predicate, WidenTurnsListsIntoBounds) {
	std::vector<Scalar> values;
	for (int i = 0; i < 10'000; i++) values.push_back(Long(i * 7 % 10'007));
	const Predicate widened = Widen(Predicate::In({"a"}, values), 16'384);
	EXPECT_EQ(widened, Predicate::And({A(CompareOp::kGreaterEqual, 0), A(CompareOp::kLessEqual, 10'006)}));
	EXPECT_EQ(Widen(Predicate::Not(Predicate::In({"a"}, values)), 16'384), Predicate::True());
	EXPECT_EQ(Widen(Predicate::And({A(CompareOp::kLess, 5), Predicate::Not(Predicate::In({"a"}, values))}), 16'384),
			  A(CompareOp::kLess, 5));
}

}  // namespace
}  // namespace braid
