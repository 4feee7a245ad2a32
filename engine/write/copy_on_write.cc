// SPDX-License-Identifier: Apache-2.0
// The deletion filter of the scan does the work: what it lets through is what stays.
#include "engine/write/copy_on_write.h"

#include <algorithm>

#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/row_reader.h"
#include "engine/write/parquet_output.h"
#include "engine/write/stable_ids.h"
#include "engine/write/staging.h"

namespace braid::engine {

namespace {

using Reader = duckdb::MultiFileReader;

// The touched files with the rows that go marked as deleted: what a scan of them returns is what stays.
ScanSourcePtr Survivors(TableWork& work, SnapshotPtr view, const PositionsByFile& positions) {
	auto source = std::make_shared<ScanSource>();
	source->table = work.table;
	source->view = std::move(view);
	source->own_files.reserve(positions.size());  // ScanFile points into it
	auto& changes = work.work.changes;
	for (auto& [path, rows] : positions) {
		auto own = std::ranges::find_if(changes.new_files, [&](auto& file) { return file.add.path == path; });
		if (own != changes.new_files.end()) {
			auto& add = source->own_files.emplace_back(own->add);
			source->files.push_back(
				{add.path, nullptr, &add, std::make_shared<const PositionSet>(own->deleted | rows)});
		} else {
			auto* live = work.view->files->Find(path);
			source->files.push_back({live->path, live, nullptr, std::make_shared<const PositionSet>(rows)});
		}
	}
	return source;
}

}  // namespace

void RewriteWithout(duckdb::ClientContext& context, TableWork& work, const PositionsByFile& positions) {
	const auto ids = StableIds::For(work);
	const auto written = ids ? ids->written() : work.view;
	ScanSourcePtr source;
	{
		std::lock_guard guard(work.mutex);
		source = Survivors(work, written, positions);
	}
	duckdb::vector<duckdb::LogicalType> types;
	for (auto& field : written->schema->fields) types.push_back(ToDuckType(*field.type, field.name));
	ParquetOutput output(context, work, *written, types);
	ParquetOutput::Local local;
	uint64_t copied = 0;
	auto columns = AllColumns(*written);
	if (ids)
		columns.insert(columns.end(), {Reader::COLUMN_IDENTIFIER_FILENAME, Reader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER});
	RowReader reader(context, std::move(source), std::move(columns));
	while (auto* rows = reader.Next()) {
		duckdb::DataChunk complete;
		if (ids) ids->Complete(*rows, ids->ByName(rows->data[rows->ColumnCount() - 2], rows->size()), complete);
		output.Append(local, ids ? complete : *rows);
		copied += rows->size();
	}
	if (ids) ids->Stage();
	output.FinishThread(local);
	auto files = output.Finish();
	{
		std::lock_guard guard(work.mutex);
		auto& changes = work.work.changes;
		for (auto& [path, rows] : positions) {
			auto erased = std::erase_if(changes.new_files, [&](auto& file) { return file.add.path == path; });
			if (erased == 0) changes.replaced_files.push_back(path);
		}
		AddMetric(work, "numCopiedRows", copied);
	}
	StageNewFiles(work, std::move(files));
}

}  // namespace braid::engine
