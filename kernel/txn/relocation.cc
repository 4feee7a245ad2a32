// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/relocation.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/pruning.h"
#include "kernel/stats/file_stats.h"
#include "kernel/txn/row_map.h"
#include "kernel/txn/sieve.h"

namespace braid {

std::optional<std::string> RowIdColumn(const WinningCommit& winner) {
	const Configuration& configuration = winner.before->metadata.configuration;
	if (!PropertyEnabled(configuration, "delta.enableRowTracking")) return std::nullopt;
	const auto tag = winner.info.tags.find("delta.rowTracking.preserved");
	if (tag == winner.info.tags.end() || tag->second != "true") return std::nullopt;
	return PropertyValue(configuration, "delta.rowTracking.materializedRowIdColumnName");
}

// Rows of ours that one effect of a winner took from their place.
struct Relocation::Candidate {
	const FileEffect* effect;
	AddFile file;
	PositionSet rows;
	bool whole_file;               // the file is gone, not only these rows
	std::vector<RowImage> images;  // by position
	bool unknown = false;          // nobody could tell
	bool unproven = false;

	// False: a row has two.
	bool SortImages() {
		std::ranges::sort(images, {}, &RowImage::position);
		return std::ranges::adjacent_find(images, {}, &RowImage::position) == images.end();
	}
};

Relocation::Relocation(const Transaction& transaction, LogStore& store, RowProbe& probe, VectorCache& vectors,
					   RowTester& tester)
	: store_(store), probe_(probe), vectors_(vectors), tester_(tester) {
	if (transaction.changes.removes_all) return;
	for (const Read& read : transaction.reads.reads) reads_.push_back(read.bound);
	for (const auto& [path, rows] : transaction.changes.deleted_rows) {
		if (!rows.Empty()) rows_[DecodePath(path)] = {path, rows};
	}
}

Status Relocation::Follow(std::span<const WinningCommit> winners) {
	for (const WinningCommit& winner : winners) {
		if (winner.version <= followed_) continue;
		BRAID_TRY(FollowOne(winner));
		followed_ = winner.version;
	}
	return {};
}

Status Relocation::FollowOne(const WinningCommit& winner) {
	Candidates candidates;
	for (const FileEffect& effect : winner.effects) {
		const auto ours = rows_.find(effect.path);
		if (ours == rows_.end() || !effect.before) continue;
		BRAID_TRY(const RowSelection removed, RemovedRows(effect.before, effect.after, vectors_));
		PositionSet hit = removed.Among(ours->second.rows);
		if (hit.Empty()) continue;
		BRAID_TRY(AddFile file, ToAddFile(*effect.before));
		candidates.push_back({&effect, std::move(file), std::move(hit), !effect.after, {}});
	}
	if (candidates.empty()) return {};
	BRAID_TRY(Locate(winner, candidates));
	Settle(winner, candidates);
	return {};
}

// A file whose bounds exclude all that we have read has none of the rows that we delete, and no copy of one.
bool Relocation::MayHoldOurs(const WinningCommit& winner, const LiveFile& file) const {
	if (reads_.empty()) return true;
	return std::ranges::any_of(reads_, [&](const Predicate& read) {
		return FilePruner(winner.before->metadata, winner.before->schema, winner.before->column_mapping, read)
			.MayMatch(file);
	});
}

namespace {

// New files of a winner, as questions to the probe.
struct Outputs {
	std::vector<const FileEffect*> effects;
	std::vector<AddFile> files;
	std::vector<const PositionSet*> vectors;

