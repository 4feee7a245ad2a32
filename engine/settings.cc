// SPDX-License-Identifier: Apache-2.0
// Values are checked when they are set, so that a commit never meets one that it does not know.
#include "engine/settings.h"

#include <initializer_list>
#include <span>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/database.hpp"

#ifndef BRAID_VERSION
#define BRAID_VERSION "0"
#endif

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::SetScope;
using duckdb::Value;

constexpr auto kDurability = "braid_durability";
constexpr auto kConcurrencyMode = "braid_concurrency_mode";
constexpr auto kCompatRuntime = "braid_compat_runtime";
constexpr auto kCompatPhoton = "braid_compat_photon";
constexpr auto kPreview = "braid_row_level_concurrency_preview";
constexpr auto kPreviewAlias = "spark.databricks.delta.rowlevelconcurrencypreview";
constexpr auto kConflictTimeBudget = "braid_conflict_time_budget_ms";
constexpr auto kCommitTimeout = "braid_commit_timeout_ms";
constexpr auto kStatementRetries = "braid_statement_retries";
constexpr auto kExplainRows = "braid_explain_rows";
constexpr auto kTxnAppId = "braid_txn_app_id";
constexpr auto kTxnVersion = "braid_txn_version";
constexpr auto kUserMetadata = "braid_user_metadata";
constexpr auto kOverwriteMode = "braid_partition_overwrite_mode";
constexpr auto kAutoCompactMinFiles = "braid_auto_compact_min_files";
constexpr auto kOverwriteModeAlias = "spark.sql.sources.partitionOverwriteMode";
constexpr auto kIgnoreMissing = "braid_restore_ignore_missing_files";
constexpr auto kIgnoreMissingAlias = "spark.sql.files.ignoreMissingFiles";
constexpr auto kRetentionCheck = "braid_retention_check";
constexpr auto kRetentionCheckAlias = "spark.databricks.delta.retentionDurationCheck.enabled";

void RequireOneOf(const char* name, Value& value, std::initializer_list<const char*> allowed) {
	auto text = duckdb::StringUtil::Lower(value.ToString());
	std::string list;
	for (auto* candidate : allowed) {
		if (text == candidate) {
			value = Value(text);
			return;
		}
		list += std::string(list.empty() ? "'" : ", '") + candidate + "'";
	}
	throw duckdb::InvalidInputException("%s cannot be '%s': it takes %s", name, text, list);
}

void RequireAtLeast(const char* name, const Value& value, int64_t least) {
	if (value.IsNull() || value.GetValue<int64_t>() < least) {
		throw duckdb::InvalidInputException("%s must be at least %lld, not %s", name, static_cast<long long>(least),
											value.ToString());
	}
}

void CheckDurability(duckdb::ClientContext&, SetScope, Value& value) {
	RequireOneOf(kDurability, value, {"fsync", "none"});
}
void CheckMode(duckdb::ClientContext&, SetScope, Value& value) {
	RequireOneOf(kConcurrencyMode, value, {"strict", "sound", "max"});
}
void CheckRuntime(duckdb::ClientContext&, SetScope, Value& value) {
	RequireOneOf(kCompatRuntime, value, {"13.3", "14.0", "14.1", "14.2", "14.3"});
}
void CheckBudget(duckdb::ClientContext&, SetScope, Value& value) { RequireAtLeast(kConflictTimeBudget, value, 0); }
void CheckTimeout(duckdb::ClientContext&, SetScope, Value& value) { RequireAtLeast(kCommitTimeout, value, 1); }
void CheckRetries(duckdb::ClientContext&, SetScope, Value& value) { RequireAtLeast(kStatementRetries, value, 0); }
void CheckMinFiles(duckdb::ClientContext&, SetScope, Value& value) { RequireAtLeast(kAutoCompactMinFiles, value, 2); }
void CheckRows(duckdb::ClientContext&, SetScope, Value& value) { RequireAtLeast(kExplainRows, value, 0); }

void CheckOverwriteMode(duckdb::ClientContext&, SetScope, Value& value) {
	RequireOneOf(kOverwriteMode, value, {"static", "dynamic"});
}

struct Setting {
	const char* name;
	duckdb::LogicalTypeId type;
	Value default_value;
	SetScope scope;
	duckdb::set_option_callback_t check;
	const char* help;
};

