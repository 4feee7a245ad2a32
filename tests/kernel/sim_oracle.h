// SPDX-License-Identifier: Apache-2.0
// The judge of a simulated history, independent of the code under test: it looks at the rows of every version and at what the programs mean, runs the
// programs one after the other, and finds what must not be: a lost or doubled commit, a row twice or gone, an order that explains nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/kernel/sim_schedule.h"

namespace braid::sim {

// What is wrong, in words.
std::optional<std::string> Violation(const Schedule& schedule, History& history);

enum class Reason {
	kRows,       // rows that the transaction read are not the same any more
	kByFile,     // copy-on-write, false rearrangements, alterations: not judged by rows
	kEqualRows,  // one was replaced by an equal one, and no ids tell (scenario 18)
	kNeedless,   // it would have read the same, and nothing else speaks against it
};
// Of a refused transaction, in mode `sound`.
Reason WhyRefused(const Schedule& schedule, History& history, size_t transaction);

// A smaller schedule that is still wrong.
Schedule Shrink(Schedule schedule, const std::function<bool(const Schedule&)>& wrong);

}  // namespace braid::sim
