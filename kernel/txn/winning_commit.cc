// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/winning_commit.h"

#include <simdjson.h>

#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/partition_key.h"
#include "kernel/stats/file_stats.h"

namespace braid {

// Unreadable predicates count as not recorded: the rules then take the safe side.
static std::optional<std::vector<Predicate>> ParseReads(const std::string& reads) {
	if (reads.empty()) return std::nullopt;
	simdjson::dom::parser parser;
	simdjson::dom::array array;
	if (parser.parse(reads).get(array) != simdjson::SUCCESS) return std::nullopt;
	std::vector<Predicate> out;
	for (simdjson::dom::element element : array) {
		auto predicate = PredicateFromJson(simdjson::minify(element));
		if (!predicate) return std::nullopt;
		out.push_back(*std::move(predicate));
	}
	return out;
}

namespace {

struct ActionSorter {
	WinningCommit& winner;

	void operator()(CommitInfo&& info) { winner.info = std::move(info); }
	void operator()(Protocol&& protocol) { winner.protocol = std::move(protocol); }
	void operator()(Metadata&& metadata) { winner.metadata = std::move(metadata); }
	void operator()(SetTransaction&& transaction) { winner.set_transactions.push_back(std::move(transaction)); }
	void operator()(DomainMetadata&& domain) { winner.domains.push_back(std::move(domain)); }
	void operator()(AddCdcFile&&) {}
	void operator()(AddFile&& add) {
		auto& touch = winner.touched[DecodePath(add.path)];
		touch.path = add.path;
		touch.data_change |= add.data_change;
	}
	void operator()(RemoveFile&& remove) {
		auto& touch = winner.touched[DecodePath(remove.path)];
		touch.path = remove.path;
		touch.data_change |= remove.data_change;
		winner.has_removes = true;
	}
};

}  // namespace

Result<WinningCommit> ParseWinningCommit(std::string_view bytes, int64_t version, const std::string& table) {
	WinningCommit winner;
	winner.version = version;
	const std::string where = "table " + table + ", version " + std::to_string(version);
	BRAID_TRY(ParseCommit(bytes, where, [&](Action&& action) -> Status {
		std::visit(ActionSorter {winner}, std::move(action));
		return {};
	}));
	winner.reads = ParseReads(winner.info.reads);
	return winner;
}

static std::optional<int64_t> LiveRows(const LiveFile& file) {
	const auto rows = NumRecords(file.stats);
	if (!rows) return std::nullopt;
	return *rows - (file.deletion_vector ? file.deletion_vector->cardinality : 0);
}

// Files that appear must hold as many live rows as the files that vanish, in each partition. A file that stays but has another vector makes
// the commit a change, whatever it says of itself.
static bool RowCountsAgree(const std::vector<FileEffect>& effects, const Snapshot& table) {
	std::map<std::string_view, std::string> partitions;  // by text
	std::map<std::string_view, int64_t> balance;
	bool vanished = false;
	for (const auto& effect : effects) {
		if (effect.before && effect.after) return false;
		const LiveFile& file = effect.before ? *effect.before : *effect.after;
		const auto rows = LiveRows(file);
		if (!rows) return false;
		const auto [partition, is_new] = partitions.try_emplace(file.partition_values);
		if (is_new) partition->second = PartitionKey(file.partition_values, table);
		balance[partition->second] += effect.before ? -*rows : *rows;
		vanished |= effect.before != nullptr;
	}
	for (const auto& [partition, rows] : balance) {
		if (rows != 0) return false;
	}
	return vanished;
}

bool SameVector(const LiveFile& a, const LiveFile& b) {
	if (!a.deletion_vector || !b.deletion_vector) return !a.deletion_vector && !b.deletion_vector;
	return *a.deletion_vector == *b.deletion_vector;
}

bool ReplacesWholeTable(const WinningCommit& winner) {
	const std::string& operation = winner.info.operation;
	const auto mode = winner.info.operation_parameters.find("mode");
	const bool overwrite = operation == "WRITE" && mode != winner.info.operation_parameters.end() &&
						   mode->second.find("Overwrite") != std::string::npos &&
						   !winner.info.operation_parameters.contains("predicate");
	return overwrite || operation == "RESTORE" || operation.find("REPLACE TABLE") != std::string::npos;
}

void AttachEffects(WinningCommit& winner, SnapshotPtr before, SnapshotPtr after) {
	winner.before = std::move(before);
	winner.after = std::move(after);
	winner.effects.clear();
	bool any_data_change = false;
	for (const auto& [path, touch] : winner.touched) {
		FileEffect effect;
		effect.path = path;
		effect.before = winner.before->files->Find(touch.path);
		effect.after = winner.after->files->Find(touch.path);
		any_data_change |= touch.data_change;
		if (!effect.before && !effect.after) continue;
		if (effect.before && effect.after && SameVector(*effect.before, *effect.after)) continue;
		winner.effects.push_back(std::move(effect));
	}
	const bool rearranges = !any_data_change && RowCountsAgree(winner.effects, *winner.after);
	for (auto& effect : winner.effects) effect.moved = rearranges;
	winner.contradictory = !any_data_change && !winner.effects.empty() && !rearranges;
	winner.data_changing = !winner.effects.empty() && !rearranges;
	winner.blind = winner.info.is_blind_append.value_or(false) && !winner.has_removes;
}

}  // namespace braid
