// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/action_objects.h"

namespace braid {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// Reads fields of one action and remembers the first thing that is wrong.
class Fields {
public:
	Fields(std::string_view action, object fields) : action_(action), fields_(fields) {}

	template <class T>
	void Optional(const char* key, std::optional<T>& out) {
		element value;
		if (!Find(key, value)) return;
		T read;
		if (Read(value, read)) {
			out = std::move(read);
		} else {
			Wrong(key, "has the wrong type");
		}
	}
	template <class T>
	void Required(const char* key, T& out) {
		std::optional<T> value;
		Optional(key, value);
		if (value) {
			out = std::move(*value);
		} else {
			Wrong(key, "is missing");
		}
	}
	template <class T>
	void WithDefault(const char* key, T& out) {
		std::optional<T> value;
		Optional(key, value);
		if (value) out = std::move(*value);
	}
	// The value as JSON text.
	void Raw(const char* key, std::string& out) {
		element value;
		if (Find(key, value)) out = simdjson::minify(value);
	}
	void Nested(const char* key, std::optional<object>& out) { Optional(key, out); }

	Status status() const { return problem_.empty() ? Status() : Fail(ErrorKind::kCorrupt, problem_); }

private:
	bool Find(const char* key, element& out) { return !fields_[key].get(out) && !out.is_null(); }
	void Wrong(const char* key, const char* reason) {
		if (problem_.empty()) problem_ = "field \"" + std::string(key) + "\" of " + std::string(action_) + " " + reason;
	}

	static bool Read(element value, std::string& out) {
		std::string_view text;
		if (value.get(text)) return false;
		out = text;
		return true;
	}
	static bool Read(element value, int64_t& out) { return !value.get(out); }
	static bool Read(element value, int& out) {
		int64_t wide = 0;
		if (value.get(wide) || wide < INT32_MIN || wide > INT32_MAX) return false;
		out = static_cast<int>(wide);
		return true;
	}
	static bool Read(element value, bool& out) { return !value.get(out); }
	static bool Read(element value, object& out) { return !value.get(out); }
	static bool Read(element value, std::vector<std::string>& out) {
		simdjson::dom::array items;
		if (value.get(items)) return false;
		for (const element& item : items) {
			if (!Read(item, out.emplace_back())) return false;
		}
		return true;
	}
	// Values that a writer left unquoted are taken by their text, as Jackson does.
	static bool Read(element value, Configuration& out) {
		object entries;
		if (value.get(entries)) return false;
		for (const auto& [key, entry] : entries) {
			if (entry.is_null()) continue;
			std::string text;
			if (!Read(entry, text)) text = simdjson::minify(entry);
			out.insert_or_assign(std::string(key), std::move(text));
		}
		return true;
	}
	static bool Read(element value, PartitionValues& out) {
		object entries;
		if (value.get(entries)) return false;
		for (const auto& [key, entry] : entries) {
			std::optional<std::string>& slot = out[std::string(key)];
			std::string text;
			if (entry.is_null()) continue;
			if (!Read(entry, text)) text = simdjson::minify(entry);
			slot = std::move(text);
		}
		return true;
	}

