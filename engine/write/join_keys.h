// SPDX-License-Identifier: Apache-2.0
// What the joins of a MERGE, UPDATE ... FROM, DELETE ... USING or WHERE k IN (SELECT ...) ask of their target beyond the
// conditions of its scan: that the row has a join key of the other side. After the optimizer is done, a KeyCapture is
// put below the other side of each such join, and the read of the target is told of it (docs/concurrency.md). A join
// that keeps rows of the target without a match (BY SOURCE) asks nothing. What is not understood asks nothing either:
// the read set is then larger.
#pragma once

#include "duckdb/main/config.hpp"

namespace braid::engine {

void RegisterJoinKeys(duckdb::DBConfig& config);

}  // namespace braid::engine
