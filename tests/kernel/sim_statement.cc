// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/sim_statement.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace braid::sim {
namespace {

// A row in the middle of a program: of the table, or made by an earlier statement.
struct Local {
	Row row;
	std::optional<size_t> base;    // its index in the table
	std::optional<size_t> origin;  // the row of the table that it is an image of
};

struct Step {
	std::set<size_t> removed;  // indices into the local rows
	std::vector<Local> added;
};

void Change(Step& step, const std::vector<Local>& rows, size_t i, Statement::Then then, std::function<void(Row&)> set) {
	if (then == Statement::Then::kNothing) return;
	step.removed.insert(i);
	if (then == Statement::Then::kDelete) return;
	Row image = rows[i].row;
	set(image);
	step.added.push_back({image, std::nullopt, rows[i].base ? rows[i].base : rows[i].origin});
}

Step RunMerge(const Statement& statement, const std::vector<Local>& rows) {
	Step step;
	std::set<int64_t> matched;
	for (size_t i = 0; i < rows.size(); i++) {
		const Row& row = rows[i].row;
		const auto source = row.k ? statement.source.find(*row.k) : statement.source.end();
		if (source != statement.source.end()) {
			matched.insert(source->first);
			if (*row.x > statement.threshold)
				Change(step, rows, i, statement.matched, [&](Row& image) { image.y = source->second; });
		} else if (*row.y < statement.by_source_below) {
			Change(step, rows, i, statement.by_source, [](Row& image) { image.y = 5; });
		}
	}
	for (const auto& [key, y] : statement.source) {
		if (statement.inserts && !matched.contains(key)) step.added.push_back({{key, 3, y}, {}, {}});
	}
	return step;
}

Step RunOne(const Statement& statement, const std::vector<Local>& rows) {
	if (statement.kind == Kind::kMerge) return RunMerge(statement, rows);
	Step step;
	for (const Row& row : statement.rows) step.added.push_back({row, {}, {}});
	int64_t count = 0;
	for (size_t i = 0; i < rows.size(); i++) {
		if (statement.kind == Kind::kOverwrite) step.removed.insert(i);
		if (!statement.Reads() || !statement.where(rows[i].row)) continue;
		count++;
		if (statement.kind == Kind::kDelete) Change(step, rows, i, Statement::Then::kDelete, {});
		if (statement.kind == Kind::kUpdate) Change(step, rows, i, Statement::Then::kUpdate, statement.set);
	}
	if (statement.kind == Kind::kInsertSelect)
		step.added.push_back({{9, 9, (count * 7 + statement.seed) % 100 + 10}, {}, {}});
	return step;
}

}  // namespace

bool Program::Blind() const {
	return !rearranges && std::ranges::all_of(statements, [](const auto& s) { return s.kind == Kind::kInsert; });
}

std::string Program::Text() const {
	if (raises_level) return "ALTER TABLE SET isolationLevel = Serializable";
	if (adopts) return "ALTER TABLE SET checkpointPolicy = v2";
	if (rearranges) return lies ? "a false OPTIMIZE (loses a row)" : "OPTIMIZE";
	std::string text;
	for (const Statement& statement : statements) text += (text.empty() ? "" : "; ") + statement.text;
	return text + (copy_on_write ? " (copy-on-write)" : "");
}

Rows Effect::AddedRows() const {
	Rows rows;
	for (const Added& entry : added) rows.push_back(entry.row);
	std::ranges::sort(rows);
	return rows;
}

Effect Run(const Program& program, const Rows& rows) {
	std::vector<Local> local;
	for (size_t i = 0; i < rows.size(); i++) local.push_back({rows[i], i, std::nullopt});
	Effect effect;
	for (const Statement& statement : program.statements) {
		Step step = RunOne(statement, local);
		std::vector<Local> next;
		for (size_t i = 0; i < local.size(); i++) {
			if (!step.removed.contains(i)) {
				next.push_back(local[i]);
			} else if (local[i].base) {
				effect.removed.push_back(*local[i].base);
			}
		}
		next.insert(next.end(), step.added.begin(), step.added.end());
		local = std::move(next);
	}
	for (const Local& row : local) {
		if (!row.base) effect.added.push_back({row.row, row.origin});
	}
	std::ranges::sort(effect.removed);
	return effect;
}

