// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/copied_rows.h"

#include <algorithm>
#include <map>

#include "kernel/log/log_path.h"
#include "kernel/txn/relocation.h"

namespace braid {

// A vector that shrinks and a file that comes back (RESTORE) bring rows that were not in the snapshot: then nothing is known of the file.
static bool BringsBack(const FileEffect& effect) {
	const auto dead = [](const LiveFile& file) { return file.deletion_vector ? file.deletion_vector->cardinality : 0; };
	return effect.after && (!effect.before || dead(*effect.after) < dead(*effect.before));
}

void RowsOfBase::Advance(const WinningCommit& winner) {
	const auto known = [&](const FileEffect& effect) {
		return !effect.before || whole_files_.contains(effect.path) || base_.files->Find(effect.before->path);
	};
	const bool rearranged = !winner.data_changing && std::ranges::all_of(winner.effects, known);
	for (const FileEffect& effect : winner.effects) {
		if (BringsBack(effect)) unknown_.insert(effect.path);
		if (!effect.before && rearranged) whole_files_.insert(effect.path);
		if (!effect.copied.Empty()) copies_[effect.path] |= effect.copied;
	}
}

PositionSet RowsOfBase::Among(const std::string& path, const PositionSet& rows) const {
	if (whole_files_.contains(path)) return rows;
	if (base_.files->Find(EncodePath(path))) return unknown_.contains(path) ? PositionSet() : rows;
	const auto copies = copies_.find(path);
	return copies == copies_.end() ? PositionSet() : rows & copies->second;
}

namespace {

// One side of one effect: the rows that the winner removed there, or added.
struct Side {
	FileEffect* effect;
	Finding* finding;
	RowSelection selection;
	AddFile file;
	PositionSet matching;  // those that satisfy what we read

	ProbeRequest Request() const {
		if (selection.whole_file) return {&file, nullptr, selection.rows.Empty() ? nullptr : &selection.rows};
		return {&file, &selection.rows, nullptr};
	}
};

class CopySearch {
public:
	CopySearch(WinningCommit& winner, RowProbe& probe, VectorCache& vectors, RowTester& tester)
		: winner_(winner), probe_(probe), vectors_(vectors), tester_(tester), id_column_(RowIdColumn(winner)) {}

	// Without ids only whole files are compared: a vector says by itself which rows are gone.
	Status Collect() {
		for (FileEffect& effect : winner_.effects) {
			if (effect.before && (!effect.after || id_column_)) {
				BRAID_TRY(RowSelection rows, RemovedRows(effect.before, effect.after, vectors_));
				BRAID_TRY(Add(removed_, effect, effect.removed, std::move(rows)));
			}
			if (!effect.before && effect.after) {
				BRAID_TRY(RowSelection rows, AddedRows(effect.before, effect.after, vectors_));
				BRAID_TRY(Add(added_, effect, effect.added, std::move(rows)));
			}
		}
		return {};
	}
	bool Possible() const { return !removed_.empty() && !added_.empty(); }

	Status Match(std::span<const Read> reads) {
		for (const Read& read : reads) {
			const FilePruner pruner(winner_.before->metadata, winner_.before->schema, winner_.before->column_mapping,
									read.bound);
			for (auto* sides : {&removed_, &added_}) {
				for (Side& side : *sides) {
					if (!pruner.MayMatch(*side.selection.file)) continue;
					const ProbeRequest request = side.Request();
					BRAID_TRY(tester_.Spend([&]() -> Status {
						BRAID_TRY(auto rows, probe_.MatchAll(std::span(&request, 1), read.bound, read.exact.get()));
						side.matching |= rows.at(0);
						return {};
					}));
				}
			}
		}
		return {};
	}

