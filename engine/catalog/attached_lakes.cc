// SPDX-License-Identifier: Apache-2.0
// Roots of lakes and directories of tables come with symbolic links resolved, so comparing text is enough.
#include "engine/catalog/attached_lakes.h"

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/database_manager.hpp"

namespace braid::engine {

namespace {

template <class Visit>
void EachLake(duckdb::ClientContext& context, Visit visit) {
	for (const auto& database : duckdb::DatabaseManager::Get(context).GetDatabases(context)) {
		if (database->GetCatalog().GetCatalogType() != "braid") continue;
		if (visit(database->GetCatalog().Cast<LakeCatalog>())) return;
	}
}

}  // namespace

void RefuseOverlap(duckdb::ClientContext& context, const std::string& directory) {
	std::string wanted = directory + "/";
	EachLake(context, [&](LakeCatalog& lake) {
		std::string attached = lake.lake().root() + "/";
		if (!wanted.starts_with(attached) && !attached.starts_with(wanted)) return false;
		throw duckdb::BinderException(
			"Cannot attach \"%s\": its tables are attached as \"%s\" (%s) already, and a transaction would not notice "
			"what it "
			"reads through the other name; use \"%s\" or DETACH it first",
			directory, lake.GetName(), lake.lake().root(), lake.GetName());
	});
}

duckdb::optional_ptr<LakeCatalog> LakeOfTable(duckdb::ClientContext& context, const std::string& directory) {
	duckdb::optional_ptr<LakeCatalog> found;
	EachLake(context, [&](LakeCatalog& lake) {
		if ((directory + "/").starts_with(lake.lake().root() + "/")) found = lake;
		return found != nullptr;
	});
	return found;
}

}  // namespace braid::engine