// ------------------------------------------------------------ drawing

std::string Text(const Rows& rows) {
	std::ostringstream out;
	for (size_t i = 0; i < rows.size(); i++) {
		const auto& k = rows[i].k;
		out << (i ? ", " : "") << "(" << (k ? std::to_string(*k) : "NULL") << ", " << *rows[i].x << ", " << *rows[i].y
			<< ")";
	}
	return out.str();
}

Row DrawRow(Dice& dice) {
	Row row {dice.Roll(0, 5), dice.Roll(0, 5), dice.Roll(0, 5)};
	if (dice.Chance(5)) row.k = std::nullopt;  // meets no condition and no key of a MERGE
	return row;
}

namespace {

void DrawCondition(Dice& dice, Statement& statement) {
	const std::string column = dice.Pick<std::string>({"k", "x", "y"});
	const int64_t value = dice.Roll(0, 5);
	const std::string shape = dice.Pick<std::string>({">", "<", "=", "%", "=", "="});
	if (shape == "%") {  // nothing that the kernel knows: its bound is TRUE
		statement.where = [=](const Row& row) {
			const auto& cell = column == "k" ? row.k : column == "x" ? row.x : row.y;
			return cell && *cell % 2 == value % 2;
		};
		statement.exact_needed = true;
		statement.text = " WHERE " + column + " % 2 = " + std::to_string(value % 2);
		return;
	}
	statement.bound = Is(column,
						 shape == ">"   ? CompareOp::kGreater
						 : shape == "<" ? CompareOp::kLess
										: CompareOp::kEqual,
						 value);
	statement.where = [bound = statement.bound](const Row& row) { return Satisfies(bound, row); };
	statement.text = " WHERE " + ToString(statement.bound);
}

void DrawAssignment(Dice& dice, Statement& statement, int64_t highest) {
	const bool x = dice.Chance(50), constant = dice.Chance(50);
	const int64_t value = dice.Roll(0, highest);
	statement.set = [=](Row& row) {
		auto& cell = x ? row.x : row.y;
		cell = constant ? value : (*cell + 1) % 6;
	};
	const std::string name = x ? "x" : "y";
	statement.text =
		"UPDATE SET " + name + " = " + (constant ? std::to_string(value) : "(" + name + " + 1) % 6") + statement.text;
}

void DrawMerge(Dice& dice, Statement& statement, int64_t highest_key) {
	using Then = Statement::Then;
	std::vector<int64_t> keys;
	for (int64_t i = dice.Roll(1, 2); i > 0; i--) {
		const int64_t key = dice.Roll(0, highest_key);
		statement.source[key] = dice.Roll(0, 5);
	}
	std::string text = "MERGE USING {";
	for (const auto& [key, y] : statement.source) {
		keys.push_back(key);
		text += (keys.size() > 1 ? ", " : "") + std::to_string(key) + ": " + std::to_string(y);
	}
	statement.threshold = dice.Roll(0, 4);
	statement.matched = dice.Pick<Then>({Then::kUpdate, Then::kDelete, Then::kNothing});
	statement.inserts = dice.Chance(75);
	if (dice.Chance(15)) {
		statement.by_source = dice.Pick<Then>({Then::kUpdate, Then::kDelete});
		statement.by_source_below = dice.Roll(1, 4);
	}
	const auto name = [](Then then) {
		return then == Then::kUpdate ? "update" : then == Then::kDelete ? "delete" : "nothing";
	};
	text += std::string("} matched and x > ") + std::to_string(statement.threshold) + " " + name(statement.matched);
	if (statement.by_source != Then::kNothing)
		text += std::string(", not by source and y < ") + std::to_string(statement.by_source_below) + " " +
				name(statement.by_source);
	statement.text = text + (statement.inserts ? ", not matched insert" : "");
	if (statement.by_source != Then::kNothing) {
		statement.where = [](const Row&) { return true; };
	} else {
		statement.bound = AnyOf("k", keys);
		statement.where = [source = statement.source](const Row& row) { return row.k && source.contains(*row.k); };
	}
}

Rows DrawRows(Dice& dice, int64_t most) {
	Rows rows;
	for (int64_t i = dice.Roll(1, most); i > 0; i--) rows.push_back(DrawRow(dice));
	return rows;
}

Statement DrawStatement(Dice& dice) {
	Statement statement;
	statement.kind = dice.Pick<Kind>({Kind::kInsert, Kind::kDelete, Kind::kUpdate, Kind::kMerge, Kind::kInsertSelect,
									  Kind::kDelete, Kind::kUpdate, Kind::kMerge});
	switch (statement.kind) {
		case Kind::kInsert:
			statement.rows = DrawRows(dice, 2);
			statement.text = "INSERT " + Text(statement.rows);
			break;
		case Kind::kUpdate:
			DrawCondition(dice, statement);
			DrawAssignment(dice, statement, 5);
			break;
		case Kind::kDelete:
			DrawCondition(dice, statement);
			statement.text = "DELETE" + statement.text;
			break;
		case Kind::kInsertSelect:
			DrawCondition(dice, statement);
			statement.seed = dice.Roll(0, 5);
			statement.text = "INSERT SELECT count(*)" + statement.text;
			break;
		case Kind::kMerge:
			DrawMerge(dice, statement, 5);
			break;
		case Kind::kOverwrite:
			break;
	}
	return statement;
}

}  // namespace

