// SPDX-License-Identifier: Apache-2.0
// Values are compared by DuckDB's sort keys (create_sort_key): bytes that order as the values do.
#include "engine/maintenance/curve_order.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/function/scalar_function.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/row_reader.h"
#include "kernel/maintenance/hilbert.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

constexpr uint64_t kSampleRows = 1 << 16;
constexpr int kMaxBits = 12;  // of a rank; as many bounds of ranks stay in the fastest cache

int BitsOf(size_t columns) { return std::min(kMaxBits, static_cast<int>(64 / columns)); }

// The ranks of the sort keys of one column: how many of 2^bits - 1 bounds are smaller, which share out the sample evenly.
class Ranks {
public:
	Ranks(std::vector<std::string> sample, int bits) : bits_(bits) {
		if (sample.empty()) return;
		std::ranges::sort(sample);
		const auto bounds = (size_t {1} << bits) - 1;
		for (size_t i = 1; i <= bounds; i++) keys_.push_back(sample[i * sample.size() / (bounds + 1)]);
		if (std::ranges::any_of(keys_, [](auto& key) { return key.size() > sizeof(uint64_t); }))
			shared_ = std::string(keys_.front().begin(), std::ranges::mismatch(keys_.front(), keys_.back()).in1);
		for (auto& key : keys_) {
			words_.push_back(WordOf(key));
			short_ &= key.size() <= shared_.size() + sizeof(uint64_t);
		}
	}

	uint32_t Of(std::string_view key) const {
		if (keys_.empty()) return 0;
		if (!key.starts_with(shared_)) return key < shared_ ? 0 : static_cast<uint32_t>(keys_.size());
		const auto word = WordOf(key);
		// The number of bounds makes halves of equal length down to the last one: nothing to guess for the processor.
		size_t smaller = 0;
		for (auto half = size_t {1} << (bits_ - 1); half > 0; half >>= 1)
			smaller += words_[smaller + half - 1] < word ? half : 0;
		if (short_ && key.size() <= shared_.size() + sizeof(uint64_t)) return static_cast<uint32_t>(smaller);
		while (smaller < keys_.size() && words_[smaller] == word && keys_[smaller] < key) smaller++;
		return static_cast<uint32_t>(smaller);
	}

private:
	// The eight bytes after those that all bounds share: nearly always enough to compare.
	uint64_t WordOf(std::string_view key) const {
		uint64_t word = 0;
		if (key.size() >= shared_.size() + sizeof(word)) {
			std::memcpy(&word, key.data() + shared_.size(), sizeof(word));
		} else if (key.size() > shared_.size()) {
			std::memcpy(&word, key.data() + shared_.size(), key.size() - shared_.size());
		}
		return __builtin_bswap64(word);
	}

	std::vector<std::string> keys_;
	std::vector<uint64_t> words_;
	std::string shared_;
	int bits_;
	bool short_ = true;  // the words say all
};

// Sort keys as bytes that order as they do; DuckDB keeps those of at most eight bytes as a number.
class Keys {
public:
	Keys(duckdb::Vector& keys, duckdb::idx_t count) : is_number_(keys.GetType().id() == duckdb::LogicalTypeId::BIGINT) {
		keys.ToUnifiedFormat(count, format_);
	}

	std::string_view At(duckdb::idx_t row) {
		const auto at = format_.sel->get_index(row);
		if (!is_number_) {
			const auto& key = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format_)[at];
			return {key.GetData(), key.GetSize()};
		}
		auto number = static_cast<uint64_t>(duckdb::UnifiedVectorFormat::GetData<int64_t>(format_)[at]);
		for (size_t i = sizeof(bytes_); i-- > 0; number >>= 8) bytes_[i] = static_cast<char>(number & 0xff);
		return {bytes_, sizeof(bytes_)};
	}

private:
	bool is_number_;
	char bytes_[8] = {};
	duckdb::UnifiedVectorFormat format_;
};

duckdb::unique_ptr<duckdb::Expression> Call(duckdb::ClientContext& context, const char* function,
											duckdb::unique_ptr<duckdb::Expression> argument, const std::string& text) {
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> arguments;
	arguments.push_back(std::move(argument));
	arguments.push_back(duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value(text)));
	duckdb::ErrorData error;
	auto bound =
		duckdb::FunctionBinder(context).BindScalarFunction(DEFAULT_SCHEMA, function, std::move(arguments), error);
	if (!bound) error.Throw();
	return bound;
}

duckdb::unique_ptr<duckdb::Expression> SortKey(duckdb::ClientContext& context,
											   duckdb::unique_ptr<duckdb::Expression> value) {
	return Call(context, "create_sort_key", std::move(value), "ASC NULLS FIRST");
}

