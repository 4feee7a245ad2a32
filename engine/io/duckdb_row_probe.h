// SPDX-License-Identifier: Apache-2.0
// DuckdbRowProbe: answers the kernel's RowProbe questions while a commit is judged. One nested connection serves the
// whole commit (trap 5). One scan reads the asked files, its filter leaves out the rows that were not asked for, and
// the transaction's own bound expressions are evaluated. Only columns that the condition needs are read; rows that
// match are read once more, whole, for their pictures. Whole rows are compared by DuckDB's sort keys, floating-point numbers by their bits.
#pragma once

#include <memory>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "duckdb/main/connection.hpp"
#include "engine/scan/scan_source.h"
#include "kernel/storage/row_probe.h"

namespace braid::engine {

class DuckdbRowProbe final : public RowProbe {
public:
	// `view`: schema and partitioning of the rows. `context`: the session that commits; its settings hold, its
	// interrupts stop the probe.
	DuckdbRowProbe(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, SnapshotPtr view);
	~DuckdbRowProbe() override;

	// The transaction reads another version from now on.
	void UseView(SnapshotPtr view) { view_ = std::move(view); }

	Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest> requests, const Predicate& bound,
										  const RowPredicate* exact, size_t limit) override;
	Result<std::vector<PositionSet>> MatchAll(std::span<const ProbeRequest> requests, const Predicate& bound,
											  const RowPredicate* exact) override;
	Status ReadRowIds(std::span<const ProbeRequest> requests, const std::string& column,
					  const RowIdSink& sink) override;
	Status ReadContents(std::span<const ProbeRequest> requests, const RowContentSink& sink) override;
	Result<std::vector<std::string>> Describe(const AddFile& file, std::span<const uint64_t> positions) override;

private:
	Status CheckFilesExist(std::span<const ProbeRequest> requests) const;
	// Runs `read`, which may throw.
	Status Guard(const std::function<Status()>& read) const;
	Status ReadIdsOf(size_t index, const ProbeRequest& request, const std::string& column, const SnapshotPtr& view,
					 const RowIdSink& sink);
	std::vector<ProbeMatch> Find(std::span<const ProbeRequest> requests, const Predicate& bound,
								 const RowPredicate* exact, size_t limit);
	void AddPictures(std::span<const ProbeRequest> requests, std::vector<ProbeMatch>& matches);
	ScanSourcePtr SourceOf(std::span<const ProbeRequest> requests, SnapshotPtr view) const;
	ScanSourcePtr SourceOf(std::span<const ProbeRequest> requests) const { return SourceOf(requests, view_); }
	duckdb::ClientContext& Session();

	duckdb::ClientContext& context_;
	std::shared_ptr<TableHandle> table_;
	SnapshotPtr view_;
	std::unique_ptr<duckdb::Connection> session_;
};

}  // namespace braid::engine
