// SPDX-License-Identifier: Apache-2.0
// On a few rows: the target shows just these, every other table of the lake is what the first execution has seen. As a whole: everything is new.
#include "engine/repair/statement_repairer.h"

#include <algorithm>
#include <iterator>

#include "kernel/log/log_path.h"

namespace braid::engine {

// Files of a run live and die with the transaction that it belongs to.
void StatementRepairer::TakeOver(TableWork& run, bool used) {
	for (auto& file : run.work.changes.new_files) {
		if (used) files_.insert(DecodePath(file.add.path));
	}
	std::lock_guard guard(first_.mutex);
	std::ranges::move(run.created_files, std::back_inserter(first_.created_files));
	run.created_files.clear();
}

Result<std::optional<Rerun>> StatementRepairer::Run(const SnapshotPtr& head, std::span<const ProbeRequest> rows) {
	auto only = std::make_shared<RowsByPath>();
	for (auto& request : rows) (*only)[request.file->path] |= *request.only;
	std::vector<PinnedTable> pinned {{first_.table, head, only}};
	for (auto* other : transaction_.Tables()) {
		if (other != &first_ && other->view) pinned.push_back({other->table, other->view, nullptr});
	}
	auto staged = ExecuteAgain(context_, lake_, first_.statement, pinned);
	if (!staged && staged.error().kind == ErrorKind::kNotFound) return std::nullopt;
	if (!staged) return std::unexpected(staged.error());
	Rerun rerun;
	rerun.removed.resize(rows.size());
	if (!*staged) return rerun;
	auto& run = **staged;
	auto& changes = run.work.changes;
	const bool by_rows = changes.replaced_files.empty();
	TakeOver(run, by_rows);
	if (!by_rows) return std::nullopt;
	std::vector<size_t> sources;
	auto request_of = [&](const std::string& path) {
		auto at = std::ranges::find_if(rows, [&](auto& request) { return request.file->path == path; });
		return static_cast<size_t>(at - rows.begin());
	};
	for (auto& [path, removed] : changes.deleted_rows) rerun.removed.at(request_of(path)) = removed;
	for (auto& path : changes.origin_files) sources.push_back(request_of(path));
	rerun.new_files = std::move(changes.new_files);
	for (auto& file : rerun.new_files) {
		for (auto& run_of_rows : file.origins) run_of_rows.source = sources.at(run_of_rows.source);
	}
	return rerun;
}

Result<std::optional<Transaction>> StatementRepairer::RunAgain() {
	auto staged = ExecuteAgain(context_, lake_, first_.statement, {});
	if (!staged && staged.error().kind == ErrorKind::kNotFound) return std::nullopt;
	if (!staged) return std::unexpected(staged.error());
	if (!*staged) return std::nullopt;
	auto& run = **staged;
	TakeOver(run, true);
	complete_(run);
	probe_.UseView(run.view);
	return std::move(run.work);
}

}  // namespace braid::engine
