// SPDX-License-Identifier: Apache-2.0
// Since when in-commit timestamps count, for every way in which they were and will be on or off.
#include "kernel/feature/timestamp_enablement.h"

#include <gtest/gtest.h>

#include "kernel/txn/commit_info.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

constexpr const char* kVersion = "delta.inCommitTimestampEnablementVersion";
constexpr const char* kTime = "delta.inCommitTimestampEnablementTimestamp";

Configuration Of(bool on, const std::string& since) {
	Configuration configuration {{"delta.enableInCommitTimestamps", on ? "true" : "false"}, {"a", "b"}};
	if (!since.empty()) configuration[kVersion] = since, configuration[kTime] = since + "000";
	return configuration;
}

TEST(TimestampEnablement, BelongsToTheHistoryOfTheTable) {
	for (const bool was_on : {false, true}) {
		for (const bool is_on : {false, true}) {
			for (const char* known : {"", "7"}) {
				for (const char* brought : {"", "3"}) {
					Configuration next = Of(is_on, brought);
					KeepTimestampEnablement(Of(was_on, known), next);
					EXPECT_EQ(next, Of(is_on, was_on && is_on ? known : ""));
				}
			}
		}
	}
	Configuration of_new_table = Of(true, "3");
	KeepTimestampEnablement({}, of_new_table);
	EXPECT_EQ(of_new_table, Of(true, ""));
}

// Whoever commits metadata, the commit itself says it right.
TEST(TimestampEnablement, OfEveryCommit) {
	AttemptFacts facts;
	facts.version = 9;
	facts.in_commit_timestamp = 90;
	Snapshot head;
	Metadata next;
	const auto committed = [&](bool was_on, const Configuration& staged) {
		head.metadata.configuration = Of(was_on, "4");
		next.configuration = staged;
		RecordTimestampEnablement(next, &head, facts);
		return next.configuration;
	};
	EXPECT_EQ(committed(true, Of(true, "")), Of(true, "4")) << "CREATE OR REPLACE does not bring it along";
	EXPECT_EQ(committed(false, Of(true, "")).at(kVersion), "9");
	EXPECT_EQ(committed(false, Of(true, "4")).at(kTime), "90");
	RecordTimestampEnablement(next, nullptr, facts);
	EXPECT_EQ(next.configuration, Of(true, "")) << "from the first version on";
	facts.in_commit_timestamp.reset();
	EXPECT_EQ(committed(true, Of(false, "4")), Of(false, ""));
}

}  // namespace
}  // namespace braid
