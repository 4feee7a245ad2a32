// SPDX-License-Identifier: Apache-2.0
// One contract for every log store: the same tests run on the local and on the memory store, then what is particular to
// each.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "kernel/storage/fault_point.h"
#include "kernel/storage/faulty_log_store.h"
#include "kernel/storage/local_file.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/storage/memory_log_store.h"
#include "tests/kernel/deterministic.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

std::vector<std::string> Names(const Result<std::vector<StoredFile>>& files) {
	std::vector<std::string> names;
	for (const StoredFile& file : files.value()) names.push_back(file.name);
	return names;
}

class AnyLogStore : public testing::TestWithParam<bool> {
protected:
	TemporaryDirectory directory_;
	ManualClock clock_;
	MemoryLogStore memory_ {clock_};
	LocalLogStore local_ {directory_.path(), true};
	LogStore& store_ = GetParam() ? static_cast<LogStore&>(local_) : memory_;
};

TEST_P(AnyLogStore, PutIfAbsentNeverReplaces) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "first"));
	const Status second = store_.PutIfAbsent("_delta_log/0.json", "second");
	ASSERT_FALSE(second);
	EXPECT_EQ(second.error().kind, ErrorKind::kAlreadyExists);
	EXPECT_EQ(store_.Read("_delta_log/0.json"), "first");
	EXPECT_EQ(Names(store_.List("_delta_log", "")), std::vector<std::string> {"0.json"});
}

TEST_P(AnyLogStore, PutReplaces) {
	ASSERT_TRUE(store_.Put("_delta_log/_last_checkpoint", "a"));
	ASSERT_TRUE(store_.Put("_delta_log/_last_checkpoint", "bb"));
	EXPECT_EQ(store_.Read("_delta_log/_last_checkpoint"), "bb");
	EXPECT_EQ(store_.Stat("_delta_log/_last_checkpoint")->size, 2);
	EXPECT_EQ(store_.Stat("_delta_log/_last_checkpoint")->name, "_last_checkpoint");
}

TEST_P(AnyLogStore, CreateIsForNewFilesOnly) {
	ASSERT_TRUE(store_.Create("x/dv.bin", "abc"));
	EXPECT_EQ(store_.Create("x/dv.bin", "def").error().kind, ErrorKind::kAlreadyExists);
	EXPECT_EQ(store_.Read("x/dv.bin"), "abc");
	const std::string paths[] = {"x/dv.bin"};
	EXPECT_TRUE(store_.MakeDurable(paths));
	const std::string missing[] = {"x/nope.bin"};
	EXPECT_EQ(store_.MakeDurable(missing).error().kind, ErrorKind::kNotFound);
}

TEST_P(AnyLogStore, MoveIfAbsentNeverReplaces) {
	ASSERT_TRUE(store_.Create("_delta_log/.tmp-a", "first"));
	ASSERT_TRUE(store_.Create("_delta_log/.tmp-b", "second"));
	ASSERT_TRUE(store_.MoveIfAbsent("_delta_log/.tmp-a", "_delta_log/0.crc"));
	EXPECT_EQ(store_.MoveIfAbsent("_delta_log/.tmp-b", "_delta_log/0.crc").error().kind, ErrorKind::kAlreadyExists);
	EXPECT_EQ(store_.Read("_delta_log/0.crc"), "first");
	EXPECT_EQ(store_.Read("_delta_log/.tmp-b"), "second");
	EXPECT_EQ(store_.Read("_delta_log/.tmp-a").error().kind, ErrorKind::kNotFound);
}

TEST_P(AnyLogStore, ListIsSortedAndStartsAtTheGivenName) {
	for (const char* name : {"2.json", "1.json", "10.json", "1.crc", "_sidecars/s.parquet"}) {
		ASSERT_TRUE(store_.Put(std::string("_delta_log/") + name, "x"));
	}
	EXPECT_EQ(Names(store_.List("_delta_log", "")),
			  (std::vector<std::string> {"1.crc", "1.json", "10.json", "2.json", "_sidecars"}));
	EXPECT_EQ(Names(store_.List("_delta_log", "10")), (std::vector<std::string> {"10.json", "2.json", "_sidecars"}));
	EXPECT_TRUE(store_.List("_delta_log", "_")->front().is_directory);
	EXPECT_FALSE(store_.List("_delta_log", "2")->front().is_directory);
	EXPECT_EQ(Names(store_.List("", "")), std::vector<std::string> {"_delta_log"});
	EXPECT_EQ(store_.List("nope", "").error().kind, ErrorKind::kNotFound);
}