	// Counts copies on both sides and cancels pairs.
	Status Cancel(const RowsOfBase& base) {
		std::map<std::string, std::vector<std::pair<Side*, uint64_t>>> gone;
		for (Side& side : removed_) {
			const PositionSet ours = base.Among(side.effect->path, side.matching);
			BRAID_TRY(ForEachKey(side, ours, [&](std::string key, uint64_t position) {
				gone[std::move(key)].emplace_back(&side, position);
			}));
		}
		for (Side& side : added_) {
			PositionSet copies;
			BRAID_TRY(ForEachKey(side, side.matching, [&](const std::string& key, uint64_t position) {
				const auto same = gone.find(key);
				if (same == gone.end() || same->second.empty()) return;
				const auto [other, other_position] = same->second.back();
				same->second.pop_back();
				other->matching -= PositionSet {other_position};
				copies.Add(position);
			}));
			side.matching -= copies;
			side.effect->copied = std::move(copies);
		}
		return {};
	}

	// What is left are real changes.
	Status Conclude() {
		for (auto* sides : {&removed_, &added_}) {
			for (Side& side : *sides) {
				Finding& finding = *side.finding;
				finding.matched = !side.matching.Empty();
				finding.unproven = false;
				finding.samples.clear();
				for (const uint64_t position : side.matching.ToVector(kSamples))
					finding.samples.push_back({0, position, ""});
				BRAID_TRY(AddPictures(side));
				finding.rows = std::move(side.matching);
			}
		}
		return {};
	}

private:
	static constexpr size_t kSamples = 5;

	static Status Add(std::vector<Side>& sides, FileEffect& effect, Finding& finding, RowSelection selection) {
		if (selection.Empty()) return {};
		BRAID_TRY(AddFile file, ToAddFile(*selection.file));
		sides.push_back({&effect, &finding, std::move(selection), std::move(file), {}});
		return {};
	}

	Status ForEachKey(const Side& side, const PositionSet& rows,
					  const std::function<void(std::string, uint64_t)>& visit) {
		if (rows.Empty()) return {};
		const ProbeRequest request {&side.file, &rows, nullptr};
		std::map<uint64_t, int64_t> ids;
		if (id_column_) {
			BRAID_TRY(tester_.Spend([&] {
				return probe_.ReadRowIds(std::span(&request, 1), *id_column_,
										 [&](size_t, auto positions, auto values) -> Status {
											 for (size_t i = 0; i < positions.size(); i++)
												 ids[positions[i]] = values[i];
											 return {};
										 });
			}));
		}
		return tester_.Spend([&] {
			return probe_.ReadContents(std::span(&request, 1), [&](size_t, uint64_t position, auto content) -> Status {
				std::string key(content);
				if (id_column_) key += "#" + std::to_string(ids.at(position));
				visit(std::move(key), position);
				return {};
			});
		});
	}

	Status AddPictures(Side& side) {
		std::vector<uint64_t> positions;
		for (const ProbeMatch& sample : side.finding->samples) positions.push_back(sample.position);
		if (positions.empty()) return {};
		const auto pictures = probe_.Describe(side.file, positions);
		for (size_t i = 0; pictures && i < positions.size(); i++) side.finding->samples[i].row = (*pictures)[i];
		return {};
	}

	WinningCommit& winner_;
	RowProbe& probe_;
	VectorCache& vectors_;
	RowTester& tester_;
	const std::optional<std::string> id_column_;
	std::vector<Side> removed_, added_;
};

}  // namespace

Status DiscardCopiedRows(WinningCommit& winner, std::span<const Read> reads, const RowsOfBase& base, RowProbe& probe,
						 VectorCache& vectors, RowTester& tester) {
	if (!winner.data_changing || winner.contradictory || winner.copies_discarded || tester.OutOfTime()) return {};
	const bool suspicious = std::ranges::any_of(
		winner.effects, [](const FileEffect& effect) { return !effect.before && effect.added.matched; });
	if (!suspicious) return {};
	winner.copies_discarded = true;
	CopySearch search(winner, probe, vectors, tester);
	BRAID_TRY(search.Collect());
	if (!search.Possible()) return {};
	Status searched = search.Match(reads);
	if (searched) searched = search.Cancel(base);
	// Files that are gone, or no time: everything stays a change.
	if (!searched) return searched.error().kind == ErrorKind::kNotFound ? Status {} : searched;
	return search.Conclude();
}

}  // namespace braid
