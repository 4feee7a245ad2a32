// SPDX-License-Identifier: Apache-2.0
#include "engine/write/statement_result.h"

namespace braid::engine {

bool StatementResult::Next(uint64_t changed, duckdb::DataChunk& chunk) {
	if (!returned) {
		chunk.SetCardinality(1);
		chunk.SetValue(0, 0, duckdb::Value::BIGINT(static_cast<int64_t>(changed)));
		return false;
	}
	if (!started_) returned->InitializeScan(scan_);
	started_ = true;
	returned->Scan(scan_, chunk);
	return chunk.size() > 0;
}

}  // namespace braid::engine
