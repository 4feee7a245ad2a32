// SPDX-License-Identifier: Apache-2.0
// Paths and URIs as text: percent-encoding and file URIs. Nothing here touches the disk.
#pragma once

#include <string>
#include <string_view>

namespace braid {

// %XX becomes the byte; a '%' that is not followed by two hexadecimal digits stays as it is.
std::string PercentDecode(std::string_view text);
// "s3:", "file:", ...: a scheme of at least two characters before any '/'.
bool HasUriScheme(std::string_view path);
// The absolute path in "file:/p", "file:///p" or "file://localhost/p", decoded; "" if it is not a local file URI.
std::string PathOfFileUri(std::string_view uri);

}  // namespace braid
