// SPDX-License-Identifier: Apache-2.0
// PROTOCOL: Domain Metadata: the newest action of a domain counts, and one that removes it leaves nothing.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "kernel/action/actions.h"

namespace braid {

inline void ApplyDomain(std::map<std::string, DomainMetadata>& domains, DomainMetadata domain) {
	if (domain.removed) {
		domains.erase(domain.domain);
	} else {
		const std::string name = domain.domain;
		domains.insert_or_assign(name, std::move(domain));
	}
}

}  // namespace braid
