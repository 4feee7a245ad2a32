// SPDX-License-Identifier: Apache-2.0
// What a session's last commit to a lake did and what its last conflict was: FROM braid_last_commit(), FROM braid_last_conflict(). Kept per
// DuckDB connection, until the next commit or conflict of it; empty before the first.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "kernel/txn/conflict_report.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

struct CommitRecord {
	std::string table;  // its directory
	std::string operation;
	bool skipped = false;       // nothing was written: this braid_txn_version is in the table already
	int64_t version = -1;       // that the commit made; skipped: the newest one that was looked at
	int64_t attempts = 0;       // to write the next version; a winner seen before the first costs none
	int64_t winners = 0;        // commits of others that it was rebased over
	int64_t rows_rebased = 0;   // deleted rows whose vector was united with a winner's
	int64_t rows_repaired = 0;  // mode max: rows that were left out or changed again because winners had changed them
	int64_t statement_retries = 0;  // times that the whole statement was executed again
	std::string txn_id;
};

class SessionRecord : public duckdb::ClientContextState {
public:
	static SessionRecord& Get(duckdb::ClientContext& context) {
		return *context.registered_state->GetOrCreate<SessionRecord>("braid_session_record");
	}

	void Set(CommitRecord commit);
	void Set(std::shared_ptr<const ConflictReport> conflict);
	std::optional<CommitRecord> last_commit();
	std::shared_ptr<const ConflictReport> last_conflict();  // null: none

private:
	std::mutex mutex_;
	std::optional<CommitRecord> last_commit_;
	std::shared_ptr<const ConflictReport> last_conflict_;
};

// A column of a function that shows records, and the value that a record has there.
template <class Record>
struct RecordColumn {
	const char* name;
	duckdb::LogicalType type;
	duckdb::Value (*of)(const Record& record);
};
std::span<const RecordColumn<ConflictReport>> ConflictColumns();

// Makes the two table functions known.
void RegisterSessionRecord(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
