// SPDX-License-Identifier: Apache-2.0
// LakeTransaction: what one DuckDB transaction has read and staged in an attached lake. Each table is pinned at an
// immutable snapshot on first touch; at most one table may be changed. Statements add to TableWork;
// LakeTransactionManager hands it to the kernel's committer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "duckdb/transaction/transaction.hpp"
#include "engine/catalog/table_handle.h"
#include "engine/repair/repeatable_statement.h"
#include "kernel/schema/identity.h"
#include "kernel/txn/transaction.h"

namespace braid::engine {

using RowsByPath = std::map<std::string, PositionSet>;

// One table as one transaction sees it. `mutex` guards `work`: scans register reads and sinks add changes from several
// threads.
struct TableWork {
	std::shared_ptr<TableHandle> table;
	std::unique_ptr<TableLease::Pin> pin;  // of work.base
	std::mutex mutex;
	braid::Transaction work;  // work.base is the pinned snapshot; null for a table that this transaction creates
	// The table as this transaction sees it, without its new files and deletions: work.base, or for a table that it
	// creates or replaces a snapshot with the new metadata and no files (version: that of the base, -1 if new).
	SnapshotPtr view;
	std::vector<std::string>
		created_files;  // every file written by statements of this transaction, relative to the root, and with a trailing / every
						// directory made for one, which comes before it; deleted on rollback
	std::vector<std::string> operations;  // of the statements that changed something, in order
	std::map<std::string, Identity>
		identities;  // columns of which values were generated, with the marks that this leads to
	// What the statement sees of the table when it is executed again for a few rows, by path as in the log; null: everything.
	std::shared_ptr<const RowsByPath> only;
	std::shared_ptr<const RepeatableStatement> statement;  // that may be executed again; null: none
	bool sealed = false;  // what is staged is a commit of its own: nothing else may be staged with it
	// Rows of an autocommit INSERT that wait in memory: writes their files, when the transaction commits. Empty: there are none.
	std::function<std::vector<NewFile>()> late_files;
};

// A file of the table as the transaction sees it: the snapshot's files with our deletions, and our own new files.
struct VisibleFile {
	braid::AddFile add;                                        // deletion_vector as at the snapshot
	std::shared_ptr<const braid::PositionSet> staged_deletes;  // positions deleted by this transaction; may be null
	bool own = false;                                          // written by this transaction
};

class LakeTransaction : public duckdb::Transaction {
public:
	LakeTransaction(duckdb::TransactionManager& manager, duckdb::ClientContext& context);
	static LakeTransaction& Get(duckdb::ClientContext& context, duckdb::Catalog& catalog);

	// Pins the table at its newest version on first touch. Throws on a broken table.
	TableWork& Touch(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table);
	// As Touch; refuses a second table that is changed ("one transaction changes one table"), naming both.
	TableWork& Modify(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table);
	// While a statement is planned: throws a BinderException, which leaves the transaction usable, if it would change a second table.
	void RefuseSecondTable(const TableHandle& table);
	// The one to be created or replaced; like Modify, but the table need not exist. The caller fills view and changes.
	TableWork& Create(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table);
	// Null if this transaction has not touched the directory. How the catalog sees tables that are created here and not
	// yet committed.
	TableWork* Find(const std::string& root);
	// Tables that this transaction creates and has not committed.
	std::vector<TableWork*> Created();
	// For a transaction that executes a statement again: what it finds on its first touch of a table.
	void Pin(const std::shared_ptr<TableHandle>& table, SnapshotPtr view, std::shared_ptr<const RowsByPath> only);
	void ExecuteAgain(std::shared_ptr<const RepeatableStatement> statement) { repeated_ = std::move(statement); }
	// What was staged on the table changes hands, its files with it. Null: nothing was.
	std::unique_ptr<TableWork> Release();
	// Null if nothing was staged.
	TableWork* modified() { return modified_; }
	// Every table that this transaction has touched.
	std::vector<TableWork*> Tables();

private:
	void Claim(TableWork& work);
	std::optional<std::string> WhyNotAlso(const TableHandle& table) const;  // the caller holds mutex_

	std::mutex mutex_;
	std::map<std::string, std::unique_ptr<TableWork>> tables_;  // by root
	TableWork* modified_ = nullptr;
	std::shared_ptr<const RepeatableStatement> repeated_;
};

}  // namespace braid::engine
