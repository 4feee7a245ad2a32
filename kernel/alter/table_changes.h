// SPDX-License-Identifier: Apache-2.0
// Changes of a table as a whole: properties, constraints, its comment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/alter/table_draft.h"
#include "kernel/feature/property_change.h"

namespace braid {

// A property that asks for a feature gets it; column mapping gets the ids that it needs.
Status AlterProperties(TableDraft& draft, const Properties& properties, Random& random);
Status AlterProperties(TableDraft& draft, const std::vector<std::string>& unset, bool if_exists);
// The hidden columns that copied rows may carry their ids in (PROTOCOL: Row Tracking): a table that tracks rows has names for them.
void NameRowIdColumns(Configuration& configuration, Random& random);
Status SetTableComment(TableDraft& draft, const std::optional<std::string>& comment);

// `expression` is kept as it is written. Whether rows satisfy it is the caller's to check. Names are compared without regard to case.
Status AddConstraint(TableDraft& draft, const std::string& name, const std::string& expression);
// False: there is none, and `if_exists`.
Result<bool> DropConstraint(TableDraft& draft, const std::string& name, bool if_exists);

}  // namespace braid
