// SPDX-License-Identifier: Apache-2.0
// WriteSerializable: may a transaction that missed rows of blind appends be ordered before those appends
// (docs/concurrency.md, with the proof)? Works on what every single winner did, not on the net delta: a row counts even
// if it was removed again later.
#pragma once

#include "kernel/txn/conflict.h"

namespace braid {

// Precondition: every effect of every winner has been tested against our reads. On true, `survivors` are the files of
// the appends skipped.
Result<bool> CanOrderBeforeAppends(const JudgeContext& context, SurvivingAppends& survivors);

}  // namespace braid
