// SPDX-License-Identifier: Apache-2.0
// Changes of a table's metadata: protocols that follow from features, widenings, columns inside other types, dependents.
#include <gtest/gtest.h>

#include "kernel/alter/clustering.h"
#include "kernel/alter/columns.h"
#include "kernel/alter/table_changes.h"
#include "kernel/alter/widening.h"
#include "kernel/schema/schema_json.h"
#include "tests/kernel/deterministic.h"

namespace braid {
namespace {

using Names = std::vector<std::string>;

DataType Type(TypeKind kind, int precision = 0, int scale = 0) {
	DataType type;
	type.kind = kind;
	type.precision = precision;
	type.scale = scale;
	return type;
}

DataTypePtr TypePtr(TypeKind kind) { return std::make_shared<DataType>(Type(kind)); }

SnapshotPtr Table(Configuration configuration = {}, Protocol protocol = {}) {
	auto snapshot = std::make_shared<Snapshot>();
	snapshot->table = "t";
	snapshot->version = 3;
	snapshot->protocol = std::move(protocol);
	snapshot->metadata.configuration = std::move(configuration);
	snapshot->schema = *ParseSchema(
		R"({"type":"struct","fields":[{"name":"id","type":"integer"},{"name":"P","type":"string"},)"
		R"({"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"short"},{"name":"y","type":"string"}]}},)"
		R"({"name":"l","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"z","type":"date"}]},)"
		R"("containsNull":true}}]})");
	snapshot->metadata.schema_string = WriteSchema(*snapshot->schema);
	snapshot->files = std::make_shared<FileIndex>();
	return snapshot;
}

std::string Problem(const Status& status) { return status ? "" : status.error().message; }

TEST(ProtocolChange, LegacyVersionsAreKeptWhereTheyCanSayIt) {
	const Protocol two;
	EXPECT_EQ(WithFeatures(two, {"appendOnly"}).min_writer_version, 2);
	EXPECT_EQ(WithFeatures(two, {"checkConstraints"}).min_writer_version, 3);
	const Protocol mapped = WithFeatures(two, {"columnMapping"});
	EXPECT_EQ(mapped.min_reader_version, 2);
	EXPECT_EQ(mapped.min_writer_version, 5);
	EXPECT_FALSE(mapped.writer_features);
}

TEST(ProtocolChange, ListsHoldWhatTheVersionsImplied) {
	const Protocol five {2, 5, std::nullopt, std::nullopt};
	const Protocol vectors = WithFeatures(five, {"deletionVectors"});
	EXPECT_EQ(vectors.min_reader_version, 3);
	EXPECT_EQ(*vectors.reader_features, (Names {"columnMapping", "deletionVectors"}));
	EXPECT_EQ(*vectors.writer_features, (Names {"appendOnly", "changeDataFeed", "checkConstraints", "columnMapping",
												"deletionVectors", "generatedColumns", "invariants"}));
	const Protocol clustered = WithFeatures(Protocol {}, {"clustering"});
	EXPECT_EQ(clustered.min_reader_version, 1);
	EXPECT_EQ(*clustered.writer_features, (Names {"appendOnly", "clustering", "domainMetadata", "invariants"}));
	EXPECT_FALSE(clustered.reader_features);
}

TEST(Widening, IsWhatTheProtocolLists) {
	using enum TypeKind;
	const std::vector<DataType> types = {
		Type(kByte),   Type(kShort),          Type(kInteger),        Type(kLong),           Type(kFloat),
		Type(kDouble), Type(kDecimal, 10, 0), Type(kDecimal, 12, 2), Type(kDecimal, 20, 0), Type(kDecimal, 21, 1),
		Type(kDate),   Type(kTimestampNtz),   Type(kTimestamp),      Type(kString)};
	// Rows: from; columns: to, in the order of `types`.
	const std::vector<std::string> expected = {
		".xxx.xxxxx....",  // byte
		"..xx.xxxxx....",  // short
		"...x.xxxxx....",  // integer
		"........xx....",  // long
		".....x........",  // float
		"..............",  // double
		".......xxx....",  // decimal(10,0)
		"..............",  // decimal(12,2): to (21,1) it would lose a digit after the point
		".........x....",  // decimal(20,0)
		"..............",  // decimal(21,1)
		"...........x..",  // date
		"..............", "..............", ".............."};
	for (size_t from = 0; from < types.size(); from++) {
		std::string row;
		for (const DataType& to : types) row += IsWidening(types[from], to) ? 'x' : '.';
		EXPECT_EQ(row, expected[from]) << ToString(types[from]);
	}
}

