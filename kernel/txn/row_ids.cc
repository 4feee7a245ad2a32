// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_ids.h"

#include <simdjson.h>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"

namespace braid {

static constexpr std::string_view kDomain = "delta.rowTracking";

static Result<int64_t> HighWaterMark(const Snapshot& head) {
	const auto domain = head.domains.find(std::string(kDomain));
	if (domain == head.domains.end()) return -1;
	simdjson::dom::parser parser;
	int64_t mark = -1;
	if (parser.parse(domain->second.configuration)["rowIdHighWaterMark"].get(mark) != simdjson::SUCCESS) {
		return Fail(ErrorKind::kCorrupt,
					"Table " + head.table + ", version " + std::to_string(head.version) +
						": the domain delta.rowTracking holds no rowIdHighWaterMark: " + domain->second.configuration);
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
		BRAID_TRY(assigner.old_mark_, HighWaterMark(*head));
		assigner.mark_ = assigner.old_mark_;
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
	return DomainMetadata {std::string(kDomain), "{\"rowIdHighWaterMark\":" + std::to_string(mark_) + "}", false};
}

}  // namespace braid
