// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/fault_point.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace braid::internal {

const char* const armed_fault_point = std::getenv("BRAID_FAULT_POINT");

void HitFaultPoint(std::string_view name) {
	static std::atomic<long> hits {0};
	const std::string_view armed = armed_fault_point;
	const size_t colon = armed.find(':');
	if (armed.substr(0, colon) != name) return;
	const long wanted = colon == std::string_view::npos ? 1 : std::strtol(armed.data() + colon + 1, nullptr, 10);
	if (++hits == wanted) _exit(137);
}

}  // namespace braid::internal
