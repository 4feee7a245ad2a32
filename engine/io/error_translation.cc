// SPDX-License-Identifier: Apache-2.0
// The mapping of error kinds, in both directions.
#include "engine/io/error_translation.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/common/string_util.hpp"

namespace braid::engine {

namespace {

duckdb::ExceptionType TypeOf(ErrorKind kind) {
	switch (kind) {
		case ErrorKind::kConflict:
			return duckdb::ExceptionType::TRANSACTION;
		case ErrorKind::kConstraintViolation:
			return duckdb::ExceptionType::CONSTRAINT;
		case ErrorKind::kInvalidArgument:
		case ErrorKind::kReadOnly:
			return duckdb::ExceptionType::INVALID_INPUT;
		case ErrorKind::kNotFound:
		case ErrorKind::kAlreadyExists:
			return duckdb::ExceptionType::CATALOG;
		case ErrorKind::kUnsupported:
			return duckdb::ExceptionType::NOT_IMPLEMENTED;
		case ErrorKind::kInterrupted:
			return duckdb::ExceptionType::INTERRUPT;
		case ErrorKind::kCorrupt:
		case ErrorKind::kOutcomeUnknown:
		case ErrorKind::kNoSpace:
		case ErrorKind::kIo:
		case ErrorKind::kInternal:
			return duckdb::ExceptionType::IO;
	}
	return duckdb::ExceptionType::IO;
}

}  // namespace

duckdb::ErrorData ToErrorData(const Error& error) { return duckdb::ErrorData(TypeOf(error.kind), error.message); }

void Throw(const Error& error) {
	ToErrorData(error).Throw();
	std::abort();  // ErrorData::Throw does not return
}

Error ToError(const duckdb::ErrorData& error, const std::string& doing) {
	ErrorKind kind = ErrorKind::kIo;
	const std::string& what = error.RawMessage();
	switch (error.Type()) {
		case duckdb::ExceptionType::INTERRUPT:
			kind = ErrorKind::kInterrupted;
			break;
		case duckdb::ExceptionType::INVALID_INPUT:  // "No magic bytes found", "too small to be a Parquet file"
		case duckdb::ExceptionType::SERIALIZATION:
		case duckdb::ExceptionType::CONVERSION:
			kind = ErrorKind::kCorrupt;
			break;
		case duckdb::ExceptionType::IO:
			if (what.find("No such file") != std::string::npos || what.find("No files found") != std::string::npos) {
				kind = ErrorKind::kNotFound;
			} else if (what.find("No space left") != std::string::npos) {
				kind = ErrorKind::kNoSpace;
			}
			break;
		default:
			break;
	}
	return Error {kind, doing + ": " + what, nullptr};
}

}  // namespace braid::engine
