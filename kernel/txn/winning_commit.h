// SPDX-License-Identifier: Apache-2.0
// WinningCommit: a commit of somebody else after the version that we read, as the sum of its effects on files. Each
// winner is read once. A commit with dataChange=false counts as a rearrangement only if its row counts agree, partition
// by partition; isBlindAppend is believed only of a commit that removes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/deletion/position_set.h"
#include "kernel/predicate/predicate.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/row_probe.h"

namespace braid {

// Answer to "does one of these rows satisfy what we read?". Kept, so that no row is tested twice over several attempts.
struct Finding {
	bool tested = false;
	bool matched = false;
	bool unproven = false;  // the time budget ended before the test: counts as a match
	std::vector<ProbeMatch> samples;
	std::string predicate;            // which of our reads matched, "" if that is not known
	std::optional<PositionSet> rows;  // all that match, where somebody needed to know
};

// What a winner did to one path. Views into WinningCommit::before and ::after.
struct FileEffect {
	std::string path;                  // decoded
	const LiveFile* before = nullptr;  // null: was not active
	const LiveFile* after = nullptr;   // null: is not active any more
	bool moved = false;  // part of a verified rearrangement: its rows live on elsewhere, or came from elsewhere
	Finding removed;     // rows that this effect removed, against our reads
	Finding added;
	PositionSet copied;  // added rows that are equal to rows of our own snapshot (copied_rows.h)
};

struct WinningCommit {
	int64_t version = -1;
	CommitInfo info;
	std::optional<Protocol> protocol;
	std::optional<Metadata> metadata;
	std::vector<SetTransaction> set_transactions;
	std::vector<DomainMetadata> domains;
	std::optional<std::vector<Predicate>> reads;  // what it recorded of its reads; nullopt: nothing

	struct Touch {
		std::string path;  // as in the log
		bool data_change = false;
	};
	std::map<std::string, Touch> touched;  // by decoded path
	bool has_removes = false;

	// Set by AttachEffects.
	SnapshotPtr before, after;
	std::vector<FileEffect> effects;
	bool data_changing = false;
	bool contradictory =
		false;  // says dataChange=false, but the row counts differ: nothing else that it says is believed
	bool blind = false;
	bool copies_discarded = false;  // see copied_rows.h
};

Result<WinningCommit> ParseWinningCommit(std::string_view bytes, int64_t version, const std::string& table);
// `before` and `after` are the versions around the winner.
void AttachEffects(WinningCommit& winner, SnapshotPtr before, SnapshotPtr after);

bool SameVector(const LiveFile& a, const LiveFile& b);
// An overwrite, a replacement of the table or a RESTORE.
bool ReplacesWholeTable(const WinningCommit& winner);

}  // namespace braid
