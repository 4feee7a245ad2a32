// SPDX-License-Identifier: Apache-2.0
// Locks on files between holders, threads and processes, and that nothing is left when the last one goes.
#include "kernel/storage/file_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

namespace fs = std::filesystem;
using enum FileLock::Kind;

class FileLockTest : public testing::Test {
protected:
	std::optional<FileLock> Try(FileLock::Kind kind) {
		auto lock = FileLock::Try(path_, kind);
		EXPECT_TRUE(lock) << lock.error().message;
		return lock ? *std::move(lock) : std::nullopt;
	}

	TemporaryDirectory directory_;
	const std::string path_ = directory_.path() + "/a/b/lock";
};

TEST_F(FileLockTest, OneAloneOrManyTogether) {
	auto alone = Try(kExclusive);
	ASSERT_TRUE(alone);
	EXPECT_FALSE(Try(kExclusive));
	EXPECT_FALSE(Try(kShared));
	alone.reset();
	auto one = Try(kShared), other = Try(kShared);
	ASSERT_TRUE(one && other);
	EXPECT_FALSE(Try(kExclusive));
	one.reset();
	EXPECT_FALSE(Try(kExclusive));
	EXPECT_TRUE(Try(kShared));
	other.reset();
	EXPECT_TRUE(Try(kExclusive));
}

TEST_F(FileLockTest, TheLastOneTakesTheFileAway) {
	auto one = Try(kShared), other = Try(kShared);
	other.reset();
	EXPECT_TRUE(fs::exists(path_));
	one.reset();
	EXPECT_FALSE(fs::exists(path_));
}

TEST_F(FileLockTest, AMovedLockIsHeldOnce) {
	auto first = Try(kExclusive);
	std::vector<FileLock> locks;
	locks.push_back(*std::move(first));
	first.reset();
	EXPECT_FALSE(Try(kExclusive));
	locks.clear();
	EXPECT_TRUE(Try(kExclusive));
}

TEST_F(FileLockTest, ADeadProcessHoldsNothing) {
	const pid_t child = fork();
	if (child == 0) {
		const auto lock = FileLock::Try(path_);
		kill(getpid(), SIGKILL);
	}
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_TRUE(fs::exists(path_));
	EXPECT_TRUE(Try(kExclusive));
	EXPECT_FALSE(fs::exists(path_));
}

TEST_F(FileLockTest, ALockOnAFileThatWasRemovedExcludesNobody) {
	auto old = Try(kExclusive);
	fs::remove_all(directory_.path() + "/a");
	auto other = Try(kExclusive);
	EXPECT_TRUE(other);
	old.reset();
	EXPECT_TRUE(fs::exists(path_)) << "it is not ours";
	EXPECT_FALSE(Try(kShared));
}

TEST_F(FileLockTest, AFileInTheWayIsAnError) {
	std::ofstream(directory_.path() + "/a") << "not a directory";
	EXPECT_FALSE(FileLock::Try(path_));
}

// The file comes and goes all the time; still nobody is beside one who is alone.
TEST_F(FileLockTest, ComingAndGoing) {
	std::atomic<int> alone {0}, together {0}, held {0};
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++) {
		threads.emplace_back([&, i] {
			for (int n = 0; n < 2000; n++) {
				const auto kind = i % 2 ? kExclusive : kShared;
				auto lock = FileLock::Try(path_, kind);
				ASSERT_TRUE(lock);
				if (!*lock) continue;
				(kind == kExclusive ? alone : together)++;
				held++;
				ASSERT_LE(alone + (together > 0), 1);
				(kind == kExclusive ? alone : together)--;
			}
		});
	}
	for (std::thread& thread : threads) thread.join();
	EXPECT_GT(held, 0);
}

}  // namespace
}  // namespace braid
