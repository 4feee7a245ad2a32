// SPDX-License-Identifier: Apache-2.0
// One line of a commit file <-> one action (PROTOCOL: Actions). Unknown actions and unknown fields are skipped; a known field of the wrong
// type or a missing required one is kCorrupt. Writing is compact JSON in the field order of Spark.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

void AppendActionLine(const Action& action, std::string& out);  // with the newline
// Calls `sink` for each action of a commit's bytes, in order. Accepts pretty-printed commits.
// `where` names the file in messages ("table X, version 7").
Status ParseCommit(std::string_view bytes, std::string_view where, const std::function<Status(Action&&)>& sink);

}  // namespace braid
