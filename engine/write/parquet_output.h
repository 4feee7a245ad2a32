// SPDX-License-Identifier: Apache-2.0
// ParquetOutput: the data files that one statement writes: rows in table order in, NewFiles with Delta statistics out.
// Guarantees: every file is listed in TableWork::created_files before it exists; partition values go to the log, not
// into the file; one file per partition unless it outgrows the target size; a row group is bounded in rows and bytes;
// rows that wait for one can spill. Drives DuckDB's Parquet writer through its copy function, row group by row group
// (duckdb.md 4.7), so that no file escapes the list.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "duckdb/common/types/column/column_data_collection.hpp"
#include "duckdb/function/copy_function.hpp"
#include "engine/catalog/transaction.h"
#include "kernel/txn/staged_changes.h"

namespace braid::engine {

class ParquetOutput {
public:
	// `view`: whose schema, partitioning and properties the files follow. `types`: DuckDB types of its columns.
	ParquetOutput(duckdb::ClientContext& context, TableWork& work, const Snapshot& view,
				  const duckdb::vector<duckdb::LogicalType>& types);
	~ParquetOutput();

	// Rows that follow each other in a file that exists, and here as well.
	struct Run {
		size_t source = 0;  // whatever the caller counts his files by; OriginRun::source of the new files
		uint64_t first = 0;
		uint64_t count = 0;
	};
	struct Batch {
		duckdb::unique_ptr<duckdb::ColumnDataCollection> rows;
		std::vector<Run> runs;  // of all rows, or none

		void Add(std::span<const Run> places);
	};
	struct Partition;
	// What one thread has buffered and not yet handed over.
	struct Local {
		Batch batch;
		Partition* group = nullptr;
	};

	// Where the rows of each row group come from goes there instead of into NewFile::origins: `file` as in the log. For one file in the order of its
	// rows, one call at a time.
	using OriginSink = std::function<void(const std::string& file, std::span<const OriginRun> runs)>;
	void SendOriginsTo(OriginSink sink) { origin_sink_ = std::move(sink); }

	// From now on rows are encoded at a low priority: other work on this machine comes first.
	void GiveWay() { gives_way_ = true; }

	// Any thread. `runs`: of all rows in their order, always or never.
	void Append(Local& local, duckdb::DataChunk& rows, std::span<const Run> runs = {});
	// Rows that tell where they come from, of one partition. Those of one group share files, with no others: any thread.
	void AppendGroup(Local& local, const std::string& group, duckdb::DataChunk& rows, std::span<const Run> runs);
	// The rows that this thread appends next lie elsewhere in the table: they do not share a row group with those before, unless these are few. So its
	// bounds stay as narrow as those of what was read.
	void EndStretch(Local& local);
	void FinishThread(Local& local);  // any thread, once
	std::vector<NewFile> Finish();    // after all threads

private:
	struct OpenFile;
	using Rows = duckdb::unique_ptr<duckdb::ColumnDataCollection>;

	void SplitColumns(const duckdb::vector<duckdb::LogicalType>& types);
	void BindWriter();
	duckdb::DataChunk& DataColumns(duckdb::DataChunk& rows, duckdb::DataChunk& data) const;
	void NoteNaN(duckdb::DataChunk& data);
	void AppendPartitioned(duckdb::DataChunk& rows, std::span<const Run> runs);
	Partition& FindPartition(const std::string& key, duckdb::DataChunk& rows, duckdb::idx_t row);
	void HandOver(Local& local);
	void AddWaiting(Partition& partition, Batch batch);
	void WriteRowGroup(Partition& partition, Batch batch);
	void NoteRows(OpenFile& file, const std::vector<Run>& runs, uint64_t count);
	std::shared_ptr<OpenFile> Acquire(Partition& partition);
	void Release(Partition& partition, const std::shared_ptr<OpenFile>& file);
	void RetireIfLarge(Partition& partition, OpenFile& file);
	std::shared_ptr<OpenFile> TakeIdleFile();
	bool MakeDirectory(const std::string& file);
	void Open(OpenFile& file, const Partition& partition, int number);
	void Close(OpenFile& file);
	Rows NewRows() const;
	// `share` of a row group.
	bool IsFull(const duckdb::ColumnDataCollection& rows, double share = 1) const;

	duckdb::ClientContext& context_;
	TableWork& work_;
	const Metadata metadata_;
	const DataTypePtr schema_;
	const ColumnMappingMode mapping_;
	std::string statement_id_;
	std::string codec_;
	int64_t target_bytes_ = 0;
	const bool durable_;  // the files will have to be

	std::vector<size_t> partition_columns_;  // indexes into the schema, in the order of the metadata
	std::vector<size_t> data_columns_, void_columns_;
	duckdb::vector<duckdb::LogicalType> data_types_;  // with physical names at every level
	std::vector<std::vector<std::string>> stats_columns_;
	duckdb::CopyFunction writer_;
	duckdb::unique_ptr<duckdb::FunctionData> writer_bind_;
	// By data column. The writer's own flag knows only the last row group of a file.
	std::vector<std::atomic<bool>> has_nan_;

	bool gives_way_ = false;
	OriginSink origin_sink_;
	std::mutex origin_mutex_;  // one call at a time

	std::mutex mutex_;  // guards what follows and the fields of partitions; never held while rows are written
	std::map<std::string, std::unique_ptr<Partition>> partitions_;
	size_t open_files_ = 0;
	int next_file_ = 0;
	std::vector<NewFile> finished_;
};

}  // namespace braid::engine
