// SPDX-License-Identifier: Apache-2.0
// What an attached directory holds: a child with `_delta_log` is a table of schema `main`, and so is one in a child folder named main; a child that holds tables or nothing is a schema; a
// directory that is itself a table is that one table. Names that begin with `_` or `.` are neither. Names match case-insensitively,
// the exact spelling first. Nothing is cached but the handles: other processes create and drop tables at any time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table_handle.h"

namespace braid::engine {

class LakeDirectory {
public:
	explicit LakeDirectory(std::string root);

	const std::string& root() const { return root_; }
	// Throws if the directory is missing or not a directory; finds out whether it is one table.
	void Open();
	bool is_one_table() const { return is_one_table_; }

	std::vector<std::string> Schemas() const;  // `main` is always there, and first
	std::vector<std::string> Tables(const std::string& schema) const;
	// The name as spelt on disk.
	std::optional<std::string> FindSchema(const std::string& name) const;
	std::optional<std::string> FindTable(const std::string& schema, const std::string& name) const;

	std::string SchemaDirectory(const std::string& schema) const;
	// Where the table is, or would be made.
	std::string TableDirectory(const std::string& schema, const std::string& name) const;
	std::shared_ptr<TableHandle> Handle(const std::string& table_directory);
	void Forget(const std::string& table_directory);  // after DROP TABLE

private:
	std::string MainFolder() const;

	std::string root_;
	bool is_one_table_ = false;
	std::mutex mutex_;
	std::map<std::string, std::shared_ptr<TableHandle>> handles_;  // by directory
};

// The handle of one table directory, outside of any lake.
std::shared_ptr<TableHandle> OpenTableHandle(const std::string& table_directory);
// Absolute, symbolic links resolved, without trailing separator. Refuses URLs of stores that this build lacks.
std::string AbsoluteDirectory(const std::string& path);
// A name that can be a table's or schema's directory: not empty, no separator, not beginning with `_` or `.`.
bool IsLakeName(const std::string& name);

}  // namespace braid::engine
