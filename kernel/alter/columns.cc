// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/columns.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/json.h"
#include "kernel/alter/dependents.h"
#include "kernel/alter/widening.h"
#include "kernel/feature/property_table.h"

namespace braid {

namespace {

constexpr auto kMaxIdKey = "delta.columnMapping.maxColumnId";
constexpr auto kTypeChangesKey = "delta.typeChanges";

std::vector<Field>::iterator FindField(std::vector<Field>& fields, const std::string& name) {
	return std::ranges::find_if(fields, [&](const Field& field) { return SameIgnoringCase(field.name, name); });
}

std::unexpected<Error> NoColumn(const TableDraft& draft, const ColumnPath& path) {
	return Fail(ErrorKind::kNotFound, "table " + draft.before->table + " has no column \"" + ToString(path) + "\"");
}

// The child of a container that a path names: "element", "key" or "value".
template <class Type>
auto Child(Type& type, const std::string& name) -> decltype(&type.element) {
	if (type.kind == TypeKind::kArray && SameIgnoringCase(name, "element")) return &type.element;
	if (type.kind == TypeKind::kMap && SameIgnoringCase(name, "key")) return &type.key;
	if (type.kind == TypeKind::kMap && SameIgnoringCase(name, "value")) return &type.element;
	return nullptr;
}

// A copy of `type` in which `edit` has changed the type at `path`; nullptr if there is nothing at `path`.
template <class Edit>
Result<DataTypePtr> EditType(const TableDraft& draft, const DataTypePtr& type, const ColumnPath& path, size_t depth,
							 const Edit& edit) {
	auto copy = std::make_shared<DataType>(*type);
	if (depth == path.size()) {
		BRAID_TRY(edit(*copy));
		return copy;
	}
	DataTypePtr* child = Child(*copy, path[depth]);
	if (child == nullptr) {
		const auto field = FindField(copy->fields, path[depth]);
		if (field == copy->fields.end()) return NoColumn(draft, path);
		child = &field->type;
	}
	BRAID_TRY(*child, EditType(draft, *child, path, depth + 1, edit));
	return copy;
}

// Changes the list of fields that holds the column, which must be a field.
template <class Edit>
Status EditSiblings(TableDraft& draft, const ColumnPath& column, const Edit& edit) {
	const ColumnPath parent(column.begin(), column.end() - 1);
	BRAID_TRY(draft.schema, EditType(draft, draft.schema, parent, 0, [&](DataType& type) -> Status {
				  const auto field = FindField(type.fields, column.back());
				  if (field == type.fields.end()) return NoColumn(draft, column);
				  return edit(type.fields, field);
			  }));
	return {};
}

template <class Edit>
Status EditField(TableDraft& draft, const ColumnPath& column, const Edit& edit) {
	return EditSiblings(draft, column, [&](std::vector<Field>&, auto field) -> Status { return edit(*field); });
}

Result<size_t> PlaceFor(const TableDraft& draft, std::vector<Field>& fields, const ColumnPosition& position) {
	if (position.first) return size_t {0};
	if (position.after.empty()) return fields.size();
	const auto field = FindField(fields, position.after);
	if (field == fields.end()) return NoColumn(draft, {position.after});
	return static_cast<size_t>(field - fields.begin()) + 1;
}

std::string PositionText(const ColumnPosition& position) {
	if (position.first) return ",\"position\":\"first\"";
	return position.after.empty() ? "" : ",\"position\":" + JsonString("after " + position.after);
}

// properties.md 6.4: CHANGE COLUMN.
void RecordChange(TableDraft& draft, ColumnPath column, const ColumnPosition& position = {}) {
	draft.operation = "CHANGE COLUMN";
	if (const Field* field = FindColumn(*draft.schema, column)) {
		draft.parameters["column"] = JsonString(ColumnJson(column, *field));
	}
	if (position.first) draft.parameters["position"] = JsonString("first");
	if (!position.after.empty()) draft.parameters["position"] = JsonString("after " + position.after);
}

// The rules of identity columns are made with the table.
Status RefuseIfIdentity(const TableDraft& draft, ColumnPath column, const std::string& what) {
	const Field* field = FindColumn(*draft.schema, column);
	if (field == nullptr || !IdentityOf(*field)) return {};
	return Fail(ErrorKind::kUnsupported, "[DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED] column \"" +
											 ToString(column) + "\" of table " + draft.before->table +
											 " is an identity column and cannot be given " + what);
}

// [x] and y -> [x,y]; JSON lists as text inside JSON strings.
void AppendToList(std::map<std::string, std::string>& parameters, const std::string& key, const std::string& item) {
	const auto known = parameters.find(key);
	std::string list = known == parameters.end() ? "[]" : JsonStringValue(known->second).value_or("[]");
	list.pop_back();
	parameters[key] = JsonString(list + (list.size() > 1 ? "," : "") + item + "]");
}

}  // namespace

const Field* FindColumn(const StructType& schema, ColumnPath& path) {
	const DataType* type = &schema;
	const Field* found = nullptr;
	for (std::string& name : path) {
		found = nullptr;
		if (type->kind == TypeKind::kStruct) {
			const auto field =
				std::ranges::find_if(type->fields, [&](auto& f) { return SameIgnoringCase(f.name, name); });
			if (field == type->fields.end()) return nullptr;
			found = &*field;
			name = field->name;
			type = field->type.get();
		} else if (const DataTypePtr* child = Child(*type, name)) {
			type = child->get();
		} else {
			return nullptr;
		}
	}
	return found;
}

Status AddColumn(TableDraft& draft, const ColumnPath& parent, Field field, const ColumnPosition& position,
				 Random& random) {
	ColumnPath path = parent;
	path.push_back(field.name);
	if (!field.nullable) {
		return Fail(ErrorKind::kUnsupported, "column \"" + ToString(path) + "\" of table " + draft.before->table +
												 " cannot be added NOT NULL: rows that are there have no value for "
												 "it. Add it, fill it, then ALTER COLUMN ... SET NOT NULL");
	}
	if (PropertyValue(draft.metadata.configuration, "delta.columnMapping.mode") != "none") {
		int64_t last_id = PropertyInteger(draft.metadata.configuration, kMaxIdKey);
		DataType one;
		one.kind = TypeKind::kStruct;
		one.fields.push_back(std::move(field));
		field = WithNewColumnIds(one, last_id, random)->fields[0];
		draft.metadata.configuration[kMaxIdKey] = std::to_string(last_id);
	}
	AppendToList(draft.parameters, "columns", "{\"column\":" + ColumnJson(path, field) + PositionText(position) + "}");
	draft.operation = "ADD COLUMNS";
	BRAID_TRY(draft.schema, EditType(draft, draft.schema, parent, 0, [&](DataType& type) -> Status {
				  if (type.kind != TypeKind::kStruct) {
					  return Fail(ErrorKind::kInvalidArgument, "column \"" + ToString(parent) + "\" of table " +
																   draft.before->table + " is no struct: it has type " +
																   ToString(type));
				  }
				  if (FindField(type.fields, field.name) != type.fields.end()) {
					  return Fail(ErrorKind::kAlreadyExists,
								  "table " + draft.before->table + " has a column \"" + ToString(path) + "\" already");
				  }
				  BRAID_TRY(const size_t place, PlaceFor(draft, type.fields, position));
				  type.fields.insert(type.fields.begin() + static_cast<std::ptrdiff_t>(place), std::move(field));
				  return {};
			  }));
	return {};
}

Status RenameColumn(TableDraft& draft, const ColumnPath& wanted, const std::string& name) {
	ColumnPath column = wanted;
	if (FindColumn(*draft.schema, column) == nullptr) return NoColumn(draft, wanted);
	BRAID_TRY(RefuseIfNeeded(draft, column, "renamed"));
	BRAID_TRY(EnsureColumnMapping(draft, "DELTA_UNSUPPORTED_RENAME_COLUMN", "RENAME COLUMN"));
	BRAID_TRY(EditSiblings(draft, column, [&](std::vector<Field>& fields, auto field) -> Status {
		const auto taken = FindField(fields, name);
		if (taken != fields.end() && taken != field) {
			return Fail(ErrorKind::kAlreadyExists,
						"table " + draft.before->table + " has a column \"" + name + "\" already");
		}
		field->name = name;
		return {};
	}));
	if (column.size() == 1) {
		for (std::string& partition : draft.metadata.partition_columns) {
			if (SameIgnoringCase(partition, column[0])) partition = name;
		}
	}
	ColumnPath renamed = column;
	renamed.back() = name;
	RenameInStatsColumns(draft, column, renamed);
	draft.operation = "RENAME COLUMN";
	draft.parameters["oldColumnPath"] = JsonString(ToString(column));
	draft.parameters["newColumnPath"] = JsonString(ToString(renamed));
	return {};
}

Status DropColumn(TableDraft& draft, const ColumnPath& wanted) {
	ColumnPath column = wanted;
	if (FindColumn(*draft.schema, column) == nullptr) return NoColumn(draft, wanted);
	BRAID_TRY(RefuseIfNeeded(draft, column, "dropped"));
	BRAID_TRY(RefuseIfLayout(draft, column));
	BRAID_TRY(EnsureColumnMapping(draft, "DELTA_UNSUPPORTED_DROP_COLUMN", "DROP COLUMN"));
	BRAID_TRY(EditSiblings(draft, column, [&](std::vector<Field>& fields, auto field) -> Status {
		const bool last =
			column.size() == 1 ? fields.size() - 1 <= draft.metadata.partition_columns.size() : fields.size() == 1;
		if (last) {
			return Fail(ErrorKind::kInvalidArgument, "column \"" + ToString(column) + "\" of table " +
														 draft.before->table +
														 " cannot be dropped: it is the last one that holds data");
		}
		fields.erase(field);
		return {};
	}));
	RenameInStatsColumns(draft, column, {});
	draft.operation = "DROP COLUMNS";
	AppendToList(draft.parameters, "columns", JsonString(ToString(column)));
	return {};
}

Status MoveColumn(TableDraft& draft, const ColumnPath& column, const ColumnPosition& position) {
	BRAID_TRY(EditSiblings(draft, column, [&](std::vector<Field>& fields, auto field) -> Status {
		Field moved = std::move(*field);
		fields.erase(field);
		BRAID_TRY(const size_t place, PlaceFor(draft, fields, position));
		fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(place), std::move(moved));
		return {};
	}));
	RecordChange(draft, column, position);
	return {};
}

