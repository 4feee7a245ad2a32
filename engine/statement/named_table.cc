// SPDX-License-Identifier: Apache-2.0
// Names go through DuckDB's catalogs, paths through the attached lake that shows them, if there is one.
#include "engine/statement/named_table.h"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/comparison_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/qualified_name.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/catalog/attached_lakes.h"
#include "engine/catalog/table_entry.h"
#include "engine/catalog/transaction.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/statement/tokens.h"

namespace braid::engine {

namespace {

constexpr auto kPathSchema = "delta";

// DuckDB's own parser of qualified names loses quotes inside of quoted names.
duckdb::QualifiedName ParseName(const std::string& name) {
	TokenCursor cursor(name, Tokenize(name));
	std::vector<std::string> parts;
	do {
		if (!cursor.PeekKind(TokenKind::kWord) && !cursor.PeekKind(TokenKind::kQuotedName)) break;
		const bool quoted = cursor.PeekKind(TokenKind::kQuotedName);
		const auto text = cursor.TextOf(cursor.place());
		parts.push_back(quoted ? Unquoted(text) : std::string(text));
		cursor.Skip();
	} while (cursor.Take({"."}));
	if (parts.empty() || parts.size() > 3 || !cursor.AtEnd()) return duckdb::QualifiedName::Parse(name);
	parts.insert(parts.begin(), 3 - parts.size(), "");
	return {parts[0], parts[1], parts[2]};
}

// The path that a name stands for, if it is one.
std::optional<std::string> PathOf(const std::string& name) {
	if (name.find('/') != std::string::npos && name.find('"') == std::string::npos) return name;
	auto qualified = ParseName(name);
	return IsPathName(qualified.catalog, qualified.schema, qualified.name) ? std::optional(qualified.name)
																		   : std::nullopt;
}

NamedTable PlaceOf(duckdb::ClientContext& context, const std::string& path) {
	NamedTable found;
	const std::string directory = AbsoluteDirectory(path);
	found.name = path;
	found.lake = LakeOfTable(context, directory);
	found.table = found.lake ? found.lake->lake().Handle(directory) : OpenTableHandle(directory);
	return found;
}

NamedTable TableAtPath(duckdb::ClientContext& context, const std::string& path) {
	NamedTable found = PlaceOf(context, path);
	if (found.lake) {
		found.view = LakeTransaction::Get(context, *found.lake).Touch(context, found.table).view;
		return found;
	}
	DuckdbParquetGateway parquet(*context.db);
	found.view = Unwrap(found.table->Latest(parquet));
	return found;
}

// Where the table of this name is, or would be; no lake: in a catalog of somebody else.
PlaceToCreate PlaceIn(duckdb::ClientContext& context, const std::string& name) {
	auto qualified = ParseName(name);
	duckdb::Binder::BindSchemaOrCatalog(context, qualified.catalog, qualified.schema);
	const auto& current = duckdb::ClientData::Get(context).catalog_search_path->GetDefault();
	if (qualified.catalog.empty()) {
		qualified.catalog = current.catalog;
		if (qualified.schema.empty()) qualified.schema = current.schema;
	}
	PlaceToCreate place;
	place.schema = qualified.schema.empty() ? DEFAULT_SCHEMA : qualified.schema;
	place.name = qualified.name;
	auto catalog = duckdb::Catalog::GetCatalogEntry(context, qualified.catalog);
	if (catalog && catalog->GetCatalogType() == "braid") place.lake = catalog->Cast<LakeCatalog>();
	return place;
}

// /path/to/table@v7 -> 7; nullopt if the path ends differently.
std::optional<int64_t> TakeVersion(std::string& path) {
	const auto at = path.rfind("@v");
	if (at == std::string::npos || at + 2 == path.size()) return std::nullopt;
	const auto digits = path.substr(at + 2);
	if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
	path.resize(at);
	return std::stoll(digits);
}

duckdb::unique_ptr<duckdb::TableRef> ReadPathTable(duckdb::ClientContext&, duckdb::ReplacementScanInput& input,
												   duckdb::optional_ptr<duckdb::ReplacementScanData>) {
	if (!duckdb::StringUtil::CIEquals(input.schema_name, kPathSchema) || !input.catalog_name.empty()) return nullptr;
	std::string path = input.table_name;
	const auto version = TakeVersion(path);
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
	arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(path)));
	if (version) {
		arguments.push_back(duckdb::make_uniq<duckdb::ComparisonExpression>(
			duckdb::ExpressionType::COMPARE_EQUAL, duckdb::make_uniq<duckdb::ColumnRefExpression>("version"),
			duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value::BIGINT(*version))));
	}
	auto scan = duckdb::make_uniq<duckdb::TableFunctionRef>();
	scan->function = duckdb::make_uniq<duckdb::FunctionExpression>("braid_scan", std::move(arguments));
	scan->alias = path.substr(path.rfind('/') + 1);
	return scan;
}

}  // namespace

