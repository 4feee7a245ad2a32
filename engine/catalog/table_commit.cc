// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/table_commit.h"

#include <filesystem>
#include <ranges>

#include "base/environment.h"
#include "base/json.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/duckdb_row_probe.h"
#include "engine/repair/statement_repairer.h"
#include "engine/scan/read_registration.h"
#include "engine/session/session_record.h"
#include "engine/settings.h"
#include "engine/write/identity_values.h"
#include "engine/write/staging.h"
#include "kernel/log/log_path.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/txn/committer.h"

namespace braid::engine {

namespace {

// properties.md 6.4. Operations that make a table have brought their parameters.
void DescribeOperation(TableWork& table) {
	auto& work = table.work;
	if (!work.operation_parameters.empty()) return;
	if (work.operation == "TRANSACTION") {
		std::string statements = "[";
		for (auto& name : table.operations) statements += (statements.size() > 1 ? "," : "") + JsonString(name);
		work.operation_parameters["statements"] = JsonString(statements + "]");
	}
	std::string predicates = "[";
	for (auto& read : work.reads.reads) {
		predicates += (predicates.size() > 1 ? "," : "") + JsonString("(" + ToString(read.bound) + ")");
	}
	predicates += "]";
	if (work.operation == "WRITE") {
		work.operation_parameters["mode"] = JsonString("Append");
		std::string columns = "[";
		auto& metadata = work.changes.metadata ? *work.changes.metadata : work.base->metadata;
		for (auto& name : metadata.partition_columns) columns += (columns.size() > 1 ? "," : "") + JsonString(name);
		work.operation_parameters["partitionBy"] = JsonString(columns + "]");
	} else {
		work.operation_parameters["predicate"] = JsonString(predicates);
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

Status CommitTable(duckdb::ClientContext& context, duckdb::AttachedDatabase& lake, LakeTransaction& transaction,
				   TableWork& work, CommitFiles& files) {
	if (auto write = std::exchange(work.late_files, nullptr)) StageNewFiles(work, write());
	if (work.work.changes.empty()) return {};
	auto options = CommitOptionsOf(context);
	auto complete = [&](TableWork& staged) {
		StageIdentityMarks(staged);
		if (options.mode != ConcurrencyMode::kStrict) FinishReads(staged.work.reads);
		DescribeOperation(staged);
		staged.work.user_metadata = UserMetadataOf(context);
	};
	complete(work);
	LocalLogStore store(work.table->root(), options.durable);
	DuckdbParquetGateway parquet(*context.db);
	DuckdbRowProbe probe(context, work.table, work.view);
	StatementRepairer repairer(context, lake, transaction, work, probe, complete);
	auto interrupted = [&context] { return context.interrupted.load(); };
	CommitContext commit {store,          parquet, probe,       SystemClock(),
						  SystemRandom(), options, interrupted, work.statement ? &repairer : nullptr};
	for (auto& file : work.work.changes.new_files) files.committed.insert(DecodePath(file.add.path));
	auto outcome = Commit(commit, work.work);
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
	return {};
}

}  // namespace braid::engine
