// SPDX-License-Identifier: Apache-2.0
// Leases between processes, connections and forks: who is seen, what is said, and what is left behind.
#include "kernel/storage/table_lease.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/kernel/deterministic.h"
#include "tests/kernel/temporary_directory.h"

namespace braid {
namespace {

namespace fs = std::filesystem;

class TableLeaseTest : public testing::Test {
protected:
	std::shared_ptr<TableLease> Open() { return std::make_shared<TableLease>(root(), random_); }
	const std::string& root() const { return directory_.path(); }
	std::vector<Lease> Held() {
		auto held = HeldLeases(root());
		EXPECT_TRUE(held);
		return held.value_or(std::vector<Lease> {});
	}
	size_t Files() const {
		const fs::path leases = root() + "/_braid/leases";
		return fs::exists(leases) ? std::distance(fs::directory_iterator(leases), fs::directory_iterator()) : 0;
	}

	TemporaryDirectory directory_;
	SeededRandom random_ {1};
};

TEST_F(TableLeaseTest, TellsTheOldestVersionAndTheOldestStart) {
	const auto lease = Open();
	EXPECT_EQ(lease->token(), "");
	EXPECT_EQ(Files(), 0);
	const auto old_reader = lease->Begin(7, 1000);
	auto young_writer = lease->Begin(3, 2000);
	ASSERT_EQ(Held().size(), 1);
	EXPECT_EQ(Held()[0].oldest_version, 3);
	EXPECT_EQ(Held()[0].oldest_start_ms, 1000);
	EXPECT_EQ(Held()[0].token, lease->token());
	young_writer->MoveTo(9);
	EXPECT_EQ(Held()[0].oldest_version, 7);
	young_writer.reset();
	old_reader->MoveTo(8);
	EXPECT_EQ(OldestPin(Held()), 8);
}

TEST_F(TableLeaseTest, WithoutTransactionsNothingIsNeeded) {
	const auto lease = Open();
	lease->Begin(7, 1000).reset();
	ASSERT_EQ(Held().size(), 1);
	EXPECT_EQ(Held()[0].oldest_version, Lease::kNothing);
	EXPECT_EQ(Held()[0].oldest_start_ms, Lease::kNothing);
}

TEST_F(TableLeaseTest, TwoOfOneProcessAreTwo) {
	const auto first = Open(), second = Open();
	const auto pin = first->Begin(1, 1), other = second->Begin(2, 2);
	EXPECT_EQ(Held().size(), 2);
	EXPECT_NE(first->token(), second->token());
	EXPECT_EQ(OldestPin(Held()), 1);
}

TEST_F(TableLeaseTest, LeavesNothingBehind) {
	Open()->Begin(1, 1).reset();
	EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(TableLeaseTest, APinOutlivesItsHandle) {
	auto lease = Open();
	auto pin = lease->Begin(5, 1);
	lease.reset();
	EXPECT_EQ(OldestPin(Held()), 5);
	pin.reset();
	EXPECT_TRUE(Held().empty());
}

TEST_F(TableLeaseTest, ADeadProcessNeedsNothingAndItsFileGoes) {
	const pid_t child = fork();
	if (child == 0) {
		const auto pin = Open()->Begin(1, 1);
		kill(getpid(), SIGKILL);
	}
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_EQ(Files(), 1);
	EXPECT_TRUE(Held().empty());
	EXPECT_EQ(Files(), 0);
}

TEST_F(TableLeaseTest, AForkHasALeaseOfItsOwnAndTakesNoneAway) {
	const auto lease = Open();
	const auto pin = lease->Begin(4, 1);
	int told[2], go_on[2];
	ASSERT_EQ(pipe(told), 0);
	ASSERT_EQ(pipe(go_on), 0);
	const pid_t child = fork();
	char byte = 0;
	if (child == 0) {
		const auto own = lease->Begin(2, 2);
		(void)!write(told[1], lease->token().data(), 8);
		(void)!read(go_on[0], &byte, 1);
		_exit(0);
	}
	char token[9] = {};
	ASSERT_EQ(read(told[0], token, 8), 8);
	EXPECT_NE(lease->token(), token);
	EXPECT_EQ(Held().size(), 2);
	EXPECT_EQ(OldestPin(Held()), 2);
	ASSERT_EQ(write(go_on[1], &byte, 1), 1);
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_EQ(Held().size(), 1);
	EXPECT_EQ(OldestPin(Held()), 4);
}

TEST_F(TableLeaseTest, AnUnfinishedRecordNeedsEverything) {
	const auto lease = Open();
	const auto pin = lease->Begin(7, 1000);
	fs::resize_file(root() + "/_braid/leases/" + lease->token() + ".lease", 12);
	ASSERT_EQ(Held().size(), 1);
	EXPECT_EQ(Held()[0].oldest_version, 0);
	EXPECT_EQ(Held()[0].oldest_start_ms, 0);
}

TEST_F(TableLeaseTest, ATableThatWasMadeAnewIsLeasedAnew) {
	const auto lease = Open();
	const auto pin = lease->Begin(50, 1);
	fs::rename(root() + "/_braid", root() + "/elsewhere");
	EXPECT_TRUE(Held().empty());
	const auto other = lease->Begin(2, 2);
	EXPECT_EQ(OldestPin(Held()), 2);
}

TEST_F(TableLeaseTest, NoTableNoLease) {
	const auto lease = std::make_shared<TableLease>(root() + "/nothing", random_);
	const auto pin = lease->Begin(1, 1);
	EXPECT_EQ(lease->token(), "");
	EXPECT_FALSE(fs::exists(root() + "/nothing"));
	const auto held = HeldLeases(root() + "/nothing");
	ASSERT_TRUE(held);
	EXPECT_TRUE(held->empty());
}

TEST_F(TableLeaseTest, ADirectoryThatCannotBeWrittenHasNone) {
	if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere; tests/sql/test_vacuum.py has a file in the way";
	chmod(root().c_str(), 0555);
	const auto lease = Open();
	const auto pin = lease->Begin(1, 1);
	EXPECT_EQ(lease->token(), "");
	chmod(root().c_str(), 0755);
}

TEST_F(TableLeaseTest, AFileInTheWayIsNoError) {
	std::ofstream(root() + "/_braid") << "not a directory";
	const auto lease = Open();
	const auto pin = lease->Begin(1, 1);
	EXPECT_EQ(lease->token(), "");
}

// VACUUM, which removes dead leases, beside processes that come and go: a lease that is open is never missed.
TEST_F(TableLeaseTest, ComingAndGoingBesideVacuum) {
	std::atomic<bool> done {false};
	std::thread vacuum([&] {
		while (!done) (void)HeldLeases(root());
	});
	for (int i = 0; i < 300; i++) {
		const auto lease = Open();
		const auto pin = lease->Begin(i, 1);
		ASSERT_NE(lease->token(), "");
		ASSERT_EQ(OldestPin(Held()), i);
	}
	done = true;
	vacuum.join();
}

TEST(LeaseToken, StandsInTheNamesOfStagedFiles) {
	const std::string uuid = WithToken("00000000-1111-4222-8333-444444444444", "abcdef12");
	EXPECT_EQ(uuid, "abcdef12-1111-4222-8333-444444444444");
	EXPECT_TRUE(CarriesToken("part-00003-" + uuid + ".c000.snappy.parquet", "abcdef12"));
	EXPECT_TRUE(CarriesToken("deletion_vector_" + uuid + ".bin", "abcdef12"));
	EXPECT_FALSE(CarriesToken("part-00003-0abcdef12.parquet", "abcdef12"));
	EXPECT_FALSE(CarriesToken("abcdef12.parquet", "abcdef12"));
}

}  // namespace
}  // namespace braid
