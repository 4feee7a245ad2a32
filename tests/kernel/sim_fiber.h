// SPDX-License-Identifier: Apache-2.0
// Fiber: a function that can stop in the middle and go on later, on one thread and in an order that the caller decides. Makes the committer, which is
// plain sequential code, a step machine.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

namespace braid::sim {

class Fiber {
public:
	explicit Fiber(std::function<void()> body);
	~Fiber();  // must be done
	Fiber(const Fiber&) = delete;

	void Resume();        // until it yields or ends
	static void Yield();  // from inside
	bool done() const { return done_; }

private:
	static void Enter();
	void SwitchIn();
	void SwitchOut(bool ending);

	std::function<void()> body_;
	std::unique_ptr<char[]> stack_;
	ucontext_t self_ {}, caller_ {};
	bool done_ = false;
	// What the sanitizers need to know of stacks.
	void* fake_stack_ = nullptr;
	void* caller_fake_stack_ = nullptr;
	const void* caller_stack_ = nullptr;
	size_t caller_stack_size_ = 0;
	void* thread_fiber_ = nullptr;
	void* caller_fiber_ = nullptr;
};

}  // namespace braid::sim
