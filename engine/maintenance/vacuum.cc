// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/vacuum.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/environment.h"
#include "base/json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/parallel/task_executor.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "engine/catalog/table_commit.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/vacuum_lock.h"
#include "engine/settings.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/storage/local_file.h"

namespace braid::engine {

namespace {

constexpr const char* kRowMaps = "_braid/map";
constexpr double kHourMs = 3'600'000;
constexpr double kMaxHours = 1e9;  // a hundred thousand years
constexpr int kRecordTries = 10;

class Work : public duckdb::BaseExecutorTask {
public:
	Work(duckdb::TaskExecutor& executor, std::function<void()> work)
		: BaseExecutorTask(executor), work_(std::move(work)) {}
	void ExecuteTask() override { work_(); }
	std::string TaskType() const override { return "BraidVacuum"; }

private:
	std::function<void()> work_;
};

std::vector<TreeEntry> Tree(const std::string& root, const TreeWalk& walk) {
	auto tree = ListTree(root, walk);
	if (!tree && tree.error().kind == ErrorKind::kNotFound) return {};
	return Unwrap(std::move(tree));
}

}  // namespace

Vacuum::Vacuum(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, VacuumRequest request)
	: context_(context),
	  table_(std::move(table)),
	  request_(request),
	  checks_retention_(ChecksVacuumRetention(context)) {}

SnapshotPtr Vacuum::Latest() {
	DuckdbParquetGateway parquet(*context_.db);
	return Unwrap(table_->Latest(parquet));
}

void Vacuum::Plan() {
	auto& store = table_->store();
	const auto view = Latest();
	Unwrap(CheckWrite(*view, TableOperation::kMaintain));
	terms_.now_ms = SystemClock().NowMs();
	terms_.default_retention_ms = PropertyInteger(view->metadata.configuration, "delta.deletedFileRetentionDuration");
	terms_.retention_ms = terms_.default_retention_ms;
	if (request_.hours) {
		const bool possible = *request_.hours >= 0 && *request_.hours <= kMaxHours;
		terms_.retention_ms = possible ? std::llround(*request_.hours * kHourMs) : -1;
	}
	Unwrap(CheckRetention(view->table, terms_, checks_retention_));
	const auto log = Unwrap(ListLog(store, view->table, 0, true));

	auto& needed = needed_.emplace(table_->root());
	needed.AddSnapshot(*view, terms_.cutoff_ms());
	expired_to_ = NewestVersionBefore(log, terms_.cutoff_ms());
	const auto found = request_.lite ? ListRemoved(log) : ListEverything(*view, needed);
	directories_ = 1 + std::ranges::count(found, TreeKind::kDirectory, &TreeEntry::kind);
	const auto maps =
		Tree(table_->root() + "/" + kRowMaps, {[](auto) { return false; }, [](auto) { return false; }, {}, ""});
	const auto leases = Unwrap(HeldLeases(table_->root()));
	const auto first = std::min(FirstNeededCommit(log, terms_, leases), view->version + 1);
	looked_to_ = Latest()->version;
	Unwrap(needed.AddCommits(store, view->table, first, looked_to_));
	expired_to_ = std::min(expired_to_, OldestPin(leases));

	plan_ = PlanVacuum(found, needed, terms_, leases);
	for (auto& map : PlanRowMaps(maps, terms_, leases)) {
		map.path = std::string(kRowMaps) + "/" + map.path;
		plan_.push_back(std::move(map));
	}
}

std::vector<TreeEntry> Vacuum::ListEverything(const Snapshot& view, const NeededFiles& needed) const {
	const auto& context = context_;
	TreeWalk walk;
	walk.skip = [&](std::string_view name) { return IsHiddenFromVacuum(view, name); };
	walk.no_time = [&](std::string_view path) { return needed.Contains(path); };
	walk.interrupted = [&] { return context.interrupted.load(); };
	walk.not_beside = kLogDirectory;
	return Tree(table_->root(), walk);
}

// Files that the log says were removed, as they are found on disk.
std::vector<TreeEntry> Vacuum::ListRemoved(const LogListing& log) const {
	const auto range = Unwrap(PlanLite(log, ReadLastVacuum(table_->store()), expired_to_));
	std::set<std::string> named;
	for (auto version = range.first; version <= range.last; version++) {
		if (context_.interrupted) throw duckdb::InterruptException();
		named.merge([&] {
			auto files = Unwrap(FilesRemovedBy(table_->store(), table_->root(), log.table, version));
			return std::set<std::string>(files.begin(), files.end());
		}());
	}
	std::vector<TreeEntry> found;
	for (auto& path : named) {
		if (auto entry = InspectBelow(table_->root(), path)) found.push_back(*std::move(entry));
	}
	return found;
}

double Vacuum::progress() const {
	return plan_.empty()
			   ? 0
			   : 100.0 * static_cast<double>(std::min(next_.load(), plan_.size())) / static_cast<double>(plan_.size());
}

void Vacuum::Run() {
	const auto lock = LockForVacuum(context_, table_->root());
	Plan();
	if (plan_.empty()) return;
	int64_t files = 0, bytes = 0;
	for (auto& deletion : plan_) {
		files += deletion.reason != DeletionReason::kEmptyDirectory;
		bytes += deletion.size;
	}
	std::map<std::string, std::string> parameters {
		{"retentionCheckEnabled", checks_retention_ ? "true" : "false"},
		{"defaultRetentionMillis", std::to_string(terms_.default_retention_ms)}};
	if (request_.hours) parameters["specifiedRetentionMillis"] = std::to_string(terms_.retention_ms);
	const auto start =
		Record("VACUUM START", std::move(parameters),
			   {{"numFilesToDelete", std::to_string(files)}, {"sizeOfDataToDelete", std::to_string(bytes)}});
	try {
		SpareWhatCameSince(start);
		DeleteFiles();
		DeleteDirectories();
	} catch (...) {
		try {
			Record("VACUUM END", {{"status", JsonString("FAILED")}}, {});
		} catch (const std::exception&) {  // why the work stopped is what the user has to know
		}
		throw;
	}
	Record("VACUUM END", {{"status", JsonString("COMPLETED")}},
		   {{"numDeletedFiles", std::to_string(deleted_files())},
			{"numVacuumedDirectories", std::to_string(directories_)}});
	const auto before = ReadLastVacuum(table_->store());
	if (expired_to_ > before.value_or(-1)) (void)WriteLastVacuum(table_->store(), expired_to_);
}

// A RESTORE of another machine or engine, which does not know our lock, may have brought a file back. One that commits from now on meets VACUUM
// START, and fails: it allows nobody in between.
void Vacuum::SpareWhatCameSince(int64_t version) {
	Unwrap(needed_->AddCommits(table_->store(), table_->root(), looked_to_ + 1, version));
	std::erase_if(plan_, [&](auto& deletion) { return needed_->Contains(deletion.path); });
}

// Each thread takes the next file until there is none.
void Vacuum::DeleteFiles() {
	const auto work = [this] {
		for (size_t i = next_++; i < plan_.size(); i = next_++) {
			if (context_.interrupted) throw duckdb::InterruptException();
			auto& deletion = plan_[i];
			if (deletion.reason == DeletionReason::kEmptyDirectory) continue;
			const auto path = table_->root() + "/" + deletion.path;
			if (unlink(path.c_str()) != 0) {
				if (errno == ENOENT) continue;
				Throw(SystemError(FileAccess::kWrite, "delete", path, errno).error());
			}
			deleted_files_++;
			deleted_bytes_ += deletion.size;
		}
	};
	duckdb::TaskExecutor executor(context_);
	const auto threads = static_cast<size_t>(duckdb::TaskScheduler::GetScheduler(context_).NumberOfThreads());
	for (size_t i = 0; i < std::min(threads, plan_.size()); i++)
		executor.ScheduleTask(duckdb::make_uniq<Work>(executor, work));
	executor.WorkOnTasks();
}

// One that somebody has put something into meanwhile stays.
void Vacuum::DeleteDirectories() {
	std::set<std::string, std::greater<>> emptied;  // what is below comes first
	for (auto& deletion : plan_) {
		if (deletion.reason == DeletionReason::kEmptyDirectory) {
			(void)rmdir((table_->root() + "/" + deletion.path).c_str());
		} else if (request_.lite) {
			for (auto slash = deletion.path.rfind('/'); slash != std::string::npos && slash > 0;
				 slash = deletion.path.rfind('/', slash - 1))
				emptied.insert(deletion.path.substr(0, slash));
		}
	}
	for (auto& directory : emptied) (void)rmdir((table_->root() + "/" + directory).c_str());
}

// A commit that says what happened and changes nothing. Whatever others have committed, it comes after them.
int64_t Vacuum::Record(const std::string& operation, std::map<std::string, std::string> parameters,
					   std::map<std::string, std::string> metrics) {
	for (int tries = 0;; tries++) {
		TableWork work;
		work.table = table_;
		work.view = work.work.base = Latest();
		work.work.changes.note = true;
		work.work.operation = operation;
		work.work.operation_parameters = parameters;
		work.work.operation_metrics = metrics;
		work.work.user_metadata = UserMetadataOf(context_);
		CommitTools tools(context_, work);
		auto commit = tools.Context();
		commit.interrupted = nullptr;  // the end is told also of what was interrupted
		const auto outcome = Commit(commit, work.work);
		if (outcome) {
			table_->Publish(outcome->snapshot);
			return outcome->version;
		}
		if (outcome.error().kind != ErrorKind::kConflict || tries == kRecordTries) Throw(outcome.error());
	}
}

}  // namespace braid::engine
