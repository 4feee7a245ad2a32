// SPDX-License-Identifier: Apache-2.0
// StatementRepairer: answers the kernel's requests to execute an autocommit statement again (kernel/txn/repairer.h), by its text.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/io/duckdb_row_probe.h"
#include "engine/repair/statement_rerun.h"
#include "kernel/txn/repairer.h"

namespace braid::engine {

class StatementRepairer final : public Repairer {
public:
	// `first`: what the first execution has staged. `complete` fills in what a commit needs of a TableWork besides.
	StatementRepairer(duckdb::ClientContext& context, duckdb::AttachedDatabase& lake, LakeTransaction& transaction,
					  TableWork& first, DuckdbRowProbe& probe, std::function<void(TableWork&)> complete)
		: context_(context),
		  lake_(lake),
		  transaction_(transaction),
		  first_(first),
		  probe_(probe),
		  complete_(std::move(complete)) {}

	Result<std::optional<Rerun>> Run(const SnapshotPtr& head, std::span<const ProbeRequest> rows) override;
	Result<std::optional<Transaction>> RunAgain() override;
	// Names in the log of files that the executions have written; those that are not needed belong to the committer.
	const std::set<std::string>& files() const { return files_; }

private:
	void TakeOver(TableWork& run, bool used);

	duckdb::ClientContext& context_;
	duckdb::AttachedDatabase& lake_;
	LakeTransaction& transaction_;
	TableWork& first_;
	DuckdbRowProbe& probe_;
	std::function<void(TableWork&)> complete_;
	std::set<std::string> files_;
};

}  // namespace braid::engine
