// SPDX-License-Identifier: Apache-2.0
// Conditions of a scan as one Read of the transaction.
#include "engine/scan/read_registration.h"

#include <algorithm>
#include <set>

#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "engine/catalog/transaction.h"
#include "engine/scan/key_set.h"
#include "engine/settings.h"

namespace braid::engine {

namespace {

void Merge(BoundRowPredicate& into, const BoundRowPredicate& from) {
	for (const auto& conjunct : from.conjuncts) {
		auto copy = conjunct->Copy();
		duckdb::ExpressionIterator::VisitExpressionMutable<duckdb::BoundReferenceExpression>(
			copy, [&](duckdb::BoundReferenceExpression& reference, duckdb::unique_ptr<duckdb::Expression>&) {
				const auto& column = from.columns[reference.index];
				reference.index = into.IndexOf(column.name, column.type);
			});
		bool known = false;
		for (const auto& other : into.conjuncts) known = known || other->Equals(*copy);
		if (!known) into.conjuncts.push_back(std::move(copy));
	}
}

// The caller holds registration.mutex.
Read ToRead(const ScanConditions& conditions, const ReadRegistration& registration, bool feeds_removal) {
	Read read;
	std::vector<Predicate> bound;
	std::set<std::string> seen;  // planning and execution show the same condition in two forms
	for (const Predicate& predicate : conditions.bound) {
		if (predicate.kind != PredicateKind::kTrue && seen.insert(ToString(predicate)).second)
			bound.push_back(predicate);
	}
	read.bound = Predicate::And(std::move(bound));
	auto exact = std::make_shared<BoundRowPredicate>();
	for (const auto& part : conditions.exact) Merge(*exact, *part);
	for (const auto& part : registration.key_tests) Merge(*exact, *part);
	read.exact = std::move(exact);
	read.matches_are_removed = feeds_removal && conditions.complete;
	return read;
}

}  // namespace

void RegisterRead(duckdb::ClientContext& context, ReadRegistration& registration, const ScanConditions& conditions) {
	if (!registration.catalog) return;
	TableWork* work = LakeTransaction::Get(context, *registration.catalog).Find(registration.root);
	if (!work) return;
	std::scoped_lock lock(registration.mutex, work->mutex);
	work->work.conditions |= registration.conditions;
	Read read = ToRead(conditions, registration, registration.feeds_removal);
	// `strict` judges files by what the statement says of the table, not by the keys that a join lets pass (R18).
	if (registration.stated && CommitOptionsOf(context).mode == ConcurrencyMode::kStrict)
		read.bound = *registration.stated;
	if (registration.provisional) {
		for (Read& known : work->work.reads.reads) {
			if (known.exact != registration.provisional) continue;
			known = std::move(read);
			registration.provisional = nullptr;
			return;
		}
		registration.provisional = nullptr;
	}
	work->work.reads.reads.push_back(std::move(read));
}

bool RegisterPlannedRead(duckdb::ClientContext& context, ReadRegistration& registration,
						 const ScanConditions& conditions) {
	if (!registration.catalog) return true;
	if (registration.of_write || !context.transaction.IsAutoCommit()) return false;
	TableWork* work = LakeTransaction::Get(context, *registration.catalog).Find(registration.root);
	if (!work) return true;
	std::scoped_lock lock(registration.mutex, work->mutex);
	if (registration.provisional) return true;
	Read read = ToRead(conditions, registration, false);
	registration.provisional = read.exact;
	work->work.reads.reads.push_back(std::move(read));
	return true;
}

void FinishReads(ReadSet& reads) {
	for (Read& read : reads.reads) {
		const auto* exact = dynamic_cast<const BoundRowPredicate*>(read.exact.get());
		if (!exact) continue;
		Predicate keys = BoundOfKeyTests(*exact);
		std::vector<Predicate> parts =
			read.bound.kind == PredicateKind::kAnd ? read.bound.children : std::vector<Predicate> {read.bound};
		// The join's own filter has often said the same.
		if (std::ranges::find(parts, keys) == parts.end()) parts.push_back(std::move(keys));
		read.bound = Predicate::And(std::move(parts));
	}
}

}  // namespace braid::engine
