// SPDX-License-Identifier: Apache-2.0
// First what is used now, then what was.
#include "kernel/alter/drop_feature.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "base/json.h"
#include "kernel/action/action_codec.h"
#include "kernel/alter/clustering.h"
#include "kernel/feature/property_table.h"
#include "kernel/log/log_listing.h"
#include "kernel/log/log_path.h"
#include "kernel/schema/schema_json.h"

namespace braid {

namespace {

constexpr auto kRetention = "delta.dropFeatureTruncateHistory.retentionDuration";
constexpr auto kTypeChanges = "delta.typeChanges";

// The path of a field, at any depth, that is like this.
std::optional<std::string> FieldThat(const DataType& type, const std::function<bool(const Field&)>& is,
									 const std::string& parent = "") {
	for (const Field& field : type.fields) {
		const std::string path = parent + field.name;
		if (is(field)) return path;
		if (auto nested = FieldThat(*field.type, is, path + ".")) return nested;
	}
	if (type.key) {
		if (auto nested = FieldThat(*type.key, is, parent + "key.")) return nested;
	}
	if (type.element) return FieldThat(*type.element, is, parent + (type.key ? "value." : "element."));
	return std::nullopt;
}

bool HasType(const DataType& type, TypeKind kind) {
	return type.kind == kind || (type.key && HasType(*type.key, kind)) ||
		   (type.element && HasType(*type.element, kind));
}

// Columns that a feature is for, and how to be rid of them.
struct ColumnUse {
	std::string_view feature;
	std::function<bool(const Field&)> uses;
	std::string what, way_out;
};

const std::vector<ColumnUse>& ColumnUses() {
	const auto has = [](std::string key) {
		return [key = std::move(key)](const Field& field) { return field.metadata.contains(key); };
	};
	const std::string drop = "ALTER TABLE ... DROP COLUMN it first";
	static const std::vector<ColumnUse> uses = {
		{"allowColumnDefaults", has(kCurrentDefaultKey), "has a default",
		 "ALTER TABLE ... ALTER COLUMN ... DROP DEFAULT first"},
		{"generatedColumns", has(kGenerationExpressionKey), "is generated", drop},
		{"identityColumns", has(kIdentityStartKey), "is an identity column", drop},
		{"invariants", [](const Field& field) { return !field.nullable; }, "is NOT NULL",
		 "ALTER TABLE ... ALTER COLUMN ... DROP NOT NULL first"},
		{"invariants", has(kInvariantsKey), "has an invariant", drop},
		{"timestampNtz", [](const Field& field) { return HasType(*field.type, TypeKind::kTimestampNtz); },
		 "has type timestamp_ntz", drop},
		{"typeWidening", has(kTypeChanges), "had another type when older files were written",
		 "CREATE OR REPLACE TABLE ... AS SELECT writes them anew"},
		{"typeWidening-preview", has(kTypeChanges), "had another type when older files were written",
		 "CREATE OR REPLACE TABLE ... AS SELECT writes them anew"},
	};
	return uses;
}

class Drop {
public:
	Drop(TableDraft& draft, std::string feature) : draft_(draft), feature_(std::move(feature)) {}

	Status Run() {
		BRAID_TRY(CheckOtherFeatures());
		BRAID_TRY(CheckProperties());
		for (const ColumnUse& use : ColumnUses()) {
			if (use.feature != feature_) continue;
			if (const auto column = FieldThat(*draft_.schema, use.uses))
				return Used("column \"" + *column + "\" " + use.what, use.way_out);
		}
		BRAID_TRY(CheckDomains());
		return CheckFiles();
	}

private:
	Status Used(const std::string& what, const std::string& way_out) const {
		return Fail(ErrorKind::kUnsupported, "[DELTA_FEATURE_DROP_FEATURE_IN_USE] feature " + feature_ + " of table " +
												 draft_.before->table + " cannot be dropped: " + what + "; " + way_out);
	}

