// SPDX-License-Identifier: Apache-2.0
// Positions are checked once more after the scan: its filter only saves work.
#include "engine/io/duckdb_row_probe.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "base/json.h"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/create_sort_key.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "engine/io/error_translation.h"
#include "engine/io/predicate_expression.h"
#include "engine/io/row_reader.h"
#include "engine/scan/hidden_columns.h"
#include "engine/scan/row_predicate.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

constexpr auto kFileIndex = duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX;
constexpr auto kRowNumber = duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER;

bool Asked(const ProbeRequest& request, uint64_t position) {
	return (!request.only || request.only->Contains(position)) &&
		   (!request.except || !request.except->Contains(position));
}

// What the scan need not deliver. Without a row count the rows that were not asked for are read and dropped.
std::shared_ptr<const PositionSet> Unasked(const ProbeRequest& request) {
	auto skipped = request.except ? *request.except : PositionSet();
	auto rows = NumRecords(request.file->stats);
	if (request.only && rows) skipped |= PositionSet::Range(0, static_cast<uint64_t>(*rows)) - *request.only;
	return skipped.Empty() ? nullptr : std::make_shared<const PositionSet>(std::move(skipped));
}

duckdb::column_t IndexInSchema(const Snapshot& view, const std::string& name) {
	auto& fields = view.schema->fields;
	auto field = std::ranges::find_if(fields, [&](auto& f) { return f.name == name; });
	if (field == fields.end())
		throw duckdb::InvalidInputException("Table %s has no column \"%s\" any more", view.table, name);
	return static_cast<duckdb::column_t>(field - fields.begin());
}

duckdb::unique_ptr<duckdb::BoundConjunctionExpression> AllOf(const BoundRowPredicate& predicate) {
	auto all = duckdb::make_uniq<duckdb::BoundConjunctionExpression>(duckdb::ExpressionType::CONJUNCTION_AND);
	for (auto& conjunct : predicate.conjuncts) all->children.push_back(conjunct->Copy());
	return all;
}

}  // namespace

DuckdbRowProbe::DuckdbRowProbe(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, SnapshotPtr view)
	: context_(context), table_(std::move(table)), view_(std::move(view)) {}

DuckdbRowProbe::~DuckdbRowProbe() = default;

duckdb::ClientContext& DuckdbRowProbe::Session() {
	if (!session_) {
		session_ = std::make_unique<duckdb::Connection>(*context_.db);
		session_->context->config = context_.config;
		session_->BeginTransaction();
	}
	return *session_->context;
}

ScanSourcePtr DuckdbRowProbe::SourceOf(std::span<const ProbeRequest> requests, SnapshotPtr view) const {
	auto source = std::make_shared<ScanSource>();
	source->table = table_;
	source->view = std::move(view);
	source->own_files.reserve(requests.size());  // ScanFile points into it
	for (auto& request : requests) {
		auto& add = source->own_files.emplace_back(*request.file);
		source->files.push_back({add.path, nullptr, &add, Unasked(request)});
	}
	return source;
}

std::vector<ProbeMatch> DuckdbRowProbe::Find(std::span<const ProbeRequest> requests, const Predicate& bound,
											 const RowPredicate* exact, size_t limit) {
	auto& session = Session();
	std::unique_ptr<BoundRowPredicate> translated;
	if (!exact) translated = ToRowPredicate(session, *view_, bound);
	auto& predicate = exact ? dynamic_cast<const BoundRowPredicate&>(*exact) : *translated;

	duckdb::vector<duckdb::column_t> columns;
	for (auto& column : predicate.columns) columns.push_back(IndexInSchema(*view_, column.name));
	columns.push_back(kFileIndex);
	columns.push_back(kRowNumber);
	auto file_column = columns.size() - 2;
	RowReader reader(session, SourceOf(requests), columns);
	auto condition = AllOf(predicate);
	bool everything = predicate.conjuncts.empty();
	duckdb::ExpressionExecutor executor(session);
	if (!everything) executor.AddExpression(*condition);
	duckdb::SelectionVector selected(STANDARD_VECTOR_SIZE);

	std::vector<ProbeMatch> matches;
	while (auto* rows = reader.Next()) {
		if (context_.interrupted) throw duckdb::InterruptException();
		auto count = everything ? rows->size() : executor.SelectExpression(*rows, selected);
		for (duckdb::idx_t i = 0; i < count; i++) {
			auto row = everything ? i : selected.get_index(i);
			auto request = rows->GetValue(file_column, row).GetValue<uint64_t>();
			auto position = static_cast<uint64_t>(rows->GetValue(file_column + 1, row).GetValue<int64_t>());
			if (!Asked(requests[request], position)) continue;
			matches.push_back({static_cast<size_t>(request), position, ""});
			if (matches.size() == limit) return matches;
		}
	}
	return matches;
}

