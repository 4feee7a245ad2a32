// SPDX-License-Identifier: Apache-2.0
#include "kernel/action/string_map.h"

#include "base/excerpt.h"
#include "base/json.h"
#include "simdjson.h"

namespace braid {

namespace {

using simdjson::ondemand::json_type;

// One value of the map; false if it is an object or an array, or broken.
bool ReadValue(simdjson::ondemand::value value, std::optional<std::string>& out) {
	json_type type;
	if (value.type().get(type)) return false;
	std::string_view text;
	switch (type) {
		case json_type::null: {
			bool is_null = false;
			return !value.is_null().get(is_null) && is_null;
		}
		case json_type::string:
			if (value.get_string().get(text)) return false;
			out = text;
			return true;
		case json_type::number:
		case json_type::boolean:
			out = TrimJsonSpace(value.raw_json_token());
			return true;
		default:
			return false;
	}
}

}  // namespace

Result<PartitionValues> ParseStringMap(std::string_view json) {
	PartitionValues result;
	if (json.empty() || json == "{}") return result;
	const auto corrupt = [&] {
		return Fail(ErrorKind::kCorrupt, "not a JSON object of strings: " + Excerpt(json, 200));
	};
	const simdjson::padded_string padded(json);
	simdjson::ondemand::parser parser;
	simdjson::ondemand::document document;
	simdjson::ondemand::object object;
	if (parser.iterate(padded).get(document) || document.get_object().get(object)) return corrupt();
	for (auto entry : object) {
		simdjson::ondemand::field field;
		std::string_view key;
		std::optional<std::string> value;
		if (std::move(entry).get(field) || field.unescaped_key().get(key)) return corrupt();
		std::string name(key);
		if (!ReadValue(field.value(), value)) return corrupt();
		result.insert_or_assign(std::move(name), std::move(value));
	}
	if (!document.at_end()) return corrupt();
	return result;
}

void AppendStringMap(const PartitionValues& map, std::string& out) {
	out += '{';
	for (auto entry = map.begin(); entry != map.end(); ++entry) {
		if (entry != map.begin()) out += ',';
		AppendJsonString(entry->first, out);
		out += ':';
		if (entry->second) {
			AppendJsonString(*entry->second, out);
		} else {
			out += "null";
		}
	}
	out += '}';
}

}  // namespace braid
