// SPDX-License-Identifier: Apache-2.0
// FaultyLogStore: another store whose n-th operation of a kind fails as scripted, before or after taking effect, or
// lets the script act first (a concurrent commit between two steps of ours). Everything else passes through. For the
// simulator and tests. Thread-safe.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/storage/log_store.h"

namespace braid {

enum class StoreOperation {
	kList,
	kRead,
	kReadRange,
	kReadBlocks,
	kStat,
	kPutIfAbsent,
	kPut,
	kCreate,
	kMakeDurable,
	kMoveIfAbsent,
	kDelete
};
inline constexpr size_t kStoreOperations = 11;

enum class FaultMoment {
	kBefore,  // the operation does not happen and answers the error
	kAfter,   // it happens (or fails by itself), then the error is answered: a lost reply
};

class FaultyLogStore final : public LogStore {
public:
	explicit FaultyLogStore(LogStore& target) : target_(target) {}

	// The n-th call from now (1 = the next one) of `operation`, of those whose path contains `path_part`, answers
	// `kind`.
	void FailNth(StoreOperation operation, int n, ErrorKind kind, FaultMoment moment = FaultMoment::kBefore,
				 std::string path_part = "");
	// Runs `action` just before the n-th such call, without failing it. The action may use the target store, not this
	// one.
	void BeforeNth(StoreOperation operation, int n, std::function<void()> action, std::string path_part = "");
	int Calls(StoreOperation operation) const;
	bool AllFired() const;  // a script that did not fire is a mistake of the test

	Result<std::vector<StoredFile>> List(std::string_view directory, std::string_view first_name) override;
	Result<std::string> Read(std::string_view path) override;
	Result<std::string> ReadRange(std::string_view path, int64_t offset, int64_t length) override;
	Status ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) override;
	Result<StoredFile> Stat(std::string_view path) override;
	Status PutIfAbsent(std::string_view path, std::string_view bytes) override;
	Status Put(std::string_view path, std::string_view bytes) override;
	Status Create(std::string_view path, std::string_view bytes) override;
	Status MakeDurable(std::span<const std::string> paths) override;
	void BeginToMakeDurable(std::string_view path) override { target_.BeginToMakeDurable(path); }
	Status MoveIfAbsent(std::string_view from, std::string_view to) override;
	Status Delete(std::string_view path) override;
	std::string Location(std::string_view path) const override { return target_.Location(path); }

private:
	struct Script {
		StoreOperation operation;
		int calls_left;
		std::string path_part;
		FaultMoment moment;
		Error error;
		std::function<void()> action;  // instead of an error
	};
	template <class Answer, class Operation>
	Answer Run(StoreOperation operation, std::string_view path, const Operation& run);
	std::vector<Script> Due(StoreOperation operation, std::string_view path);

	LogStore& target_;
	mutable std::mutex mutex_;
	std::vector<Script> scripts_;
	std::array<int, kStoreOperations> calls_ {};
};

}  // namespace braid
