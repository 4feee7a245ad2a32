// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/local_log_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "base/environment.h"
#include "base/path.h"
#include "kernel/storage/fault_point.h"
#include "kernel/storage/local_file.h"

namespace braid {
namespace {

constexpr std::string_view kTemporaryPrefix = ".tmp-";
constexpr size_t kBlockBytes = size_t {256} << 10;  // stays in the processor's cache until it is read
constexpr int kTries = 10;
constexpr size_t kFilesAtOnce = 64;  // open at the same time to become durable

struct Steps {
	std::string_view before, written, synced;
};
constexpr Steps kCommitSteps {"commit.before", "commit.temp_written", "commit.temp_synced"};
constexpr Steps kPutSteps {"put.before", "put.temp_written", "put.temp_synced"};

StoredFile Describe(std::string name, const struct stat& info) {
	return {std::move(name), info.st_size, info.st_mtim.tv_sec * int64_t {1000} + info.st_mtim.tv_nsec / 1'000'000,
			S_ISDIR(info.st_mode)};
}

// The bytes of a file-to-be under a hidden name beside it; the name is gone when this object is, unless it was renamed.
class TemporaryFile {
public:
	static Result<TemporaryFile> Write(const std::string& target, std::string_view bytes, bool durable,
									   const Steps& steps) {
		FaultPoint(steps.before);
		TemporaryFile temporary;
		const std::string directory = ParentDirectory(target);
		std::string random = std::to_string(SystemRandom().Next());
		std::string path =
			directory + "/" + std::string(kTemporaryPrefix) + target.substr(target.rfind('/') + 1) + "-" + random;
		auto file = CreateFile(path);
		if (!file && file.error().kind == ErrorKind::kNotFound) {
			BRAID_TRY(temporary.created_directories_, MakeDirectories(directory));
			file = CreateFile(path);
		}
		if (!file) return std::unexpected(std::move(file).error());
		temporary.path_ = std::move(path);
		BRAID_TRY(WriteAll(*file, bytes, target));
		FaultPoint(steps.written);
		if (durable) BRAID_TRY(SyncFile(*file, target));
		BRAID_TRY(CloseWritten(*std::move(file), target));
		FaultPoint(steps.synced);
		return temporary;
	}

	TemporaryFile() = default;
	TemporaryFile(TemporaryFile&& other) noexcept
		: path_(std::exchange(other.path_, {})), created_directories_(std::move(other.created_directories_)) {}
	~TemporaryFile() { Remove(); }