	Status CheckOtherFeatures() const {
		for (const std::string& other : EnabledWriterFeatures(draft_.before->protocol)) {
			if (!Requires(other, feature_)) continue;
			return Fail(ErrorKind::kUnsupported, "[DELTA_FEATURE_DROP_DEPENDENT_FEATURE] feature " + feature_ +
													 " of table " + draft_.before->table +
													 " cannot be dropped: feature " + other +
													 " needs it; drop that first");
		}
		return {};
	}

	// What a user has set is his to unset; what the engine has set goes with the feature.
	Status CheckProperties() {
		Configuration& configuration = draft_.metadata.configuration;
		for (const auto& [key, value] : configuration) {
			if (feature_ != "checkConstraints" || !key.starts_with(kConstraintPrefix)) continue;
			const std::string name = key.substr(kConstraintPrefix.size());
			return Fail(ErrorKind::kUnsupported, "[DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE] feature " + feature_ +
													 " of table " + draft_.before->table +
													 " cannot be dropped: constraint " + name + " CHECK (" + value +
													 ") is there; ALTER TABLE ... DROP CONSTRAINT " + name + " first");
		}
		if (feature_ == "v2Checkpoint" && PropertyValue(configuration, "delta.checkpointPolicy") == "v2")
			return Used("delta.checkpointPolicy is v2", "ALTER TABLE ... SET TBLPROPERTIES to classic first");
		for (const TableProperty& property : TableProperties()) {
			const auto entry = configuration.find(std::string(property.key));
			if (property.needs_feature != feature_ || entry == configuration.end() || !property.user_settable) continue;
			if (PropertyEnabled(configuration, property.key)) {
				return Used(entry->first + " is true",
							"ALTER TABLE ... SET TBLPROPERTIES ('" + entry->first + "' = 'false') first");
			}
			if (property.kind == PropertyKind::kColumnMappingMode && entry->second != "none") {
				return Used("its columns are mapped by " + entry->second,
							"data files would have to be written anew: CREATE OR REPLACE TABLE ... AS SELECT");
			}
		}
		for (const TableProperty& property : TableProperties()) {
			if (property.needs_feature == feature_ && !property.user_settable)
				configuration.erase(std::string(property.key));
		}
		return {};
	}

	Status CheckDomains() {
		const auto& domains = draft_.before->domains;
		if (feature_ == "domainMetadata" && !domains.empty())
			return Used("the domain " + domains.begin()->first + " is there",
						"drop the feature that it belongs to first");
		if (feature_ == "clustering") {
			BRAID_TRY(const auto columns, ClusteringColumns(draft_));
			if (!columns.empty())
				return Used("the table is clustered by " + ToString(columns[0]),
							"ALTER TABLE ... CLUSTER BY NONE first");
			Forget(kClusteringDomain);
		}
		if (feature_ == "rowTracking") Forget(kRowTrackingDomain);
		return {};
	}

	void Forget(const std::string& domain) {
		const auto known = draft_.before->domains.find(domain);
		if (known != draft_.before->domains.end())
			draft_.domains.push_back({domain, known->second.configuration, true});
	}

	Status CheckFiles() const {
		for (const LiveFile* file : draft_.before->files->Files()) {
			if (feature_ == "deletionVectors" && file->deletion_vector) {
				return Used("file " + std::string(file->path) + " has a deletion vector",
							"REORG TABLE ... APPLY (PURGE) first");
			}
			if (feature_ == "rowTracking" && file->base_row_id) {
				return Used("file " + std::string(file->path) + " has row ids",
							"CREATE OR REPLACE TABLE ... AS SELECT makes a table without");
			}
		}
		return {};
	}

	TableDraft& draft_;
	const std::string feature_;
};

const TableFeature* Find(const std::string& name) {
	const auto feature = std::ranges::find(TableFeatures(), name, &TableFeature::name);
	return feature == TableFeatures().end() ? nullptr : &*feature;
}

struct Traces {
	const std::string& feature;
	bool found = false;

