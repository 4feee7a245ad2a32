// SPDX-License-Identifier: Apache-2.0
// Both sides hash alike: the join compares expressions of one type.
#include "engine/scan/key_set.h"

#include <algorithm>

#include "duckdb/common/operator/comparison_operators.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"
#include "duckdb/execution/expression_executor_state.hpp"
#include "duckdb/planner/expression/list.hpp"

namespace braid::engine {

namespace {

using duckdb::Expression;
using duckdb::ExpressionType;
using duckdb::idx_t;
using ExpressionPtr = duckdb::unique_ptr<Expression>;

// Hashes that a thread keeps before it takes the lock.
constexpr size_t kShareKeys = 64 << 10;

size_t Slot(uint64_t hash, size_t slots) { return static_cast<size_t>(hash * 0x9E3779B97F4A7C15ULL) & (slots - 1); }

struct Extremes {
	idx_t min = duckdb::DConstants::INVALID_INDEX;  // rows
	idx_t max = duckdb::DConstants::INVALID_INDEX;
};

template <class T>
Extremes FindExtremes(const duckdb::UnifiedVectorFormat& format, const duckdb::SelectionVector& rows, idx_t count) {
	auto data = duckdb::UnifiedVectorFormat::GetData<T>(format);
	Extremes found;
	for (idx_t i = 0; i < count; i++) {
		auto row = rows.get_index(i);
		auto at = format.sel->get_index(row);
		if (!format.validity.RowIsValid(at)) continue;
		auto value = [&](idx_t other) { return data[format.sel->get_index(other)]; };
		if (found.min == duckdb::DConstants::INVALID_INDEX) {
			found = {row, row};
		} else if (duckdb::LessThan::Operation<T>(data[at], value(found.min))) {
			found.min = row;
		} else if (duckdb::LessThan::Operation<T>(value(found.max), data[at])) {
			found.max = row;
		}
	}
	return found;
}

// Floating-point columns have no bounds: NaN and -0.0 order differently from engine to engine.
bool HasBounds(const duckdb::LogicalType& type) {
	return !type.IsNested() && type.id() != duckdb::LogicalTypeId::FLOAT && type.id() != duckdb::LogicalTypeId::DOUBLE;
}

Extremes FindExtremes(duckdb::Vector& keys, const duckdb::UnifiedVectorFormat& format,
					  const duckdb::SelectionVector& rows, idx_t count) {
	switch (keys.GetType().InternalType()) {
		case duckdb::PhysicalType::INT8:
			return FindExtremes<int8_t>(format, rows, count);
		case duckdb::PhysicalType::INT16:
			return FindExtremes<int16_t>(format, rows, count);
		case duckdb::PhysicalType::INT32:
			return FindExtremes<int32_t>(format, rows, count);
		case duckdb::PhysicalType::INT64:
			return FindExtremes<int64_t>(format, rows, count);
		case duckdb::PhysicalType::INT128:
			return FindExtremes<duckdb::hugeint_t>(format, rows, count);
		case duckdb::PhysicalType::VARCHAR:
			if (keys.GetType().id() != duckdb::LogicalTypeId::VARCHAR) return {};
			return FindExtremes<duckdb::string_t>(format, rows, count);
		default:
			return {};
	}
}

struct KeyTestData : duckdb::FunctionData {
	explicit KeyTestData(std::shared_ptr<const KeySet> keys) : set(std::move(keys)) {}
	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<KeyTestData>(set); }
	bool Equals(const FunctionData& other) const override { return set == other.Cast<KeyTestData>().set; }

