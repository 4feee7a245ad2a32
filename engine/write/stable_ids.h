// SPDX-License-Identifier: Apache-2.0
// StableIds: what a table with row tracking writes beside the rows (PROTOCOL: Row Tracking): copies carry the row id and the commit version of the row
// that they were made of, new images its row id, and new rows nothing, so that they get theirs from the commit. A row of a file that this
// transaction has written itself has an id only if it was an image already.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "duckdb/common/types/data_chunk.hpp"
#include "engine/catalog/transaction.h"
#include "engine/scan/hidden_columns.h"

namespace braid::engine {

// `out` refers to the first columns of `rows`.
duckdb::DataChunk& FirstColumns(duckdb::DataChunk& rows, duckdb::idx_t columns, duckdb::DataChunk& out);

class StableIds {
public:
	// Null: the table does not keep row ids.
	static std::unique_ptr<StableIds> For(TableWork& work);

	// What is written: the table with two more columns. `types`: those of the table.
	const SnapshotPtr& written() const { return written_; }
	static duckdb::vector<duckdb::LogicalType> WithIds(duckdb::vector<duckdb::LogicalType> types);

	struct FileIds {
		std::optional<int64_t> base, version;
	};
	// The rows that the new ones are made of.
	struct Origin {
		duckdb::Vector& hidden_ids;                            // as their files have them
		duckdb::optional_ptr<duckdb::Vector> hidden_versions;  // null: new images
		std::function<FileIds(duckdb::idx_t row)> file;
		duckdb::Vector& positions;
	};
	// Of rows whose files are named as a scan reports them.
	std::function<FileIds(duckdb::idx_t row)> ByName(duckdb::Vector& files, duckdb::idx_t count) const;
	// `rows` with ids; without an origin they are new. Any thread. `out` refers to `rows`.
	void Append(duckdb::DataChunk& rows, std::optional<Origin> origin, duckdb::DataChunk& out) const;

	// Of a scan of what `written` is: its columns, then something that tells the file, and file_row_number. The same rows with the ids that their
	// files do not say.
	void Complete(duckdb::DataChunk& scanned, std::function<FileIds(duckdb::idx_t row)> file,
				  duckdb::DataChunk& out) const;

	void Stage() const;  // the commit keeps ids

private:
	StableIds(TableWork& work, SnapshotPtr written) : work_(work), written_(std::move(written)) {}
	FileIds Of(const std::string& file) const;

	TableWork& work_;
	const SnapshotPtr written_;
	mutable std::mutex mutex_;
	mutable std::map<std::string, FileIds> files_;
};

}  // namespace braid::engine
