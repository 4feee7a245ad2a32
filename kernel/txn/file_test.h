// SPDX-License-Identifier: Apache-2.0
// File test: what `strict` refuses beyond clashes of rows (docs/concurrency.md, Modes): statements and tables for which the published product
// looks at files only, and rearrangements that it does not follow. Reads nothing but the log.
#pragma once

#include <optional>
#include <string>

#include "kernel/txn/conflict.h"

namespace braid {

// Why a transaction is judged by files; kNone: by rows.
enum class RowLevelLimit {
	kNone,
	kPartitioned,  // R3
	kNoVectors,    // R2
	kConditions,   // R14
	kRuntime,      // R4, R15, R27, R28
};
RowLevelLimit LimitOf(const Transaction& transaction, const CompatOptions& compat);

// kConflict with its report, if a pair of the file rules clashes.
Status TestFiles(const JudgeContext& context);

}  // namespace braid
