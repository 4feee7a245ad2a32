// SPDX-License-Identifier: Apache-2.0
// The file index against a plain map, over thousands of random commits, with every older version held and compared at the end.
#include "kernel/snapshot/file_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "kernel/snapshot/file_index_builder.h"

namespace braid {
namespace {

struct Model {
	std::map<std::string, std::pair<int64_t, std::string>> files;  // path -> size, vector ("" if none)
};

DvDescriptor Vector(const std::string& id) {
	DvDescriptor dv;
	dv.path_or_inline_dv = id;
	return dv;
}

void ExpectSame(const FileIndex& index, const Model& model) {
	ASSERT_EQ(index.size(), model.files.size());
	int64_t bytes = 0;
	std::set<std::string> listed;
	for (const LiveFile* file : index.Files()) {
		const auto& [size, dv] = model.files.at(std::string(file->path));
		EXPECT_EQ(file->size, size);
		EXPECT_EQ(file->deletion_vector == nullptr ? "" : file->deletion_vector->path_or_inline_dv, dv);
		EXPECT_EQ(file->stats, "stats of " + std::string(file->path));
		EXPECT_EQ(index.Find(file->path), file);
		listed.emplace(file->path);
		bytes += file->size;
	}
	EXPECT_EQ(listed.size(), model.files.size());
	EXPECT_EQ(index.total_bytes(), bytes);
	EXPECT_EQ(index.Find("no such file"), nullptr);
}

// One random commit on index and model alike: new files, removes, new vectors.
std::shared_ptr<const FileIndex> RandomCommit(const FileIndex& index, Model& model, std::mt19937& random,
											  int& next_file) {
	FileIndexBuilder builder(index);
	builder.BeginCommit();
	const auto add = [&](const std::string& path, int64_t size, const std::string& dv) {
		const std::string stats = "stats of " + path;
		const DvDescriptor vector = Vector(dv);
		AddFileView view;
		view.path = path;
		view.stats = stats;
		view.partition_values_json = "{}";
		view.size = size;
		view.deletion_vector = dv.empty() ? nullptr : &vector;
		EXPECT_TRUE(builder.Add(view) && builder.Settle());
		EXPECT_FALSE(builder.Add(view) && builder.Settle()) << "twice in one commit";
		model.files[path] = {size, dv};
	};
	for (int i = static_cast<int>(random() % 4); i > 0; --i)
		add("f" + std::to_string(next_file++), random() % 1000, "");
	for (int i = static_cast<int>(random() % 4); i > 0 && !model.files.empty(); --i) {
		auto file = std::next(model.files.begin(), random() % model.files.size());
		const std::string path = file->first;
		const auto [size, dv] = file->second;
		if (!dv.empty() && dv == std::to_string(next_file)) continue;  // made by this commit
		const DvDescriptor old = Vector(dv);
		const DvDescriptor other = Vector("never");
		builder.Remove(path, &other);
		builder.Remove(path, dv.empty() ? nullptr : &old);
		EXPECT_FALSE(builder.Contains(path, dv.empty() ? nullptr : &old));
		model.files.erase(path);
		if (random() % 2 == 0) add(path, size, "v" + std::to_string(next_file++));
	}
	return builder.Finish();
}

TEST(FileIndex, AgreesWithAMapOverRandomCommits) {
	for (const int initial : {0, 50, 3000}) {
		std::mt19937 random(static_cast<unsigned>(initial) + 7);
		Model model;
		int next_file = 0;
		FileIndexBuilder load;
		for (int i = 0; i < initial; ++i) {
			const std::string path = "base " + std::to_string(i), stats = "stats of " + path;
			AddFileView view;
			view.path = path;
			view.stats = stats;
			view.partition_values_json = "{}";
			view.size = i;
			ASSERT_TRUE(load.Add(view));
			model.files[path] = {i, ""};
		}
		std::shared_ptr<const FileIndex> index = load.Finish();
		ExpectSame(*index, model);
		std::vector<std::pair<std::shared_ptr<const FileIndex>, Model>> held;
		for (int commit = 0; commit < 4000; ++commit) {
			index = RandomCommit(*index, model, random, next_file);
			if (commit % 400 == 0) held.emplace_back(index, model);
		}
		held.emplace_back(index, model);
		for (const auto& [old_index, old_model] : held) ExpectSame(*old_index, old_model);
	}
}

TEST(FileIndex, OrderIsThatOfTheLog) {
	FileIndexBuilder load;
	const auto add = [](FileIndexBuilder& builder, const std::string& path) {
		AddFileView view;
		view.path = path;
		view.partition_values_json = "{}";
		return builder.Add(view);
	};
	for (const char* path : {"z", "y", "x"}) ASSERT_TRUE(add(load, path));
	const auto first = load.Finish();
	FileIndexBuilder next(*first);
	next.Remove("y", nullptr);
	ASSERT_TRUE(add(next, "a"));
	ASSERT_TRUE(add(next, "z"));
	std::string order;
	const auto second = next.Finish();
	for (const LiveFile* file : second->Files()) order += file->path;
	EXPECT_EQ(order, "xaz");
}

TEST(FileIndex, ToAddFileParsesWhatWasKeptAsText) {
	FileIndexBuilder load;
	AddFileView view;
	view.path = "a";
	view.partition_values_json = R"({"p":"x\"y","q":null})";
	view.tags_json = R"({"t":"1"})";
	view.clustering_provider = "liquid";
	view.base_row_id = 5;
	ASSERT_TRUE(load.Add(view));
	view.path = "b";
	view.partition_values_json = "[broken";
	ASSERT_TRUE(load.Add(view));
	const auto index = load.Finish();
	const Result<AddFile> add = ToAddFile(*index->Find("a"));
	ASSERT_TRUE(add);
	EXPECT_EQ(add->partition_values, (PartitionValues {{"p", "x\"y"}, {"q", std::nullopt}}));
	EXPECT_EQ(add->tags.at("t"), "1");
	EXPECT_EQ(add->clustering_provider, "liquid");
	EXPECT_EQ(add->base_row_id, 5);
	EXPECT_FALSE(ToAddFile(*index->Find("b")));
}

}  // namespace
}  // namespace braid
