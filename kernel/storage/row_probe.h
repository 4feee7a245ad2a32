// SPDX-License-Identifier: Apache-2.0
// RowProbe: the kernel's question to the engine, "which of these rows satisfy what this transaction read?" (docs/concurrency.md).
// The engine reads the rows and evaluates the transaction's own bound expressions; the kernel never sees a row, only positions and samples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/deletion/position_set.h"
#include "kernel/predicate/predicate.h"

namespace braid {

// The exact condition of one read as the engine bound it; the kernel only carries it.
class RowPredicate {
public:
	virtual ~RowPredicate() = default;
};

struct ProbeRequest {
	const AddFile* file =
		nullptr;  // the file to read, as the log names it (its own deletion vector is NOT applied by the probe)
	const PositionSet* only = nullptr;    // rows to test; nullptr = all
	const PositionSet* except = nullptr;  // rows not to test; nullptr = none
};

struct ProbeMatch {
	size_t request = 0;  // index into the requests
	uint64_t position = 0;
	std::string row;  // "id=7, s=x": a short picture for people
};

class RowProbe {
public:
	virtual ~RowProbe() = default;
	// Rows for which `exact` (or, if it is null, `bound`) IS TRUE; at most `limit` of them. Errors: kIo, kNotFound (file vacuumed), kInterrupted.
	virtual Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest> requests, const Predicate& bound,
												  const RowPredicate* exact, size_t limit) = 0;
	// Short pictures of given rows of one file, for messages.
	virtual Result<std::vector<std::string>> Describe(const AddFile& file, std::span<const uint64_t> positions) = 0;
};

}  // namespace braid
