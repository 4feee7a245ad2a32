// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checksum_write.h"

#include "kernel/action/action_codec.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/log/log_path.h"

namespace braid {

// {"metaData":{...}}\n -> {...}
static std::string Body(const Action& action) {
	std::string line;
	AppendActionLine(action, line);
	const size_t first = line.find(':') + 1;
	return line.substr(first, line.rfind('}') - first);
}

template <class Actions>
static std::string BodiesOf(const Actions& actions) {
	std::string text = "[";
	for (const auto& [key, action] : actions) text += (text.size() > 1 ? "," : "") + Body(action);
	return text + "]";
}

std::string ChecksumText(const Snapshot& snapshot, const std::string& txn_id) {
	std::string text = "{\"txnId\":\"" + txn_id + "\"";
	const auto number = [&](const char* key, int64_t value) {
		text.append(",\"").append(key).append("\":").append(std::to_string(value));
	};
	number("tableSizeBytes", snapshot.files->total_bytes());
	number("numFiles", static_cast<int64_t>(snapshot.files->size()));
	number("numMetadata", 1);
	number("numProtocol", 1);
	if (HasCommitTimestamps(snapshot.metadata.configuration)) number("inCommitTimestampOpt", snapshot.timestamp);
	text += ",\"setTransactions\":" + BodiesOf(snapshot.set_transactions);
	text += ",\"domainMetadata\":" + BodiesOf(snapshot.domains);
	text += ",\"metadata\":" + Body(snapshot.metadata);
	text += ",\"protocol\":" + Body(snapshot.protocol);
	return text + "}\n";
}

Status WriteChecksum(LogStore& store, Random& random, const Snapshot& snapshot, const std::string& txn_id) {
	const std::string temporary = TemporaryLogPath(random);
	BRAID_TRY(store.Create(temporary, ChecksumText(snapshot, txn_id)));
	const Status moved = store.MoveIfAbsent(temporary, ChecksumPath(snapshot.version));
	if (!moved) (void)store.Delete(temporary);
	return moved;
}

}  // namespace braid
