// SPDX-License-Identifier: Apache-2.0
// Features are sets: their order in the log says nothing.
#include "kernel/action/same_action.h"

#include <algorithm>

namespace braid {

static std::vector<std::string> Sorted(std::vector<std::string> names) {
	std::ranges::sort(names);
	return names;
}

bool operator==(const Protocol& a, const Protocol& b) {
	return a.min_reader_version == b.min_reader_version && a.min_writer_version == b.min_writer_version &&
		   Sorted(a.reader_features.value_or(std::vector<std::string> {})) ==
			   Sorted(b.reader_features.value_or(std::vector<std::string> {})) &&
		   Sorted(a.writer_features.value_or(std::vector<std::string> {})) ==
			   Sorted(b.writer_features.value_or(std::vector<std::string> {}));
}

bool SameMetadata(const Metadata& a, const Metadata& b) {
	return a.id == b.id && a.name == b.name && a.description == b.description &&
		   a.format.provider == b.format.provider && a.format.options == b.format.options &&
		   a.schema_string == b.schema_string && a.partition_columns == b.partition_columns &&
		   a.configuration == b.configuration;
}

}  // namespace braid
