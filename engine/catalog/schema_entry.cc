// SPDX-License-Identifier: Apache-2.0
// Lookup, listing, CREATE and DROP of the tables of one schema.
#include "engine/catalog/schema_entry.h"

#include "duckdb/catalog/similar_catalog_entry.hpp"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/parsed_data/alter_table_info.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "duckdb/parser/parsed_data/drop_info.hpp"
#include "duckdb/planner/parsed_data/bound_create_table_info.hpp"
#include "duckdb/planner/tableref/bound_at_clause.hpp"
#include "engine/catalog/alter_table.h"
#include "engine/catalog/create_table.h"
#include "engine/catalog/drop.h"
#include "engine/catalog/entry_pins.h"
#include "engine/catalog/schema_peek.h"
#include "engine/catalog/table_entry.h"
#include "engine/catalog/time_travel.h"
#include "engine/catalog/transaction.h"

namespace braid::engine {

namespace {

// The table of this name that the transaction has created and not committed.
TableWork* FindCreated(LakeTransaction& transaction, const std::string& directory, const std::string& name) {
	for (TableWork* work : transaction.Created()) {
		const std::string& root = work->table->root();
		size_t slash = root.rfind('/');
		if (root.substr(0, slash) == directory && duckdb::StringUtil::CIEquals(root.substr(slash + 1), name))
			return work;
	}
	return nullptr;
}

std::string BaseName(const std::string& root) { return root.substr(root.rfind('/') + 1); }

[[noreturn]] void Refuse(const char* what) {
	throw duckdb::NotImplementedException("A lake holds tables only; %s cannot be created in it", what);
}

}  // namespace

LakeTableEntry& LakeSchemaEntry::Pin(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table,
									 const std::string& table_name, SnapshotPtr view, bool of_the_past) {
	auto entry = LakeTableEntry::Make(*this, table_name, std::move(table), std::move(view), of_the_past);
	LakeTableEntry& result = *entry;
	EntryPins::Get(context).Add(std::move(entry));
	return result;
}

LakeSchemaEntry::Entry LakeSchemaEntry::LookupEntry(duckdb::CatalogTransaction transaction,
													const duckdb::EntryLookupInfo& lookup) {
	if (lookup.GetCatalogType() != duckdb::CatalogType::TABLE_ENTRY || !transaction.HasContext()) return nullptr;
	duckdb::ClientContext& context = transaction.GetContext();
	LakeTransaction& lake_transaction = LakeTransaction::Get(context, catalog);
	LakeDirectory& lake = lake_catalog_.lake();
	auto [wanted, insert_mode] = SplitInsertMode(lookup.GetEntryName());
	const auto pin = [&](std::shared_ptr<TableHandle> table, const std::string& table_name, SnapshotPtr view) {
		auto& entry = Pin(context, std::move(table), table_name, std::move(view), false);
		entry.insert_mode = std::move(insert_mode);
		return &entry;
	};
	if (TableWork* created = FindCreated(lake_transaction, lake.SchemaDirectory(name), wanted)) {
		return pin(created->table, BaseName(created->table->root()), created->view);
	}
	auto table_name = lake.FindTable(name, wanted);
	if (!table_name) return nullptr;
	auto table = lake.Handle(lake.TableDirectory(name, *table_name));
	if (auto at = lookup.GetAtClause()) {
		return &Pin(context, table, *table_name, SnapshotAt(context, *table, *at), true);
	}
	SnapshotPtr view = lake_transaction.Touch(context, table).view;
	return pin(table, *table_name, std::move(view));
}

duckdb::SimilarCatalogEntry LakeSchemaEntry::GetSimilarEntry(duckdb::CatalogTransaction,
															 const duckdb::EntryLookupInfo& lookup) {
	duckdb::SimilarCatalogEntry best;
	if (lookup.GetCatalogType() != duckdb::CatalogType::TABLE_ENTRY) return best;
	for (const std::string& table : lake_catalog_.lake().Tables(name)) {
		double score = duckdb::StringUtil::SimilarityRating(table, lookup.GetEntryName());
		if (score > best.score) {
			best.score = score;
			best.name = table;
		}
	}
	return best;
}

void LakeSchemaEntry::Scan(duckdb::ClientContext& context, duckdb::CatalogType type, const Visit& callback) {
	if (type != duckdb::CatalogType::TABLE_ENTRY) return;
	LakeTransaction& transaction = LakeTransaction::Get(context, catalog);
	LakeDirectory& lake = lake_catalog_.lake();
	for (const std::string& table_name : lake.Tables(name)) {
		auto table = lake.Handle(lake.TableDirectory(name, table_name));
		TableWork* work = transaction.Find(table->root());
		SnapshotPtr view = work && work->view ? work->view : PeekSchema(context, *table);
		callback(Pin(context, std::move(table), table_name, std::move(view), false));
	}
	for (TableWork* work : transaction.Created()) {
		const std::string& root = work->table->root();
		if (root.substr(0, root.rfind('/')) != AbsoluteDirectory(lake.SchemaDirectory(name)) ||
			lake.FindTable(name, BaseName(root)))
			continue;
		callback(Pin(context, work->table, BaseName(root), work->view, false));
	}
}

void LakeSchemaEntry::Scan(duckdb::CatalogType, const Visit&) {}

std::shared_ptr<TableHandle> LakeSchemaEntry::HandleToCreate(const std::string& table_name) {
	LakeDirectory& lake = lake_catalog_.lake();
	if (lake.is_one_table() && !lake.FindTable(name, table_name)) {
		throw duckdb::CatalogException(
			"\"%s\" is attached as one table; attach the directory above it to create others", catalog.GetName());
	}
	if (!IsLakeName(table_name)) {
		throw duckdb::InvalidInputException(
			"\"%s\" cannot name a table: it becomes a directory, which may not begin with _ or .", table_name);
	}
	auto existing = lake.FindTable(name, table_name);
	return lake.Handle(lake.TableDirectory(name, existing.value_or(table_name)));
}

LakeSchemaEntry::Entry LakeSchemaEntry::CreateTable(duckdb::CatalogTransaction transaction,
													duckdb::BoundCreateTableInfo& info) {
	auto table = HandleToCreate(info.base->Cast<duckdb::CreateTableInfo>().table);
	duckdb::ClientContext& context = transaction.GetContext();
	LakeTransaction& lake_transaction = LakeTransaction::Get(context, catalog);
	if (!engine::CreateTable(context, lake_transaction, table, info, false)) return nullptr;
	return &Pin(context, table, BaseName(table->root()), lake_transaction.Find(table->root())->view, false);
}

void LakeSchemaEntry::DropEntry(duckdb::ClientContext& context, duckdb::DropInfo& info) {
	if (info.type != duckdb::CatalogType::TABLE_ENTRY) Refuse("anything else");
	LakeDirectory& lake = lake_catalog_.lake();
	auto table_name = lake.FindTable(name, info.name);
	if (!table_name) {
		if (info.if_not_found == duckdb::OnEntryNotFound::RETURN_NULL) return;
		throw duckdb::CatalogException("Table \"%s\" does not exist in \"%s\"", info.name, catalog.GetName());
	}
	std::string root = lake.TableDirectory(name, *table_name);
	DropTable(context, root);
	lake.Forget(root);
}

void LakeSchemaEntry::Alter(duckdb::CatalogTransaction transaction, duckdb::AlterInfo& info) {
	duckdb::ClientContext& context = transaction.GetContext();
	LakeDirectory& lake = lake_catalog_.lake();
	auto known = lake.FindTable(name, info.name);
	TableWork* created =
		known ? nullptr : FindCreated(LakeTransaction::Get(context, catalog), lake.SchemaDirectory(name), info.name);
	if (!known && !created) throw duckdb::CatalogException("Table \"%s\" does not exist", info.name);
	auto table = created ? created->table : lake.Handle(lake.TableDirectory(name, *known));
	if (info.type == duckdb::AlterType::ALTER_TABLE &&
		info.Cast<duckdb::AlterTableInfo>().alter_table_type == duckdb::AlterTableType::RENAME_TABLE) {
		return Rename(context, *table, info.Cast<duckdb::RenameTableInfo>().new_table_name);
	}
	AlterTable(context, lake_catalog_, table, info);
}

void LakeSchemaEntry::Rename(duckdb::ClientContext& context, TableHandle& table, const std::string& new_name) {
	LakeDirectory& lake = lake_catalog_.lake();
	if (lake.is_one_table()) {
		throw duckdb::CatalogException(
			"\"%s\" is attached as one table and cannot be renamed; attach the directory "
			"above it",
			catalog.GetName());
	}
	if (auto taken = lake.FindTable(name, new_name); taken && lake.TableDirectory(name, *taken) != table.root()) {
		throw duckdb::CatalogException::EntryAlreadyExists(duckdb::CatalogType::TABLE_ENTRY, new_name);
	}
	if (!IsLakeName(new_name)) {
		throw duckdb::InvalidInputException(
			"\"%s\" cannot name a table: it becomes a directory, which may not begin with _ or .", new_name);
	}
	const std::string root = table.root();
	RenameTable(context, root, root.substr(0, root.rfind('/') + 1) + new_name);
	lake.Forget(root);
}

LakeSchemaEntry::Entry LakeSchemaEntry::CreateIndex(duckdb::CatalogTransaction, duckdb::CreateIndexInfo&,
													duckdb::TableCatalogEntry&) {
	Refuse("an index");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateFunction(duckdb::CatalogTransaction, duckdb::CreateFunctionInfo&) {
	Refuse("a function");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateView(duckdb::CatalogTransaction, duckdb::CreateViewInfo&) {
	Refuse("a view");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateSequence(duckdb::CatalogTransaction, duckdb::CreateSequenceInfo&) {
	Refuse("a sequence");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateTableFunction(duckdb::CatalogTransaction,
															duckdb::CreateTableFunctionInfo&) {
	Refuse("a table function");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateCopyFunction(duckdb::CatalogTransaction,
														   duckdb::CreateCopyFunctionInfo&) {
	Refuse("a copy function");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreatePragmaFunction(duckdb::CatalogTransaction,
															 duckdb::CreatePragmaFunctionInfo&) {
	Refuse("a pragma");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateCollation(duckdb::CatalogTransaction, duckdb::CreateCollationInfo&) {
	Refuse("a collation");
}
LakeSchemaEntry::Entry LakeSchemaEntry::CreateType(duckdb::CatalogTransaction, duckdb::CreateTypeInfo&) {
	Refuse("a type");
}

}  // namespace braid::engine