	std::string_view action_;
	object fields_;
	std::string problem_;
};

Result<Action> ReadMetadata(Fields fields) {
	Metadata metadata;
	fields.Required("id", metadata.id);
	fields.Optional("name", metadata.name);
	fields.Optional("description", metadata.description);
	// A commit without schemaString was written by old Spark for a table without columns.
	fields.WithDefault("schemaString", metadata.schema_string);
	fields.WithDefault("partitionColumns", metadata.partition_columns);
	fields.WithDefault("configuration", metadata.configuration);
	fields.Optional("createdTime", metadata.created_time);
	std::optional<object> format;
	fields.Nested("format", format);
	if (format) {
		Fields nested("metaData.format", *format);
		nested.WithDefault("provider", metadata.format.provider);
		nested.WithDefault("options", metadata.format.options);
		BRAID_TRY(nested.status());
	}
	BRAID_TRY(fields.status());
	return metadata;
}

Result<Action> ReadProtocol(Fields fields) {
	Protocol protocol;
	fields.Required("minReaderVersion", protocol.min_reader_version);
	fields.Required("minWriterVersion", protocol.min_writer_version);
	fields.Optional("readerFeatures", protocol.reader_features);
	fields.Optional("writerFeatures", protocol.writer_features);
	BRAID_TRY(fields.status());
	return protocol;
}

Result<Action> ReadSetTransaction(Fields fields) {
	SetTransaction transaction;
	fields.Required("appId", transaction.app_id);
	fields.Required("version", transaction.version);
	fields.Optional("lastUpdated", transaction.last_updated);
	BRAID_TRY(fields.status());
	return transaction;
}

Result<Action> ReadDomain(Fields fields) {
	DomainMetadata domain;
	fields.Required("domain", domain.domain);
	fields.WithDefault("configuration", domain.configuration);
	fields.WithDefault("removed", domain.removed);
	BRAID_TRY(fields.status());
	return domain;
}

Result<Action> ReadCdc(Fields fields) {
	AddCdcFile cdc;
	fields.Required("path", cdc.path);
	fields.WithDefault("partitionValues", cdc.partition_values);
	fields.Required("size", cdc.size);
	fields.WithDefault("tags", cdc.tags);
	BRAID_TRY(fields.status());
	return cdc;
}

// Provenance is free-form (PROTOCOL: Commit Provenance Information): what does not have the usual type is left out, except the in-commit timestamp,
// which the protocol relies on.
Result<Action> ReadCommitInfo(object object) {
	CommitInfo info;
	Fields required("commitInfo", object);
	required.Optional("inCommitTimestamp", info.in_commit_timestamp);
	BRAID_TRY(required.status());
	Fields fields("commitInfo", object);
	fields.Optional("timestamp", info.timestamp);
	fields.WithDefault("operation", info.operation);
	fields.Optional("readVersion", info.read_version);
	fields.Optional("isolationLevel", info.isolation_level);
	fields.Optional("isBlindAppend", info.is_blind_append);
	fields.WithDefault("operationMetrics", info.operation_metrics);
	fields.Optional("userMetadata", info.user_metadata);
	fields.WithDefault("tags", info.tags);
	fields.WithDefault("engineInfo", info.engine_info);
	fields.WithDefault("txnId", info.txn_id);
	std::optional<simdjson::dom::object> nested;
	fields.Nested("operationParameters", nested);
	if (nested) {
		for (const auto& [key, value] : *nested) {
			info.operation_parameters.insert_or_assign(std::string(key), std::string(simdjson::minify(value)));
		}
	}
	std::optional<simdjson::dom::object> own;
	fields.Nested("braid", own);
	if (own) {
		Fields ours("commitInfo.braid", *own);
		ours.Raw("reads", info.reads);
		ours.WithDefault("rowMap", info.row_map);
	}
	return info;
}

}  // namespace

bool IsKnownObject(std::string_view name) {
	return name == "commitInfo" || name == "protocol" || name == "metaData" || name == "txn" ||
		   name == "domainMetadata" || name == "cdc" || name == "sidecar";
}

Result<Action> ReadAction(std::string_view name, object object) {
	if (name == "commitInfo") return ReadCommitInfo(object);
	if (name == "protocol") return ReadProtocol({name, object});
	if (name == "metaData") return ReadMetadata({name, object});
	if (name == "txn") return ReadSetTransaction({name, object});
	if (name == "domainMetadata") return ReadDomain({name, object});
	if (name == "cdc") return ReadCdc({name, object});
	return Fail(ErrorKind::kInternal, "no action is called " + std::string(name));
}

Result<SidecarFile> ReadSidecar(object object) {
	SidecarFile sidecar;
	Fields fields("sidecar", object);
	fields.Required("path", sidecar.path);
	fields.WithDefault("sizeInBytes", sidecar.size_in_bytes);
	fields.WithDefault("modificationTime", sidecar.modification_time);
	BRAID_TRY(fields.status());
	return sidecar;
}

}  // namespace braid
