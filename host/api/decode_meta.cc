#include <algorithm>

#include "host/api/decode_parts.h"
#include "host/api/object_place.h"

namespace berth::host {
namespace {

constexpr EnumValue kConditionStatuses[] = {{"True", BERTH_CONDITION_TRUE},
                                            {"False", BERTH_CONDITION_FALSE},
                                            {"Unknown", BERTH_CONDITION_UNKNOWN}};

bool ReadAnnotations(Reader& reader, JsonValue& value, berth_array* annotations) {
  const size_t mark = reader.str_pairs.size();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& text) {
    berth_str_pair pair = {reader.CopyText(field.name), {}};
    if (!reader.ReadString(text, &pair.value)) return false;
    reader.str_pairs.Push(pair);
    return true;
  });
  if (ok) *annotations = AsArray(reader.str_pairs.Take(mark, reader.arena()));
  return ok;
}

bool ReadOwner(Reader& reader, JsonValue& value, berth_owner* owner) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "apiVersion"_field: return reader.ReadName(v, &owner->api_version);
      case "kind"_field: return reader.ReadName(v, &owner->kind);
      case "name"_field: return reader.ReadString(v, &owner->name);
      case "uid"_field: return reader.ReadString(v, &owner->uid);
      case "controller"_field: {
        bool controller = false;
        if (!reader.ReadBool(v, &controller)) return false;
        owner->controller = controller ? 1 : 0;
        return true;
      }
      default: return true;
    }
  });
}

bool ReadOwners(Reader& reader, JsonValue& value, berth_array* owners) {
  const size_t mark = reader.owners.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_owner owner = {};
    if (!ReadOwner(reader, element, &owner)) return false;
    reader.owners.Push(owner);
    return true;
  });
  if (ok) *owners = AsArray(reader.owners.Take(mark, reader.arena()));
  return ok;
}

// Reads the value at `pointer`. Leaves `*tree` unchanged if the value is absent, and sets it to
// null if the value is null. After an error the rest of the document cannot be read.
bool FindTree(Reader& reader, JsonObject object, std::string_view pointer,
              const berth_value** tree) {
  JsonValue value;
  const std::vector<std::string> segments = SegmentsOf(pointer);
  if (segments.empty()) return true;
  for (const std::string& segment : segments) {
    const bool is_first = &segment == segments.data();
    auto error = is_first ? simdjson::SUCCESS : value.get_object().get(object);
    if (!error) error = object.find_field(segment).get(value);
    if (error == simdjson::NO_SUCH_FIELD || error == simdjson::INCORRECT_TYPE) {
      return true;
    }
    if (error) return reader.FailSyntax(error);
  }
  if (!ReadTree(reader, value, tree)) return reader.PrependPointer(pointer);
  if (Value::Of(*tree)->kind() == BERTH_VALUE_NULL) *tree = nullptr;
  return true;
}

}  // namespace

bool ReadIdPairs(Reader& reader, JsonValue& value, berth_array* pairs) {
  const size_t mark = reader.id_pairs.size();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& text) {
    berth_id_pair pair = {reader.Intern(field.name), kNoId};
    if (!reader.ReadId(text, &pair.value)) return false;
    reader.id_pairs.Push(pair);
    return true;
  });
  if (!ok) return false;
  // If a key occurs twice, the last value counts. The sort is stable, so that it remains the last.
  std::span<berth_id_pair> read = reader.id_pairs.Since(mark);
  std::ranges::stable_sort(read, {}, &berth_id_pair::key);
  size_t count = 0;
  for (size_t i = 0; i < read.size(); ++i) {
    if (i + 1 == read.size() || read[i].key != read[i + 1].key) read[count++] = read[i];
  }
  std::span<berth_id_pair> all = reader.id_pairs.Take(mark, reader.arena());
  *pairs = AsArray(all.first(count));
  return true;
}

bool ReadMeta(Reader& reader, JsonValue& value, berth_meta* meta) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "name"_field: return reader.ReadString(v, &meta->name);
      case "namespace"_field: return reader.ReadName(v, &meta->ns);
      case "uid"_field: return reader.ReadString(v, &meta->uid);
      case "resourceVersion"_field: return reader.ReadString(v, &meta->resource_version);
      case "generation"_field: return reader.ReadInt64(v, &meta->generation);
      case "creationTimestamp"_field: return reader.ReadTime(v, &meta->created_ns);
      case "deletionTimestamp"_field: return reader.ReadTime(v, &meta->deleted_ns);
      case "labels"_field: return ReadIdPairs(reader, v, &meta->labels);
      case "annotations"_field: return ReadAnnotations(reader, v, &meta->annotations);
      case "ownerReferences"_field: return ReadOwners(reader, v, &meta->owners);
      default: return true;
    }
  });
}

bool ReadConditions(Reader& reader, JsonValue& value, berth_array* conditions) {
  const size_t mark = reader.conditions.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_condition condition = {};
    const bool read = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "type"_field: return reader.ReadName(v, &condition.type);
        case "status"_field: return reader.ReadEnum(v, kConditionStatuses, &condition.status);
        case "reason"_field: return reader.ReadName(v, &condition.reason);
        case "lastTransitionTime"_field: return reader.ReadTime(v, &condition.transition_ns);
        default: return true;
      }
    });
    reader.conditions.Push(condition);
    return read;
  });
  if (ok) *conditions = AsArray(reader.conditions.Take(mark, reader.arena()));
  return ok;
}

bool KeepFields(Reader& reader, JsonObject& object, std::span<const std::string> paths,
                berth_array* fields) {
  const size_t mark = reader.kept_fields.size();
  for (const std::string& path : paths) {
    berth_field field = {reader.CopyText(path), nullptr};
    bool more = false;
    if (const auto error = object.reset().get(more)) return reader.FailSyntax(error);
    if (!FindTree(reader, object, path, &field.value)) return false;
    reader.kept_fields.Push(field);
  }
  if (!paths.empty()) {
    bool more = false;
    if (const auto error = object.reset().get(more)) return reader.FailSyntax(error);
  }
  *fields = AsArray(reader.kept_fields.Take(mark, reader.arena()));
  return true;
}

}  // namespace berth::host