bool IsPathName(const std::string& catalog, const std::string& schema, const std::string& table) {
	return catalog.empty() && duckdb::StringUtil::CIEquals(schema, kPathSchema) && table.find('/') != std::string::npos;
}

duckdb::optional_ptr<LakeTableEntry> FindLakeTable(duckdb::ClientContext& context, std::string catalog,
												   std::string schema, const std::string& table,
												   duckdb::OnEntryNotFound if_not_found) {
	duckdb::Binder::BindSchemaOrCatalog(context, catalog, schema);
	auto entry = duckdb::Catalog::GetEntry<duckdb::TableCatalogEntry>(context, catalog, schema, table, if_not_found);
	if (!entry || entry->ParentCatalog().GetCatalogType() != "braid") return nullptr;
	return entry->Cast<LakeTableEntry>();
}

NamedTable FindNamedTable(duckdb::ClientContext& context, const std::string& name, const std::string& statement) {
	if (const auto path = PathOf(name)) return TableAtPath(context, *path);
	const auto qualified = ParseName(name);
	auto entry = FindLakeTable(context, qualified.catalog, qualified.schema, qualified.name,
							   duckdb::OnEntryNotFound::THROW_EXCEPTION);
	if (!entry) throw duckdb::BinderException("%s: \"%s\" is not a table of an attached lake", statement, name);
	return {entry->ParentCatalog().Cast<LakeCatalog>(), entry->table(), entry->view(), entry->name};
}

bool NamedTableExists(duckdb::ClientContext& context, const std::string& name) {
	if (name.find('/') != std::string::npos) return true;  // whoever opens a path will say
	auto qualified = ParseName(name);
	duckdb::Binder::BindSchemaOrCatalog(context, qualified.catalog, qualified.schema);
	return duckdb::Catalog::GetEntry<duckdb::TableCatalogEntry>(context, qualified.catalog, qualified.schema,
																qualified.name,
																duckdb::OnEntryNotFound::RETURN_NULL) != nullptr;
}

bool IsLakeTable(duckdb::ClientContext& context, const std::string& name) {
	const auto qualified = ParseName(name);
	return FindLakeTable(context, qualified.catalog, qualified.schema, qualified.name,
						 duckdb::OnEntryNotFound::RETURN_NULL) != nullptr;
}

std::shared_ptr<TableHandle> FindTableLog(duckdb::ClientContext& context, const std::string& name,
										  const std::string& statement) {
	if (const auto path = PathOf(name)) return PlaceOf(context, *path).table;
	if (auto place = PlaceIn(context, name); place.lake) {
		LakeDirectory& lake = place.lake->lake();
		const auto schema = lake.FindSchema(place.schema);
		const auto table = schema ? lake.FindTable(*schema, place.name) : std::nullopt;
		if (table) return lake.Handle(lake.TableDirectory(*schema, *table));
	}
	return FindNamedTable(context, name, statement).table;
}

static void RegisterChange(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input, LakeCatalog& lake,
						   duckdb::DatabaseModificationType change) {
	if (!input.binder) return;
	auto& properties = input.binder->GetStatementProperties();
	properties.RegisterDBModify(lake, context, change);
	properties.output_type =
		duckdb::QueryResultOutputType::FORCE_MATERIALIZED;  // else it commits when the client has fetched all
}

NamedTable FindTableToChange(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
							 const std::string& name, const std::string& statement,
							 duckdb::DatabaseModificationType change) {
	auto found = FindNamedTable(context, name, statement);
	if (!found.lake) {
		throw duckdb::BinderException("%s: attach the directory of %s first (ATTACH '...' AS lake (TYPE braid))",
									  statement, name);
	}
	RegisterChange(context, input, *found.lake, change);
	return found;
}

NamedTable FindTableToChangeAlone(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
								  const std::string& name, const std::string& statement,
								  duckdb::DatabaseModificationType change) {
	auto found = FindTableToChange(context, input, name, statement, change);
	auto* work = LakeTransaction::Get(context, *found.lake).Find(found.table->root());
	if (work && !work->work.changes.empty()) {
		throw duckdb::BinderException(
			"%s of table %s: this transaction has changed the table already; COMMIT first, this is a commit of its own",
			statement, found.table->root());
	}
	return found;
}

PlaceToCreate FindPlaceToCreate(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
								const std::string& name, const std::string& statement) {
	auto place = PathOf(name) ? PlaceToCreate() : PlaceIn(context, name);
	if (!place.lake) {
		throw duckdb::BinderException(
			"%s: %s is no name in an attached lake (ATTACH '...' AS lake (TYPE braid)), where a "
			"table could be made",
			statement, name);
	}
	RegisterChange(context, input, *place.lake, duckdb::DatabaseModificationType::CREATE_CATALOG_ENTRY);
	return place;
}

void RegisterPathTables(duckdb::DBConfig& config) { config.replacement_scans.emplace_back(ReadPathTable); }

}  // namespace braid::engine
