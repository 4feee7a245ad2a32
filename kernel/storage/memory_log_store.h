// SPDX-License-Identifier: Apache-2.0
// MemoryLogStore: a table root in memory for the simulator and for tests. Deterministic: times come from the given
// clock, listings are sorted. Models what survives a power cut: Create is volatile until MakeDurable, everything else
// is durable at once. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "kernel/storage/log_store.h"

namespace braid {

class MemoryLogStore final : public LogStore {
public:
	explicit MemoryLogStore(Clock& clock, std::string name = "memory") : clock_(clock), name_(std::move(name)) {}

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
	std::string Location(std::string_view path) const override;

	void LosePower();                        // what was not durable is gone
	std::vector<std::string> Paths() const;  // all files, sorted

private:
	struct Entry {
		std::string bytes;
		int64_t modification_time_ms = 0;
		bool durable = true;
	};
	std::unexpected<Error> Missing(std::string_view path) const;
	Status Insert(std::string_view path, std::string_view bytes, bool durable, bool replace);

	Clock& clock_;
	const std::string name_;
	mutable std::mutex mutex_;
	std::map<std::string, Entry, std::less<>> files_;
};

}  // namespace braid
