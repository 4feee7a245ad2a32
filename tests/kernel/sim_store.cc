// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/sim_store.h"

#include "kernel/log/log_path.h"
#include "kernel/txn/row_map.h"
#include "tests/kernel/sim_fiber.h"

namespace braid::sim {

static std::unexpected<Error> Broken() { return Fail(ErrorKind::kIo, "the store fails as planned"); }

static Fault FaultAt(const std::map<int, Fault>& faults, int n) {
	const auto fault = faults.find(n);
	return fault == faults.end() ? Fault::kNone : fault->second;
}

Status SimStore::Step() {
	if (crashed_) return Broken();
	Fiber::Yield();
	operation_++;
	switch (FaultAt(operations, operation_)) {
		case Fault::kCrash:
			events_.push_back(name_ + " crashes");
			crashed_ = true;
			return Broken();
		case Fault::kIoError:
			events_.push_back(name_ + " gets an I/O error");
			return Broken();
		default:
			return {};
	}
}

Result<std::vector<StoredFile>> SimStore::List(std::string_view directory, std::string_view first_name) {
	BRAID_TRY(Step());
	return target_.List(directory, first_name);
}

static int64_t VersionOf(std::string_view path) {
	const auto name = ParseLogFileName(path.substr(path.rfind('/') + 1));
	return name && name->kind == LogFileKind::kCommit ? name->version : -1;
}

Result<std::string> SimStore::Read(std::string_view path) {
	BRAID_TRY(Step());
	auto bytes = target_.Read(path);
	if (bytes) newest_seen_ = std::max(newest_seen_, VersionOf(path));
	return bytes;
}

Result<std::string> SimStore::ReadRange(std::string_view path, int64_t offset, int64_t length) {
	BRAID_TRY(Step());
	return target_.ReadRange(path, offset, length);
}

Status SimStore::ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) {
	BRAID_TRY(Step());
	if (!IsRowMapPath(std::string(path)) || path == own_map) return target_.ReadBlocks(path, sink);
	BRAID_TRY(std::string map, target_.Read(path));
	if (maps == Maps::kGone) return Fail(ErrorKind::kNotFound, "no map");
	if (maps == Maps::kDamaged) {
		map[map.size() * 2 / 3] ^= 8;
	} else {
		history_.maps_read++;
	}
	return sink(map);
}

Result<StoredFile> SimStore::Stat(std::string_view path) {
	BRAID_TRY(Step());
	return target_.Stat(path);
}

// As if the writer did not know of our record, nor of maps.
static std::string WithoutReads(std::string bytes) {
	const size_t start = bytes.find(",\"braid\":{\"reads\":[");
	if (start == std::string::npos) return bytes;
	size_t end = bytes.find('{', start);
	int depth = 0;
	do {
		depth += bytes[end] == '{' ? 1 : bytes[end] == '}' ? -1 : 0;
		end++;
	} while (depth > 0);
	return bytes.erase(start, end - start);
}

Status SimStore::PutWithFault(Fault fault, std::string_view path, const std::string& bytes) {
	const auto unknown = [] { return Fail(ErrorKind::kOutcomeUnknown, "no answer"); };
	const std::string what = name_ + " tries version " + std::to_string(VersionOf(path));
	switch (fault) {
		case Fault::kCrash: {
			(void)target_.PutIfAbsent(path, bytes);
			events_.push_back(what + " and crashes before the answer");
			crashed_ = true;
			return Broken();
		}
		case Fault::kLostAnswer: {
			const Status put = target_.PutIfAbsent(path, bytes);
			events_.push_back(what + (put ? ": written" : ": taken") + ", but the answer is lost");
			return unknown();
		}
		case Fault::kNotDone:
			events_.push_back(what + ": nothing happens, no answer");
			return unknown();
		case Fault::kDelayed:
			events_.push_back(what + ": no answer, it is still on its way");
			delayed_.push_back({std::string(path), bytes, 3});
			return unknown();
		case Fault::kTwice: {
			const Status first = target_.PutIfAbsent(path, bytes);
			events_.push_back(what + (first ? ": written" : ": taken") + ", sent twice");
			(void)target_.PutIfAbsent(path, bytes);
			return unknown();
		}
		default: {
			const Status put = target_.PutIfAbsent(path, bytes);
			events_.push_back(what + (put ? ": written" : ": taken"));
			return put;
		}
	}
}

Status SimStore::PutIfAbsent(std::string_view path, std::string_view bytes) {
	BRAID_TRY(Step());
	if (VersionOf(path) < 0) return target_.PutIfAbsent(path, bytes);
	put_++;
	const std::string text(bytes);
	return PutWithFault(FaultAt(puts, put_), path, foreign ? WithoutReads(text) : text);
}

Status SimStore::Put(std::string_view path, std::string_view bytes) {
	BRAID_TRY(Step());
	return target_.Put(path, bytes);
}

Status SimStore::Create(std::string_view path, std::string_view bytes) {
	BRAID_TRY(Step());
	return target_.Create(path, bytes);
}

Status SimStore::MakeDurable(std::span<const std::string> paths) {
	BRAID_TRY(Step());
	return target_.MakeDurable(paths);
}

Status SimStore::MoveIfAbsent(std::string_view from, std::string_view to) {
	BRAID_TRY(Step());
	return target_.MoveIfAbsent(from, to);
}

Status SimStore::Delete(std::string_view path) {
	BRAID_TRY(Step());
	return target_.Delete(path);
}

}  // namespace braid::sim
