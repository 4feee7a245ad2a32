// SPDX-License-Identifier: Apache-2.0
// Bound plans hold raw references to catalog entries. EntryPins keeps every entry that a query has looked up alive until that query's end,
// which comes after the plan is gone and the transaction is over; and the leases of old versions that it reads.
#pragma once

#include <mutex>
#include <vector>

#include "duckdb/catalog/catalog_entry.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "kernel/storage/table_lease.h"

namespace braid::engine {

class EntryPins : public duckdb::ClientContextState {
public:
	static EntryPins& Get(duckdb::ClientContext& context) {
		return *context.registered_state->GetOrCreate<EntryPins>("braid_entry_pins");
	}

	void Add(duckdb::unique_ptr<duckdb::CatalogEntry> entry) {
		std::lock_guard lock(mutex_);
		entries_.push_back(std::move(entry));
	}

	void Add(std::unique_ptr<TableLease::Pin> pin) {
		std::lock_guard lock(mutex_);
		versions_.push_back(std::move(pin));
	}

	void QueryEnd() override {
		std::lock_guard lock(mutex_);
		entries_.clear();
		versions_.clear();
	}

private:
	std::mutex mutex_;
	std::vector<duckdb::unique_ptr<duckdb::CatalogEntry>> entries_;
	std::vector<std::unique_ptr<TableLease::Pin>> versions_;
};

}  // namespace braid::engine
