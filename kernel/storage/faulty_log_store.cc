// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/faulty_log_store.h"

#include <utility>

namespace braid {

void FaultyLogStore::FailNth(StoreOperation operation, int n, ErrorKind kind, FaultMoment moment,
							 std::string path_part) {
	const std::lock_guard lock(mutex_);
	scripts_.push_back(
		{operation, n, std::move(path_part), moment, Error {kind, "scripted failure", nullptr}, nullptr});
}

void FaultyLogStore::BeforeNth(StoreOperation operation, int n, std::function<void()> action, std::string path_part) {
	const std::lock_guard lock(mutex_);
	scripts_.push_back({operation, n, std::move(path_part), FaultMoment::kBefore, {}, std::move(action)});
}

int FaultyLogStore::Calls(StoreOperation operation) const {
	const std::lock_guard lock(mutex_);
	return calls_[static_cast<size_t>(operation)];
}

bool FaultyLogStore::AllFired() const {
	const std::lock_guard lock(mutex_);
	return scripts_.empty();
}

// Counts the call and takes out the scripts whose turn it is.
std::vector<FaultyLogStore::Script> FaultyLogStore::Due(StoreOperation operation, std::string_view path) {
	const std::lock_guard lock(mutex_);
	calls_[static_cast<size_t>(operation)]++;
	std::vector<Script> due;
	std::erase_if(scripts_, [&](Script& script) {
		if (script.operation != operation || path.find(script.path_part) == std::string_view::npos) return false;
		if (--script.calls_left > 0) return false;
		due.push_back(std::move(script));
		return true;
	});
	return due;
}

template <class Answer, class Operation>
Answer FaultyLogStore::Run(StoreOperation operation, std::string_view path, const Operation& run) {
	const Script* failure = nullptr;
	const std::vector<Script> due = Due(operation, path);
	for (const Script& script : due) {
		if (script.action) {
			script.action();
		} else {
			failure = &script;
		}
	}
	if (failure != nullptr && failure->moment == FaultMoment::kBefore) return std::unexpected(failure->error);
	Answer answer = run();
	if (failure != nullptr) return std::unexpected(failure->error);
	return answer;
}

Result<std::vector<StoredFile>> FaultyLogStore::List(std::string_view directory, std::string_view first_name) {
	return Run<Result<std::vector<StoredFile>>>(StoreOperation::kList, directory,
												[&] { return target_.List(directory, first_name); });
}

Result<std::string> FaultyLogStore::Read(std::string_view path) {
	return Run<Result<std::string>>(StoreOperation::kRead, path, [&] { return target_.Read(path); });
}

Result<std::string> FaultyLogStore::ReadRange(std::string_view path, int64_t offset, int64_t length) {
	return Run<Result<std::string>>(StoreOperation::kReadRange, path,
									[&] { return target_.ReadRange(path, offset, length); });
}

Status FaultyLogStore::ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) {
	return Run<Status>(StoreOperation::kReadBlocks, path, [&] { return target_.ReadBlocks(path, sink); });
}

Result<StoredFile> FaultyLogStore::Stat(std::string_view path) {
	return Run<Result<StoredFile>>(StoreOperation::kStat, path, [&] { return target_.Stat(path); });
}

Status FaultyLogStore::PutIfAbsent(std::string_view path, std::string_view bytes) {
	return Run<Status>(StoreOperation::kPutIfAbsent, path, [&] { return target_.PutIfAbsent(path, bytes); });
}

Status FaultyLogStore::Put(std::string_view path, std::string_view bytes) {
	return Run<Status>(StoreOperation::kPut, path, [&] { return target_.Put(path, bytes); });
}

Status FaultyLogStore::Create(std::string_view path, std::string_view bytes) {
	return Run<Status>(StoreOperation::kCreate, path, [&] { return target_.Create(path, bytes); });
}

Status FaultyLogStore::MakeDurable(std::span<const std::string> paths) {
	const std::string_view first = paths.empty() ? std::string_view() : paths.front();
	return Run<Status>(StoreOperation::kMakeDurable, first, [&] { return target_.MakeDurable(paths); });
}

Status FaultyLogStore::MoveIfAbsent(std::string_view from, std::string_view to) {
	return Run<Status>(StoreOperation::kMoveIfAbsent, to, [&] { return target_.MoveIfAbsent(from, to); });
}

Status FaultyLogStore::Delete(std::string_view path) {
	return Run<Status>(StoreOperation::kDelete, path, [&] { return target_.Delete(path); });
}

}  // namespace braid
