// SPDX-License-Identifier: Apache-2.0
// What the demo's processes do, and what the table must look like afterwards.
#include "cli/demo_plan.h"

#include <array>

namespace braid::cli {

namespace {

constexpr int kMergingProcesses = 2;  // the last ones
constexpr int64_t kSlotRows = kDemoRows / (kDemoProcesses * kDemoStatements);

std::string Condition(int kind, const PlannedStatement& statement) {
	const int64_t last = statement.first + (statement.count - 1) * statement.step;
	if (kind == 0) return "id = " + std::to_string(statement.first);
	if (kind == 2) return "id BETWEEN " + std::to_string(statement.first) + " AND " + std::to_string(last);
	if (kind == 4) return "id >= " + std::to_string(statement.first) + " AND id <= " + std::to_string(last);
	std::string list;
	for (int64_t i = 0; i < statement.count; i++) {
		list += (i == 0 ? "" : ", ") + std::to_string(statement.first + i * statement.step);
	}
	return "id IN (" + list + ")";
}

// The same change as a MERGE.
std::string Merge(const PlannedStatement& statement) {
	return "MERGE INTO orders USING (SELECT " + std::to_string(statement.first) + " + range * " +
		   std::to_string(statement.step) + " AS id FROM range(" + std::to_string(statement.count) +
		   ")) AS changed ON orders.id = changed.id WHEN MATCHED THEN " +
		   (statement.deletes ? "DELETE" : "UPDATE SET status = 'paid', changes = orders.changes + 1");
}

struct Shape {
	bool deletes;
	int64_t offset;
	int64_t step;
	int64_t count;
};

// The five kinds take turns: update by equality, by list, delete by range, by list, update by inequality.
constexpr std::array<Shape, 5> kShapes = {
	{{false, 0, 1, 1}, {false, 10, 7, 20}, {true, 1000, 1, 100}, {true, 1500, 13, 20}, {false, 2000, 1, 100}}};

PlannedStatement PlanStatement(int process, int k) {
	const int kind = (process + k) % 5;
	const Shape& shape = kShapes[static_cast<size_t>(kind)];
	const int64_t slot = static_cast<int64_t>(k) * kDemoProcesses + process;
	PlannedStatement statement {process, shape.deletes, slot * kSlotRows + shape.offset, shape.step, shape.count, ""};
	if (process >= kDemoProcesses - kMergingProcesses) {
		statement.sql = Merge(statement);
	} else {
		statement.sql =
			statement.deletes ? "DELETE FROM orders" : "UPDATE orders SET status = 'paid', changes = changes + 1";
		statement.sql += " WHERE " + Condition(kind, statement);
	}
	return statement;
}

}  // namespace

std::vector<PlannedStatement> PlanDemo() {
	std::vector<PlannedStatement> plan;
	for (int process = 0; process < kDemoProcesses; process++) {
		for (int k = 0; k < kDemoStatements; k++) plan.push_back(PlanStatement(process, k));
	}
	return plan;
}

std::string CreateDemoTable() {
	return "CREATE TABLE orders AS SELECT range AS id, range * 7 % 50000 AS customer, 'open' AS status, "
		   "0::INTEGER AS changes FROM range(" +
		   std::to_string(kDemoRows) + ")";
}

std::string CountDifferences(const std::vector<PlannedStatement>& plan) {
	std::string statements;
	for (const PlannedStatement& statement : plan) {
		statements += (statements.empty() ? "(" : ", (") + std::string(statement.deletes ? "true" : "false") + ", " +
					  std::to_string(statement.first) + ", " + std::to_string(statement.step) + ", " +
					  std::to_string(statement.count) + ")";
	}
	return "WITH plan(deletes, start, step, n) AS (VALUES " + statements +
		   "), planned AS (SELECT deletes, start + i * step AS id FROM plan, range(100) numbers(i) WHERE i < n), "
		   "expected AS (SELECT range AS id, range * 7 % 50000 AS customer, "
		   "CASE WHEN u.id IS NULL THEN 'open' ELSE 'paid' END AS status, "
		   "CASE WHEN u.id IS NULL THEN 0 ELSE 1 END AS changes "
		   "FROM range(" +
		   std::to_string(kDemoRows) +
		   ") LEFT JOIN (SELECT id FROM planned WHERE NOT deletes) u ON range = u.id "
		   "WHERE range NOT IN (SELECT id FROM planned WHERE deletes)), "
		   "actual AS (SELECT id, customer, status, changes FROM orders) "
		   "SELECT (SELECT count(*) FROM (FROM expected EXCEPT ALL FROM actual)) + "
		   "(SELECT count(*) FROM (FROM actual EXCEPT ALL FROM expected)), "
		   "(SELECT count(*) FROM actual), (SELECT sum(changes) FROM actual)";
}

}  // namespace braid::cli
