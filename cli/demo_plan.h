// SPDX-License-Identifier: Apache-2.0
// What the demo's processes do: each statement has rows of its own, and neighbours in the file belong to different
// processes. The expected table is derived from this plan alone, never from what the engine did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braid::cli {

constexpr int64_t kDemoRows = 1'000'000;
constexpr int kDemoProcesses = 8;
constexpr int kDemoStatements = 25;     // of each process
constexpr int64_t kClashRow = 777'777;  // in no statement of the plan

// Rows first, first + step, ..., count of them.
struct PlannedStatement {
	int process = 0;
	bool deletes = false;
	int64_t first = 0;
	int64_t step = 1;
	int64_t count = 1;
	std::string sql;
};

// In the order in which each process runs them; statement k of process p stands at index p * kDemoStatements + k.
std::vector<PlannedStatement> PlanDemo();

// SQL that makes the one-file table `orders`.
std::string CreateDemoTable();

// SQL that counts the rows in which the table and the plan differ, in either direction, doubles included.
std::string CountDifferences(const std::vector<PlannedStatement>& plan);

}  // namespace braid::cli