	ProbeRequest Request(size_t i) const { return {&files[i], nullptr, vectors[i]->Empty() ? nullptr : vectors[i]}; }
};

Result<Outputs> OutputsOf(const WinningCommit& winner, VectorCache& vectors,
						  const std::function<bool(const LiveFile&)>& in_question) {
	Outputs outputs;
	for (const FileEffect& effect : winner.effects) {
		if (effect.before || !effect.after || !in_question(*effect.after)) continue;
		BRAID_TRY(AddFile file, ToAddFile(*effect.after));
		BRAID_TRY(const PositionSet* vector, vectors.Get(*effect.after));
		outputs.effects.push_back(&effect);
		outputs.files.push_back(std::move(file));
		outputs.vectors.push_back(vector);
	}
	return outputs;
}

}  // namespace

// Gone altogether is the same as too late: nobody can tell where the rows are.
Status Relocation::Locate(const WinningCommit& winner, Candidates& candidates) {
	const bool new_files =
		std::ranges::any_of(winner.effects, [](const FileEffect& effect) { return !effect.before && effect.after; });
	if (!new_files || winner.contradictory) return {};
	const auto column = RowIdColumn(winner);
	const bool by_content = std::ranges::any_of(candidates, &Candidate::whole_file);
	if (!column && !by_content) return {};
	const auto give_up = [&](bool too_late) {
		for (Candidate& candidate : candidates) {
			candidate.images.clear();
			candidate.unknown = true;
			candidate.unproven = too_late;
		}
		return Status {};
	};
	BRAID_TRY(const bool mapped, LocateByMap(winner, candidates));
	if (mapped) return {};
	if (tester_.OutOfTime()) return give_up(true);
	Status located = column ? LocateByIds(winner, candidates, *column) : LocateByContent(winner, candidates);
	if (!located && column && located.error().kind == ErrorKind::kNotFound && by_content)
		located = LocateByContent(winner, candidates);
	if (!located && located.error().kind == ErrorKind::kNotFound) return give_up(tester_.OutOfTime());
	return located;
}

// The map of a rearrangement of ours. It is a hint: false if there is none, or if it does not fit the commit in every respect.
Result<bool> Relocation::LocateByMap(const WinningCommit& winner, Candidates& candidates) {
	if (winner.data_changing || !IsRowMapPath(winner.info.row_map)) return false;
	std::map<std::string, Candidate*> by_path;
	for (Candidate& candidate : candidates) {
		if (!candidate.whole_file) return false;
		by_path[candidate.effect->path] = &candidate;
	}
	std::vector<Candidate*> by_source;
	const auto wanted = [&](const MappedFile& source) -> Result<PositionSet> {
		const auto candidate = by_path.find(DecodePath(source.path));
		by_source.push_back(candidate == by_path.end() ? nullptr : candidate->second);
		return by_source.back() ? by_source.back()->rows : PositionSet();
	};
	std::vector<MappedRow> rows;
	const auto files =
		FindInRowMap(store_, winner.info.row_map, wanted, [&](const MappedRow& row) { rows.push_back(row); });
	if (!files)
		return files.error().kind == ErrorKind::kInterrupted ? Result<bool>(std::unexpected(files.error())) : false;

	std::vector<const FileEffect*> targets;
	std::vector<const PositionSet*> masks;
	for (const MappedFile& target : files->targets) {
		const auto effect = std::ranges::find(winner.effects, DecodePath(target.path), &FileEffect::path);
		const bool new_file = effect != winner.effects.end() && !effect->before && effect->after &&
							  NumRecords(effect->after->stats) == static_cast<int64_t>(target.rows);
		targets.push_back(new_file ? &*effect : nullptr);
		masks.push_back(nullptr);
		if (!new_file) continue;
		BRAID_TRY(masks.back(), vectors_.Get(*effect->after));
	}
	for (const MappedRow& row : rows) {
		if (!targets[row.target] || masks[row.target]->Contains(row.row)) continue;
		by_source[row.source]->images.push_back({row.position, targets[row.target], row.row});
	}
	bool fits = true;
	for (Candidate& candidate : candidates)
		fits &= candidate.SortImages() && candidate.images.size() == candidate.rows.Cardinality();
	for (Candidate& candidate : candidates) {
		if (!fits) candidate.images.clear();
	}
	return fits;
}

// An id that appears twice in the outputs says nothing.
Status Relocation::LocateByIds(const WinningCommit& winner, Candidates& candidates, const std::string& column) {
	std::unordered_map<int64_t, std::pair<Candidate*, uint64_t>> wanted;
	for (Candidate& candidate : candidates) {
		candidate.images.clear();
		const ProbeRequest request {&candidate.file, &candidate.rows, nullptr};
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadRowIds(std::span(&request, 1), column, [&](size_t, auto positions, auto ids) -> Status {
				for (size_t i = 0; i < positions.size(); i++) wanted[ids[i]] = {&candidate, positions[i]};
				return {};
			});
		}));
	}
	Sieve sieve(wanted.size());
	for (const auto& [id, row] : wanted) sieve.Add(static_cast<uint64_t>(id));
	BRAID_TRY(const Outputs outputs,
			  OutputsOf(winner, vectors_, [&](const LiveFile& file) { return MayHoldOurs(winner, file); }));
	for (size_t output = 0; output < outputs.files.size(); output++) {
		const ProbeRequest request = outputs.Request(output);
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadRowIds(std::span(&request, 1), column, [&](size_t, auto positions, auto ids) -> Status {
				for (size_t i = 0; i < positions.size(); i++) {
					if (!sieve.MayHold(static_cast<uint64_t>(ids[i]))) continue;
					const auto row = wanted.find(ids[i]);
					if (row == wanted.end()) continue;
					const auto& [candidate, position] = row->second;
					candidate->images.push_back({position, outputs.effects[output], positions[i]});
				}
				return {};
			});
		}));
	}
	for (Candidate& candidate : candidates) {
		candidate.unknown = !candidate.SortImages();
		if (candidate.unknown) candidate.images.clear();
	}
	return winner.data_changing ? CompareContents(winner, candidates) : Status {};
}

