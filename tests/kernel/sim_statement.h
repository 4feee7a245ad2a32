// SPDX-License-Identifier: Apache-2.0
// What the simulator's transactions do, told without any of the code under test: statements over rows (k, x, y), programs of one to three statements,
// their meaning on a list of rows, and how they are drawn.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/kernel/memory_table.h"

namespace braid::sim {

enum class Kind { kInsert, kDelete, kUpdate, kMerge, kInsertSelect, kOverwrite };

struct Statement {
	Kind kind = Kind::kInsert;
	std::function<bool(const Row&)> where;  // rows that it reads
	Predicate bound;                        // the same for the kernel, or wider
	bool exact_needed = false;
	std::function<void(Row&)> set;  // kUpdate
	Rows rows;                      // kInsert, kOverwrite
	// kMerge ON k = source key.
	std::map<int64_t, int64_t> source;  // key to new y
	int64_t threshold = 0;              // WHEN MATCHED AND x > threshold
	enum class Then { kNothing, kUpdate, kDelete } matched = Then::kUpdate, by_source = Then::kNothing;
	int64_t by_source_below = 0;  // WHEN NOT MATCHED BY SOURCE AND y < ...
	bool inserts = true;          // WHEN NOT MATCHED
	int64_t seed = 0;             // kInsertSelect: part of the row made of the count
	std::string text;             // for people

	bool Reads() const { return kind != Kind::kInsert && kind != Kind::kOverwrite; }
};

struct Program {
	std::vector<Statement> statements;
	bool rearranges = false;  // OPTIMIZE: no statements
	bool lies = false;        // a rearrangement that loses a row
	bool copy_on_write = false;
	bool raises_level = false, adopts = false;  // alters metadata instead: isolation level, a harmless property

	bool Blind() const;
	std::string Text() const;
};

// What a program does to a list of rows.
struct Effect {
	std::vector<size_t> removed;  // indices into the rows given
	struct Added {
		Row row;
		std::optional<size_t> origin;  // index of the row that it is an image of
	};
	std::vector<Added> added;

	Rows AddedRows() const;  // sorted
};
Effect Run(const Program& program, const Rows& rows);

class Dice {
public:
	explicit Dice(uint64_t seed) : engine_(seed) {}
	int64_t Roll(int64_t low, int64_t high) {
		return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
	}
	bool Chance(int percent) { return Roll(1, 100) <= percent; }
	template <class T>
	const T& Pick(const std::vector<T>& items) {
		return items[static_cast<size_t>(Roll(0, static_cast<int64_t>(items.size()) - 1))];
	}

private:
	std::mt19937_64 engine_;
};

Row DrawRow(Dice& dice);
std::string Text(const Rows& rows);

// Any program at all, and one of those around the traps of WriteSerializable: few values, so that they meet.
Program AnyProgram(Dice& dice);
Program NearProgram(Dice& dice);
Program NearAppend(Dice& dice, int rows);

}  // namespace braid::sim