TEST_P(AnyLogStore, NamesAreThoseOfTheList) {
	for (const char* name : {"_delta_log/b.json", "_delta_log/a.json", "_delta_log/sub/c.json"})
		ASSERT_TRUE(store_.PutIfAbsent(name, "x"));
	const auto listed = store_.List("_delta_log", "a"), names = store_.ListNames("_delta_log", "a");
	EXPECT_EQ(Names(names), Names(listed));
	for (size_t i = 0; i < names->size(); i++) EXPECT_EQ((*names)[i].is_directory, (*listed)[i].is_directory);
}

TEST_P(AnyLogStore, RangesAndBlocks) {
	std::string bytes;
	for (int i = 0; i < 3'000'000; i++) bytes += static_cast<char>(i * 7);
	ASSERT_TRUE(store_.Put("f", bytes));
	EXPECT_EQ(store_.Read("f"), bytes);
	EXPECT_EQ(store_.ReadRange("f", 100, 50), bytes.substr(100, 50));
	EXPECT_EQ(store_.ReadRange("f", 2'999'990, 50), bytes.substr(2'999'990));
	EXPECT_EQ(store_.ReadRange("f", 5'000'000, 50), "");
	EXPECT_EQ(store_.ReadRange("f", -1, 50).error().kind, ErrorKind::kInvalidArgument);
	std::string joined;
	ASSERT_TRUE(store_.ReadBlocks("f", [&](std::string_view block) -> Status {
		joined += block;
		return {};
	}));
	EXPECT_EQ(joined, bytes);
	int blocks = 0;
	const Status stopped = store_.ReadBlocks("f", [&](std::string_view) -> Status {
		blocks++;
		return Fail(ErrorKind::kInterrupted, "enough");
	});
	EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted);
	EXPECT_EQ(blocks, 1);
}

TEST_P(AnyLogStore, MissingFiles) {
	EXPECT_EQ(store_.Read("nope").error().kind, ErrorKind::kNotFound);
	EXPECT_EQ(store_.ReadRange("nope", 0, 1).error().kind, ErrorKind::kNotFound);
	EXPECT_EQ(store_.ReadBlocks("nope", [](std::string_view) -> Status { return {}; }).error().kind,
			  ErrorKind::kNotFound);
	EXPECT_EQ(store_.Stat("nope").error().kind, ErrorKind::kNotFound);
	EXPECT_TRUE(store_.Delete("nope"));
	ASSERT_TRUE(store_.Put("there", ""));
	EXPECT_EQ(store_.Read("there"), "");
	ASSERT_TRUE(store_.Delete("there"));
	EXPECT_EQ(store_.Read("there").error().kind, ErrorKind::kNotFound);
}

TEST_P(AnyLogStore, ExactlyOneOfManyThreadsWinsEachVersion) {
	constexpr int kThreads = 8, kVersions = 40;
	std::array<std::atomic<int>, kVersions> winners {};
	std::barrier<> start(kThreads);
	{
		std::vector<std::jthread> threads;
		for (int thread = 0; thread < kThreads; thread++) {
			threads.emplace_back([&, thread] {
				for (int version = 0; version < kVersions; version++) {
					start.arrive_and_wait();
					const Status put =
						store_.PutIfAbsent("_delta_log/" + std::to_string(version), std::to_string(thread));
					if (put) winners[version] += 1 + 100 * thread;
					EXPECT_TRUE(put || put.error().kind == ErrorKind::kAlreadyExists);
				}
			});
		}
	}
	for (int version = 0; version < kVersions; version++) {
		EXPECT_EQ(winners[version] % 100, 1);
		EXPECT_EQ(store_.Read("_delta_log/" + std::to_string(version)), std::to_string(winners[version] / 100));
	}
	EXPECT_EQ(store_.List("_delta_log", "")->size(), static_cast<size_t>(kVersions));
}

INSTANTIATE_TEST_SUITE_P(Stores, AnyLogStore, testing::Bool(),
						 [](const testing::TestParamInfo<bool>& store) { return store.param ? "Local" : "Memory"; });

class LocalStore : public testing::Test {
protected:
	std::set<std::string> AllFiles() const {
		std::set<std::string> files;
		for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
			if (entry.is_regular_file())
				files.insert(std::filesystem::relative(entry.path(), directory_.path()).string());
		}
		return files;
	}
	TemporaryDirectory directory_;
	LocalLogStore store_ {directory_.path(), true};
};