// PROTOCOL: Type Widening: the nearest field keeps the history of its own type and of those inside it, by their path.
static std::string TypeChange(const DataType& from, const DataType& to, const ColumnPath& inside) {
	std::string out;
	JsonObjectWriter json(out);
	json.String("fromType", ToString(from));
	json.String("toType", ToString(to));
	if (!inside.empty()) json.String("fieldPath", ToString(inside));
	json.Close();
	return out;
}

Status ChangeColumnType(TableDraft& draft, const ColumnPath& wanted, const DataTypePtr& type) {
	ColumnPath field_path = wanted, inside;
	while (!field_path.empty()) {
		ColumnPath path = field_path;
		if (FindColumn(*draft.schema, path) != nullptr) {
			field_path = path;
			break;
		}
		inside.insert(inside.begin(), field_path.back());
		field_path.pop_back();
	}
	if (field_path.empty()) return NoColumn(draft, wanted);
	ColumnPath full = field_path;
	full.insert(full.end(), inside.begin(), inside.end());
	BRAID_TRY(RefuseIfNeeded(draft, field_path, "given another type"));
	BRAID_TRY(RefuseIfIdentity(draft, field_path, "another type"));
	DataTypePtr from;
	BRAID_TRY(draft.schema, EditType(draft, draft.schema, full, 0, [&](DataType& old) -> Status {
				  from = std::make_shared<DataType>(old);
				  if (old == *type) return {};
				  if (!IsWidening(old, *type)) {
					  const std::string wider = WiderTypes(old);
					  return Fail(ErrorKind::kUnsupported,
								  "column \"" + ToString(full) + "\" of table " + draft.before->table +
									  " cannot be changed from " + ToString(old) + " to " + ToString(*type) +
									  ": only widenings keep the data files" +
									  (wider.empty() ? "; " + ToString(old) + " has none"
													 : "; from " + ToString(old) + " they are " + wider));
				  }
				  old = *type;
				  return {};
			  }));
	if (*from != *type) {
		draft.metadata.configuration["delta.enableTypeWidening"] = "true";
		BRAID_TRY(EditField(draft, field_path, [&](Field& field) -> Status {
			std::string& changes = field.metadata[kTypeChangesKey];
			const std::string change = TypeChange(*from, *type, inside);
			changes =
				changes.size() > 2 ? changes.substr(0, changes.size() - 1) + "," + change + "]" : "[" + change + "]";
			return {};
		}));
	}
	RecordChange(draft, field_path);
	return {};
}

