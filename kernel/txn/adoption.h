// SPDX-License-Identifier: Apache-2.0
// Adoption: which changes of protocol and metadata by a winner do no harm to a transaction that did not know them (docs/concurrency.md, Metadata). The
// transaction commits under the winner's protocol and metadata and does what they demand. Anything that is not on the lists stops it; nothing may be
// taken away. `strict` adopts nothing.
#pragma once

#include <span>
#include <string_view>

#include "kernel/action/actions.h"

namespace braid {

// A property that a winner may set, and to what; "": to anything.
struct AdoptableProperty {
	std::string_view key, value;
	bool may_change = false;  // also where it had another value, and back to nothing
};
std::span<const AdoptableProperty> AdoptableProperties();
std::span<const std::string_view> AdoptableFeatures();

bool CanAdopt(const Protocol& now, const Protocol& before);
bool CanAdopt(const Metadata& now, const Metadata& before);

}  // namespace braid