void DuckdbRowProbe::AddPictures(std::span<const ProbeRequest> requests, std::vector<ProbeMatch>& matches) {
	for (size_t request = 0; request < requests.size(); request++) {
		std::vector<uint64_t> positions;
		for (auto& match : matches) {
			if (match.request == request) positions.push_back(match.position);
		}
		if (positions.empty()) continue;
		auto pictures = Describe(*requests[request].file, positions);
		if (!pictures) continue;  // the match stands without its picture
		size_t next = 0;
		for (auto& match : matches) {
			if (match.request == request) match.row = (*pictures)[next++];
		}
	}
}

Status DuckdbRowProbe::CheckFilesExist(std::span<const ProbeRequest> requests) const {
	for (auto& request : requests) {
		auto source = SourceOf(std::span(&request, 1));
		auto location = source->Location(source->files.front());
		std::error_code error;
		if (!std::filesystem::exists(location, error)) {
			return Fail(ErrorKind::kNotFound, "Table " + view_->table + ": data file " + location + " is gone");
		}
	}
	return {};
}

Status DuckdbRowProbe::Guard(const std::function<Status()>& read) const {
	try {
		return read();
	} catch (const std::exception& exception) {
		return std::unexpected(
			ToError(duckdb::ErrorData(exception), "Table " + view_->table + ": reading rows of concurrent commits"));
	}
}

Result<std::vector<ProbeMatch>> DuckdbRowProbe::Match(std::span<const ProbeRequest> requests, const Predicate& bound,
													  const RowPredicate* exact, size_t limit) {
	if (requests.empty() || limit == 0) return std::vector<ProbeMatch>();
	BRAID_TRY(CheckFilesExist(requests));
	try {
		auto matches = Find(requests, bound, exact, limit);
		AddPictures(requests, matches);
		return matches;
	} catch (const std::exception& exception) {
		return std::unexpected(
			ToError(duckdb::ErrorData(exception), "Table " + view_->table + ": reading rows of concurrent commits"));
	}
}

Result<std::vector<PositionSet>> DuckdbRowProbe::MatchAll(std::span<const ProbeRequest> requests,
														  const Predicate& bound, const RowPredicate* exact) {
	BRAID_TRY(CheckFilesExist(requests));
	std::vector<PositionSet> found(requests.size());
	if (requests.empty()) return found;
	BRAID_TRY(Guard([&]() -> Status {
		for (auto& match : Find(requests, bound, exact, SIZE_MAX)) found[match.request].Add(match.position);
		return {};
	}));
	return found;
}

// Ids that are nowhere written down: base row id + position.
static Status CountIds(size_t index, const ProbeRequest& request, const RowIdSink& sink) {
	auto rows = NumRecords(request.file->stats);
	if (!request.file->base_row_id || (!rows && !request.only))
		return Fail(ErrorKind::kNotFound, request.file->path + " has rows without ids");
	auto asked = request.only ? *request.only : PositionSet::Range(0, static_cast<uint64_t>(*rows));
	if (request.except) asked -= *request.except;
	auto positions = asked.ToVector();
	std::vector<int64_t> ids;
	for (auto position : positions) ids.push_back(*request.file->base_row_id + static_cast<int64_t>(position));
	return sink(index, positions, ids);
}

// A chunk of ids and row numbers. Where each row was asked for and has an id they are handed on as they lie.
static Status HandOnIds(duckdb::DataChunk& rows, size_t index, const ProbeRequest& request, const RowIdSink& sink) {
	auto hidden = duckdb::FlatVector::GetData<int64_t>(rows.data[0]);
	auto numbers = duckdb::FlatVector::GetData<int64_t>(rows.data[1]);
	auto& written = duckdb::FlatVector::Validity(rows.data[0]);
	if (!request.only && !request.except && written.AllValid()) {
		auto positions = reinterpret_cast<const uint64_t*>(numbers);
		return sink(index, std::span(positions, rows.size()), std::span(hidden, rows.size()));
	}
	std::vector<uint64_t> positions;
	std::vector<int64_t> ids;
	for (duckdb::idx_t row = 0; row < rows.size(); row++) {
		if (!Asked(request, static_cast<uint64_t>(numbers[row]))) continue;
		bool has_id = written.RowIsValid(row);
		if (!has_id && !request.file->base_row_id)
			return Fail(ErrorKind::kNotFound, request.file->path + " has rows without ids");
		positions.push_back(static_cast<uint64_t>(numbers[row]));
		ids.push_back(has_id ? hidden[row] : *request.file->base_row_id + numbers[row]);
	}
	return positions.empty() ? Status() : sink(index, positions, ids);
}

// A file that was never rewritten has no such column: the ids of a few of its rows need no reading. The kernel has one thread: it hears of one
// chunk at a time.
Status DuckdbRowProbe::ReadIdsOf(size_t index, const ProbeRequest& request, const std::string& column,
								 const SnapshotPtr& view, const RowIdSink& sink) {
	auto source = [&] { return SourceOf(std::span(&request, 1), view); };
	if (request.only && request.file->base_row_id && !RowReader(Session(), source(), {kRowNumber}).FileHas(column))
		return CountIds(index, request, sink);
	std::mutex mutex;
	Status status;
	ReadRows(Session(), source(), {view->schema->fields.size() - 1, kRowNumber}, [&](duckdb::DataChunk& rows) {
		if (context_.interrupted) throw duckdb::InterruptException();
		rows.Flatten();
		std::lock_guard guard(mutex);
		if (status) status = HandOnIds(rows, index, request, sink);
		return status.has_value();
	});
	return status;
}

