// SPDX-License-Identifier: Apache-2.0
// Writing once (PROTOCOL: Transaction Identifiers): with braid_txn_app_id and braid_txn_version set, a commit records both in the table, and a
// statement whose version (or a later one) of that application is in the table already writes nothing. What raced with the same application
// fails with ConcurrentTransaction (kernel/txn/gate.h).
#pragma once

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// True: the table has it already; the statement is to write nothing, and the session's record says so. False: it is staged with the rest, if the
// two settings are set. Throws if only one of them is.
bool IsWrittenAlready(duckdb::ClientContext& context, TableWork& work, const char* operation);

}  // namespace braid::engine
