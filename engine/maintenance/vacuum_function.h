// SPDX-License-Identifier: Apache-2.0
// braid_vacuum('table', 'FULL' | 'LITE', hours, dry_run): what VACUUM is respelled to. Hours: of RETAIN, NULL for the table's own retention. A dry
// run answers a row for each file that would go; else one row: the table's path, the number of files deleted and their bytes.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

void RegisterVacuumFunction(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
