// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/vector_cache.h"

namespace braid {

Result<const PositionSet*> VectorCache::Get(const LiveFile& file) {
	if (!file.deletion_vector) return &empty_;
	const std::string id = UniqueId(*file.deletion_vector);
	if (auto known = vectors_.find(id); known != vectors_.end()) return &known->second;
	BRAID_TRY(PositionSet positions, ReadDeletionVector(store_, *file.deletion_vector, file.path));
	return &vectors_.emplace(id, std::move(positions)).first->second;
}

}  // namespace braid
