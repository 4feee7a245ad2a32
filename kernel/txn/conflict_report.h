// SPDX-License-Identifier: Apache-2.0
// What clashed: the explanation that every conflict error carries (docs/concurrency.md, Errors).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace braid {

enum class ConflictClass {
	kConcurrentAppend,
	kConcurrentDeleteRead,
	kConcurrentDeleteDelete,
	kMetadataChanged,
	kConcurrentTransaction,
	kProtocolChanged,
	kConcurrentWrite
};

struct ConflictReport {
	ConflictClass conflict_class = ConflictClass::kConcurrentAppend;
	std::string sub_condition;  // "ROW_LEVEL_CHANGES", "WHOLE_TABLE_READ", ...; "" if the class has none
	std::string table;
	std::string operation;  // ours
	std::string predicate;  // what we read, SQL-like
	int64_t read_version = -1;
	int64_t winner_version = -1;
	std::string winner_operation;
	std::string winner_txn_id;
	std::string winner_engine;                // "" if it does not say
	std::optional<int64_t> winner_timestamp;  // ms since the epoch
	std::string file;                         // "" if not about one file
	std::string partition;                    // of that file, as JSON; "" if the table has no partitions
	std::vector<std::string> rows;            // samples of the rows that clash
	// All that this winner did to rows that we read or delete, samples: as they were, and as they are now.
	std::vector<std::string> old_rows, new_rows;
	std::string matched_predicate;  // which of our conditions these rows satisfy, if one is known
	std::string rule;               // docs/concurrency.md, Errors
	bool retry_would_help = true;
};

// Whether it is about rows that were found to clash: not about protocol, metadata or application transactions, and not for want of time.
bool RowsClash(const ConflictReport& report);

inline constexpr std::string_view kConflictSqlState = "2D521";
std::string ErrorClassName(ConflictClass conflict_class);  // "DELTA_CONCURRENT_APPEND"
// "[DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES] <what> ... SQLSTATE: 2D521"
std::string ConflictMessage(const ConflictReport& report);
std::unexpected<Error> AsError(ConflictReport report);  // kConflict, with message and report

}  // namespace braid