	std::shared_ptr<const KeySet> set;
};

constexpr const char* kKeyTest = "braid_key_of_source";

void RunKeyTest(duckdb::DataChunk& keys, duckdb::ExpressionState& state, duckdb::Vector& result) {
	auto& test = state.expr.Cast<duckdb::BoundFunctionExpression>();
	test.bind_info->Cast<KeyTestData>().set->Test(keys, result);
}

// The column under a widening of integers, which the join puts around the shorter side; values that do not fit into it
// match none of its rows.
const Expression& Narrowed(const Expression& key) {
	if (key.GetExpressionClass() != duckdb::ExpressionClass::BOUND_CAST) return key;
	auto& cast = key.Cast<duckdb::BoundCastExpression>();
	auto& from = cast.child->return_type;
	bool widens = from.IsIntegral() && cast.return_type.IsIntegral() &&
				  duckdb::GetTypeIdSize(from.InternalType()) < duckdb::GetTypeIdSize(cast.return_type.InternalType());
	return widens ? *cast.child : key;
}

ExpressionPtr Constant(const duckdb::Value& value) { return duckdb::make_uniq<duckdb::BoundConstantExpression>(value); }

ExpressionPtr Compare(ExpressionType comparison, const Expression& key, const duckdb::Value& value) {
	return duckdb::make_uniq<duckdb::BoundComparisonExpression>(comparison, key.Copy(), Constant(value));
}

Predicate BoundOfColumn(const KeyColumn& column, const Expression& full_key, const ResolveColumn& resolve) {
	auto& key = Narrowed(full_key);
	std::vector<Predicate> choices;
	if (!column.many) {
		auto in = duckdb::make_uniq<duckdb::BoundOperatorExpression>(ExpressionType::COMPARE_IN,
																	 duckdb::LogicalType::BOOLEAN);
		in->children.push_back(key.Copy());
		for (auto value : column.values) {
			if (value.DefaultTryCastAs(key.return_type)) in->children.push_back(Constant(value));
		}
		choices.push_back(in->children.size() == 1 ? Predicate::False() : ToPredicate(*in, resolve));
	} else {
		std::vector<Predicate> range;
		auto min = column.min;
		auto max = column.max;
		if (!min.IsNull() && min.DefaultTryCastAs(key.return_type))
			range.push_back(ToPredicate(*Compare(ExpressionType::COMPARE_GREATERTHANOREQUALTO, key, min), resolve));
		if (!max.IsNull() && max.DefaultTryCastAs(key.return_type))
			range.push_back(ToPredicate(*Compare(ExpressionType::COMPARE_LESSTHANOREQUALTO, key, max), resolve));
		choices.push_back(Predicate::And(std::move(range)));
	}
	if (column.has_null) {
		auto null = duckdb::make_uniq<duckdb::BoundOperatorExpression>(ExpressionType::OPERATOR_IS_NULL,
																	   duckdb::LogicalType::BOOLEAN);
		null->children.push_back(key.Copy());
		choices.push_back(ToPredicate(*null, resolve));
	}
	return Predicate::Or(std::move(choices));
}

}  // namespace

void HashList::Insert(uint64_t hash) {
	if (hash == 0) {
		has_zero_ = true;
		return;
	}
	if (count_ * 2 >= slots_.size()) Grow();
	auto at = Slot(hash, slots_.size());
	while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & (slots_.size() - 1);
	if (slots_[at] == 0) count_++;
	slots_[at] = hash;
}

bool HashList::Contains(uint64_t hash) const {
	if (hash == 0) return has_zero_;
	if (slots_.empty()) return false;
	auto at = Slot(hash, slots_.size());
	while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & (slots_.size() - 1);
	return slots_[at] == hash;
}

void HashList::InsertAll(const HashList& other) {
	if (other.has_zero_) has_zero_ = true;
	for (auto hash : other.slots_) {
		if (hash != 0) Insert(hash);
	}
}

void HashList::Clear() {
	slots_ = {};
	count_ = 0;
	has_zero_ = false;
}

void HashList::Grow() {
	auto old = std::move(slots_);
	slots_.assign(std::max<size_t>(64, old.size() * 2), 0);
	count_ = 0;
	for (auto hash : old) {
		if (hash != 0) Insert(hash);
	}
}

