// SPDX-License-Identifier: Apache-2.0
// A RowProbe that reads no rows: whoever asks gets an error.
#pragma once

#include "kernel/storage/row_probe.h"

namespace braid {

class NoProbe final : public RowProbe {
public:
	Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest>, const Predicate&, const RowPredicate*,
										  size_t) override {
		return Refuse();
	}
	Result<std::vector<PositionSet>> MatchAll(std::span<const ProbeRequest>, const Predicate&,
											  const RowPredicate*) override {
		return Refuse();
	}
	Status ReadRowIds(std::span<const ProbeRequest>, const std::string&, const RowIdSink&) override { return Refuse(); }
	Status ReadContents(std::span<const ProbeRequest>, const RowContentSink&) override { return Refuse(); }
	Result<std::vector<std::string>> Describe(const AddFile&, std::span<const uint64_t>) override {
		return std::vector<std::string> {};
	}

private:
	static std::unexpected<Error> Refuse() { return Fail(ErrorKind::kInternal, "no row has to be read here"); }
};

}  // namespace braid
