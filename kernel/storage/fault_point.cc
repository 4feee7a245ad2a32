// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/fault_point.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace braid {

void HoldPoint() {
	const char* const pipe = std::getenv("BRAID_HOLD_COMMIT");
	if (pipe == nullptr) [[likely]]
		return;
	const int file = open(pipe, O_RDONLY | O_CLOEXEC);
	if (file < 0) return;
	char byte = 0;
	while (read(file, &byte, 1) > 0) {
	}
	close(file);
}

}  // namespace braid

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