std::span<const Setting> Settings() {
	static const Setting settings[] = {
		{kDurability, duckdb::LogicalTypeId::VARCHAR, Value("fsync"), SetScope::SESSION, CheckDurability,
		 "Whether a commit waits until its files are on stable storage: fsync or none"},
		{kConcurrencyMode, duckdb::LogicalTypeId::VARCHAR, Value("sound"), SetScope::SESSION, CheckMode,
		 "How lost races are judged: sound (a conflict only where rows clash), strict (as published, limits included) "
		 "or "
		 "max (rows that clash are changed again instead of failing the statement)"},
		{kCompatRuntime, duckdb::LogicalTypeId::VARCHAR, Value("14.3"), SetScope::SESSION, CheckRuntime,
		 "Mode strict: whose published rules are followed, 13.3, 14.0, 14.1, 14.2 or 14.3"},
		{kCompatPhoton, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(true), SetScope::SESSION, nullptr,
		 "Mode strict: whether rules that depend on Photon count it as present"},
		{kPreview, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(false), SetScope::SESSION, nullptr,
		 "Mode strict, runtimes 14.0 and 14.1: whether the preview of row-level concurrency is switched on"},
		{kPreviewAlias, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(false), SetScope::SESSION, nullptr,
		 "The same as braid_row_level_concurrency_preview"},
		{kConflictTimeBudget, duckdb::LogicalTypeId::BIGINT, Value::BIGINT(10'000), SetScope::SESSION, CheckBudget,
		 "Milliseconds that one commit may spend on testing rows of concurrent commits, all attempts together"},
		{kCommitTimeout, duckdb::LogicalTypeId::BIGINT, Value::BIGINT(600'000), SetScope::SESSION, CheckTimeout,
		 "Milliseconds after which a commit that keeps losing races without a conflict gives up"},
		{kStatementRetries, duckdb::LogicalTypeId::BIGINT, Value::BIGINT(0), SetScope::SESSION, CheckRetries,
		 "How often a statement outside of BEGIN is executed again as a whole after a conflict"},
		{kExplainRows, duckdb::LogicalTypeId::BIGINT, Value::BIGINT(5), SetScope::SESSION, CheckRows,
		 "How many rows a conflict names"},
		{kAutoCompactMinFiles, duckdb::LogicalTypeId::BIGINT, Value::BIGINT(50), SetScope::SESSION, CheckMinFiles,
		 "How many small files a partition has when a commit compacts it (tables with delta.autoOptimize.autoCompact)"},
		{kTxnAppId, duckdb::LogicalTypeId::VARCHAR, Value(LogicalType::VARCHAR), SetScope::SESSION, nullptr,
		 "Name of an application that writes each of its versions once (with braid_txn_version); NULL: none"},
		{kTxnVersion, duckdb::LogicalTypeId::BIGINT, Value(LogicalType::BIGINT), SetScope::SESSION, nullptr,
		 "The application's version that the next write is; a table that has it or a later one is left alone"},
		{kUserMetadata, duckdb::LogicalTypeId::VARCHAR, Value(LogicalType::VARCHAR), SetScope::SESSION, nullptr,
		 "Text that commits carry as commitInfo.userMetadata; NULL: none"},
		{kRetentionCheck, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(true), SetScope::SESSION, nullptr,
		 "Whether VACUUM refuses to keep files for less than delta.deletedFileRetentionDuration"},
		{kRetentionCheckAlias, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(true), SetScope::SESSION, nullptr,
		 "The same as braid_retention_check: either of them switches it off"},
		{kOverwriteMode, duckdb::LogicalTypeId::VARCHAR, Value("static"), SetScope::SESSION, CheckOverwriteMode,
		 "INSERT OVERWRITE of a partitioned table: static replaces all rows, dynamic the partitions that get new ones"},
		{kOverwriteModeAlias, duckdb::LogicalTypeId::VARCHAR, Value("static"), SetScope::SESSION, CheckOverwriteMode,
		 "The same as braid_partition_overwrite_mode"},
		{kIgnoreMissing, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(false), SetScope::SESSION, nullptr,
		 "Whether RESTORE goes on without files that are gone, and without their rows, instead of failing"},
		{kIgnoreMissingAlias, duckdb::LogicalTypeId::BOOLEAN, Value::BOOLEAN(false), SetScope::SESSION, nullptr,
		 "The same as braid_restore_ignore_missing_files"},
	};
	return settings;
}

Value Current(duckdb::ClientContext& context, const char* name) {
	Value value;
	if (context.TryGetCurrentSetting(name, value) && !value.IsNull()) return value;
	for (auto& setting : Settings()) {
		if (std::string(setting.name) == name) return setting.default_value;
	}
	throw duckdb::InternalException("braid: no setting %s", name);
}

}  // namespace

namespace {

CompatRuntime RuntimeOf(const std::string& name) {
	if (name == "13.3") return CompatRuntime::k13_3;
	if (name == "14.0") return CompatRuntime::k14_0;
	if (name == "14.1") return CompatRuntime::k14_1;
	return name == "14.2" ? CompatRuntime::k14_2 : CompatRuntime::k14_3;
}

ConcurrencyMode ModeOf(const std::string& name) {
	if (name == "strict") return ConcurrencyMode::kStrict;
	return name == "max" ? ConcurrencyMode::kMax : ConcurrencyMode::kSound;
}

}  // namespace

void RegisterSettings(duckdb::DBConfig& config) {
	for (auto& setting : Settings()) {
		config.AddExtensionOption(setting.name, setting.help, LogicalType(setting.type), setting.default_value,
								  setting.check, setting.scope);
	}
}

CommitOptions CommitOptionsOf(duckdb::ClientContext& context) {
	CommitOptions options;
	options.mode = ModeOf(Current(context, kConcurrencyMode).ToString());
	options.compat.runtime = RuntimeOf(Current(context, kCompatRuntime).ToString());
	options.compat.photon = Current(context, kCompatPhoton).GetValue<bool>();
	options.compat.preview =
		Current(context, kPreview).GetValue<bool>() || Current(context, kPreviewAlias).GetValue<bool>();
	options.durable = Current(context, kDurability).ToString() != "none";
	options.conflict_time_budget_ms = Current(context, kConflictTimeBudget).GetValue<int64_t>();
	options.commit_timeout_ms = Current(context, kCommitTimeout).GetValue<int64_t>();
	options.statement_retries = Current(context, kStatementRetries).GetValue<int64_t>();
	options.explain_rows = Current(context, kExplainRows).GetValue<int32_t>();
	options.engine_info = "Braid/" BRAID_VERSION " DuckDB/" + std::string(duckdb::DuckDB::LibraryVersion()).substr(1);
	return options;
}

std::optional<SetTransaction> ApplicationTransactionOf(duckdb::ClientContext& context) {
	Value app_id = Current(context, kTxnAppId), version = Current(context, kTxnVersion);
	if (app_id.IsNull() && version.IsNull()) return std::nullopt;
	if (app_id.IsNull() || version.IsNull()) {
		throw duckdb::InvalidInputException("%s and %s go together: set both, or neither (RESET)", kTxnAppId,
											kTxnVersion);
	}
	return SetTransaction {app_id.ToString(), version.GetValue<int64_t>(), {}};
}

std::optional<std::string> UserMetadataOf(duckdb::ClientContext& context) {
	Value text = Current(context, kUserMetadata);
	return text.IsNull() ? std::nullopt : std::optional(text.ToString());
}

bool IgnoresMissingFiles(duckdb::ClientContext& context) {
	return Current(context, kIgnoreMissing).GetValue<bool>() || Current(context, kIgnoreMissingAlias).GetValue<bool>();
}

bool ChecksVacuumRetention(duckdb::ClientContext& context) {
	return Current(context, kRetentionCheck).GetValue<bool>() &&
		   Current(context, kRetentionCheckAlias).GetValue<bool>();
}

bool OverwritesPartitions(duckdb::ClientContext& context) {
	return Current(context, kOverwriteMode).ToString() == "dynamic" ||
		   Current(context, kOverwriteModeAlias).ToString() == "dynamic";
}

size_t AutoCompactMinFiles(duckdb::ClientContext& context) {
	return Current(context, kAutoCompactMinFiles).GetValue<uint64_t>();
}

}  // namespace braid::engine