	void operator()(Metadata&& metadata) {
		const auto schema = ParseSchema(metadata.schema_string);
		found |= !schema || NeededFeatures(**schema, metadata.configuration).contains(feature);
	}
	void operator()(AddFile&& add) { found |= feature == "deletionVectors" && add.deletion_vector; }
	void operator()(RemoveFile&& remove) { found |= feature == "deletionVectors" && remove.deletion_vector; }
	template <class Other>
	void operator()(Other&&) {}
};

}  // namespace

Status DropFeature(TableDraft& draft, const std::string& name, bool truncate_history) {
	const std::string& table = draft.before->table;
	const auto canonical = CanonicalFeature(name);
	const std::string feature = canonical ? *canonical : name;
	if (!HasFeature(draft.before->protocol, feature)) {
		return Fail(ErrorKind::kNotFound,
					"[DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT] table " + table + " does not have the feature " + name);
	}
	if (truncate_history && !Find(feature)->reader_writer) {
		return Fail(ErrorKind::kInvalidArgument, "[DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED] feature " +
													 feature + " of table " + table +
													 " is one of writers only: leave out TRUNCATE HISTORY");
	}
	BRAID_TRY(Drop(draft, feature).Run());
	draft.dropped_feature = feature;
	draft.operation = "DROP FEATURE";
	draft.parameters["featureName"] = JsonString(feature);
	draft.parameters["truncateHistory"] = truncate_history ? "true" : "false";
	return {};
}

// A checkpoint repeats what commits have said. Where commits are gone already, it is all that can be looked at.
Result<int64_t> LastUse(LogStore& log, const Snapshot& table, const std::string& feature) {
	BRAID_TRY(const LogListing listing, ListLog(log, table.table, 0));
	int64_t last = -1;
	for (const CommitFile& commit : std::views::reverse(listing.commits)) {
		if (commit.version > table.version) continue;
		BRAID_TRY(const std::string bytes, log.Read(CommitPath(commit.version)));
		Traces traces {feature};
		BRAID_TRY(ParseCommit(bytes, "table " + table.table, [&](Action&& action) -> Status {
			std::visit(traces, std::move(action));
			return {};
		}));
		if (!traces.found) continue;
		last = commit.version;
		break;
	}
	for (const CheckpointFiles& checkpoint : listing.checkpoints) {
		const auto name = ParseLogFileName(checkpoint.paths[0].substr(checkpoint.paths[0].rfind('/') + 1));
		const bool v2 = name && name->kind == LogFileKind::kUuidCheckpoint;
		const bool blind = listing.commits.empty() || listing.commits[0].version > checkpoint.version;
		if ((v2 && feature == "v2Checkpoint") || blind) last = std::max(last, checkpoint.version);
	}
	return last;
}

Result<bool> CheckHistory(LogStore& log, const Snapshot& table, const std::string& name, bool truncate_history,
						  int64_t now_ms) {
	const auto canonical = CanonicalFeature(name);
	const TableFeature* feature = canonical ? Find(*canonical) : nullptr;
	if (feature == nullptr || !feature->reader_writer) return false;
	BRAID_TRY(const int64_t last, LastUse(log, table, *canonical));
	if (last < 0) return false;
	const std::string what = "feature " + *canonical + " of table " + table.table + " cannot be dropped yet: version " +
							 std::to_string(last) + ", which can still be read, uses it";
	const std::string retention = PropertyValue(table.metadata.configuration, kRetention);
	if (!truncate_history) {
		return Fail(ErrorKind::kUnsupported, "[DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST] " + what +
												 "; ALTER TABLE ... DROP FEATURE " + *canonical +
												 " TRUNCATE HISTORY cuts off the versions before this one, " +
												 retention + " after that one (" + kRetention + ")");
	}
	const auto stored = log.Stat(CommitPath(last));
	const int64_t age = PropertyInteger(table.metadata.configuration, kRetention);
	if (last == table.version || (stored && stored->modification_time_ms > now_ms - age)) {
		return Fail(ErrorKind::kUnsupported, "[DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD] " + what +
												 "; its log can be cut off " + retention +
												 " after it, and after one more commit (" + kRetention + ")");
	}
	return true;
}

}  // namespace braid
