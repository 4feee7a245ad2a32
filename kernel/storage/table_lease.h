// SPDX-License-Identifier: Apache-2.0
// Leases: who on this machine still needs old files of a table (docs/formats/lease.md). Each table that a process has open keeps one locked file in
// _braid/leases/: the oldest version that one of its transactions reads, and when the oldest of them began. Its name is a token that the names of
// the process's staged files carry. A lease whose lock nobody holds belongs to a dead process and is ignored. Other machines are not seen: for
// them the retention decides. Where no lease can be had (no permission to write), reading goes on without one.
//
// Why a reader loses no file that it needs: VACUUM fixes a version v and reads leases after that; a reader pins first and looks the newest version
// up after that. Either the pin is seen, and all that versions from there on need is kept. Or it came later: then the reader finds v or a newer
// version, and no file of these goes: what is live at v is kept, and what came after v was staged by somebody whose lease was seen too, or
// has committed before the leases were read, which VACUUM sees by looking at the log once more (kernel/maintenance/vacuum_plan.h).
//
// Who pins an older version than the newest may come too late: VACUUM may be deleting its files already. A reader then finds a file gone, and
// says so. Who would bring such files back (RESTORE) must not: he pins while he shares the lock VacuumLockPath, which VACUUM holds alone from before it
// looks the newest version up until the last file is deleted. So his pin is seen, or what he finds on disk stays.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "kernel/storage/local_file.h"

namespace braid {

struct Lease {
	static constexpr int64_t kNothing = INT64_MAX;

	std::string token;
	int64_t oldest_version = kNothing;   // of the versions that its transactions read
	int64_t oldest_start_ms = kNothing;  // of its transactions
};

// Those of one process on one table; thread-safe. A pin costs a look at the file's name, and a small write if the oldest one changes.
class TableLease : public std::enable_shared_from_this<TableLease> {
public:
	class Pin {
	public:
		Pin(std::shared_ptr<TableLease> lease, int64_t number) : lease_(std::move(lease)), number_(number) {}
		Pin(const Pin&) = delete;
		~Pin() { lease_->End(number_); }
		void MoveTo(int64_t version) { lease_->Move(number_, version); }

	private:
		const std::shared_ptr<TableLease> lease_;
		const int64_t number_;
	};

	TableLease(std::string root, Random& random) : root_(std::move(root)), random_(random) {}
	TableLease(const TableLease&) = delete;
	~TableLease();

	// Before a version is looked up that is not below this one.
	std::unique_ptr<Pin> Begin(int64_t version, int64_t now_ms);
	// Eight hexadecimal digits; "" without a lease.
	std::string token();

private:
	void End(int64_t number);
	void Move(int64_t number, int64_t version);
	bool Stands() const;
	void Open();
	FileDescriptor Create(const std::string& path) const;
	void Write();

	const std::string root_;
	Random& random_;
	std::mutex mutex_;  // guards what follows
	FileDescriptor file_;
	pid_t owner_ = 0;  // a fork has the same open file, and needs a lease of its own
	std::string path_;
	std::map<int64_t, Lease> pins_;  // by number
	int64_t next_ = 0;
	Lease written_;
};

// The leases that somebody on this machine holds. Files of dead processes are removed.
Result<std::vector<Lease>> HeldLeases(const std::string& root);
// The file of the lock between VACUUM and who brings files back (kernel/storage/file_lock.h).
std::string VacuumLockPath(const std::string& root);
// The oldest version that they need.
int64_t OldestPin(const std::vector<Lease>& leases);
// `uuid` with the token in front: the name of a staged file that VACUUM can tell whose it is.
std::string WithToken(std::string uuid, const std::string& token);
bool CarriesToken(std::string_view file_name, std::string_view token);

}  // namespace braid
