// SPDX-License-Identifier: Apache-2.0
// Result<T> and Status: how every fallible function of Braid below the DuckDB adapter answers.
// Guarantees: no exception carries an error; an Error names its kind, says what happened to which table, version, file,
// row or column, and what the caller can do. A conflict carries its structured report (kernel/txn/conflict_report.h).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <expected>
#include <memory>
#include <string>
#include <utility>

namespace braid {

enum class ErrorKind {
	kInvalidArgument,  // the caller asked for something that makes no sense (version -1, two tables in one transaction)
	kNotFound,         // a table, version, file or column does not exist
	kAlreadyExists,    // put-if-absent lost, or CREATE of something that is there
	kCorrupt,          // the table on disk contradicts the protocol or itself
	kUnsupported,      // a table feature, type or operation that this build does not implement
	kConstraintViolation,  // a row that the table does not allow
	kConflict,             // a concurrent transaction changed what this one read or wrote; Error::conflict is set
	kOutcomeUnknown,       // the store did not say whether a commit file was written
	kReadOnly,             // no permission to write
	kNoSpace,              // the device is full or a quota is reached
	kIo,                   // any other failure of a store
	kInterrupted,          // the user cancelled
	kInternal,             // a broken invariant of Braid itself
};

struct ConflictReport;

struct Error {
	ErrorKind kind = ErrorKind::kInternal;
	std::string message;
	std::shared_ptr<const ConflictReport> conflict;  // only with kConflict
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> Fail(ErrorKind kind, std::string message) {
	return std::unexpected(Error {kind, std::move(message), nullptr});
}

#define BRAID_CONCAT_(a, b) a##b
#define BRAID_CONCAT(a, b) BRAID_CONCAT_(a, b)

// BRAID_TRY(auto x, result): hands an error to the caller, else binds the value. BRAID_TRY(status): hands an error to the caller.
#define BRAID_TRY(...) BRAID_TRY_PICK_(__VA_ARGS__, BRAID_TRY_VALUE_, BRAID_TRY_STATUS_)(__VA_ARGS__)
#define BRAID_TRY_PICK_(a, b, macro, ...) macro
#define BRAID_TRY_VALUE_(declaration, expression) \
	BRAID_TRY_BIND_(BRAID_CONCAT(braid_result_, __COUNTER__), declaration, expression)
#define BRAID_TRY_BIND_(result, declaration, expression)            \
	auto result = (expression);                                     \
	if (!result) return std::unexpected(std::move(result).error()); \
	declaration = *std::move(result)
#define BRAID_TRY_STATUS_(expression)                                                                      \
	do {                                                                                                   \
		if (auto braid_status = (expression); !braid_status) return std::unexpected(braid_status.error()); \
	} while (false)

// BRAID_CHECK(condition): an invariant of our own code. Aborts with the place: a broken invariant may not reach a commit.
#define BRAID_CHECK(condition)                                                                             \
	do {                                                                                                   \
		if (!(condition)) {                                                                                \
			std::fprintf(stderr, "braid: broken invariant %s at %s:%d\n", #condition, __FILE__, __LINE__); \
			std::abort();                                                                                  \
		}                                                                                                  \
	} while (false)

}  // namespace braid
