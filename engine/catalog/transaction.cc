// SPDX-License-Identifier: Apache-2.0
// Tables are pinned under one mutex: a statement binds on one thread, so nobody waits for another table's log.
#include "engine/catalog/transaction.h"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"

namespace braid::engine {

LakeTransaction::LakeTransaction(duckdb::TransactionManager& transaction_manager, duckdb::ClientContext& client)
	: Transaction(transaction_manager, client) {}

LakeTransaction& LakeTransaction::Get(duckdb::ClientContext& client, duckdb::Catalog& catalog) {
	return Transaction::Get(client, catalog).Cast<LakeTransaction>();
}

TableWork& LakeTransaction::Touch(duckdb::ClientContext& client, const std::shared_ptr<TableHandle>& table) {
	std::lock_guard guard(mutex_);
	if (auto known = tables_.find(table->root()); known != tables_.end() && known->second->view) return *known->second;
	DuckdbParquetGateway parquet(*client.db);
	auto pin = table->Pin();
	auto snapshot = Unwrap(table->Latest(parquet));
	pin->MoveTo(snapshot->version);
	auto& work = tables_[table->root()];
	if (!work) work = std::make_unique<TableWork>();
	work->table = table;
	work->pin = std::move(pin);
	work->work.base = snapshot;
	work->view = std::move(snapshot);
	return *work;
}

TableWork& LakeTransaction::Modify(duckdb::ClientContext& client, const std::shared_ptr<TableHandle>& table) {
	auto& work = Touch(client, table);
	auto statement = repeated_;
	if (!statement && client.transaction.IsAutoCommit()) statement = StatementUnderway::Get(client).Repeatable(client);
	std::lock_guard guard(mutex_);
	Claim(work);
	if (!statement) return work;
	work.work.row_local = statement->row_local;
	work.work.repaired_by_rerun = statement->changes_rows;
	work.statement = std::move(statement);
	return work;
}

void LakeTransaction::Pin(const std::shared_ptr<TableHandle>& table, SnapshotPtr view,
						  std::shared_ptr<const RowsByPath> only) {
	std::lock_guard guard(mutex_);
	auto& work = tables_[table->root()];
	work = std::make_unique<TableWork>();
	work->table = table;
	work->work.base = view;
	work->view = std::move(view);
	work->only = std::move(only);
}

std::unique_ptr<TableWork> LakeTransaction::Release() {
	std::lock_guard guard(mutex_);
	if (!modified_) return nullptr;
	auto entry = tables_.extract(modified_->table->root());
	modified_ = nullptr;
	return std::move(entry.mapped());
}

TableWork& LakeTransaction::Create(duckdb::ClientContext&, const std::shared_ptr<TableHandle>& table) {
	std::lock_guard guard(mutex_);
	auto& work = tables_[table->root()];
	if (!work) work = std::make_unique<TableWork>();
	work->table = table;
	Claim(*work);
	return *work;
}

// Delta commits one table at a time; a transaction that changed nothing of the first one may still turn to another.
std::optional<std::string> LakeTransaction::WhyNotAlso(const TableHandle& table) const {
	if (!modified_ || modified_->table->root() == table.root() || modified_->work.changes.empty()) return std::nullopt;
	return "One transaction changes one table: it has changed " + modified_->table->root() + " and cannot change " +
		   table.root() + "; COMMIT first";
}

void LakeTransaction::RefuseSecondTable(const TableHandle& table) {
	std::lock_guard guard(mutex_);
	if (auto reason = WhyNotAlso(table)) throw duckdb::BinderException(*reason);
}

void LakeTransaction::Claim(TableWork& work) {
	if (auto reason = WhyNotAlso(*work.table)) throw duckdb::TransactionException(*reason);
	if (!work.work.changes.data_change || work.sealed) {
		throw duckdb::TransactionException(
			"Table %s: this transaction has %s, which is a commit of its own; COMMIT first", work.table->root(),
			work.sealed ? "run a " + work.work.operation : "rearranged files");
	}
	modified_ = &work;
}

TableWork* LakeTransaction::Find(const std::string& root) {
	std::lock_guard guard(mutex_);
	auto work = tables_.find(root);
	return work == tables_.end() || !work->second->view ? nullptr : work->second.get();
}

std::vector<TableWork*> LakeTransaction::Created() {
	std::lock_guard guard(mutex_);
	std::vector<TableWork*> created;
	for (auto& [root, work] : tables_) {
		if (work->view && !work->work.base && work->work.changes.metadata) created.push_back(work.get());
	}
	return created;
}

std::vector<TableWork*> LakeTransaction::Tables() {
	std::lock_guard guard(mutex_);
	std::vector<TableWork*> tables;
	for (auto& [root, work] : tables_) tables.push_back(work.get());
	return tables;
}

}  // namespace braid::engine
