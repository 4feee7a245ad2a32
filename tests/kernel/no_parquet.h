// SPDX-License-Identifier: Apache-2.0
// A ParquetGateway without Parquet: refuses every checkpoint, as if its file were damaged.
#pragma once

#include "kernel/storage/parquet_gateway.h"

namespace braid {

class NoParquet : public ParquetGateway {
public:
	Status ReadCheckpoint(std::span<const std::string> locations, CheckpointSink&) override {
		++reads;
		return Fail(ErrorKind::kCorrupt, "no Parquet in this test: " + locations.front());
	}
	Result<int64_t> WriteCheckpoint(const std::string&, FileKind,
									const std::function<Status(const Emit& emit)>&) override {
		return Fail(ErrorKind::kUnsupported, "no Parquet in this test");
	}
	int reads = 0;
};

}  // namespace braid
