// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/pruning.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/padded_json.h"
#include "kernel/stats/range_match.h"
#include "kernel/stats/stats_reader.h"

namespace braid {
namespace {

enum class Source { kPartition, kStats, kUnknown };

// A node of the predicate with its columns found. kTrue, kFalse, kAnd, kOr, or a leaf.
struct PlanNode {
	PredicateKind kind = PredicateKind::kTrue;
	std::vector<PlanNode> children;
	ColumnCondition condition;  // of a leaf
	Source source = Source::kUnknown;
	size_t slot = 0;  // partition column or leaf of the statistics
	TypeKind type = TypeKind::kString;
};

const Field* FindField(const StructType& type, const std::string& name) {
	const auto found =
		std::ranges::find_if(type.fields, [&](const Field& field) { return SameIgnoringCase(field.name, name); });
	return found == type.fields.end() ? nullptr : &*found;
}

// The fields from the top level down to a leaf; empty if the schema has no such column.
std::vector<const Field*> ResolveColumn(const StructType& schema, const std::vector<std::string>& column) {
	std::vector<const Field*> path;
	const StructType* type = &schema;
	for (const std::string& name : column) {
		const Field* field = type->kind == TypeKind::kStruct ? FindField(*type, name) : nullptr;
		if (field == nullptr) return {};
		path.push_back(field);
		type = field->type.get();
	}
	return path;
}

}  // namespace

struct FilePruner::Plan {
	struct PartitionColumn {
		std::string physical_name;
		DataTypePtr type;
	};
	DataTypePtr schema;
	ColumnMappingMode mode;
	std::vector<std::string> partition_names;  // logical
	std::vector<PartitionColumn> partitions;   // those that the predicate mentions
	StatsShape shape;
	PlanNode root;

	PlanNode Compile(const Predicate& predicate);
	void CompileLeaf(const Predicate& leaf, PlanNode& node);
	size_t PartitionSlot(const Field& field);
};

namespace {

// What one file says, read when first asked for.
class FileFacts {
public:
	using Plan = FilePruner::Plan;
	FileFacts(const Plan& plan, std::string_view partition_values_json, std::string_view stats_json)
		: plan_(plan), partition_values_json_(partition_values_json), stats_json_(stats_json) {}

	bool MayBeTrue(const PlanNode& node) {
		switch (node.kind) {
			case PredicateKind::kTrue:
				return true;
			case PredicateKind::kFalse:
				return false;
			case PredicateKind::kAnd:
				return std::ranges::all_of(node.children, [&](const PlanNode& child) { return MayBeTrue(child); });
			case PredicateKind::kOr:
				return std::ranges::any_of(node.children, [&](const PlanNode& child) { return MayBeTrue(child); });
			default:
				return LeafMayBeTrue(node);
		}
	}

private:
	bool LeafMayBeTrue(const PlanNode& leaf) {
		if (leaf.source == Source::kUnknown) return true;
		if (leaf.source == Source::kPartition) {
			if (partitions_.empty()) ReadPartitions();
			const std::optional<Scalar>& value = partitions_[leaf.slot];
			return !value || braid::MayBeTrue(leaf.condition, *value);
		}
		if (stats_json_.empty()) return true;
		if (!stats_read_) stats_read_ = true, stats_usable_ = ReadStats(stats_json_, plan_.shape, stats_).has_value();
		return !stats_usable_ ||
			   braid::MayBeTrue(leaf.condition, stats_.leaves[leaf.slot], stats_.num_records, leaf.type);
	}

	// A partition column that the action does not mention stays unknown.
	void ReadPartitions() {
		partitions_.resize(plan_.partitions.size());
		simdjson::ondemand::document document;
		simdjson::ondemand::object object;
		if (ParseOnDemand(partition_values_json_).get(document) != simdjson::SUCCESS) return;
		if (document.get_object().get(object) != simdjson::SUCCESS) return;
		for (auto member : object) {
			std::string_view key, text;
			simdjson::ondemand::value json;
			if (member.unescaped_key().get(key) != simdjson::SUCCESS) return;
			const auto column = std::ranges::find(plan_.partitions, key, &Plan::PartitionColumn::physical_name);
			if (column == plan_.partitions.end()) continue;
			if (member.value().get(json) != simdjson::SUCCESS) return;
			std::optional<std::string> value;
			if (json.get_string().get(text) == simdjson::SUCCESS) {
				value = std::string(text);
			} else if (!json.is_null()) {
				continue;  // not what the protocol says: unknown
			}
			auto parsed = ParsePartitionValue(value, *column->type);
			if (parsed) partitions_[static_cast<size_t>(column - plan_.partitions.begin())] = *std::move(parsed);
		}
	}

	const Plan& plan_;
	std::string_view partition_values_json_, stats_json_;
	std::vector<std::optional<Scalar>> partitions_;
	StatsValues stats_;
	bool stats_read_ = false, stats_usable_ = false;
};

}  // namespace

size_t FilePruner::Plan::PartitionSlot(const Field& field) {
	const std::string name = PhysicalName(field, mode);
	const auto found = std::ranges::find(partitions, name, &PartitionColumn::physical_name);
	if (found != partitions.end()) return static_cast<size_t>(found - partitions.begin());
	partitions.push_back({name, field.type});
	return partitions.size() - 1;
}

void FilePruner::Plan::CompileLeaf(const Predicate& leaf, PlanNode& node) {
	const Predicate& inner = leaf.kind == PredicateKind::kNot ? leaf.children.front() : leaf;
	const auto path = ResolveColumn(*schema, inner.column);
	if (path.empty()) return;
	const Field& field = *path.back();
	node.condition = ColumnCondition::Of(leaf);
	node.type = field.type->kind;
	if (path.size() == 1 && std::ranges::any_of(partition_names, [&](const std::string& name) {
			return SameIgnoringCase(name, field.name);
		})) {
		node.source = Source::kPartition;
		node.slot = PartitionSlot(field);
	} else if (field.type->kind != TypeKind::kStruct) {
		node.source = Source::kStats;
		node.slot = static_cast<size_t>(shape.AddLeaf(path, mode));
	}
}

PlanNode FilePruner::Plan::Compile(const Predicate& predicate) {
	PlanNode node {.kind = predicate.kind};
	if (predicate.kind == PredicateKind::kAnd || predicate.kind == PredicateKind::kOr) {
		for (const Predicate& child : predicate.children) node.children.push_back(Compile(child));
		// Partition values are cheaper to read than statistics and decide more often.
		std::ranges::stable_partition(node.children,
									  [](const PlanNode& child) { return child.source == Source::kPartition; });
		return node;
	}
	const bool is_leaf = predicate.kind != PredicateKind::kTrue && predicate.kind != PredicateKind::kFalse;
	if (is_leaf) CompileLeaf(predicate, node);
	return node;
}

FilePruner::FilePruner(const Metadata& metadata, DataTypePtr schema, ColumnMappingMode mode, Predicate predicate)
	: trivial_(predicate.kind == PredicateKind::kTrue) {
	auto plan = std::make_shared<Plan>();
	plan->schema = std::move(schema);
	plan->mode = mode;
	plan->partition_names = metadata.partition_columns;
	plan->root = plan->Compile(predicate);
	plan_ = std::move(plan);
}

bool FilePruner::MayMatch(std::string_view partition_values_json, std::string_view stats_json) const {
	return trivial_ || FileFacts(*plan_, partition_values_json, stats_json).MayBeTrue(plan_->root);
}

}  // namespace braid