	void Remove() {
		if (!path_.empty()) unlink(path_.c_str());
		path_.clear();
	}
	void Renamed() { path_.clear(); }
	const std::string& path() const { return path_; }
	const std::vector<std::string>& created_directories() const { return created_directories_; }

private:
	std::string path_;
	std::vector<std::string> created_directories_;
};

Result<FileDescriptor> CreateFileAndDirectories(const std::string& target) {
	auto file = CreateFile(target);
	// Again if somebody takes the directory away because it is empty (_braid, when a lease ends).
	for (int i = 0; i < kTries && !file && file.error().kind == ErrorKind::kNotFound; i++) {
		const auto made = MakeDirectories(ParentDirectory(target));
		if (!made && made.error().kind != ErrorKind::kNotFound) return std::unexpected(made.error());
		file = CreateFile(target);
	}
	return file;
}

class LocalStream final : public FileStream {
public:
	LocalStream(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
	Status Append(std::string_view bytes) override { return WriteAll(file_, bytes, path_); }
	Status Close() override { return CloseWritten(std::move(file_), path_); }

private:
	FileDescriptor file_;
	const std::string path_;
};

// Unlocking, not only closing: a process that was forked meanwhile has the same open directory.
class LocalTurn final : public Turn {
public:
	explicit LocalTurn(FileDescriptor directory) : directory_(std::move(directory)) {}
	~LocalTurn() override { flock(directory_.get(), LOCK_UN); }

private:
	FileDescriptor directory_;
};

std::unexpected<Error> ExistsAlready(const std::string& target) {
	return Fail(ErrorKind::kAlreadyExists, target + " exists already");
}

bool HasTwoNames(const std::string& path) {
	struct stat info {};
	return stat(path.c_str(), &info) == 0 && info.st_nlink == 2;
}

// Publishes a temporary file under its final name, never replacing.
Status LinkInto(TemporaryFile& temporary, const std::string& target) {
	if (link(temporary.path().c_str(), target.c_str()) == 0) return {};
	int error = errno;
	// A network file system may repeat a request whose answer was lost and then report the first one's effect as an
	// error: the second name of our own file tells.
	if (HasTwoNames(temporary.path())) return {};
	if (error == EPERM || error == EOPNOTSUPP || error == EMLINK) {  // no hard links here
		if (renameat2(AT_FDCWD, temporary.path().c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
			temporary.Renamed();
			return {};
		}
		if (errno != EINVAL && errno != ENOSYS) error = errno;
	}
	if (error == EEXIST) return ExistsAlready(target);
	auto failure = SystemError(FileAccess::kWrite, "publish", target, error);
	if (failure.error().kind != ErrorKind::kIo) return failure;
	return Fail(ErrorKind::kOutcomeUnknown, failure.error().message + " Whether the file is there now is unknown.");
}

// The device begins to write; nobody waits for it.
void BeginToWrite(const FileDescriptor& file) { sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

// The device begins to write all of them before it is waited for the first.
Status SyncFiles(const std::vector<std::string>& locations) {
	std::vector<FileDescriptor> files;
	for (const std::string& location : locations) {
		BRAID_TRY(files.emplace_back(), OpenToRead(location));
		if (locations.size() > 1) BeginToWrite(files.back());
	}
	for (size_t i = 0; i < files.size(); i++) {
		BRAID_TRY(SyncFile(files[i], locations[i]));
		FaultPoint("durable.file_synced");
	}
	return {};
}

}  // namespace

LocalLogStore::LocalLogStore(std::string root, bool durable) : root_(std::move(root)), durable_(durable) {
	std::string from_uri = PathOfFileUri(root_);
	if (!from_uri.empty()) root_ = std::move(from_uri);
	std::error_code ignored;
	const std::filesystem::path absolute = std::filesystem::absolute(root_, ignored);
	if (!ignored) root_ = absolute.lexically_normal().string();
	while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
}

Result<std::string> LocalLogStore::Resolve(std::string_view path) const {
	if (path.empty() || path == ".") return root_;
	if (path.starts_with('/')) return PercentDecode(path);
	if (path.starts_with("file:")) {
		std::string local = PathOfFileUri(path);
		if (!local.empty()) return local;
	}
	if (HasUriScheme(path) && path.find(":/") != std::string_view::npos) {
		return Fail(ErrorKind::kUnsupported,
					"the table " + root_ + " names a file at " + std::string(path) +
						", which a local table cannot reach; copy it below the table's directory");
	}
	return root_ + "/" + std::string(path);
}

std::string LocalLogStore::Location(std::string_view path) const {
	const auto resolved = Resolve(path);
	return resolved ? *resolved : std::string(path);
}

Result<std::vector<StoredFile>> LocalLogStore::List(std::string_view directory, std::string_view first_name) {
	return List(directory, first_name, true);
}

Result<std::vector<StoredFile>> LocalLogStore::ListNames(std::string_view directory, std::string_view first_name) {
	return List(directory, first_name, false);
}

Result<std::vector<StoredFile>> LocalLogStore::List(std::string_view directory, std::string_view first_name,
													bool details) const {
	BRAID_TRY(const std::string path, Resolve(directory));
	const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(path.c_str()), &closedir);
	if (!stream) return SystemError(FileAccess::kRead, "list", path, errno);
	std::vector<StoredFile> files;
	for (;;) {
		errno = 0;
		const dirent* entry = readdir(stream.get());
		if (entry == nullptr) break;
		const std::string_view name = entry->d_name;
		if (name < first_name || name == "." || name == ".." || name.starts_with(kTemporaryPrefix)) continue;
		if (!details && (entry->d_type == DT_REG || entry->d_type == DT_DIR)) {
			files.push_back({std::string(name), 0, 0, entry->d_type == DT_DIR});
			continue;
		}
		struct stat info {};
		if (fstatat(dirfd(stream.get()), entry->d_name, &info, 0) != 0) {
			if (errno == ENOENT) continue;  // deleted while we list
			return SystemError(FileAccess::kRead, "inspect", path + "/" + std::string(name), errno);
		}
		files.push_back(Describe(std::string(name), info));
	}
	if (errno != 0) return SystemError(FileAccess::kRead, "list", path, errno);
	std::ranges::sort(files, {}, &StoredFile::name);
	return files;
}

Result<std::string> LocalLogStore::Read(std::string_view path) {
	BRAID_TRY(const std::string location, Resolve(path));
	BRAID_TRY(const FileDescriptor file, OpenToRead(location));
	struct stat info {};
	if (fstat(file.get(), &info) != 0) return SystemError(FileAccess::kRead, "inspect", location, errno);
	std::string bytes;
	size_t filled = 0;
	for (size_t room = static_cast<size_t>(info.st_size) + 1;;
		 room += room / 2) {  // one byte more, so that one read sees the end
		ssize_t got = 0;
		bytes.resize_and_overwrite(room, [&](char* buffer, size_t) {
			do {
				got = read(file.get(), buffer + filled, room - filled);
				if (got > 0) filled += static_cast<size_t>(got);
			} while ((got < 0 && errno == EINTR) || (got > 0 && filled < room));
			return filled;
		});
		if (got < 0) return SystemError(FileAccess::kRead, "read", location, errno);
		if (got == 0) return bytes;
	}
}

Result<std::string> LocalLogStore::ReadRange(std::string_view path, int64_t offset, int64_t length) {
	BRAID_TRY(const std::string location, Resolve(path));
	if (offset < 0 || length < 0) {
		return Fail(ErrorKind::kInvalidArgument,
					"cannot read bytes " + std::to_string(offset) + "+" + std::to_string(length) + " of " + location);
	}
	BRAID_TRY(const FileDescriptor file, OpenToRead(location));
	struct stat info {};
	if (fstat(file.get(), &info) != 0) return SystemError(FileAccess::kRead, "inspect", location, errno);
	const size_t wanted = static_cast<size_t>(std::min(length, std::max<int64_t>(0, info.st_size - offset)));
	std::string bytes;
	ssize_t got = 0;
	bytes.resize_and_overwrite(wanted, [&](char* buffer, size_t) {
		size_t filled = 0;
		do {
			got = pread(file.get(), buffer + filled, wanted - filled, offset + static_cast<int64_t>(filled));
			if (got > 0) filled += static_cast<size_t>(got);
		} while ((got < 0 && errno == EINTR) || (got > 0 && filled < wanted));
		return filled;
	});
	if (got < 0) return SystemError(FileAccess::kRead, "read", location, errno);
	return bytes;
}

Status LocalLogStore::ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) {
	BRAID_TRY(const std::string location, Resolve(path));
	BRAID_TRY(const FileDescriptor file, OpenToRead(location));
	const auto buffer = std::make_unique_for_overwrite<char[]>(kBlockBytes);
	for (;;) {
		const ssize_t got = read(file.get(), buffer.get(), kBlockBytes);
		if (got == 0) return {};
		if (got > 0) {
			BRAID_TRY(sink(std::string_view(buffer.get(), static_cast<size_t>(got))));
		} else if (errno != EINTR) {
			return SystemError(FileAccess::kRead, "read", location, errno);
		}
	}
}

Result<StoredFile> LocalLogStore::Stat(std::string_view path) {
	BRAID_TRY(const std::string location, Resolve(path));
	struct stat info {};
	if (stat(location.c_str(), &info) != 0) return SystemError(FileAccess::kRead, "inspect", location, errno);
	return Describe(location.substr(location.rfind('/') + 1), info);
}

// The directory holds a new name, and so does the parent of each directory that was made for it.
Status LocalLogStore::SyncNewNames(const std::string& directory,
								   const std::vector<std::string>& created_directories) const {
	if (!durable_) return {};
	BRAID_TRY(SyncPath(directory));
	for (const std::string& created : created_directories) BRAID_TRY(SyncPath(ParentDirectory(created)));
	// A first commit creates the log directory; the table's own directory may be as new (made by whoever wrote its data
	// files).
	if (!created_directories.empty()) BRAID_TRY(SyncPath(ParentDirectory(root_)));
	return {};
}

std::unique_ptr<Turn> LocalLogStore::TakeTurn(int64_t patience_ms) {
	FileDescriptor directory(
		open((root_ + "/" + std::string(kLogDirectory)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!directory.open()) return nullptr;
	constexpr timespec kPause {0, 100'000};
	for (int64_t tries = patience_ms * 1'000'000 / kPause.tv_nsec, i = 0; i <= tries; i++) {
		if (flock(directory.get(), LOCK_EX | LOCK_NB) == 0) {
			auto turn = std::make_unique<LocalTurn>(std::move(directory));
			turn->waited = i > 0;
			return turn;
		}
		if (errno != EWOULDBLOCK && errno != EINTR) return nullptr;  // not on this file system
		nanosleep(&kPause, nullptr);
	}
	return nullptr;
}

Status LocalLogStore::PutIfAbsent(std::string_view path, std::string_view bytes) {
	std::unique_ptr<Turn> none;
	return PutInTurn(path, bytes, none);
}

Status LocalLogStore::PutInTurn(std::string_view path, std::string_view bytes, std::unique_ptr<Turn>& turn) {
	BRAID_TRY(const std::string target, Resolve(path));
	if (access(target.c_str(), F_OK) == 0) return ExistsAlready(target);  // a lost race need not cost an fsync
	BRAID_TRY(TemporaryFile temporary, TemporaryFile::Write(target, bytes, durable_, kCommitSteps));
	BRAID_TRY(LinkInto(temporary, target));
	turn.reset();  // the next writer may read the version and go on while its name becomes durable
	FaultPoint("commit.linked");
	if (auto synced = SyncNewNames(ParentDirectory(target), temporary.created_directories()); !synced) {
		return Fail(ErrorKind::kOutcomeUnknown,
					synced.error().message + " " + target + " is written, but may be gone after a power cut.");
	}
	FaultPoint("commit.dir_synced");
	temporary.Remove();
	FaultPoint("commit.temp_removed");
	return {};
}

Status LocalLogStore::Put(std::string_view path, std::string_view bytes) {
	BRAID_TRY(const std::string target, Resolve(path));
	BRAID_TRY(TemporaryFile temporary, TemporaryFile::Write(target, bytes, durable_, kPutSteps));
	if (rename(temporary.path().c_str(), target.c_str()) != 0)
		return SystemError(FileAccess::kWrite, "replace", target, errno);
	temporary.Renamed();
	FaultPoint("put.renamed");
	BRAID_TRY(SyncNewNames(ParentDirectory(target), temporary.created_directories()));
	FaultPoint("put.dir_synced");
	return {};
}

Status LocalLogStore::Create(std::string_view path, std::string_view bytes) {
	BRAID_TRY(const std::string target, Resolve(path));
	FaultPoint("create.before");
	BRAID_TRY(FileDescriptor file, CreateFileAndDirectories(target));
	Status written = WriteAll(file, bytes, target);
	if (written) written = CloseWritten(std::move(file), target);
	if (!written) unlink(target.c_str());  // ours: CreateFile never opens an existing one
	FaultPoint("create.written");
	return written;
}

Result<std::unique_ptr<FileStream>> LocalLogStore::CreateStream(std::string_view path) {
	BRAID_TRY(std::string target, Resolve(path));
	BRAID_TRY(FileDescriptor file, CreateFileAndDirectories(target));
	return std::make_unique<LocalStream>(std::move(file), std::move(target));
}

Status LocalLogStore::MakeDurable(std::span<const std::string> paths) {
	if (!durable_ || paths.empty()) return {};
	FaultPoint("durable.before");
	std::set<std::string> directories;
	for (size_t first = 0; first < paths.size(); first += kFilesAtOnce) {
		std::vector<std::string> locations;
		for (const std::string& path : paths.subspan(first, std::min(kFilesAtOnce, paths.size() - first))) {
			BRAID_TRY(locations.emplace_back(), Resolve(path));
		}
		BRAID_TRY(SyncFiles(locations));
		for (const std::string& location : locations) {
			std::string directory = ParentDirectory(location);
			// Any directory on the way to the table's root may be new (a partition's first file): each holds a new name
			// then.
			while (directories.insert(directory).second && directory.starts_with(root_ + "/"))
				directory = ParentDirectory(directory);
		}
	}
	for (const std::string& directory : directories) BRAID_TRY(SyncPath(directory));
	FaultPoint("durable.after");
	return {};
}

void LocalLogStore::BeginToMakeDurable(std::string_view path) {
	if (!durable_) return;
	const auto location = Resolve(path);
	if (!location) return;
	if (const auto file = OpenToRead(*location)) BeginToWrite(*file);
}

Status LocalLogStore::MoveIfAbsent(std::string_view from, std::string_view to) {
	BRAID_TRY(const std::string source, Resolve(from));
	BRAID_TRY(const std::string target, Resolve(to));
	BRAID_TRY(MakeDirectories(ParentDirectory(target)));
	if (renameat2(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return {};
	if ((errno == EINVAL || errno == ENOSYS) && link(source.c_str(), target.c_str()) == 0) {  // not on this file system
		unlink(source.c_str());
		return {};
	}
	if (errno == EEXIST) return ExistsAlready(target);
	return SystemError(FileAccess::kWrite, "publish", target, errno);
}

Status LocalLogStore::Delete(std::string_view path) {
	BRAID_TRY(const std::string location, Resolve(path));
	if (unlink(location.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
		return SystemError(FileAccess::kWrite, "delete", location, errno);
	}
	return {};
}

}  // namespace braid