TEST_F(LocalStore, LeavesNoTemporaryFileBehind) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "x"));
	ASSERT_FALSE(store_.PutIfAbsent("_delta_log/0.json", "x"));
	ASSERT_TRUE(store_.Put("_delta_log/_last_checkpoint", "x"));
	std::filesystem::create_directory(directory_.path() +
									  "/_delta_log/1.json");  // a target that rename and link cannot take
	EXPECT_FALSE(store_.PutIfAbsent("_delta_log/1.json", "x"));
	EXPECT_FALSE(store_.Put("_delta_log/1.json", "x"));
	EXPECT_EQ(AllFiles(), (std::set<std::string> {"_delta_log/0.json", "_delta_log/_last_checkpoint"}));
}

TEST_F(LocalStore, TemporaryFilesOfACrashedWriterAreNotListed) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "x"));
	std::ofstream(directory_.path() + "/_delta_log/.tmp-1.json-123") << "half a com";
	EXPECT_EQ(Names(store_.List("_delta_log", "")), std::vector<std::string> {"0.json"});
}

TEST_F(LocalStore, AbsolutePathsAndFileUris) {
	TemporaryDirectory elsewhere;
	std::ofstream(elsewhere.path() + "/a b%.bin") << "bytes";
	EXPECT_EQ(store_.Read("file:" + elsewhere.path() + "/a%20b%25.bin"), "bytes");
	EXPECT_EQ(store_.Read("file://" + elsewhere.path() + "/a%20b%25.bin"), "bytes");
	EXPECT_EQ(store_.Read("file://localhost" + elsewhere.path() + "/a%20b%25.bin"), "bytes");
	EXPECT_EQ(store_.Read(elsewhere.path() + "/a%20b%25.bin"), "bytes");
	EXPECT_EQ(store_.Location("file:" + elsewhere.path() + "/a%20b%25.bin"), elsewhere.path() + "/a b%.bin");
	EXPECT_EQ(store_.Location("p=a%20b/f"), directory_.path() + "/p=a%20b/f");  // relative paths are plain
	const auto remote = store_.Read("s3://bucket/f");
	EXPECT_EQ(remote.error().kind, ErrorKind::kUnsupported);
	EXPECT_NE(remote.error().message.find("s3://bucket/f"), std::string::npos);
}

TEST_F(LocalStore, RelativeRootIsMadeAbsolute) {
	const LocalLogStore store("some/./table/", true);
	EXPECT_EQ(store.Location("f"), std::filesystem::current_path().string() + "/some/table/f");
}

// Root may do everything: the test acts as another user then.
class ActAsNobody {
public:
	ActAsNobody() : was_root_(geteuid() == 0) {
		if (was_root_ && seteuid(65534) != 0) ADD_FAILURE() << "cannot change user";
	}
	~ActAsNobody() {
		if (was_root_ && seteuid(0) != 0) ADD_FAILURE() << "cannot change back";
	}

private:
	bool was_root_;
};

TEST_F(LocalStore, ReadOnlyDirectoryCanBeReadAndSaysSoWhenWritten) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "x"));
	ASSERT_EQ(chmod(directory_.path().c_str(), 0555), 0);
	ASSERT_EQ(chmod((directory_.path() + "/_delta_log").c_str(), 0555), 0);
	{
		const ActAsNobody nobody;
		EXPECT_EQ(store_.Read("_delta_log/0.json"), "x");
		EXPECT_EQ(Names(store_.List("_delta_log", "")), std::vector<std::string> {"0.json"});
		for (const Status& refused :
			 {store_.PutIfAbsent("_delta_log/1.json", "x"), store_.Put("_delta_log/_last_checkpoint", "x"),
			  store_.Create("dv.bin", "x"), store_.Delete("_delta_log/0.json")}) {
			ASSERT_FALSE(refused);
			EXPECT_EQ(refused.error().kind, ErrorKind::kReadOnly) << refused.error().message;
			EXPECT_NE(refused.error().message.find(directory_.path()), std::string::npos) << refused.error().message;
		}
	}
	ASSERT_EQ(chmod((directory_.path() + "/_delta_log").c_str(), 0755), 0);
	ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
}

TEST_F(LocalStore, TurnsExcludeEachOtherUntilTheVersionIsThere) {
	LocalLogStore other(directory_.path(), true);
	EXPECT_EQ(store_.TakeTurn(0), nullptr) << "there is no log yet";
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "0"));
	std::unique_ptr<Turn> turn = store_.TakeTurn(0);
	ASSERT_NE(turn, nullptr);
	EXPECT_FALSE(turn->waited);
	EXPECT_EQ(other.TakeTurn(1), nullptr);
	EXPECT_FALSE(store_.PutInTurn("_delta_log/0.json", "lost", turn));
	EXPECT_NE(turn, nullptr) << "who has lost goes on with the turn";
	EXPECT_TRUE(store_.PutInTurn("_delta_log/1.json", "1", turn));
	EXPECT_EQ(turn, nullptr);
	EXPECT_NE(other.TakeTurn(0), nullptr);
	EXPECT_TRUE(other.PutIfAbsent("_delta_log/2.json", "2")) << "a turn is a courtesy";
}