Status SetColumnNullable(TableDraft& draft, const ColumnPath& column, bool nullable) {
	BRAID_TRY(EditField(draft, column, [&](Field& field) -> Status {
		field.nullable = nullable;
		return {};
	}));
	RecordChange(draft, column);
	return {};
}

Status SetColumnMetadata(TableDraft& draft, const ColumnPath& column, const std::string& key,
						 const std::optional<std::string>& json) {
	if (key == kCurrentDefaultKey) BRAID_TRY(RefuseIfIdentity(draft, column, "a default"));
	BRAID_TRY(EditField(draft, column, [&](Field& field) -> Status {
		if (json) {
			field.metadata[key] = *json;
		} else {
			field.metadata.erase(key);
		}
		return {};
	}));
	RecordChange(draft, column);
	return {};
}

// One that is there becomes what `wanted` says.
static Status AdjustColumn(TableDraft& draft, const ColumnPath& column, const Field& present, const Field& wanted) {
	if (*present.type != *wanted.type) BRAID_TRY(ChangeColumnType(draft, column, wanted.type));
	if (present.nullable != wanted.nullable) BRAID_TRY(SetColumnNullable(draft, column, wanted.nullable));
	for (const std::string& key : {std::string("comment"), kCurrentDefaultKey}) {
		const auto value = wanted.metadata.find(key);
		if (value == wanted.metadata.end() && !present.metadata.contains(key)) continue;
		BRAID_TRY(SetColumnMetadata(draft, column, key,
									value == wanted.metadata.end() ? std::nullopt : std::optional(value->second)));
	}
	return {};
}