// A change may have given a row with the same id other values: then it is not the row that we saw.
Status Relocation::CompareContents(const WinningCommit&, Candidates& candidates) {
	for (Candidate& candidate : candidates) {
		std::map<uint64_t, std::string> before;
		const ProbeRequest request {&candidate.file, &candidate.rows, nullptr};
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadContents(std::span(&request, 1), [&](size_t, uint64_t position, auto content) -> Status {
				before.emplace(position, content);
				return {};
			});
		}));
		std::map<const FileEffect*, std::vector<std::pair<uint64_t, uint64_t>>> origins;  // position there, and ours
		for (const RowImage& image : candidate.images) origins[image.file].emplace_back(image.row, image.position);
		PositionSet changed;
		for (auto& [effect, positions] : origins) {
			std::ranges::sort(positions);
			BRAID_TRY(const AddFile file, ToAddFile(*effect->after));
			PositionSet only;
			for (const auto& [position, ours] : positions) only.Add(position);
			const ProbeRequest images {&file, &only, nullptr};
			BRAID_TRY(tester_.Spend([&] {
				return probe_.ReadContents(
					std::span(&images, 1), [&](size_t, uint64_t position, auto content) -> Status {
						const auto image = std::ranges::lower_bound(positions, std::pair(position, uint64_t {0}));
						if (before.at(image->second) != content) changed.Add(image->second);
						return {};
					});
			}));
		}
		std::erase_if(candidate.images, [&](const RowImage& image) { return changed.Contains(image.position); });
	}
	return {};
}

namespace {

struct ContentHash {
	using is_transparent = void;
	size_t operator()(std::string_view content) const { return std::hash<std::string_view>()(content); }
};

}  // namespace

