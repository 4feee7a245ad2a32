// SPDX-License-Identifier: Apache-2.0
// The store as one simulated writer sees it: before each operation somebody else may run, and operations fail as planned. A crashed writer's store does
// nothing any more, so that its clean-up has no effect.
#pragma once

#include <map>
#include <string>

#include "kernel/storage/memory_log_store.h"
#include "tests/kernel/sim_schedule.h"

namespace braid::sim {

// Commit files that are still on their way.
struct DelayedPut {
	std::string path, bytes;
	int steps;
};

class SimStore final : public LogStore {
public:
	SimStore(History& history, std::vector<DelayedPut>& delayed, std::string name)
		: history_(history),
		  target_(history.table.memory),
		  delayed_(delayed),
		  events_(history.events),
		  name_(std::move(name)) {}

	std::map<int, Fault> operations, puts;  // what happens at the n-th
	bool foreign = false;
	Maps maps = Maps::kThere;
	std::string own_map;  // which nobody takes away
	bool crashed() const { return crashed_; }
	int64_t newest_seen() const { return newest_seen_; }  // commit that it has read

	Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name) override;
	Result<std::string> Read(std::string_view path) override;
	Result<std::string> ReadRange(std::string_view path, int64_t offset, int64_t length) override;
	Status ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) override;
	Result<StoredFile> Stat(std::string_view path) override;
	Status PutIfAbsent(std::string_view path, std::string_view bytes) override;
	Status Put(std::string_view path, std::string_view bytes) override;
	Status Create(std::string_view path, std::string_view bytes) override;
	Status MakeDurable(std::span<const std::string> paths) override;
	Status MoveIfAbsent(std::string_view from, std::string_view to) override;
	Status Delete(std::string_view path) override;
	std::string Location(std::string_view path) const override { return target_.Location(path); }

private:
	Status Step();  // fails if the writer is dead or the operation is to fail
	Status PutWithFault(Fault fault, std::string_view path, const std::string& bytes);

	History& history_;
	MemoryLogStore& target_;
	std::vector<DelayedPut>& delayed_;
	std::vector<std::string>& events_;
	const std::string name_;
	int operation_ = 0, put_ = 0;
	bool crashed_ = false;
	int64_t newest_seen_ = -1;
};

}  // namespace braid::sim
