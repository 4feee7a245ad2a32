// SPDX-License-Identifier: Apache-2.0
// AtLowPriority: work on a thread of its own that leaves the processor to any other thread of the machine that wants it, as nice(1) does, and
// takes what is idle. A thread cannot raise its priority again, so DuckDB's own threads must keep theirs. The caller waits.
#pragma once

#include <sys/resource.h>

#include <future>
#include <system_error>
#include <thread>

namespace braid::engine {

inline constexpr int kLowPriority = 10;  // the default of nice(1)

// What `work` answers or throws. Without a thread to be had it runs here, at the priority of the caller.
template <class Work>
auto AtLowPriority(Work& work) {
	std::packaged_task<decltype(work())()> task([&] {
		setpriority(PRIO_PROCESS, 0, kLowPriority);  // on Linux of this thread alone; where it fails, all is as it was
		return work();
	});
	auto answer = task.get_future();
	std::thread thread;
	try {
		thread = std::thread(std::ref(task));
	} catch (const std::system_error&) {
		return work();
	}
	thread.join();
	return answer.get();
}

}  // namespace braid::engine