Status DuckdbRowProbe::ReadRowIds(std::span<const ProbeRequest> requests, const std::string& column,
								  const RowIdSink& sink) {
	if (column.empty()) {
		for (size_t i = 0; i < requests.size(); i++) BRAID_TRY(CountIds(i, requests[i], sink));
		return {};
	}
	BRAID_TRY(CheckFilesExist(requests));
	return Guard([&]() -> Status {
		auto view = WithHiddenColumns(*view_, {column});
		for (size_t i = 0; i < requests.size(); i++) BRAID_TRY(ReadIdsOf(i, requests[i], column, view, sink));
		return {};
	});
}

// Sort keys take 0.0 and -0.0, and all NaN, for the same.
static void ReferenceBits(duckdb::Vector& target, duckdb::Vector& source) {
	if (target.GetType() == source.GetType()) {
		target.Reference(source);
	} else {
		target.Reinterpret(source);
	}
}

static duckdb::LogicalType TypeOfBits(const duckdb::LogicalType& type) {
	if (type.id() == duckdb::LogicalTypeId::FLOAT) return duckdb::LogicalType::INTEGER;
	return type.id() == duckdb::LogicalTypeId::DOUBLE ? duckdb::LogicalType::BIGINT : type;
}

// One sort key for each row, of all its columns but the last two.
static duckdb::Vector ContentsOf(duckdb::DataChunk& rows) {
	auto width = rows.ColumnCount() - 2;
	duckdb::vector<duckdb::LogicalType> types;
	for (size_t i = 0; i < width; i++) types.push_back(TypeOfBits(rows.data[i].GetType()));
	duckdb::DataChunk bits;
	bits.InitializeEmpty(types);
	for (size_t i = 0; i < width; i++) ReferenceBits(bits.data[i], rows.data[i]);
	bits.SetCardinality(rows.size());
	duckdb::vector<duckdb::OrderModifiers> order(
		width, duckdb::OrderModifiers(duckdb::OrderType::ASCENDING, duckdb::OrderByNullType::NULLS_LAST));
	duckdb::Vector keys(duckdb::LogicalType::BLOB, rows.size());
	duckdb::CreateSortKeyHelpers::CreateSortKey(bits, order, keys);
	keys.Flatten(rows.size());
	return keys;
}

Status DuckdbRowProbe::ReadContents(std::span<const ProbeRequest> requests, const RowContentSink& sink) {
	BRAID_TRY(CheckFilesExist(requests));
	return Guard([&]() -> Status {
		auto columns = AllColumns(*view_);
		auto width = columns.size();
		columns.push_back(kFileIndex);
		columns.push_back(kRowNumber);
		std::mutex mutex;
		Status status;
		ReadRows(Session(), SourceOf(requests), columns, [&](duckdb::DataChunk& rows) {
			if (context_.interrupted) throw duckdb::InterruptException();
			rows.Flatten();
			auto keys = ContentsOf(rows);
			auto contents = duckdb::FlatVector::GetData<duckdb::string_t>(keys);
			auto files = duckdb::FlatVector::GetData<uint64_t>(rows.data[width]);
			auto numbers = duckdb::FlatVector::GetData<int64_t>(rows.data[width + 1]);
			std::lock_guard guard(mutex);
			for (duckdb::idx_t row = 0; status && row < rows.size(); row++) {
				auto position = static_cast<uint64_t>(numbers[row]);
				if (!Asked(requests[files[row]], position)) continue;
				auto& content = contents[row];
				status = sink(files[row], position, std::string_view(content.GetData(), content.GetSize()));
			}
			return status.has_value();
		});
		return status;
	});
}

// In the order of `positions`, whatever order the scan finds them in.
Result<std::vector<std::string>> DuckdbRowProbe::Describe(const AddFile& file, std::span<const uint64_t> positions) {
	try {
		PositionSet only;
		only.AddMany(positions);
		ProbeRequest request {&file, &only, nullptr};
		auto columns = AllColumns(*view_);
		columns.push_back(kRowNumber);
		RowReader reader(Session(), SourceOf(std::span(&request, 1)), columns);
		std::vector<std::string> pictures(positions.size());
		while (auto* rows = reader.Next()) {
			for (duckdb::idx_t row = 0; row < rows->size(); row++) {
				auto position = static_cast<uint64_t>(rows->GetValue(columns.size() - 1, row).GetValue<int64_t>());
				auto wanted = std::ranges::find(positions, position);
				if (wanted != positions.end()) pictures[wanted - positions.begin()] = RowPicture(*view_, *rows, row);
			}
		}
		return pictures;
	} catch (const std::exception& exception) {
		return std::unexpected(
			ToError(duckdb::ErrorData(exception), "Table " + view_->table + ": reading rows of " + file.path));
	}
}

}  // namespace braid::engine
