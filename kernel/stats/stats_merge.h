// SPDX-License-Identifier: Apache-2.0
// The statistics of a file from those of its parts. Guarantee: a bound is given only if every part with a value in the column has one.
#pragma once

#include "kernel/stats/file_stats.h"

namespace braid {

void MergeStats(FileStats& file, const FileStats& part);

}  // namespace braid
