// SPDX-License-Identifier: Apache-2.0
// DuckdbRowProbe: answers the kernel's RowProbe questions while a commit is judged. One nested connection for the whole commit; one scan reads
// the asked files, its deletion filter lets through only the asked rows, and the transaction's own bound expressions are evaluated on them.
// Reads the columns that the condition needs; the rows that match are read once more, whole, for their pictures.
#pragma once

#include <memory>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/row_probe.h"

namespace braid::engine {

class DuckdbRowProbe final : public RowProbe {
 public:
  // `view`: schema and partitioning of the rows. `context`: the session that commits; its settings hold, its interrupts stop the probe.
  DuckdbRowProbe(duckdb::ClientContext& context, std::string root, SnapshotPtr view);
  ~DuckdbRowProbe() override;

  Result<std::vector<ProbeMatch>> Match(std::span<const ProbeRequest> requests, const Predicate& bound, const RowPredicate* exact,
                                        size_t limit) override;
  Result<std::vector<std::string>> Describe(const AddFile& file, std::span<const uint64_t> positions) override;

 private:
  struct Session;
  Session& Open();

  duckdb::ClientContext& context_;
  std::string root_;
  SnapshotPtr view_;
  std::unique_ptr<Session> session_;
};

}  // namespace braid::engine