Status ReplaceColumns(TableDraft& draft, const std::vector<Field>& columns, Random& random) {
	if (std::ranges::any_of(draft.schema->fields, [](const Field& field) { return IdentityOf(field).has_value(); })) {
		return Fail(ErrorKind::kUnsupported,
					"[DELTA_IDENTITY_COLUMNS_REPLACE_COLUMNS_NOT_SUPPORTED] REPLACE COLUMNS of table " +
						draft.before->table + ": it has an identity column; add, drop and alter columns one by one");
	}
	// New ones first: a table is never left without a column.
	std::string list, after;
	for (const Field& wanted : columns) {
		const ColumnPosition position = after.empty() ? ColumnPosition {true, ""} : ColumnPosition {false, after};
		ColumnPath path {wanted.name};
		if (const Field* found = FindColumn(*draft.schema, path)) {
			const Field present = *found;
			BRAID_TRY(AdjustColumn(draft, path, present, wanted));
			BRAID_TRY(MoveColumn(draft, path, position));
		} else {
			BRAID_TRY(AddColumn(draft, {}, wanted, position, random));
		}
		after = path[0];
		list += (list.empty() ? "" : ",") + ColumnJson(path, wanted);
	}
	const DataTypePtr all = draft.schema;
	for (const Field& field : all->fields) {
		const bool stays = std::ranges::any_of(
			columns, [&](const Field& wanted) { return SameIgnoringCase(wanted.name, field.name); });
		if (!stays) BRAID_TRY(DropColumn(draft, {field.name}));
	}
	draft.operation = "REPLACE COLUMNS";
	draft.parameters = {{"columns", JsonString("[" + list + "]")}};
	return {};
}

Result<Identity> IdentityToSync(const TableDraft& draft, const ColumnPath& wanted) {
	ColumnPath column = wanted;
	const Field* field = FindColumn(*draft.schema, column);
	if (field == nullptr) return NoColumn(draft, wanted);
	const auto identity = IdentityOf(*field);
	if (identity) return *identity;
	return Fail(ErrorKind::kInvalidArgument, "[DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN] column \"" +
												 ToString(column) + "\" of table " + draft.before->table +
												 " is no identity column: SYNC IDENTITY has nothing to do");
}

Status SyncIdentity(TableDraft& draft, const ColumnPath& column, std::optional<int64_t> value) {
	BRAID_TRY(Identity identity, IdentityToSync(draft, column));
	if (value) {
		BRAID_TRY(identity.mark, MarkCovering(identity, *value));
	}
	BRAID_TRY(EditField(draft, column, [&](Field& field) -> Status {
		WriteIdentity(identity, field.metadata);
		return {};
	}));
	RecordChange(draft, column);
	return {};
}

}  // namespace braid
