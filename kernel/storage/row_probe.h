// SPDX-License-Identifier: Apache-2.0
// RowProbe: the kernel's questions to the engine (docs/concurrency.md): which of these rows satisfy what this transaction read, and what identifies
// these rows, so that they can be followed through a rewrite. The engine reads the rows and evaluates the transaction's own bound expressions; the
// kernel never sees a value, only positions, stable ids, bytes that are equal exactly where rows are, and samples for people.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

using RowIdSink =
	std::function<Status(size_t request, std::span<const uint64_t> positions, std::span<const int64_t> ids)>;
using RowContentSink = std::function<Status(size_t request, uint64_t position, std::string_view content)>;

class RowProbe {
public:
	virtual ~RowProbe() = default;
	// Rows for which `exact` (or, if it is null, `bound`) IS TRUE; at most `limit` of them. Errors: kIo, kNotFound (file vacuumed), kInterrupted.
	virtual Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest> requests, const Predicate& bound,
												  const RowPredicate* exact, size_t limit) = 0;
	// All such rows, by request.
	virtual Result<std::vector<PositionSet>> MatchAll(std::span<const ProbeRequest> requests, const Predicate& bound,
													  const RowPredicate* exact) = 0;
	// Stable row ids (PROTOCOL: Row Tracking): the hidden `column` where the file has it and the row a value, else base row id + position; no
	// column is read where `column` is "". kNotFound: the file is gone, or a row has no id. A sink's error stops the reading and is handed on.
	virtual Status ReadRowIds(std::span<const ProbeRequest> requests, const std::string& column,
							  const RowIdSink& sink) = 0;
	// Whole rows as bytes: equal exactly if all columns are, bit by bit. kNotFound: the file is gone.
	virtual Status ReadContents(std::span<const ProbeRequest> requests, const RowContentSink& sink) = 0;
	// Short pictures of given rows of one file, for messages.
	virtual Result<std::vector<std::string>> Describe(const AddFile& file, std::span<const uint64_t> positions) = 0;
};

}  // namespace braid