// Rows with the same content are interchangeable, so it is enough that as many copies came as went.
Status Relocation::LocateByContent(const WinningCommit& winner, Candidates& candidates) {
	struct Copies {
		std::vector<std::pair<Candidate*, uint64_t>> ours;
		size_t before = 0;
		std::vector<std::pair<const FileEffect*, uint64_t>> after;
	};
	std::unordered_map<std::string, Copies, ContentHash, std::equal_to<>> copies;
	for (Candidate& candidate : candidates) {
		candidate.images.clear();
		if (!candidate.whole_file) continue;
		const ProbeRequest request {&candidate.file, &candidate.rows, nullptr};
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadContents(std::span(&request, 1), [&](size_t, uint64_t position, auto content) -> Status {
				copies[std::string(content)].ours.emplace_back(&candidate, position);
				return {};
			});
		}));
	}
	Sieve sieve(copies.size());
	for (const auto& [content, rows] : copies) sieve.Add(ContentHash()(content));
	const auto find = [&](std::string_view content) {
		return sieve.MayHold(ContentHash()(content)) ? copies.find(content) : copies.end();
	};
	for (const FileEffect& effect : winner.effects) {
		if (!effect.before || effect.after || !MayHoldOurs(winner, *effect.before)) continue;
		BRAID_TRY(const AddFile file, ToAddFile(*effect.before));
		BRAID_TRY(const PositionSet* vector, vectors_.Get(*effect.before));
		const ProbeRequest request {&file, nullptr, vector->Empty() ? nullptr : vector};
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadContents(std::span(&request, 1), [&](size_t, uint64_t, auto content) -> Status {
				if (const auto known = find(content); known != copies.end()) known->second.before++;
				return {};
			});
		}));
	}
	BRAID_TRY(const Outputs outputs,
			  OutputsOf(winner, vectors_, [&](const LiveFile& file) { return MayHoldOurs(winner, file); }));
	for (size_t output = 0; output < outputs.files.size(); output++) {
		const ProbeRequest request = outputs.Request(output);
		BRAID_TRY(tester_.Spend([&] {
			return probe_.ReadContents(std::span(&request, 1), [&](size_t, uint64_t position, auto content) -> Status {
				if (const auto known = find(content); known != copies.end())
					known->second.after.emplace_back(outputs.effects[output], position);
				return {};
			});
		}));
	}
	for (const auto& [content, rows] : copies) {
		if (rows.before != rows.after.size()) continue;
		for (size_t i = 0; i < rows.ours.size(); i++) {
			const auto& [candidate, position] = rows.ours[i];
			candidate->images.push_back({position, rows.after[i].first, rows.after[i].second});
		}
	}
	for (Candidate& candidate : candidates) candidate.SortImages();
	return {};
}

std::optional<std::pair<std::string, uint64_t>> Relocation::WhereIs(const std::string& path, uint64_t position) const {
	const RowPlace place = trail_.Follow(DecodePath(path), position);
	const auto rows = rows_.find(place.path);
	if (rows == rows_.end() || !rows->second.rows.Contains(place.position)) return std::nullopt;
	return std::pair(rows->second.path, place.position);
}

void Relocation::Settle(const WinningCommit& winner, const Candidates& candidates) {
	std::map<const FileEffect*, std::vector<uint64_t>> arrived;
	std::vector<RowTrail::Moves> moves;
	for (const Candidate& candidate : candidates) {
		std::vector<uint64_t> found;
		for (const RowImage& image : candidate.images) {
			arrived[image.file].push_back(image.row);
			found.push_back(image.position);
		}
		moves.push_back({candidate.effect->path, candidate.images});
		PlacedRows& rest = rows_[candidate.effect->path];
		rest.rows -= candidate.rows;
		if (rest.rows.Empty()) rows_.erase(candidate.effect->path);
		PositionSet gone = candidate.rows;
		PositionSet followed;
		followed.AddMany(found);
		gone -= followed;
		if (gone.Empty()) continue;
		const bool moved = candidate.effect->moved || candidate.unknown;
		lost_.push_back({winner.version, candidate.file, std::move(gone), moved, candidate.unproven});
	}
	trail_.Add(moves);
	for (auto& [effect, rows] : arrived) {
		PlacedRows& place = rows_[effect->path];
		place.path = effect->after->path;
		std::ranges::sort(rows);
		place.rows.AddMany(rows);
	}
}

}  // namespace braid
