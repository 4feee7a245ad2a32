// SPDX-License-Identifier: Apache-2.0
// Features follow from properties and types; legacy versions are used only where no listed feature is needed.
#include "engine/catalog/new_table.h"

#include "base/environment.h"
#include "kernel/alter/table_changes.h"
#include "kernel/feature/property_change.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/schema/schema_json.h"

namespace braid::engine {

namespace {

const std::string kDeletionVectors = "delta.enableDeletionVectors";
const std::string kIsolationLevel = "delta.isolationLevel";

}  // namespace

Result<SnapshotPtr> DescribeNewTable(const TableDescription& table, const SnapshotPtr& replaced) {
	FeatureSet features;
	Configuration configuration {{kDeletionVectors, "true"}, {kIsolationLevel, "WriteSerializable"}};
	BRAID_TRY(SetProperties(table.properties, configuration, features));
	NameRowIdColumns(configuration, SystemRandom());
	features.merge(NeededFeatures(table.schema, configuration));
	auto snapshot = std::make_shared<Snapshot>();
	snapshot->table = table.location;
	snapshot->version = replaced ? replaced->version : -1;
	snapshot->timestamp = SystemClock().NowMs();
	// A replaced table keeps its features: readers of older versions need them.
	snapshot->protocol = WithFeatures(replaced ? replaced->protocol : Protocol {}, features);
	BRAID_TRY(snapshot->column_mapping,
			  ParseColumnMappingMode(PropertyValue(configuration, "delta.columnMapping.mode")));
	if (snapshot->column_mapping == ColumnMappingMode::kNone) {
		snapshot->schema = std::make_shared<DataType>(table.schema);
	} else {
		int64_t last_id =
			replaced ? PropertyInteger(replaced->metadata.configuration, "delta.columnMapping.maxColumnId") : 0;
		snapshot->schema = WithNewColumnIds(table.schema, last_id, SystemRandom());
		configuration["delta.columnMapping.maxColumnId"] = std::to_string(last_id);
	}
	auto& metadata = snapshot->metadata;
	metadata.id = replaced ? replaced->metadata.id : NewUuid(SystemRandom());
	if (!table.description.empty()) metadata.description = table.description;
	metadata.schema_string = WriteSchema(*snapshot->schema);
	metadata.partition_columns = table.partition_columns;
	metadata.configuration = std::move(configuration);
	metadata.created_time = snapshot->timestamp;
	snapshot->files = std::make_shared<FileIndex>();
	if (replaced) snapshot->domains = replaced->domains;
	BRAID_TRY(CheckProtocol(snapshot->protocol, TableOperation::kAppend, table.location));
	return snapshot;
}

}  // namespace braid::engine