void KeyColumn::Add(duckdb::Vector& keys, duckdb::Vector& key_hashes, idx_t size, const duckdb::SelectionVector& rows,
					idx_t count) {
	duckdb::UnifiedVectorFormat format;
	keys.ToUnifiedFormat(size, format);
	many = many || !HasBounds(keys.GetType());
	auto extremes = FindExtremes(keys, format, rows, count);
	if (extremes.min != duckdb::DConstants::INVALID_INDEX) {
		auto low = keys.GetValue(extremes.min);
		auto high = keys.GetValue(extremes.max);
		if (min.IsNull() || low < min) min = low;
		if (max.IsNull() || high > max) max = high;
	}
	auto hash = duckdb::FlatVector::GetData<duckdb::hash_t>(key_hashes);
	for (idx_t i = 0; i < count; i++) {
		auto row = rows.get_index(i);
		if (!format.validity.RowIsValid(format.sel->get_index(row))) {
			has_null = true;
		} else if (!many && std::ranges::find(hashes, hash[row]) == hashes.end()) {
			hashes.push_back(hash[row]);
			values.push_back(keys.GetValue(row));
			many = values.size() > kMaxValues;
		}
	}
	if (many) {
		hashes.clear();
		values.clear();
	}
}

void KeyColumn::Merge(const KeyColumn& other) {
	if (min.IsNull() || (!other.min.IsNull() && other.min < min)) min = other.min;
	if (max.IsNull() || (!other.max.IsNull() && other.max > max)) max = other.max;
	has_null = has_null || other.has_null;
	many = many || other.many;
	for (size_t i = 0; i < other.values.size() && !many; i++) {
		if (std::ranges::find(hashes, other.hashes[i]) != hashes.end()) continue;
		hashes.push_back(other.hashes[i]);
		values.push_back(other.values[i]);
		many = values.size() > kMaxValues;
	}
	if (!many) return;
	hashes.clear();
	values.clear();
}

KeySet::KeySet(duckdb::vector<duckdb::LogicalType> types, std::vector<bool> null_matches)
	: types_(std::move(types)), null_matches_(std::move(null_matches)), columns_(types_.size()) {}

KeySet::Share KeySet::Open() {
	std::lock_guard guard(mutex_);
	opened_++;
	Share share;
	share.columns.resize(types_.size());
	return share;
}

// Hashes of the rows that can match at all; the others have a NULL where NULL matches nothing.
idx_t KeySet::Hash(duckdb::DataChunk& keys, duckdb::Vector& hashes, std::vector<duckdb::Vector>* by_column,
				   duckdb::SelectionVector& rows) const {
	auto count = keys.size();
	idx_t kept = count;
	for (idx_t i = 0; i < count; i++) rows.set_index(i, i);
	for (size_t column = 0; column < types_.size(); column++) {
		if (column == 0) {
			duckdb::VectorOperations::Hash(keys.data[0], hashes, count);
		} else {
			duckdb::VectorOperations::CombineHash(hashes, keys.data[column], count);
		}
		if (by_column) {
			auto& own = by_column->emplace_back(duckdb::LogicalType::HASH);
			duckdb::VectorOperations::Hash(keys.data[column], own, count);
			own.Flatten(count);
		}
		if (null_matches_[column]) continue;
		duckdb::UnifiedVectorFormat format;
		keys.data[column].ToUnifiedFormat(count, format);
		if (format.validity.AllValid()) continue;
		idx_t valid = 0;
		for (idx_t i = 0; i < kept; i++) {
			auto row = rows.get_index(i);
			if (format.validity.RowIsValid(format.sel->get_index(row))) rows.set_index(valid++, row);
		}
		kept = valid;
	}
	hashes.Flatten(count);
	return kept;
}

void KeySet::Add(Share& share, duckdb::DataChunk& keys) {
	duckdb::Vector hashes(duckdb::LogicalType::HASH);
	std::vector<duckdb::Vector> by_column;
	duckdb::SelectionVector rows(STANDARD_VECTOR_SIZE);
	auto count = Hash(keys, hashes, &by_column, rows);
	auto hash = duckdb::FlatVector::GetData<duckdb::hash_t>(hashes);
	for (idx_t i = 0; i < count; i++) share.hashes.Insert(hash[rows.get_index(i)]);
	for (size_t column = 0; column < types_.size(); column++)
		share.columns[column].Add(keys.data[column], by_column[column], keys.size(), rows, count);
	if (share.hashes.size() >= kShareKeys) Flush(share);
}

