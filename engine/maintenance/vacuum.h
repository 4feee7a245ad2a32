// SPDX-License-Identifier: Apache-2.0
// One VACUUM: finds what may go (kernel/maintenance/vacuum_plan.h, whose steps it takes) and deletes it on DuckDB's threads. It commits VACUUM START
// before the first file goes and VACUUM END after the last, as Spark does; if nothing is to be deleted it commits nothing. Neither conflicts with
// anything. It may be killed or interrupted between any two files: what is gone was needed by nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/table_handle.h"
#include "kernel/maintenance/vacuum_plan.h"

namespace braid::engine {

struct VacuumRequest {
	bool lite = false;
	std::optional<double> hours;  // of RETAIN
};

class Vacuum {
public:
	Vacuum(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, VacuumRequest request);

	// What would be deleted. Throws if the retention is too short.
	void Plan();
	const std::vector<Deletion>& plan() const { return plan_; }
	// Deletes it.
	void Run();

	int64_t deleted_files() const { return deleted_files_; }
	int64_t deleted_bytes() const { return deleted_bytes_; }
	double progress() const;  // percent

private:
	SnapshotPtr Latest();
	std::vector<TreeEntry> ListEverything(const Snapshot& view, const NeededFiles& needed) const;
	std::vector<TreeEntry> ListRemoved(const LogListing& listing) const;
	void SpareWhatCameSince(int64_t version);
	void DeleteFiles();
	void DeleteDirectories();
	int64_t Record(const std::string& operation, std::map<std::string, std::string> parameters,
				   std::map<std::string, std::string> metrics);

	duckdb::ClientContext& context_;
	const std::shared_ptr<TableHandle> table_;
	const VacuumRequest request_;
	const bool checks_retention_;
	VacuumTerms terms_;
	std::optional<NeededFiles> needed_;
	int64_t looked_to_ = -1;   // the newest version whose needs are known
	int64_t expired_to_ = -1;  // what was removed up to this version is gone when we are done
	int64_t directories_ = 1;
	std::vector<Deletion> plan_;
	std::atomic<size_t> next_ {0};
	std::atomic<int64_t> deleted_files_ {0}, deleted_bytes_ {0};
};

}  // namespace braid::engine