// A child that is forked during a commit has the open directory too, and may live long.
TEST_F(LocalStore, ATurnDoesNotStayWithAForkedProcess) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "0"));
	std::unique_ptr<Turn> turn = store_.TakeTurn(0);
	ASSERT_NE(turn, nullptr);
	const pid_t child = fork();
	ASSERT_GE(child, 0);
	if (child == 0) {
		pause();
		_exit(1);
	}
	turn.reset();
	EXPECT_NE(store_.TakeTurn(0), nullptr);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST_F(LocalStore, ATurnEndsWithItsProcess) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "0"));
	std::array<int, 2> pipe_ends {};
	ASSERT_EQ(pipe(pipe_ends.data()), 0);
	const pid_t child = fork();
	ASSERT_GE(child, 0);
	if (child == 0) {
		const std::unique_ptr<Turn> turn = store_.TakeTurn(0);
		if (turn && write(pipe_ends[1], "t", 1) == 1) pause();
		_exit(1);
	}
	char taken = 0;
	ASSERT_EQ(read(pipe_ends[0], &taken, 1), 1);
	EXPECT_EQ(store_.TakeTurn(1), nullptr);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, nullptr, 0), child);
	EXPECT_NE(store_.TakeTurn(0), nullptr);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

TEST(LocalFile, FullDevice) {
	const FileDescriptor device(open("/dev/full", O_WRONLY | O_CLOEXEC));
	ASSERT_TRUE(device.open());
	const Status written = WriteAll(device, "bytes", "lake/t/_delta_log/1.json");
	ASSERT_FALSE(written);
	EXPECT_EQ(written.error().kind, ErrorKind::kNoSpace);
	EXPECT_EQ(
		written.error().message,
		"cannot write lake/t/_delta_log/1.json: No space left on device. Free space or raise the quota there, then "
		"run the statement again.");
}

TEST(LocalFile, ErrnoBecomesTheKindThatCallersActOn) {
	const auto kind = [](FileAccess access, int error) { return SystemError(access, "do", "f", error).error().kind; };
	EXPECT_EQ(kind(FileAccess::kWrite, EDQUOT), ErrorKind::kNoSpace);
	EXPECT_EQ(kind(FileAccess::kWrite, EFBIG), ErrorKind::kNoSpace);
	EXPECT_EQ(kind(FileAccess::kWrite, EROFS), ErrorKind::kReadOnly);
	EXPECT_EQ(kind(FileAccess::kWrite, EACCES), ErrorKind::kReadOnly);
	EXPECT_EQ(kind(FileAccess::kRead, EACCES), ErrorKind::kIo);
	EXPECT_EQ(kind(FileAccess::kWrite, EEXIST), ErrorKind::kAlreadyExists);
	EXPECT_EQ(kind(FileAccess::kRead, ENOENT), ErrorKind::kNotFound);
	EXPECT_EQ(kind(FileAccess::kRead, ENOTDIR), ErrorKind::kNotFound);
	EXPECT_EQ(kind(FileAccess::kRead, EIO), ErrorKind::kIo);
}

// A file-size limit plays the disk that fills up in the middle of a write.
TEST_F(LocalStore, DiskFullInTheMiddleLeavesTheTableIntact) {
	ASSERT_TRUE(store_.PutIfAbsent("_delta_log/0.json", "x"));
	rlimit before {};
	ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	const auto old_handler = signal(SIGXFSZ, SIG_IGN);
	const rlimit small {4096, before.rlim_max};
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	const std::string large(100'000, 'y');
	const Status commit = store_.PutIfAbsent("_delta_log/1.json", large);
	const Status replace = store_.Put("_delta_log/0.json", large);
	const Status create = store_.Create("dv.bin", large);
	ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, old_handler);
	for (const Status& full : {commit, replace, create})
		EXPECT_EQ(full.error().kind, ErrorKind::kNoSpace) << full.error().message;
	EXPECT_EQ(AllFiles(), std::set<std::string> {"_delta_log/0.json"});
	EXPECT_EQ(store_.Read("_delta_log/0.json"), "x");
}

