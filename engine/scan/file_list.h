// SPDX-License-Identifier: Apache-2.0
// LakeFileList: the files of one scan for DuckDB's multi-file reader, pruned while planning (conditions) and when the scan starts (join keys,
// constants found at run time). It also remembers every condition it was shown: together they are what the scan reads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/multi_file/multi_file_list.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"
#include "engine/scan/read_registration.h"
#include "engine/scan/scan_source.h"

namespace braid::engine {

class LakeFileList final : public duckdb::MultiFileList {
public:
	LakeFileList(ScanSourcePtr source, std::shared_ptr<ReadRegistration> registration,
				 duckdb::optional_ptr<duckdb::TableCatalogEntry> entry);

	const ScanSource& source() const { return *source_; }
	const ScanFile& File(duckdb::idx_t index) const { return source_->Files()[IndexInSource(index)]; }
	duckdb::idx_t size() const { return chosen_ ? chosen_->size() : source_->Count(); }
	duckdb::optional_ptr<duckdb::TableCatalogEntry> entry() const { return entry_; }
	ReadRegistration& registration() const { return *registration_; }
	const ScanConditions& conditions() const { return *conditions_; }

	duckdb::unique_ptr<duckdb::MultiFileList> ComplexFilterPushdown(
		duckdb::ClientContext& context, const duckdb::MultiFileOptions& options, duckdb::MultiFilePushdownInfo& info,
		duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& filters) const override;
	duckdb::unique_ptr<duckdb::MultiFileList> DynamicFilterPushdown(duckdb::ClientContext& context,
																	const duckdb::MultiFileOptions& options,
																	const duckdb::vector<std::string>& names,
																	const duckdb::vector<duckdb::LogicalType>& types,
																	const duckdb::vector<duckdb::column_t>& column_ids,
																	duckdb::TableFilterSet& filters) const override;

	duckdb::vector<duckdb::OpenFileInfo> GetAllFiles() const override;
	duckdb::FileExpandResult GetExpandResult() const override;
	duckdb::idx_t GetTotalFileCount() const override { return size(); }
	duckdb::unique_ptr<duckdb::NodeStatistics> GetCardinality(duckdb::ClientContext& context) const override;
	duckdb::unique_ptr<duckdb::MultiFileList> Copy() const override;

protected:
	duckdb::OpenFileInfo GetFile(duckdb::idx_t index) const override;

private:
	using Chosen = std::optional<std::vector<uint32_t>>;  // indexes into source_->Files(); nullopt: all
	duckdb::unique_ptr<LakeFileList> With(std::shared_ptr<const ScanConditions> conditions, Chosen chosen) const;
	uint32_t IndexInSource(duckdb::idx_t index) const {
		return chosen_ ? (*chosen_)[index] : static_cast<uint32_t>(index);
	}
	Chosen Prune(const Predicate& predicate) const;

	ScanSourcePtr source_;
	std::shared_ptr<ReadRegistration> registration_;
	duckdb::optional_ptr<duckdb::TableCatalogEntry> entry_;
	std::shared_ptr<const ScanConditions> conditions_;
	Chosen chosen_;
};

}  // namespace braid::engine
