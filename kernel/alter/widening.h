// SPDX-License-Identifier: Apache-2.0
// Which types a column may be changed to without its files being rewritten (PROTOCOL: Type Widening).
#pragma once

#include <string>

#include "kernel/schema/type.h"

namespace braid {

bool IsWidening(const DataType& from, const DataType& to);
// "integer, long, double, decimal(10,0) or wider": for messages; "" if there are none.
std::string WiderTypes(const DataType& from);

}  // namespace braid