TEST_F(LocalStore, CreatesTheTableDirectory) {
	LocalLogStore store(directory_.path() + "/schema/new_table", true);
	ASSERT_TRUE(store.PutIfAbsent("_delta_log/0.json", "x"));
	EXPECT_EQ(AllFiles(), std::set<std::string> {"schema/new_table/_delta_log/0.json"});
}

// Every fault point that PutIfAbsent passes: killed there, the version is absent or whole, and the next writer goes on.
TEST_F(LocalStore, KilledAtEveryStepOfACommit) {
	for (const std::string_view point : kFaultPoints) {
		if (!point.starts_with("commit.")) continue;
		const bool written = point == "commit.linked" || point == "commit.dir_synced" || point == "commit.temp_removed";
		const std::string path = "_delta_log/" + std::string(point);
		const std::string script = "BRAID_FAULT_POINT=" + std::string(point) +
								   ":1 BRAID_TEST_PUT=" + directory_.path() + "," + path + " /proc/" +
								   std::to_string(getpid()) + "/exe --gtest_filter=CrashingChild.Puts > /dev/null 2>&1";
		const int status = std::system(script.c_str());
		ASSERT_TRUE(WIFEXITED(status));
		EXPECT_EQ(WEXITSTATUS(status), 137) << point;
		if (written) {
			EXPECT_EQ(store_.Read(path), "whole") << point;
			EXPECT_EQ(store_.PutIfAbsent(path, "next").error().kind, ErrorKind::kAlreadyExists) << point;
		} else {
			EXPECT_EQ(store_.Read(path).error().kind, ErrorKind::kNotFound) << point;
			EXPECT_TRUE(store_.PutIfAbsent(path, "next")) << point;
		}
	}
}

TEST(CrashingChild, Puts) {
	const char* task = std::getenv("BRAID_TEST_PUT");
	if (task == nullptr) return;  // only runs as the child of the test above
	const std::string text = task;
	LocalLogStore store(text.substr(0, text.find(',')), true);
	(void)store.PutIfAbsent(text.substr(text.find(',') + 1), "whole");
	FAIL() << "the fault point did not fire";
}

TEST(MemoryStore, PowerCutLosesWhatWasNotMadeDurable) {
	ManualClock clock;
	MemoryLogStore store(clock);
	ASSERT_TRUE(store.Create("a", "1"));
	ASSERT_TRUE(store.Create("b", "2"));
	ASSERT_TRUE(store.PutIfAbsent("c", "3"));
	const std::string durable[] = {"a"};
	ASSERT_TRUE(store.MakeDurable(durable));
	store.LosePower();
	EXPECT_EQ(store.Paths(), (std::vector<std::string> {"a", "c"}));
}

TEST(FaultyStore, FailsTheScriptedCallBeforeOrAfterItsEffect) {
	ManualClock clock;
	MemoryLogStore memory(clock);
	FaultyLogStore store(memory);
	store.FailNth(StoreOperation::kPutIfAbsent, 2, ErrorKind::kNoSpace);
	store.FailNth(StoreOperation::kPutIfAbsent, 3, ErrorKind::kOutcomeUnknown, FaultMoment::kAfter);
	EXPECT_TRUE(store.PutIfAbsent("1", "x"));
	EXPECT_EQ(store.PutIfAbsent("2", "x").error().kind, ErrorKind::kNoSpace);
	EXPECT_EQ(store.PutIfAbsent("3", "x").error().kind, ErrorKind::kOutcomeUnknown);
	EXPECT_TRUE(store.PutIfAbsent("4", "x"));
	EXPECT_EQ(memory.Paths(), (std::vector<std::string> {"1", "3", "4"}));
	EXPECT_EQ(store.Calls(StoreOperation::kPutIfAbsent), 4);
	EXPECT_TRUE(store.AllFired());
}

TEST(FaultyStore, CountsOnlyMatchingPathsAndRunsActions) {
	ManualClock clock;
	MemoryLogStore memory(clock);
	FaultyLogStore store(memory);
	store.FailNth(StoreOperation::kRead, 1, ErrorKind::kIo, FaultMoment::kBefore, "b");
	store.BeforeNth(StoreOperation::kPutIfAbsent, 1, [&] { ASSERT_TRUE(memory.PutIfAbsent("v", "theirs")); });
	EXPECT_EQ(store.PutIfAbsent("v", "ours").error().kind, ErrorKind::kAlreadyExists);
	EXPECT_EQ(store.Read("v"), "theirs");
	EXPECT_FALSE(store.AllFired());
	EXPECT_EQ(store.Read("b").error().kind, ErrorKind::kIo);
	EXPECT_TRUE(store.AllFired());
}

}  // namespace
}  // namespace braid