TEST(AlterColumns, ReachInsideOtherTypes) {
	TableDraft draft = DraftOf(Table());
	SeededRandom random(1);
	ASSERT_EQ(Problem(AddColumn(draft, {"L", "element"}, {"w", TypePtr(TypeKind::kLong)}, {true, ""}, random)), "");
	ASSERT_EQ(Problem(ChangeColumnType(draft, {"s", "X"}, TypePtr(TypeKind::kLong))), "");
	ASSERT_EQ(Problem(SetColumnNullable(draft, {"S", "y"}, false)), "");
	EXPECT_EQ(ToString(*draft.schema),
			  "struct<id:integer,P:string,s:struct<x:long,y:string>,l:array<struct<w:long,z:date>>>");
	EXPECT_FALSE(draft.schema->fields[2].type->fields[1].nullable);
	EXPECT_EQ(draft.schema->fields[2].type->fields[0].metadata.at("delta.typeChanges"),
			  R"([{"fromType":"short","toType":"long"}])");
	const auto after = FinishDraft(draft);
	ASSERT_TRUE(after) << after.error().message;
	EXPECT_TRUE(HasFeature((*after)->protocol, "typeWidening"));
	EXPECT_FALSE(HasFeature((*after)->protocol, "deletionVectors"));
}

TEST(AlterColumns, RenamedFieldsKeepTheNamesOfTheirFiles) {
	TableDraft draft = DraftOf(Table({{"delta.dataSkippingStatsColumns", "id, s.x,`P`"}}));
	ASSERT_EQ(Problem(RenameColumn(draft, {"s"}, "t")), "");
	ASSERT_EQ(Problem(DropColumn(draft, {"p"})), "");
	EXPECT_EQ(draft.metadata.configuration.at("delta.columnMapping.maxColumnId"), "7");
	EXPECT_EQ(draft.metadata.configuration.at("delta.dataSkippingStatsColumns"), "id,t.x");
	const Field& renamed = draft.schema->fields[1];
	EXPECT_EQ(renamed.name, "t");
	EXPECT_EQ(PhysicalName(renamed, ColumnMappingMode::kName), "s");
	EXPECT_EQ(PhysicalName(draft.schema->fields[2].type->element->fields[0], ColumnMappingMode::kName), "z");
}

TEST(AlterColumns, DependentsAreFoundByWords) {
	TableDraft draft = DraftOf(Table({{"delta.constraints.c", "length(`p`) > 0 AND pid > 3"}}));
	EXPECT_NE(Problem(DropColumn(draft, {"P"})).find("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"), std::string::npos);
	EXPECT_EQ(Problem(DropColumn(draft, {"id"})), "") << "pid is another word";
}

TEST(AlterTable, ClusteringIsKeptByPhysicalName) {
	TableDraft draft = DraftOf(Table());
	ASSERT_EQ(Problem(RenameColumn(draft, {"s"}, "t")), "");
	ASSERT_EQ(Problem(ClusterBy(draft, {{"T", "x"}, {"id"}})), "");
	EXPECT_EQ(draft.domains[0].configuration, R"({"clusteringColumns":[["s","x"],["id"]]})");
	EXPECT_EQ(*ClusteringColumns(draft), (std::vector<ColumnPath> {{"t", "x"}, {"id"}}));
	EXPECT_NE(Problem(DropColumn(draft, {"t"})).find("clustered by t.x"), std::string::npos);
	EXPECT_NE(Problem(ClusterBy(draft, {{"id"}, {"ID"}})).find("twice"), std::string::npos);
}

TEST(AlterTable, OldTablesGetNoFeatureThatNobodyAskedFor) {
	// The property stands there without its feature; it is not this statement's business.
	TableDraft draft = DraftOf(Table({{"delta.enableDeletionVectors", "true"}}));
	SeededRandom random(1);
	ASSERT_EQ(Problem(AlterProperties(draft, {{"owner", "me"}}, random)), "");
	const auto after = FinishDraft(draft);
	ASSERT_TRUE(after);
	EXPECT_EQ((*after)->protocol.min_writer_version, 2);
	ASSERT_EQ(Problem(AddConstraint(draft, "Positive", "id > 0")), "");
	const auto constrained = FinishDraft(draft);
	ASSERT_TRUE(constrained);
	EXPECT_EQ((*constrained)->protocol.min_writer_version, 3);
	EXPECT_EQ((*constrained)->metadata.configuration.at("delta.constraints.positive"), "id > 0");
}

}  // namespace
}  // namespace braid
