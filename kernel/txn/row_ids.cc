// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_ids.h"

#include <simdjson.h>

#include <algorithm>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/protocol_change.h"

namespace braid {

static Result<int64_t> MarkOf(const DomainMetadata& domain, const std::string& where) {
	simdjson::dom::parser parser;
	int64_t mark = -1;
	if (parser.parse(domain.configuration)["rowIdHighWaterMark"].get(mark) != simdjson::SUCCESS) {
		return Fail(ErrorKind::kCorrupt,
					where + ": the domain delta.rowTracking holds no rowIdHighWaterMark: " + domain.configuration);
	}
	return mark;
}

Result<RowIdAssigner> RowIdAssigner::For(const Transaction& transaction, const Snapshot* head, int64_t version) {
	RowIdAssigner assigner;
	const StagedChanges& changes = transaction.changes;
	const Protocol* protocol = changes.protocol ? &*changes.protocol : head ? &head->protocol : nullptr;
	const Metadata* metadata = changes.metadata ? &*changes.metadata : head ? &head->metadata : nullptr;
	if (!protocol || !metadata || !HasFeature(*protocol, "rowTracking")) return assigner;
	if (PropertyEnabled(metadata->configuration, "delta.rowTrackingSuspended")) return assigner;
	assigner.active_ = true;
	assigner.version_ = version;
	if (head) {
		const auto known = head->domains.find(kRowTrackingDomain);
		const std::string where = "Table " + head->table + ", version " + std::to_string(head->version);
		if (known != head->domains.end()) {
			BRAID_TRY(assigner.old_mark_, MarkOf(known->second, where));
		}
	}
	assigner.mark_ = assigner.old_mark_;
	for (const DomainMetadata& domain : changes.domains) {
		if (domain.domain != kRowTrackingDomain || domain.removed) continue;
		BRAID_TRY(const int64_t mark, MarkOf(domain, "Staged row ids"));
		assigner.mark_ = std::max(assigner.mark_, mark);
	}
	return assigner;
}

void RowIdAssigner::Assign(AddFile& add, int64_t physical_rows) {
	if (!active_) return;
	add.base_row_id = mark_ + 1;
	add.default_row_commit_version = version_;
	mark_ += physical_rows;
}

std::optional<DomainMetadata> RowIdAssigner::NewMark() const {
	if (mark_ == old_mark_) return std::nullopt;
	return DomainMetadata {kRowTrackingDomain, "{\"rowIdHighWaterMark\":" + std::to_string(mark_) + "}", false};
}

}  // namespace braid
