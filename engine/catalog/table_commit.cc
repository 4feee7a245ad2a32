// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/table_commit.h"

#include <filesystem>
#include <ranges>

#include "base/environment.h"
#include "base/json.h"
#include "engine/repair/statement_repairer.h"
#include "engine/scan/read_registration.h"
#include "engine/session/session_record.h"
#include "engine/settings.h"
#include "engine/write/identity_values.h"
#include "engine/write/staging.h"
#include "kernel/log/log_path.h"

namespace braid::engine {

namespace {

// properties.md 6.4. Operations that make a table have brought their parameters.
void DescribeOperation(TableWork& table) {
	auto& work = table.work;
	if (!work.operation_parameters.empty()) return;
	if (work.operation == "TRANSACTION") {
		work.operation_parameters["statements"] = JsonString(JsonStringList(table.operations));
	}
	if (work.operation == "WRITE") {
		work.operation_parameters["mode"] = JsonString("Append");
		auto& metadata = work.changes.metadata ? *work.changes.metadata : work.base->metadata;
		work.operation_parameters["partitionBy"] = JsonString(JsonStringList(metadata.partition_columns));
	} else {
		std::vector<std::string> predicates;
		for (auto& read : work.reads.reads) predicates.push_back("(" + ToString(read.bound) + ")");
		work.operation_parameters["predicate"] = JsonString(JsonStringList(predicates));
	}
}

}  // namespace

void DiscardFiles(TableWork& work, const std::set<std::string>& kept) {
	std::error_code not_empty;
	for (auto& file : work.created_files | std::views::reverse) {
		if (file.ends_with('/')) {
			std::filesystem::remove(work.table->root() + "/" + file, not_empty);
		} else if (!kept.contains(file)) {
			(void)work.table->store().Delete(file);
		}
	}
	work.created_files.clear();
}

CommitTools::CommitTools(duckdb::ClientContext& context_p, const TableWork& work)
	: context(context_p),
	  root(work.table->root()),
	  options(CommitOptionsOf(context)),
	  store(work.table->root(), options.durable),
	  parquet(*context.db),
	  probe(context, work.table, work.view) {
	options.lease_token = work.table->lease_token();
}

void CommitTools::Complete(ReadSet& reads) const {
	if (options.mode != ConcurrencyMode::kStrict) FinishReads(reads);
}

CommitContext CommitTools::Context(Repairer* repairer) {
	auto& client = context;
	return {store,
			parquet,
			probe,
			SystemClock(),
			SystemRandom(),
			options,
			[&client] { return client.interrupted.load(); },
			repairer,
			[root = root]() -> Result<int64_t> {
				BRAID_TRY(const auto leases, HeldLeases(root));
				return OldestPin(leases);
			}};
}

Result<SnapshotPtr> CommitTable(duckdb::ClientContext& context, duckdb::AttachedDatabase& lake,
								LakeTransaction& transaction, TableWork& work, CommitFiles& files) {
	if (auto write = std::exchange(work.late_files, nullptr)) StageNewFiles(work, write());
	if (work.work.changes.empty()) return nullptr;
	CommitTools tools(context, work);
	auto complete = [&](TableWork& staged) {
		StageIdentityMarks(staged);
		tools.Complete(staged.work.reads);
		DescribeOperation(staged);
		staged.work.user_metadata = UserMetadataOf(context);
	};
	complete(work);
	StatementRepairer repairer(context, lake, transaction, work, tools.probe, complete);
	for (auto& file : work.work.changes.new_files) files.committed.insert(DecodePath(file.add.path));
	files.committed.insert(work.work.changes.row_map);
	auto outcome = Commit(tools.Context(work.statement ? &repairer : nullptr), work.work);
	files.committed.insert(repairer.files().begin(), repairer.files().end());
	if (!outcome) {
		if (outcome.error().conflict) SessionRecord::Get(context).Set(outcome.error().conflict);
		files.unknown = outcome.error().kind == ErrorKind::kOutcomeUnknown;
		return std::unexpected(outcome.error());
	}
	if (outcome->snapshot) work.table->Publish(outcome->snapshot);
	SessionRecord::Get(context).Set(CommitRecord {.table = work.table->root(),
												  .operation = work.work.operation,
												  .version = outcome->version,
												  .attempts = outcome->attempts,
												  .winners = outcome->winners,
												  .rows_rebased = outcome->rows_rebased,
												  .rows_repaired = outcome->rows_repaired,
												  .statement_retries = outcome->reruns,
												  .txn_id = outcome->txn_id});
	return outcome->snapshot;
}

}  // namespace braid::engine
