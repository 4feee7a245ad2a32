// SPDX-License-Identifier: Apache-2.0
// simdjson over text that has no padding behind it: the text is copied into a buffer of this thread. One document
// at a time per thread: it is valid until the next call.
#pragma once

#include <string>
#include <string_view>

#include "simdjson.h"

namespace braid {

inline simdjson::simdjson_result<simdjson::ondemand::document> ParseOnDemand(std::string_view json) {
	thread_local simdjson::ondemand::parser parser;
	thread_local std::string buffer;
	buffer.resize(json.size() + simdjson::SIMDJSON_PADDING);
	json.copy(buffer.data(), json.size());
	return parser.iterate(buffer.data(), json.size(), buffer.size());
}

}  // namespace braid
