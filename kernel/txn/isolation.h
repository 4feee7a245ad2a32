// SPDX-License-Identifier: Apache-2.0
// The two isolation levels of a table (docs/concurrency.md; an absent property counts as WriteSerializable), and how
// eagerly we resolve.
#pragma once

#include <string_view>

#include "kernel/action/actions.h"

namespace braid {

enum class IsolationLevel { kWriteSerializable, kSerializable };

std::string_view ToString(IsolationLevel level);  // as written in delta.isolationLevel and in commitInfo
IsolationLevel LevelOf(const Metadata& metadata);
IsolationLevel Stricter(IsolationLevel a, IsolationLevel b);

// How a lost race is treated: as documented, by rows, or by rows with repair.
enum class ConcurrencyMode { kStrict, kSound, kMax };

// Whose published behaviour `strict` follows (R4, R15, R27, R28).
enum class CompatRuntime { k13_3, k14_0, k14_1, k14_2, k14_3 };
struct CompatOptions {
	CompatRuntime runtime = CompatRuntime::k14_3;
	bool photon = true;    // Photon counts as present
	bool preview = false;  // rowLevelConcurrencyPreview is set
};

}  // namespace braid
