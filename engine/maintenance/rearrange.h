// SPDX-License-Identifier: Apache-2.0
// Rearrange: the operator that moves rows into new files without changing one (OPTIMIZE, REORG, ZORDER BY). Below it stands a scan of the files that
// go, perhaps sorted; it answers one row with the metrics of the operation. Guarantees: every live row of a file that goes is in exactly one new
// file, or the statement fails; each new file tells where each of its rows comes from, so that the commit can follow what others do meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "engine/catalog/catalog.h"
#include "engine/catalog/transaction.h"
#include "kernel/maintenance/optimize_plan.h"

namespace braid::engine {

struct RearrangeSpec {
	struct Source {
		std::string path;  // as in the log
		size_t bin = 0;
		int64_t size = 0;
		std::optional<uint64_t> live_rows;  // nothing: the log does not say
		int64_t deleted_rows = 0;           // by its vector
	};

	duckdb::optional_ptr<LakeCatalog> lake;
	std::shared_ptr<TableHandle> table;
	SnapshotPtr view;
	std::string operation;                                    // "OPTIMIZE", "REORG"
	std::map<std::string, std::string> operation_parameters;  // values are JSON text
	std::vector<Source> sources;
	std::map<std::string, size_t> source_by_name;  // as the scan reports it
	size_t bins = 0;
	size_t considered = 0;  // files
	bool sorted = false;    // rows come in an order that new files are to keep
	bool clusters = false;  // by the clustering columns of the table
};

// What the statement answers: Spark's `path` and `metrics`.
duckdb::vector<duckdb::LogicalType> RearrangeTypes();
duckdb::vector<std::string> RearrangeNames();

// The number of the source that a row is from, by the file's name: a small thing to carry through a sort.
duckdb::unique_ptr<duckdb::Expression> SourceNumber(std::shared_ptr<const RearrangeSpec> spec,
													duckdb::unique_ptr<duckdb::Expression> name);

// The child delivers the columns of the table in order, of a table that keeps row ids the hidden ones (hidden_columns.h), then SourceNumber and file_row_number. Without a child there is nothing to do, and no commit.
class LogicalRearrange : public duckdb::LogicalExtensionOperator {
public:
	LogicalRearrange(duckdb::idx_t table_index, std::shared_ptr<const RearrangeSpec> spec);

	duckdb::string GetName() const override { return "BRAID_REARRANGE"; }
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override;
	duckdb::vector<duckdb::idx_t> GetTableIndex() const override { return {table_index}; }
	duckdb::PhysicalOperator& CreatePlan(duckdb::ClientContext& context,
										 duckdb::PhysicalPlanGenerator& planner) override;

	duckdb::idx_t table_index;
	std::shared_ptr<const RearrangeSpec> spec;

protected:
	void ResolveTypes() override { types = RearrangeTypes(); }
};

}  // namespace braid::engine
