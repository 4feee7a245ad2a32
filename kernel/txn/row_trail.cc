// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/row_trail.h"

#include <algorithm>

namespace braid {

size_t RowTrail::NumberOf(const std::string& path) {
	const auto [known, is_new] = numbers_.try_emplace(path, files_.size());
	if (is_new) files_.push_back(path);
	return known->second;
}

void RowTrail::Add(std::span<const Moves> moves) {
	std::vector<std::vector<bool>> went_on(moves.size());  // by image: of a row that has moved before
	std::map<size_t, size_t> from;                         // file to index into moves
	for (size_t i = 0; i < moves.size(); i++) {
		went_on[i].resize(moves[i].images.size());
		if (const auto known = numbers_.find(moves[i].path); known != numbers_.end()) from[known->second] = i;
	}
	for (auto& [path, steps] : steps_) {
		for (Step& step : steps) {
			const auto source = from.find(step.file);
			if (source == from.end()) continue;
			const auto& images = moves[source->second].images;
			const auto image = std::ranges::lower_bound(images, step.to, {}, &RowImage::position);
			if (image == images.end() || image->position != step.to) continue;
			went_on[source->second][static_cast<size_t>(image - images.begin())] = true;
			step.file = NumberOf(image->file->path);
			step.to = image->row;
		}
	}
	for (size_t i = 0; i < moves.size(); i++) {
		std::vector<Step>& steps = steps_[moves[i].path];
		const auto old_end = static_cast<std::ptrdiff_t>(steps.size());
		for (size_t k = 0; k < moves[i].images.size(); k++) {
			const RowImage& image = moves[i].images[k];
			if (!went_on[i][k]) steps.push_back({image.position, NumberOf(image.file->path), image.row});
		}
		std::ranges::inplace_merge(steps, steps.begin() + old_end, {}, &Step::from);
	}
}

RowPlace RowTrail::Follow(const std::string& path, uint64_t position) const {
	const auto steps = steps_.find(path);
	if (steps == steps_.end()) return {path, position};
	const auto step = std::ranges::lower_bound(steps->second, position, {}, &Step::from);
	if (step == steps->second.end() || step->from != position) return {path, position};
	return {files_[step->file], step->to};
}

}  // namespace braid
