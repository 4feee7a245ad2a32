// SPDX-License-Identifier: Apache-2.0
// Log lines to actions and back: the exact bytes that are written, and every way a line may be laid out or broken.
#include "kernel/action/action_codec.h"

#include <gtest/gtest.h>

#include "kernel/action/action_reader.h"

namespace braid {
namespace {

std::vector<Action> Parse(std::string_view text) {
	std::vector<Action> actions;
	const Status status = ParseCommit(text, "here", [&](Action&& action) -> Status {
		actions.push_back(std::move(action));
		return {};
	});
	if (!status) ADD_FAILURE() << status.error().message;
	return actions;
}

std::string ParseError(std::string_view text) {
	const Status status = ParseCommit(text, "here", [](Action&&) -> Status { return {}; });
	if (status) return "";
	EXPECT_EQ(static_cast<int>(status.error().kind), static_cast<int>(ErrorKind::kCorrupt));
	return status.error().message;
}

std::string Write(const Action& action) {
	std::string line;
	AppendActionLine(action, line);
	return line;
}

// Lines as Spark writes them. Reading and writing gives the same bytes.
const char* const kLines[] = {
	R"({"add":{"path":"p=1/a.parquet","partitionValues":{"p":"1","q":null},"size":10,"modificationTime":20,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"s\":\"\\\"ä\\n\"}}","tags":{"k":"v"},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6},"baseRowId":7,"defaultRowCommitVersion":8,"clusteringProvider":"liquid"}})",
	R"({"add":{"path":"b","partitionValues":{},"size":0,"modificationTime":0,"dataChange":false,"deletionVector":{"storageType":"i","pathOrInlineDv":"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":40,"cardinality":6}}})",
	R"({"remove":{"path":"b","deletionTimestamp":5,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":""},"size":9,"tags":{"t":null},"deletionVector":{"storageType":"p","pathOrInlineDv":"file:///x.bin","offset":0,"sizeInBytes":1,"cardinality":1},"baseRowId":0,"defaultRowCommitVersion":1,"stats":"{}"}})",
	R"({"remove":{"path":"c","dataChange":false}})",
	R"({"cdc":{"path":"_change_data/x","partitionValues":{"p":"1"},"size":4,"dataChange":false,"tags":{"a":"b"}}})",
	R"({"metaData":{"id":"i","name":"n","description":"d","format":{"provider":"parquet","options":{"o":"1"}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":["p","q"],"configuration":{"delta.appendOnly":"true"},"createdTime":3}})",
	R"({"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","appendOnly"]}})",
	R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})",
	R"({"txn":{"appId":"app","version":-3,"lastUpdated":4}})",
	R"({"domainMetadata":{"domain":"d","configuration":"{\"a\":1}","removed":true}})",
	R"({"commitInfo":{"inCommitTimestamp":9,"timestamp":10,"operation":"DELETE","operationParameters":{"predicate":"[\"(id#1L = 5)\"]"},"readVersion":2,"isolationLevel":"Serializable","isBlindAppend":false,"operationMetrics":{"numDeletedRows":"1"},"userMetadata":"u","tags":{"x":"y"},"engineInfo":"e","txnId":"t","braid":{"reads":[true]}}})",
};

TEST(ActionCodec, WritesWhatItReads) {
	for (const char* line : kLines) {
		const std::vector<Action> actions = Parse(line);
		ASSERT_EQ(actions.size(), 1U) << line;
		EXPECT_EQ(Write(actions[0]), std::string(line) + "\n");
	}
}

TEST(ActionCodec, FieldsArriveUnescaped) {
	const auto add = std::get<AddFile>(Parse(kLines[0])[0]);
	EXPECT_EQ(add.stats, R"({"numRecords":3,"minValues":{"s":"\"ä\n"}})");
	EXPECT_EQ(add.partition_values, (PartitionValues {{"p", "1"}, {"q", std::nullopt}}));
	EXPECT_EQ(add.deletion_vector->cardinality, 6);
	EXPECT_EQ(add.base_row_id, 7);
	const auto info = std::get<CommitInfo>(Parse(kLines[10])[0]);
	EXPECT_EQ(info.operation_parameters.at("predicate"), R"("[\"(id#1L = 5)\"]")");
	EXPECT_EQ(info.in_commit_timestamp, 9);
	EXPECT_EQ(info.reads, "[true]");
}