Program AnyProgram(Dice& dice) {
	Program program;
	if (dice.Chance(14)) {
		program.rearranges = true;
		program.lies = dice.Chance(8);
	} else if (dice.Chance(3)) {
		(dice.Chance(50) ? program.raises_level : program.adopts) = true;
	} else if (dice.Chance(3)) {
		Statement overwrite;
		overwrite.kind = Kind::kOverwrite;
		overwrite.rows = DrawRows(dice, 2);
		overwrite.text = "INSERT OVERWRITE " + Text(overwrite.rows);
		program.statements = {std::move(overwrite)};
	} else {
		for (int64_t i = dice.Pick<int64_t>({1, 1, 1, 1, 2, 3}); i > 0; i--)
			program.statements.push_back(DrawStatement(dice));
		program.copy_on_write = dice.Chance(12);
	}
	return program;
}

Program NearAppend(Dice& dice, int rows) {
	Statement append;
	for (int i = 0; i < rows; i++) append.rows.push_back({dice.Roll(4, 7), dice.Roll(0, 3), 0});
	append.text = "INSERT " + Text(append.rows);
	Program program;
	program.statements = {std::move(append)};
	return program;
}

Program NearProgram(Dice& dice) {
	if (dice.Chance(15)) return NearAppend(dice, 1);
	Statement statement;
	statement.kind = dice.Pick<Kind>({Kind::kDelete, Kind::kUpdate, Kind::kUpdate, Kind::kMerge});
	if (statement.kind == Kind::kMerge) {
		DrawMerge(dice, statement, 7);
	} else {
		statement.bound = Equals("x", dice.Roll(0, 3));
		statement.where = [bound = statement.bound](const Row& row) { return Satisfies(bound, row); };
		const int64_t to = dice.Roll(0, 3);
		statement.set = [to](Row& row) { row.x = to; };
		statement.text =
			(statement.kind == Kind::kDelete ? "DELETE WHERE " : "UPDATE SET x = " + std::to_string(to) + " WHERE ") +
			ToString(statement.bound);
	}
	Program program;
	program.statements = {std::move(statement)};
	return program;
}

}  // namespace braid::sim
