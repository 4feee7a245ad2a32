// SPDX-License-Identifier: Apache-2.0
// A record is written with one call; its checksum tells a reader that has met half of it.
#include "kernel/storage/table_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/bytes.h"
#include "kernel/storage/local_log_store.h"

namespace braid {

namespace {

constexpr std::string_view kDirectory = "_braid/leases";
constexpr std::string_view kSuffix = ".lease";
constexpr size_t kTokenDigits = 8;
constexpr size_t kRecordBytes = 20;
constexpr int kTries = 100;

std::string Record(const Lease& lease) {
	std::string bytes;
	AppendLittleEndian(bytes, lease.oldest_version);
	AppendLittleEndian(bytes, lease.oldest_start_ms);
	AppendLittleEndian(bytes, Crc32(bytes));
	return bytes;
}

// A record that cannot be read (yet) may need everything.
Lease ReadRecord(const FileDescriptor& file, std::string token) {
	for (int i = 0; i < kTries; i++) {
		char buffer[kRecordBytes];
		if (pread(file.get(), buffer, kRecordBytes, 0) != kRecordBytes) break;
		const std::string_view bytes(buffer, kRecordBytes);
		if (LoadLittleEndian<uint32_t>(bytes.substr(16)) != Crc32(bytes.substr(0, 16))) continue;
		return {std::move(token), LoadLittleEndian<int64_t>(bytes), LoadLittleEndian<int64_t>(bytes.substr(8))};
	}
	return {std::move(token), 0, 0};
}

}  // namespace

TableLease::~TableLease() {
	if (!file_.open() || owner_ != getpid() || !IsFileAt(file_, path_)) return;
	unlink(path_.c_str());
	rmdir((root_ + "/_braid/leases").c_str());  // if nothing else is in it
	rmdir((root_ + "/_braid").c_str());
}

std::unique_ptr<TableLease::Pin> TableLease::Begin(int64_t version, int64_t now_ms) {
	std::lock_guard guard(mutex_);
	const int64_t number = next_++;
	pins_[number] = {"", version, now_ms};
	if (!Stands()) Open();
	Write();
	return std::make_unique<Pin>(shared_from_this(), number);
}

std::string TableLease::token() {
	std::lock_guard guard(mutex_);
	if (!file_.open()) return "";
	return path_.substr(path_.size() - kSuffix.size() - kTokenDigits, kTokenDigits);
}

void TableLease::End(int64_t number) {
	std::lock_guard guard(mutex_);
	pins_.erase(number);
	Write();
}

void TableLease::Move(int64_t number, int64_t version) {
	std::lock_guard guard(mutex_);
	pins_[number].oldest_version = version;
	Write();
}

// Not if we are a fork of the process that opened it, or if the table was dropped, or moved, with its lease.
bool TableLease::Stands() const { return file_.open() && owner_ == getpid() && IsFileAt(file_, path_); }

void TableLease::Open() {
	file_ = {};
	written_ = {"", -1, -1};
	owner_ = getpid();
	const std::string directory = root_ + "/" + std::string(kDirectory);
	for (int i = 0; i < kTries; i++) {
		const std::string path = directory + "/" + NewUuid(random_).substr(0, kTokenDigits) + std::string(kSuffix);
		FileDescriptor file = Create(path);
		if (file.open()) {
			const bool locked = flock(file.get(), LOCK_EX | LOCK_NB) == 0;
			const bool no_locks_here = !locked && errno != EWOULDBLOCK;
			if (!IsFileAt(file, path)) continue;  // taken for the lease of a dead process before we locked it
			if (locked) {
				file_ = std::move(file);
				path_ = path;
				return;
			}
			if (no_locks_here) {
				unlink(path.c_str());
				return;
			}
		} else if (errno == ENOENT) {  // the table's own directory is not ours to make
			mkdir((root_ + "/_braid").c_str(), 0777);
			if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST && errno != ENOENT) return;
			if (access(root_.c_str(), F_OK) != 0) return;
		} else if (errno != EEXIST && errno != EINTR) {
			return;
		}
	}
}

FileDescriptor TableLease::Create(const std::string& path) const {
	return FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

void TableLease::Write() {
	if (!file_.open() || owner_ != getpid()) return;
	Lease now;
	for (const auto& [number, pin] : pins_) {
		now.oldest_version = std::min(now.oldest_version, pin.oldest_version);
		now.oldest_start_ms = std::min(now.oldest_start_ms, pin.oldest_start_ms);
	}
	if (now.oldest_version == written_.oldest_version && now.oldest_start_ms == written_.oldest_start_ms) return;
	const std::string bytes = Record(now);
	written_ = now;
	if (pwrite(file_.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) return;
	written_ = {"", -1, -1};
	(void)!ftruncate(file_.get(), 0);  // an empty record needs everything
}

Result<std::vector<Lease>> HeldLeases(const std::string& root) {
	LocalLogStore store(root, false);
	const auto files = store.ListNames(kDirectory, "");
	if (!files && files.error().kind == ErrorKind::kNotFound) return std::vector<Lease>();
	BRAID_TRY(files);
	std::vector<Lease> held;
	for (const StoredFile& listed : *files) {
		if (!listed.name.ends_with(kSuffix)) continue;
		const std::string path = root + "/" + std::string(kDirectory) + "/" + listed.name;
		FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
		if (!file.open() && errno == ENOENT) continue;
		if (!file.open()) file = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));  // another user's
		if (file.open() && flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
			unlink(path.c_str());
			continue;
		}
		held.push_back(ReadRecord(file, listed.name.substr(0, listed.name.size() - kSuffix.size())));
	}
	return held;
}

int64_t OldestPin(const std::vector<Lease>& leases) {
	int64_t oldest = Lease::kNothing;
	for (const Lease& lease : leases) oldest = std::min(oldest, lease.oldest_version);
	return oldest;
}

std::string VacuumLockPath(const std::string& root) { return root + "/" + std::string(kDirectory) + "/vacuum.lock"; }

std::string WithToken(std::string uuid, const std::string& token) { return uuid.replace(0, token.size(), token); }

// part-00000-<token>-..., deletion_vector_<token>-...
bool CarriesToken(std::string_view file_name, std::string_view token) {
	const size_t at = file_name.find(token);
	return at != std::string_view::npos && at > 0 && (file_name[at - 1] == '-' || file_name[at - 1] == '_');
}

}  // namespace braid
