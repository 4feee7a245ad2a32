// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/sim_fiber.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace braid::sim {

static constexpr size_t kStackBytes = 512 * 1024;
static thread_local Fiber* running = nullptr;
static thread_local std::vector<std::unique_ptr<char[]>> spare_stacks;

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
	if (spare_stacks.empty()) {
		stack_.reset(new char[kStackBytes]);
	} else {
		stack_ = std::move(spare_stacks.back());
		spare_stacks.pop_back();
	}
	getcontext(&self_);
	self_.uc_stack.ss_sp = stack_.get();
	self_.uc_stack.ss_size = kStackBytes;
	self_.uc_link = nullptr;
	makecontext(&self_, Enter, 0);
#if defined(__SANITIZE_THREAD__)
	thread_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
	__tsan_destroy_fiber(thread_fiber_);
#endif
	spare_stacks.push_back(std::move(stack_));
}

void Fiber::SwitchIn() {
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(&caller_fake_stack_, stack_.get(), kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
	caller_fiber_ = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(thread_fiber_, 0);
#endif
	swapcontext(&caller_, &self_);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(caller_fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::SwitchOut([[maybe_unused]] bool ending) {
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(ending ? nullptr : &fake_stack_, caller_stack_, caller_stack_size_);
#endif
#if defined(__SANITIZE_THREAD__)
	__tsan_switch_to_fiber(caller_fiber_, 0);
#endif
	swapcontext(&self_, &caller_);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(fake_stack_, &caller_stack_, &caller_stack_size_);
#endif
}

void Fiber::Enter() {
	Fiber* self = running;
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(nullptr, &self->caller_stack_, &self->caller_stack_size_);
#endif
	self->body_();
	self->done_ = true;
	self->SwitchOut(true);
}

void Fiber::Resume() {
	Fiber* outer = running;
	running = this;
	SwitchIn();
	running = outer;
}

void Fiber::Yield() {
	if (running) running->SwitchOut(false);
}

}  // namespace braid::sim
