// SPDX-License-Identifier: Apache-2.0
// Folders of partitions, column=value, in the spelling of Hive and Spark. To Delta they are a courtesy: the log says what is in a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace braid {

// In the place of a value: NULL.
inline constexpr std::string_view kNullPartition = "__HIVE_DEFAULT_PARTITION__";

// "p=a%2Fb"
std::string PartitionFolder(std::string_view column, const std::optional<std::string>& value);

}  // namespace braid
