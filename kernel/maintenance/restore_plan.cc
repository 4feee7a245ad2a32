// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/restore_plan.h"

#include <algorithm>

#include "kernel/action/same_action.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/protocol_change.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/schema/identity.h"
#include "kernel/schema/schema_json.h"
#include "kernel/snapshot/domains.h"

namespace braid {

static std::string VectorOf(const LiveFile& file) {
	return file.deletion_vector ? UniqueId(*file.deletion_vector) : "";
}

// A file whose row ids were taken away since is added again for their sake; under the same vector that needs no remove.
static Status CompareFiles(const Snapshot& now, const Snapshot& then, RestorePlan& plan) {
	for (const LiveFile* file : now.files->Files()) {
		const LiveFile* old = then.files->Find(file->path);
		if (old && VectorOf(*old) == VectorOf(*file)) continue;
		plan.removed.emplace_back(file->path);
		plan.files_removed.Count(file->size);
	}
	for (const LiveFile* file : then.files->Files()) {
		plan.files_after.Count(file->size);
		const LiveFile* live = now.files->Find(file->path);
		const bool loses_ids = live && file->base_row_id && !live->base_row_id;
		if (live && VectorOf(*live) == VectorOf(*file) && !loses_ids) continue;
		BRAID_TRY(AddFile add, ToAddFile(*file));
		if (live && !add.base_row_id) {
			add.base_row_id = live->base_row_id;
			add.default_row_commit_version = live->default_row_commit_version;
		}
		plan.files_restored.Count(add.size);
		plan.restored.push_back(std::move(add));
	}
	return {};
}

// PROTOCOL: Identity Columns: a value is never given twice.
static void KeepIdentityMarks(const Snapshot& now, const Snapshot& then, Metadata& metadata) {
	std::map<std::string, int64_t> marks;
	for (const Field& field : then.schema->fields) {
		const auto old = IdentityOf(field);
		if (!old) continue;
		const std::string name = PhysicalName(field, then.column_mapping);
		for (const Field& present : now.schema->fields) {
			const auto identity = IdentityOf(present);
			if (!identity || !identity->mark || PhysicalName(present, now.column_mapping) != name) continue;
			const int64_t mark = old->mark.value_or(*identity->mark);
			const bool further = old->step > 0 ? *identity->mark >= mark : *identity->mark <= mark;
			if (further && old->mark != identity->mark) marks[field.name] = *identity->mark;
		}
	}
	if (marks.empty()) return;
	const DataTypePtr schema = WithIdentityMarks(*then.schema, marks);
	metadata.schema_string = *schema == *now.schema ? now.metadata.schema_string : WriteSchema(*schema);
}

static Metadata RestoredMetadata(const Snapshot& now, const Snapshot& then) {
	Metadata metadata = then.metadata;
	metadata.id = now.metadata.id;
	metadata.created_time = now.metadata.created_time;
	KeepIdentityMarks(now, then, metadata);
	KeepTimestampEnablement(now.metadata.configuration, metadata.configuration);
	const std::string column_ids = "delta.columnMapping.maxColumnId";
	if (metadata.configuration.contains(column_ids)) {
		metadata.configuration[column_ids] =
			std::to_string(std::max(PropertyInteger(metadata.configuration, column_ids),
									PropertyInteger(now.metadata.configuration, column_ids)));
	}
	return metadata;
}

static const DomainMetadata* FindDomain(const Snapshot& table, const std::string& name) {
	const auto domain = table.domains.find(name);
	return domain == table.domains.end() ? nullptr : &domain->second;
}

// Clustering goes back with the schema that it speaks of; a mark of row ids only if the present one is lost.
static void RestoreDomains(const Snapshot& now, const Snapshot& then, RestorePlan& plan) {
	const DomainMetadata* present = FindDomain(now, kClusteringDomain);
	const DomainMetadata* old = FindDomain(then, kClusteringDomain);
	if (old && !(present && present->configuration == old->configuration)) plan.domains.push_back(*old);
	if (present && !old) plan.domains.push_back({kClusteringDomain, present->configuration, true});
	const DomainMetadata* mark = FindDomain(then, kRowTrackingDomain);
	if (mark && !FindDomain(now, kRowTrackingDomain)) plan.domains.push_back(*mark);
}

Result<RestorePlan> PlanRestore(const Snapshot& now, const Snapshot& then) {
	RestorePlan plan;
	BRAID_TRY(CompareFiles(now, then, plan));
	if (!plan.removed.empty() && PropertyEnabled(now.metadata.configuration, "delta.appendOnly")) {
		return Fail(ErrorKind::kInvalidArgument,
					"[DELTA_CANNOT_MODIFY_APPEND_ONLY] RESTORE of table " + now.table + " to version " +
						std::to_string(then.version) + " would remove " + std::to_string(plan.removed.size()) +
						" files, but delta.appendOnly is true. Set it to false first. SQLSTATE: 42809");
	}
	FeatureSet features;
	for (std::string& feature : EnabledWriterFeatures(then.protocol)) features.insert(std::move(feature));
	Protocol protocol = WithFeatures(now.protocol, features);
	if (!(protocol == now.protocol)) plan.protocol = std::move(protocol);
	Metadata metadata = RestoredMetadata(now, then);
	if (!SameMetadata(metadata, now.metadata)) plan.metadata = std::move(metadata);
	RestoreDomains(now, then, plan);
	return plan;
}

void LeaveOut(RestorePlan& plan, const std::vector<size_t>& restored) {
	for (auto index = restored.rbegin(); index != restored.rend(); ++index) {
		const int64_t size = plan.restored[*index].size;
		plan.files_restored.Discount(size);
		plan.files_after.Discount(size);
		plan.restored.erase(plan.restored.begin() + static_cast<ptrdiff_t>(*index));
	}
}

Result<SnapshotPtr> RestoredView(const RestorePlan& plan, const Snapshot& now, const Snapshot& then) {
	auto view = std::make_shared<Snapshot>(now);
	view->files = then.files;
	view->column_mapping = then.column_mapping;
	if (plan.protocol) view->protocol = *plan.protocol;
	if (plan.metadata) view->metadata = *plan.metadata;
	BRAID_TRY(view->schema, ParseSchema(view->metadata.schema_string));
	for (const DomainMetadata& domain : plan.domains) ApplyDomain(view->domains, domain);
	return view;
}

}  // namespace braid
