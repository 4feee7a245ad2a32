// SPDX-License-Identifier: Apache-2.0
// When two protocols or two metadata actions ask the same of a reader or writer.
#pragma once

#include "kernel/action/actions.h"

namespace braid {

bool operator==(const Protocol& a, const Protocol& b);
// Everything that matters to a writer; not the creation time.
bool SameMetadata(const Metadata& a, const Metadata& b);

}  // namespace braid
