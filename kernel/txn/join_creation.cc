// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/join_creation.h"

#include "base/json.h"
#include "kernel/txn/gate.h"

namespace braid {

static bool MadeTheSame(const StagedChanges& changes, const WinningCommit& winner) {
	if (!winner.protocol || !winner.metadata || !(*changes.protocol == *winner.protocol)) return false;
	Metadata theirs = *winner.metadata;
	theirs.id = changes.metadata->id;  // drawn at random by each creator
	return SameMetadata(theirs, *changes.metadata);
}

std::optional<Transaction> JoinCreation(const Transaction& transaction, const WinningCommit& winner,
										const SnapshotPtr& created) {
	if (transaction.yields_to_creator) {
		Transaction nothing = transaction;
		nothing.base = created;
		nothing.changes = {};
		return nothing;
	}
	const StagedChanges& changes = transaction.changes;
	if (!transaction.create_if_not_exists || !transaction.reads.reads.empty() || !changes.set_transactions.empty() ||
		!changes.domains.empty() || !MadeTheSame(changes, winner))
		return std::nullopt;
	Transaction joined = transaction;
	joined.base = created;
	joined.changes.protocol.reset();
	joined.changes.metadata.reset();
	joined.operation = "WRITE";
	joined.operation_parameters = {{"mode", JsonString("Append")},
								   {"partitionBy", JsonString(JsonStringList(created->metadata.partition_columns))}};
	return joined;
}

}  // namespace braid
