// SPDX-License-Identifier: Apache-2.0
// Every step is checked; the first that fails ends the statement with the path it failed on.
#include "engine/catalog/drop.h"

#include <fcntl.h>

#include <cstdio>
#include <filesystem>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "kernel/storage/local_file.h"
#include "kernel/storage/log_store.h"

namespace braid::engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what, const std::string& path, const std::error_code& error) {
	throw duckdb::IOException("Cannot %s %s: %s", what, path, error.message());
}

// A symbolic link to a table goes; what it leads to belongs to somebody else.
void RemoveTable(const fs::path& root) {
	std::error_code error;
	if (fs::is_symlink(root, error)) {
		fs::remove(root, error);
		if (error) Fail("remove", root, error);
		return;
	}
	std::vector<fs::path> children;
	for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error))
		children.push_back(entry->path());
	if (error) Fail("list", root, error);
	for (auto& child : children) {
		if (child.filename() == kLogDirectory) continue;
		fs::remove_all(child, error);
		if (error) Fail("remove", child, error);
	}
	fs::remove_all(root, error);
	if (error) Fail("remove", root, error);
}

void RefuseInTransaction(duckdb::ClientContext& context, const std::string& statement) {
	if (context.transaction.IsAutoCommit()) return;
	throw duckdb::TransactionException(
		"%s changes a directory at once and cannot be rolled back: run it outside of BEGIN ... COMMIT", statement);
}

}  // namespace

void CreateSchema(duckdb::ClientContext&, const std::string& directory) {
	std::error_code error;
	fs::create_directory(directory, error);
	if (error) Fail("create directory", directory, error);
	// Tables will be committed durably in it: its own name has to be as durable.
	const Status synced = SyncPath(ParentDirectory(directory));
	if (!synced) throw duckdb::IOException("%s", synced.error().message);
}

void DropSchema(duckdb::ClientContext& context, const std::string& directory, bool cascade) {
	RefuseInTransaction(context, "DROP SCHEMA " + directory);
	std::error_code error;
	std::vector<fs::path> tables;
	for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
		if (fs::is_directory(entry->path() / kLogDirectory)) {
			tables.push_back(entry->path());
		} else {
			throw duckdb::CatalogException(
				"DROP SCHEMA: directory %s holds \"%s\", which is not a table; remove it first", directory,
				entry->path().filename().string());
		}
	}
	if (error) Fail("list", directory, error);
	if (!tables.empty() && !cascade) {
		throw duckdb::CatalogException(
			"DROP SCHEMA: schema %s holds %llu tables, for example \"%s\"; DROP SCHEMA ... CASCADE drops them too",
			directory, static_cast<unsigned long long>(tables.size()), tables.front().filename().string());
	}
	for (auto& table : tables) RemoveTable(table);
	fs::remove(directory, error);
	if (error) Fail("remove", directory, error);
}

void DropTable(duckdb::ClientContext& context, const std::string& root) {
	RefuseInTransaction(context, "DROP TABLE " + root);
	RemoveTable(root);
}

void RenameTable(duckdb::ClientContext& context, const std::string& root, const std::string& new_root) {
	RefuseInTransaction(context, "RENAME of " + root);
	// RENAME_NOREPLACE: an empty directory, or a table that another process has just made, stays.
	if (renameat2(AT_FDCWD, root.c_str(), AT_FDCWD, new_root.c_str(), RENAME_NOREPLACE) != 0) {
		Fail("rename " + root + " to", new_root, std::error_code(errno, std::generic_category()));
	}
	const Status synced = SyncPath(ParentDirectory(root));
	if (!synced) throw duckdb::IOException("%s", synced.error().message);
}

}  // namespace braid::engine
