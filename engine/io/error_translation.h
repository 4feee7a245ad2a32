// SPDX-License-Identifier: Apache-2.0
// The one place where the kernel's errors become DuckDB's exceptions and the other way round.
// conflict: TransactionException; constraint: ConstraintException; invalid argument, read-only: InvalidInputException; not found, exists:
// CatalogException; corrupt, I/O, no space, unknown outcome: IOException; unsupported: NotImplementedException. A broken invariant becomes
// an IOException too: DuckDB's INTERNAL errors invalidate the whole database (trap 5).
#pragma once

#include <exception>
#include <utility>

#include "base/result.h"
#include "duckdb/common/error_data.hpp"

namespace braid::engine {

[[noreturn]] void Throw(const Error& error);
duckdb::ErrorData ToErrorData(const Error& error);

// What DuckDB threw while it worked for the kernel. `doing` says what for: "read checkpoint x.parquet".
Error ToError(const duckdb::ErrorData& error, const std::string& doing);

template <class T>
T Unwrap(Result<T> result) {
	if (!result) Throw(result.error());
	return *std::move(result);
}
inline void Unwrap(Status status) {
	if (!status) Throw(status.error());
}

}  // namespace braid::engine
