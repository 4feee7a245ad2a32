// SPDX-License-Identifier: Apache-2.0
// The directory layout of a lake on the local file system.
#include "engine/catalog/lake_directory.h"

#include <algorithm>
#include <filesystem>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "kernel/storage/local_log_store.h"

namespace braid::engine {

namespace {

namespace fs = std::filesystem;
const std::string kMain = "main";

bool IsTable(const fs::path& directory) {
	std::error_code error;
	return fs::is_directory(directory / kLogDirectory, error);
}

// Names of the child directories that a lake may show, sorted.
std::vector<std::string> Children(const fs::path& directory) {
	std::vector<std::string> names;
	std::error_code error;
	for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
		std::string name = it->path().filename().string();
		std::error_code ignored;
		if (IsLakeName(name) && it->is_directory(ignored)) names.push_back(std::move(name));
	}
	std::ranges::sort(names);
	return names;
}

// Empty, or with at least one table directly below.
bool IsSchema(const fs::path& directory) {
	if (IsTable(directory)) return false;
	std::error_code error;
	bool empty = true;
	for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
		empty = false;
		if (IsLakeName(it->path().filename().string()) && IsTable(it->path())) return true;
	}
	return empty && !error;
}

template <class Accept>
std::optional<std::string> Find(const std::string& directory, const std::string& name, Accept accept) {
	if (IsLakeName(name) && accept(fs::path(directory) / name)) return name;
	for (const std::string& child : Children(directory)) {
		if (duckdb::StringUtil::CIEquals(child, name) && accept(fs::path(directory) / child)) return child;
	}
	return std::nullopt;
}

std::string BaseName(const std::string& directory) { return fs::path(directory).filename().string(); }

}  // namespace

bool IsLakeName(const std::string& name) {
	return !name.empty() && name[0] != '_' && name[0] != '.' && name.find('/') == std::string::npos &&
		   name.find('\0') == std::string::npos;
}

std::string AbsoluteDirectory(const std::string& path) {
	std::string local = path;
	if (local.starts_with("file://")) local = local.substr(7);
	if (local.empty()) throw duckdb::InvalidInputException("A lake needs a directory: ATTACH 'directory' (TYPE braid)");
	if (local.find("://") != std::string::npos) {
		throw duckdb::NotImplementedException("\"%s\": only directories of a local file system can be attached", path);
	}
	std::error_code error;
	fs::path absolute = fs::weakly_canonical(local, error);
	if (error) absolute = fs::absolute(local).lexically_normal();
	std::string directory = absolute.string();
	while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
	return directory;
}

LakeDirectory::LakeDirectory(std::string root) : root_(std::move(root)) {}

void LakeDirectory::Open() {
	std::error_code error;
	auto status = fs::status(root_, error);
	if (!fs::exists(status)) {
		throw duckdb::IOException("Cannot attach \"%s\": no such directory (mkdir makes an empty lake)", root_);
	}
	if (!fs::is_directory(status)) throw duckdb::IOException("Cannot attach \"%s\": not a directory", root_);
	is_one_table_ = IsTable(root_);
}

std::vector<std::string> LakeDirectory::Schemas() const {
	std::vector<std::string> schemas {kMain};
	if (is_one_table_) return schemas;
	for (std::string& name : Children(root_)) {
		if (name != kMain && IsSchema(fs::path(root_) / name)) schemas.push_back(std::move(name));
	}
	return schemas;
}

std::vector<std::string> LakeDirectory::Tables(const std::string& schema) const {
	if (is_one_table_) return {BaseName(root_)};
	std::string directory = SchemaDirectory(schema);
	std::vector<std::string> tables = Children(directory);
	if (schema == kMain) {
		for (std::string& name : Children(MainFolder())) tables.push_back(std::move(name));
		std::ranges::sort(tables);
		tables.erase(std::ranges::unique(tables).begin(), tables.end());
	}
	std::erase_if(tables, [&](const std::string& name) { return !IsTable(TableDirectory(schema, name)); });
	return tables;
}

std::optional<std::string> LakeDirectory::FindSchema(const std::string& name) const {
	if (duckdb::StringUtil::CIEquals(name, kMain)) return kMain;
	if (is_one_table_) return std::nullopt;
	return Find(root_, name, IsSchema);
}

std::optional<std::string> LakeDirectory::FindTable(const std::string& schema, const std::string& name) const {
	if (is_one_table_) {
		std::string only = BaseName(root_);
		return duckdb::StringUtil::CIEquals(only, name) ? std::optional(only) : std::nullopt;
	}
	auto found = Find(SchemaDirectory(schema), name, IsTable);
	return found || schema != kMain ? found : Find(MainFolder(), name, IsTable);
}

std::string LakeDirectory::SchemaDirectory(const std::string& schema) const {
	return schema == kMain ? root_ : root_ + "/" + schema;
}

// A folder of this name is no schema of its own: its tables belong to `main` too.
std::string LakeDirectory::MainFolder() const { return root_ + "/" + kMain; }

std::string LakeDirectory::TableDirectory(const std::string& schema, const std::string& name) const {
	if (is_one_table_) return root_;
	std::string directory = SchemaDirectory(schema) + "/" + name;
	const std::string in_folder = MainFolder() + "/" + name;
	return schema == kMain && !IsTable(directory) && IsTable(in_folder) ? in_folder : directory;
}

std::shared_ptr<TableHandle> LakeDirectory::Handle(const std::string& table_directory) {
	std::string resolved = AbsoluteDirectory(table_directory);  // a link and its target are one table
	std::lock_guard lock(mutex_);
	auto& handle = handles_[resolved];
	if (!handle) handle = OpenTableHandle(resolved);
	return handle;
}

void LakeDirectory::Forget(const std::string& table_directory) {
	std::lock_guard lock(mutex_);
	handles_.erase(AbsoluteDirectory(table_directory));
}

std::shared_ptr<TableHandle> OpenTableHandle(const std::string& table_directory) {
	return std::make_shared<TableHandle>(table_directory, std::make_unique<LocalLogStore>(table_directory, true));
}

}  // namespace braid::engine
