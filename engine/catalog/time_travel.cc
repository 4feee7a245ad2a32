// SPDX-License-Identifier: Apache-2.0
// Values of the AT clause are cast here; which version they mean is the kernel's business.
#include "engine/catalog/time_travel.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "engine/catalog/entry_pins.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"

namespace braid::engine {

SnapshotPtr SnapshotAt(duckdb::ClientContext& context, TableHandle& table, const duckdb::BoundAtClause& at) {
	if (duckdb::StringUtil::CIEquals(at.Unit(), "version")) return SnapshotAtVersion(context, table, at.GetValue());
	if (duckdb::StringUtil::CIEquals(at.Unit(), "timestamp")) return SnapshotAtTimestamp(context, table, at.GetValue());
	throw duckdb::BinderException("AT (%s => ...): a lake knows AT (VERSION => n) and AT (TIMESTAMP => t)", at.Unit());
}

SnapshotPtr SnapshotAtVersion(duckdb::ClientContext& context, TableHandle& table, const duckdb::Value& version) {
	duckdb::Value number;
	std::string problem;
	// A cast alone would round.
	const bool whole = version.ToString().find_first_not_of("-0123456789") == std::string::npos;
	if (version.IsNull() || !whole || !version.DefaultTryCastAs(duckdb::LogicalType::BIGINT, number, &problem) ||
		number.IsNull()) {
		throw duckdb::BinderException("version => %s: a version is a whole number", version.ToString());
	}
	DuckdbParquetGateway parquet(*context.db);
	EntryPins::Get(context).Add(table.Pin(number.GetValue<int64_t>()));
	return Unwrap(table.At(parquet, number.GetValue<int64_t>()));
}

SnapshotPtr SnapshotAtTimestamp(duckdb::ClientContext& context, TableHandle& table, const duckdb::Value& timestamp) {
	duckdb::Value instant;
	if (!timestamp.IsNull()) {
		// Through the context: a zone-less timestamp or text needs the session's time zone.
		std::string problem;
		timestamp.TryCastAs(context, duckdb::LogicalType::TIMESTAMP_TZ, instant, &problem);
	}
	if (instant.IsNull()) throw duckdb::BinderException("timestamp => %s: not a point in time", timestamp.ToString());
	int64_t micros = instant.GetValue<duckdb::timestamp_tz_t>().value;
	int64_t floor_ms = micros >= 0 ? micros / 1000 : -((-micros + 999) / 1000);
	DuckdbParquetGateway parquet(*context.db);
	auto pin = table.Pin(0);
	auto snapshot = Unwrap(table.AtTimestamp(parquet, floor_ms));
	pin->MoveTo(snapshot->version);
	EntryPins::Get(context).Add(std::move(pin));
	return snapshot;
}

}  // namespace braid::engine