void KeySet::Flush(Share& share) {
	std::lock_guard guard(mutex_);
	if (!overflown_) hashes_.InsertAll(share.hashes);
	share.hashes.Clear();
	if (hashes_.size() <= kMaxKeys) return;
	overflown_ = true;
	hashes_.Clear();
}

void KeySet::Close(Share& share) {
	Flush(share);
	std::lock_guard guard(mutex_);
	for (size_t column = 0; column < types_.size(); column++) columns_[column].Merge(share.columns[column]);
	closed_++;
}

void KeySet::Test(duckdb::DataChunk& keys, duckdb::Vector& result) const {
	result.SetVectorType(duckdb::VectorType::FLAT_VECTOR);
	auto passes = duckdb::FlatVector::GetData<bool>(result);
	auto open = !complete() || overflown_;
	std::fill_n(passes, keys.size(), open);
	if (open) return;
	duckdb::Vector hashes(duckdb::LogicalType::HASH);
	duckdb::SelectionVector rows(STANDARD_VECTOR_SIZE);
	auto count = Hash(keys, hashes, nullptr, rows);
	auto hash = duckdb::FlatVector::GetData<duckdb::hash_t>(hashes);
	for (idx_t i = 0; i < count; i++) passes[rows.get_index(i)] = hashes_.Contains(hash[rows.get_index(i)]);
}

Predicate KeySet::Bound(const duckdb::vector<ExpressionPtr>& keys, const ResolveColumn& resolve) const {
	if (!complete()) return Predicate::True();
	if (!overflown_ && hashes_.size() == 0) return Predicate::False();
	std::vector<Predicate> parts;
	for (size_t i = 0; i < keys.size(); i++) parts.push_back(BoundOfColumn(columns_[i], *keys[i], resolve));
	return Predicate::And(std::move(parts));
}

ExpressionPtr MakeKeyTest(std::shared_ptr<const KeySet> set, duckdb::vector<ExpressionPtr> keys) {
	duckdb::vector<duckdb::LogicalType> types;
	for (auto& key : keys) types.push_back(key->return_type);
	duckdb::ScalarFunction test(kKeyTest, std::move(types), duckdb::LogicalType::BOOLEAN, RunKeyTest);
	test.SetNullHandling(duckdb::FunctionNullHandling::SPECIAL_HANDLING);
	return duckdb::make_uniq<duckdb::BoundFunctionExpression>(
		duckdb::LogicalType::BOOLEAN, std::move(test), std::move(keys), duckdb::make_uniq<KeyTestData>(std::move(set)));
}

static const duckdb::BoundFunctionExpression* AsKeyTest(const Expression& expression) {
	if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_FUNCTION) return nullptr;
	auto& function = expression.Cast<duckdb::BoundFunctionExpression>();
	return function.function.name == kKeyTest ? &function : nullptr;
}

Predicate BoundOfKeyTests(const BoundRowPredicate& exact) {
	auto resolve = [&](const Expression& reference) -> NamedColumn {
		auto& column = exact.columns[reference.Cast<duckdb::BoundReferenceExpression>().index];
		return {column.name, column.type};
	};
	auto bound_of = [&](const Expression& expression) {
		auto* test = AsKeyTest(expression);
		return test ? test->bind_info->Cast<KeyTestData>().set->Bound(test->children, resolve)
					: ToPredicate(expression, resolve);
	};
	std::vector<Predicate> parts;
	for (auto& conjunct : exact.conjuncts) {
		if (AsKeyTest(*conjunct)) parts.push_back(bound_of(*conjunct));
		if (conjunct->GetExpressionType() != ExpressionType::CONJUNCTION_OR) continue;
		auto& choice = conjunct->Cast<duckdb::BoundConjunctionExpression>();
		if (!AsKeyTest(*choice.children[0])) continue;
		std::vector<Predicate> choices;
		for (auto& child : choice.children) choices.push_back(bound_of(*child));
		parts.push_back(Predicate::Or(std::move(choices)));
	}
	return Predicate::And(std::move(parts));
}

}  // namespace braid::engine