std::string AllLines(const char* separator) {
	std::string text;
	for (const char* line : kLines) text += std::string(line) + separator;
	return text;
}

TEST(ActionCodec, LayoutDoesNotMatter) {
	std::string pretty;
	int depth = 0;
	bool in_string = false;
	const std::string flat = AllLines("");
	for (size_t i = 0; i < flat.size(); ++i) {
		const char c = flat[i];
		if (in_string && c == '\\') {
			pretty += c;
			pretty += flat[++i];
			continue;
		}
		if (c == '"') in_string = !in_string;
		if (!in_string && c == '}') pretty += "\n" + std::string(--depth, ' ');
		pretty += c;
		if (!in_string && c == '{') pretty += "\n" + std::string(++depth, ' ');
		if (!in_string && (c == ',' || c == ':')) pretty += depth > 2 ? "\r\n\t" : " ";
	}
	for (const std::string& text : {AllLines("\n"), AllLines("\r\n\r\n"), AllLines(" "), AllLines(""), pretty}) {
		std::string written;
		for (const Action& action : Parse(text)) written += Write(action);
		EXPECT_EQ(written, AllLines("\n")) << text;
	}
}

class Collect : public ActionSink {
public:
	Status OnAdd(const AddFileView& view) override { return Take(ToAddFile(view)); }
	Status OnRemove(const RemoveFileView& view) override { return Take(ToRemoveFile(view)); }
	Status OnAction(Action&& action) override {
		AppendActionLine(action, text);
		return {};
	}
	std::string text;

private:
	template <class T>
	Status Take(Result<T> action) {
		if (!action) return std::unexpected(action.error());
		return OnAction(*std::move(action));
	}
};

TEST(ActionCodec, BlocksMayEndAnywhere) {
	const std::string text = AllLines("\n");
	for (const size_t block : {1, 2, 7, 64, 1000}) {
		Collect collect;
		ActionReader reader("here", collect);
		for (size_t i = 0; i < text.size(); i += block) {
			ASSERT_TRUE(reader.Feed(std::string_view(text).substr(i, block)));
		}
		ASSERT_TRUE(reader.Finish());
		EXPECT_EQ(collect.text, text);
	}
}

TEST(ActionCodec, UnknownActionsAndFieldsAreSkipped) {
	EXPECT_TRUE(Parse(R"({"newAction":{"a":[1,{"b":2}]}} {"other":5} {"checkpointMetadata":{"version":1}})").empty());
	const auto actions = Parse(
		R"({"add":{"future":{"x":[1,2]},"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":null,"tags":null,"stats_parsed":{"numRecords":1}},"newAction":{"z":1}})");
	ASSERT_EQ(actions.size(), 1U);
	EXPECT_EQ(std::get<AddFile>(actions[0]).path, "a");
	EXPECT_EQ(std::get<AddFile>(actions[0]).stats, "");
}

TEST(ActionCodec, EscapedKeysAreTheSameKeys) {
	const auto actions = Parse(
		R"({"add":{"pa\u0074h":"a\u0020b\/c","partitionValues":{"p\u0041":"\u00e4"},"size":1,"modificationTime":1,"dataChange":true}})");
	EXPECT_EQ(std::get<AddFile>(actions.at(0)).path, "a b/c");
	EXPECT_EQ(std::get<AddFile>(actions.at(0)).partition_values.at("pA"), "ä");
}

TEST(ActionCodec, FreeFormCommitInfo) {
	const auto info = std::get<CommitInfo>(Parse(
		R"({"commitInfo":{"timestamp":"soon","operation":7,"operationParameters":{"n":null,"list":[1,"a"],"o":{"x":true}},"operationMetrics":{"rows":3},"isBlindAppend":"no","extra":{}}})")
											   [0]);
	EXPECT_FALSE(info.timestamp);
	EXPECT_EQ(info.operation, "");
	EXPECT_EQ(info.operation_parameters.at("list"), R"([1,"a"])");
	EXPECT_EQ(info.operation_parameters.at("n"), "null");
	EXPECT_EQ(info.operation_metrics.at("rows"), "3");
	EXPECT_FALSE(info.is_blind_append);
	EXPECT_NE(ParseError(R"({"commitInfo":{"inCommitTimestamp":"x"}})").find("inCommitTimestamp"), std::string::npos);
}

