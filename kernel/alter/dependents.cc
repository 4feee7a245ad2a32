// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/dependents.h"

#include <algorithm>

#include "base/ascii.h"
#include "kernel/alter/clustering.h"

namespace braid {

namespace {

constexpr auto kStatsColumnsKey = "delta.dataSkippingStatsColumns";

bool InWord(char c) {
	return (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
		   static_cast<unsigned char>(c) >= 0x80;
}

// Whether a SQL expression has this name in it as a whole word. Text in quotes counts too: to refuse once too often harms nobody.
bool Mentions(std::string_view expression, std::string_view name) {
	for (size_t at = 0; at + name.size() <= expression.size(); at++) {
		if (!SameIgnoringCase(expression.substr(at, name.size()), name)) continue;
		const bool begins = at == 0 || !InWord(expression[at - 1]) || !InWord(name.front());
		const size_t end = at + name.size();
		const bool ends = end == expression.size() || !InWord(expression[end]) || !InWord(name.back());
		if (begins && ends) return true;
	}
	return false;
}

bool SamePath(const ColumnPath& a, const ColumnPath& b) {
	return std::ranges::equal(a, b, [](auto& x, auto& y) { return SameIgnoringCase(x, y); });
}

// Whether `outer` is `inner` or a struct around it.
bool Holds(const ColumnPath& outer, const ColumnPath& inner) {
	return outer.size() <= inner.size() &&
		   SamePath(outer, {inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(outer.size())});
}

std::vector<std::string> SplitList(const std::string& list) {
	std::vector<std::string> items(1);
	bool quoted = false;
	for (const char c : list) {
		if (c == '`') quoted = !quoted;
		if (c == ',' && !quoted) {
			items.emplace_back();
		} else if (c != ' ' || quoted || !items.back().empty()) {
			items.back() += c;
		}
	}
	for (std::string& item : items) item.erase(item.find_last_not_of(' ') + 1);
	return items;
}

}  // namespace

Status RefuseIfNeeded(const TableDraft& draft, const ColumnPath& column, const std::string& what) {
	const auto refuse = [&](const char* error_class, const std::string& by) {
		return Fail(ErrorKind::kUnsupported, std::string("[") + error_class + "] column \"" + ToString(column) +
												 "\" of table " + draft.before->table + " cannot be " + what + ": " +
												 by);
	};
	for (const auto& [key, expression] : draft.metadata.configuration) {
		if (!key.starts_with(kConstraintPrefix) || !Mentions(expression, column.back())) continue;
		const std::string name = key.substr(kConstraintPrefix.size());
		return refuse("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE", "constraint " + name + " CHECK (" + expression +
																	  ") needs it; ALTER TABLE ... DROP CONSTRAINT " +
																	  name + " first");
	}
	for (const Field& field : draft.schema->fields) {
		const auto expression = MetadataString(field, kGenerationExpressionKey);
		if (!expression || !Mentions(*expression, column.back())) continue;
		return refuse("DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
					  "column \"" + field.name + "\" is generated from it (" + *expression + ")");
	}
	return {};
}

Status RefuseIfLayout(const TableDraft& draft, const ColumnPath& column) {
	const auto refuse = [&](const char* error_class, const std::string& role) {
		return Fail(ErrorKind::kUnsupported, std::string("[") + error_class + "] column \"" + ToString(column) +
												 "\" of table " + draft.before->table + " cannot be dropped: " + role);
	};
	for (const std::string& partition : draft.metadata.partition_columns) {
		if (column.size() == 1 && SameIgnoringCase(partition, column[0]))
			return refuse("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", "the table is partitioned by it");
	}
	BRAID_TRY(const std::vector<ColumnPath> clustering, ClusteringColumns(draft));
	for (const ColumnPath& path : clustering) {
		if (Holds(column, path)) {
			return refuse("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN",
						  "the table is clustered by " + ToString(path) +
							  "; ALTER TABLE ... CLUSTER BY other columns, or NONE, first");
		}
	}
	return {};
}

void RenameInStatsColumns(TableDraft& draft, const ColumnPath& from, const ColumnPath& to) {
	const auto entry = draft.metadata.configuration.find(kStatsColumnsKey);
	if (entry == draft.metadata.configuration.end()) return;
	std::string list;
	for (const std::string& item : SplitList(entry->second)) {
		std::string kept = item;
		std::string plain = item;
		std::erase(plain, '`');
		const std::string old = ToString(from);
		const bool below = plain.size() > old.size() && plain[old.size()] == '.' &&
						   SameIgnoringCase(std::string_view(plain).substr(0, old.size()), old);
		if (SameIgnoringCase(plain, old) || below) {
			if (to.empty()) continue;
			kept = ToString(to) + plain.substr(old.size());
		}
		list += (list.empty() ? "" : ",") + kept;
	}
	if (list.empty()) {
		draft.metadata.configuration.erase(entry);
	} else {
		entry->second = list;
	}
}

}  // namespace braid