// Sort keys of rows spread evenly over the source, by column.
std::vector<std::vector<std::string>> Sample(duckdb::ClientContext& context, const ScanSourcePtr& source,
											 const std::vector<CurveColumn>& columns) {
	duckdb::ExpressionExecutor executor(context);
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> expressions;
	duckdb::vector<duckdb::LogicalType> types;
	duckdb::vector<duckdb::column_t> indexes;
	for (size_t i = 0; i < columns.size(); i++) {
		auto& field = source->view->schema->fields[columns[i].column];
		// Fields of one struct share a column, and a scan must not be asked for one twice (trap 3).
		const auto index = static_cast<size_t>(std::ranges::find(indexes, columns[i].column) - indexes.begin());
		if (index == indexes.size()) indexes.push_back(columns[i].column);
		auto reference =
			duckdb::make_uniq<duckdb::BoundReferenceExpression>(ToDuckType(*field.type, field.name), index);
		expressions.push_back(SortKey(context, CurveValue(context, columns[i], std::move(reference))));
		executor.AddExpression(*expressions.back());
		types.push_back(expressions.back()->return_type);
	}
	uint64_t total = 0;
	for (auto& file : source->Files()) total += NumRecords(file.stats()).value_or(kSampleRows);
	const auto stride = std::max<uint64_t>(1, total / kSampleRows);
	std::vector<std::vector<std::string>> sample(columns.size());
	duckdb::DataChunk keys;
	keys.Initialize(context, types);
	uint64_t next = 0, seen = 0;
	RowReader reader(context, source, indexes);
	while (auto* rows = reader.Next()) {
		if (next < seen + rows->size()) {
			keys.Reset();
			executor.Execute(*rows, keys);
			for (size_t i = 0; i < columns.size(); i++) {
				Keys column(keys.data[i], keys.size());
				for (auto row = next; row < seen + rows->size(); row += stride)
					sample[i].emplace_back(column.At(row - seen));
			}
			while (next < seen + rows->size()) next += stride;
		}
		seen += rows->size();
	}
	return sample;
}

// The ranks by column. The sample is drawn when the first row comes: a plan that is only made or looked at reads nothing.
class SampledRanks {
public:
	SampledRanks(ScanSourcePtr source, std::vector<CurveColumn> columns)
		: source_(std::move(source)), columns_(std::move(columns)) {}

	const std::vector<Ranks>& Get(duckdb::ClientContext& context) {
		std::lock_guard guard(mutex_);
		if (!ranks_.empty()) return ranks_;
		std::vector<Ranks> ranks;
		for (auto& keys : Sample(context, source_, columns_))
			ranks.emplace_back(std::move(keys), BitsOf(columns_.size()));
		return ranks_ = std::move(ranks);
	}

private:
	const ScanSourcePtr source_;
	const std::vector<CurveColumn> columns_;
	std::mutex mutex_;
	std::vector<Ranks> ranks_;
};

struct CurveData : duckdb::FunctionData {
	std::shared_ptr<SampledRanks> ranks;
	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<CurveData>(*this); }
	bool Equals(const FunctionData& other) const override { return ranks == other.Cast<CurveData>().ranks; }
};

void Place(duckdb::DataChunk& keys, duckdb::ExpressionState& state, duckdb::Vector& result) {
	auto& data = state.expr.Cast<duckdb::BoundFunctionExpression>().bind_info->Cast<CurveData>();
	const auto& ranks = data.ranks->Get(state.GetContext());
	const auto columns = keys.ColumnCount();
	std::vector<Keys> formats;
	for (auto& column : keys.data) formats.emplace_back(column, keys.size());
	auto places = duckdb::FlatVector::GetData<uint64_t>(result);
	const auto bits = BitsOf(columns);
	std::vector<uint32_t> axes(columns);
	for (duckdb::idx_t row = 0; row < keys.size(); row++) {
		for (duckdb::idx_t i = 0; i < columns; i++) axes[i] = ranks[i].Of(formats[i].At(row));
		places[row] = HilbertIndex(axes, bits);
	}
}

}  // namespace

duckdb::unique_ptr<duckdb::Expression> CurveValue(duckdb::ClientContext& context, const CurveColumn& column,
												  duckdb::unique_ptr<duckdb::Expression> reference) {
	for (auto& field : column.path) reference = Call(context, "struct_extract", std::move(reference), field);
	return reference;
}

duckdb::unique_ptr<duckdb::Expression> OrderKey(duckdb::ClientContext& context,
												duckdb::unique_ptr<duckdb::Expression> value) {
	return value->return_type.IsFloating() ? SortKey(context, std::move(value)) : std::move(value);
}

duckdb::unique_ptr<duckdb::Expression> CurvePlace(duckdb::ClientContext& context, const ScanSourcePtr& source,
												  const std::vector<CurveColumn>& columns,
												  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> values) {
	auto data = duckdb::make_uniq<CurveData>();
	data->ranks = std::make_shared<SampledRanks>(source, columns);
	duckdb::vector<duckdb::LogicalType> types;
	for (auto& value : values) {
		value = SortKey(context, std::move(value));
		types.push_back(value->return_type);
	}
	duckdb::ScalarFunction function("braid_curve_place", types, duckdb::LogicalType::UBIGINT, Place);
	return duckdb::make_uniq<duckdb::BoundFunctionExpression>(duckdb::LogicalType::UBIGINT, std::move(function),
															  std::move(values), std::move(data));
}

}  // namespace braid::engine