TEST(ActionCodec, NamesWhatIsWrong) {
	const std::pair<const char*, const char*> kBroken[] = {
		{R"({"add":{"partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}})",
		 "\"path\" of add is missing"},
		{R"({"add":{"path":"a","partitionValues":{},"modificationTime":1,"dataChange":true}})",
		 "\"size\" of add is missing"},
		{R"({"add":{"path":"a","size":1,"modificationTime":1,"dataChange":true}})",
		 "\"partitionValues\" of add is missing"},
		{R"({"add":{"path":"a","partitionValues":{},"size":"1","modificationTime":1,"dataChange":true}})",
		 "\"size\" of add"},
		{R"({"add":{"path":7,"partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}})",
		 "\"path\" of add"},
		{R"({"add":{"path":"a","partitionValues":{},"size":1.5,"modificationTime":1,"dataChange":true}})",
		 "\"size\" of add"},
		{R"({"add":{"path":"a","partitionValues":[],"size":1,"modificationTime":1,"dataChange":true}})",
		 "\"partitionValues\""},
		{R"({"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"u"}}})",
		 "\"deletionVector\""},
		{R"({"add":[]})", "add is not an object"},
		{R"({"remove":{"path":"a"}})", "\"dataChange\" of remove is missing"},
		{R"({"protocol":{"minReaderVersion":1}})", "\"minWriterVersion\" of protocol is missing"},
		{R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2,"readerFeatures":"x"}})",
		 "\"readerFeatures\" of protocol"},
		{R"({"metaData":{"schemaString":"x"}})", "\"id\" of metaData is missing"},
		{R"({"metaData":{"id":"x","schemaString":{}}})", "\"schemaString\" of metaData"},
		{R"({"txn":{"appId":"x"}})", "\"version\" of txn is missing"},
		{R"({"domainMetadata":{}})", "\"domain\" of domainMetadata is missing"},
		{R"({"txn":5})", "txn is not an object"},
		{"hello", "here, line 3"},
		{"[1,2]", "line 3"},
		{"{\"add\":{\"path\":\"\xff\"}}", "line 3"},
		{R"({"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}} x)", "line 3"},
	};
	for (const auto& [line, reason] : kBroken) {
		const std::string error =
			ParseError(std::string("{\"txn\":{\"appId\":\"a\",\"version\":1}}\n\n") + line + "\n");
		EXPECT_NE(error.find(reason), std::string::npos) << line << " gave: " << error;
		EXPECT_NE(error.find("here, line"), std::string::npos) << error;
	}
}

// Whatever is cut off, nothing is taken for complete that is not.
TEST(ActionCodec, EveryTruncationIsNoticed) {
	for (const char* line : kLines) {
		const std::string text = line;
		for (size_t length = 1; length < text.size(); ++length) {
			EXPECT_NE(ParseError(text.substr(0, length)).find("line 1"), std::string::npos) << text.substr(0, length);
		}
	}
}

// A writer that crashed may leave a file of no bytes: a commit of nothing it is not.
TEST(ActionCodec, AnEmptyFileIsNoCommit) {
	for (const char* text : {"", "\n", " \r\n "})
		EXPECT_NE(ParseError(text).find("here: the file is empty"), std::string::npos);
}

// Damaged bytes give an error or other actions; never a crash (run under the sanitizers).
TEST(ActionCodec, DamagedBytesAreSurvived) {
	const std::string text = AllLines("\n");
	uint64_t state = 88172645463325252ULL;
	const auto next = [&state] {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return state;
	};
	int refused = 0;
	for (int round = 0; round < 3000; ++round) {
		std::string damaged = text;
		for (uint64_t changes = 1 + next() % 3; changes-- > 0;) {
			constexpr std::string_view kBytes = "{}[]\",:\\0 e-\n\xc3";
			damaged[next() % damaged.size()] = kBytes[next() % kBytes.size()];
		}
		refused += !ParseCommit(damaged, "here", [](Action&&) -> Status { return {}; });
	}
	EXPECT_GT(refused, 1000);
}

TEST(ActionCodec, TheSinksErrorIsHandedOn) {
	const Status status =
		ParseCommit(AllLines("\n"), "here", [](Action&&) { return Status(Fail(ErrorKind::kInterrupted, "stop")); });
	ASSERT_FALSE(status);
	EXPECT_EQ(status.error().message, "stop");
}

}  // namespace
}  // namespace braid
