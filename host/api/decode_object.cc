#include <algorithm>
#include <string>
#include <vector>

#include "host/api/decode_parts.h"
#include "host/api/json_syntax.h"

namespace berth::host {
namespace {

// ---- Trees --------------------------------------------------------------------------------------

// Removes every member whose key occurs again later. Moves the other members to the front in their
// order, and returns their number.
size_t DropOverridden(std::span<Member> members) {
  constexpr size_t kFew = 16;
  const auto same = [&](size_t a, size_t b) {
    return Text(members[a].key) == Text(members[b].key);
  };
  std::vector<bool> overridden;
  const auto drop = [&](size_t i) {
    overridden.resize(members.size());
    overridden[i] = true;
  };
  if (members.size() <= kFew) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = i + 1; j < members.size(); ++j) {
        if (same(i, j)) drop(i);
      }
    }
  } else {
    std::vector<uint32_t> order(members.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return Text(members[i].key); });
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      if (same(order[i], order[i + 1])) drop(order[i]);
    }
  }
  if (overridden.empty()) return members.size();
  size_t count = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!overridden[i]) members[count++] = members[i];
  }
  return count;
}

// Reads one tree. DecodeOptions::max_depth limits the depth of the recursion.
class TreeReader {
 public:
  // `whole` is set if the tree is an object of the API, whose metadata.managedFields is skipped.
  explicit TreeReader(Reader& reader, bool whole) : reader_(reader), whole_(whole) {}

  bool Read(JsonValue& value, Value* out) {
    switch (value.raw_json_token().front()) {
      case '{': return ReadMembers(value, out);
      case '[': return ReadElements(value, out);
      case '"': return ReadText(value, out);
      case 't':
      case 'f': return ReadTruth(value, out);
      case 'n': return ReadNull(value, out);
      default: return ReadNumber(value, out);
    }
  }

  // Reads an object; `json` is a JsonValue, or the JsonObject of a document.
  template <class Json>
  bool ReadMembers(Json& json, Value* out) {
    if (!Enter()) return false;
    const size_t mark = reader_.stack<Member>().size();
    const bool ok = reader_.ForEachField(json, [&](const Field& field, JsonValue& v) {
      if (IsSkipped(field)) return true;
      Member member = {{}, reader_.CopyText(field.name)};
      if (!Read(v, &member.value)) return false;
      reader_.stack<Member>().Push(member);
      return true;
    });
    --depth_;
    if (!ok) return false;
    const size_t count = DropOverridden(reader_.stack<Member>().Since(mark));
    reader_.stack<Member>().Shrink(mark + count);
    *out = Value::Object(reader_.stack<Member>().Take(mark, reader_.arena()));
    return true;
  }

 private:
  bool ReadElements(JsonValue& value, Value* out) {
    if (!Enter()) return false;
    std::span<Member> elements;
    const bool ok =
        reader_.ReadList(value, Member(), &elements,
                         [&](JsonValue& v, Member& element) { return Read(v, &element.value); });
    --depth_;
    if (ok) *out = Value::Array(elements);
    return ok;
  }

  bool ReadText(JsonValue& value, Value* out) {
    berth_str text = {};
    if (!reader_.ReadString(value, &text)) return false;
    *out = Value::String(Text(text));
    return true;
  }

  bool ReadTruth(JsonValue& value, Value* out) {
    bool truth = false;
    if (!reader_.ReadBool(value, &truth)) return false;
    *out = Value::Bool(truth);
    return true;
  }

  bool ReadNull(JsonValue& value, Value* out) {
    bool is_null = false;
    if (value.is_null().get(is_null) != simdjson::SUCCESS || !is_null) {
      return reader_.FailExpected("a JSON value", value);
    }
    *out = Value();
    return true;
  }

  bool ReadNumber(JsonValue& value, Value* out) {
    int64_t whole = 0;
    double number = 0;
    if (value.get_int64().get(whole) == simdjson::SUCCESS) {
      *out = Value::Int(whole);
    } else if (value.get_double().get(number) == simdjson::SUCCESS) {
      *out = Value::Float(number);
    } else {
      return reader_.FailExpected("a JSON value", value);
    }
    return true;
  }

  bool Enter() {
    const uint32_t limit = reader_.options().max_depth;
    if (depth_ < limit) return ++depth_, true;
    return reader_.Fail(ErrorCode::kOutOfRange,
                        "nested deeper than " + std::to_string(limit) + " levels");
  }

  bool IsSkipped(const Field& field) {
    if (!whole_ || depth_ > 2) return false;
    if (depth_ == 1) in_metadata_ = field.hash == "metadata"_field;
    return depth_ == 2 && in_metadata_ && field.hash == "managedFields"_field;
  }

  Reader& reader_;
  const bool whole_;
  bool in_metadata_ = false;
  uint32_t depth_ = 0;
};

// ---- Metadata -----------------------------------------------------------------------------------

constexpr EnumValue kConditionStatuses[] = {{"True", BERTH_CONDITION_TRUE},
                                            {"False", BERTH_CONDITION_FALSE},
                                            {"Unknown", BERTH_CONDITION_UNKNOWN}};

// Sorts pairs by their keys, and drops all but the last one of a key that occurs twice. Returns the
// number of those that are left, at the front.
template <class Pair, class KeyOf>
size_t SortByKey(std::span<Pair> pairs, KeyOf key_of) {
  // API servers send maps in this order. The sort is stable, so that the last one remains the last.
  if (!std::ranges::is_sorted(pairs, {}, key_of)) std::ranges::stable_sort(pairs, {}, key_of);
  size_t count = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool is_last = i + 1 == pairs.size() || key_of(pairs[i]) != key_of(pairs[i + 1]);
    if (is_last) pairs[count++] = pairs[i];
  }
  return count;
}

bool ReadAnnotations(Reader& reader, JsonValue& value, berth_array* annotations) {
  Stack<berth_str_pair>& all = reader.stack<berth_str_pair>();
  const size_t mark = all.size();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& text) {
    berth_str_pair pair = {reader.CopyText(field.name), {}};
    if (!reader.ReadString(text, &pair.value)) return false;
    all.Push(pair);
    return true;
  });
  if (!ok) return false;
  const auto key_of = [](const berth_str_pair& pair) { return Text(pair.key); };
  all.Shrink(mark + SortByKey(all.Since(mark), key_of));
  *annotations = AsArray(all.Take(mark, reader.arena()));
  return true;
}

bool ReadOwners(Reader& reader, JsonValue& value, berth_array* owners) {
  return reader.ReadObjects(value, berth_owner{}, owners,
                            [&](const Field& field, JsonValue& v, berth_owner& owner) {
                              switch (field.hash) {
                                case "apiVersion"_field:
                                  return reader.ReadName(v, &owner.api_version);
                                case "kind"_field: return reader.ReadName(v, &owner.kind);
                                case "name"_field: return reader.ReadString(v, &owner.name);
                                case "uid"_field: return reader.ReadString(v, &owner.uid);
                                case "controller"_field:
                                  return reader.ReadFlag(v, 1, &owner.controller);
                                default: return true;
                              }
                            });
}

// Replaces an object by its member, or an array by the element at an index as in RFC 6901.
// Errors: INCORRECT_TYPE for another value, and for an array if the segment is no index.
simdjson::error_code FindPart(const std::string& segment, JsonValue& value) {
  simdjson::ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == simdjson::ondemand::json_type::array) {
    constexpr size_t kMaxDigits = 9;
    const bool is_index = IsNumber(segment) && segment.size() <= kMaxDigits &&
                          (segment == "0" || !segment.starts_with('0'));
    if (!is_index) return simdjson::INCORRECT_TYPE;
    simdjson::ondemand::array elements;
    if (const auto error = value.get_array().get(elements)) return error;
    return elements.at(std::stoul(segment)).get(value);
  }
  JsonObject object;
  if (const auto error = value.get_object().get(object)) return error;
  return object.find_field(segment).get(value);
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
    auto error = is_first ? object.find_field(segment).get(value) : FindPart(segment, value);
    if (error == simdjson::NO_SUCH_FIELD || error == simdjson::INCORRECT_TYPE ||
        error == simdjson::INDEX_OUT_OF_BOUNDS) {
      return true;
    }
    if (error) return reader.FailSyntax(error);
  }
  if (!ReadTree(reader, value, tree)) return reader.PrependPointer(pointer);
  if (Value::Of(*tree)->kind() == BERTH_VALUE_NULL) *tree = nullptr;
  return true;
}

// ---- Objects ------------------------------------------------------------------------------------

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

// The kinds with a namespace that scheduling reads. Whether another kind has a namespace is not
// known.
constexpr std::string_view kNamespaced[] = {
    "apps/v1/DaemonSet",
    "apps/v1/Deployment",
    "apps/v1/ReplicaSet",
    "apps/v1/StatefulSet",
    "batch/v1/CronJob",
    "batch/v1/Job",
    "policy/v1/PodDisruptionBudget",
    "resource.k8s.io/v1/ResourceClaim",
    "resource.k8s.io/v1/ResourceClaimTemplate",
    "resource.k8s.io/v1beta1/ResourceClaim",
    "resource.k8s.io/v1beta1/ResourceClaimTemplate",
    "resource.k8s.io/v1beta2/ResourceClaim",
    "resource.k8s.io/v1beta2/ResourceClaimTemplate",
    "scheduling.k8s.io/v1alpha1/Workload",
    "scheduling.k8s.io/v1alpha2/PodGroup",
    "scheduling.k8s.io/v1alpha2/Workload",
    "storage.k8s.io/v1/CSIStorageCapacity",
    "v1/LimitRange",
    "v1/PersistentVolumeClaim",
    "v1/Pod",
    "v1/ReplicationController",
    "v1/Service",
};

// Adds the label kubernetes.io/metadata.name. Kubernetes: SetDefaults_Namespace in
// pkg/apis/core/v1/defaults.go.
void AddNamespaceLabel(Reader& reader, berth_meta* meta) {
  const Id key = reader.Intern(kNamespaceNameLabel);
  const Id value = reader.Intern(Text(meta->name));
  Stack<berth_id_pair>& pairs = reader.stack<berth_id_pair>();
  const size_t mark = pairs.size();
  for (const berth_id_pair& pair : Elements<berth_id_pair>(meta->labels)) {
    if (pair.key != key) pairs.Push(pair);
  }
  pairs.Push({key, value});
  std::ranges::sort(pairs.Since(mark), {}, &berth_id_pair::key);
  meta->labels = AsArray(pairs.Take(mark, reader.arena()));
}

void ApplyDefaults(Reader& reader, std::string_view kind, berth_meta* meta) {
  if (kind == "v1/Namespace") {
    meta->ns = kNoId;
    AddNamespaceLabel(reader, meta);
  } else if (meta->ns == kNoId && HasNamespace(kind)) {
    meta->ns = reader.Intern("default");
  }
}

bool ReadParts(Reader& reader, JsonObject& object, const TypeMeta& type, berth_meta* meta,
               const berth_value** tree) {
  Value root;
  if (!TreeReader(reader, true).ReadMembers(object, &root)) return false;
  *tree = reader.arena().New<Value>(root)->abi();
  if (!reader.Rewind(object)) return false;
  const bool ok = reader.ForEachField(object, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "metadata"_field: return ReadMeta(reader, v, meta);
      case "apiVersion"_field: return ExpectText(reader, v, type.api_version);
      case "kind"_field: return ExpectText(reader, v, type.kind);
      default: return true;
    }
  });
  return ok && ExpectName(reader, meta);
}

}  // namespace

bool ReadTree(Reader& reader, JsonValue& value, const berth_value** tree) {
  Value root;
  if (!TreeReader(reader, false).Read(value, &root)) return false;
  *tree = reader.arena().New<Value>(root)->abi();
  return true;
}

bool ReadIdPairs(Reader& reader, JsonValue& value, berth_array* pairs) {
  Stack<berth_id_pair>& all = reader.stack<berth_id_pair>();
  const size_t mark = all.size();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& text) {
    berth_id_pair pair = {reader.Intern(field.name), kNoId};
    if (!reader.ReadId(text, &pair.value)) return false;
    all.Push(pair);
    return true;
  });
  if (!ok) return false;
  const auto key_of = [](const berth_id_pair& pair) { return pair.key; };
  all.Shrink(mark + SortByKey(all.Since(mark), key_of));
  *pairs = AsArray(all.Take(mark, reader.arena()));
  return true;
}

bool ReadMeta(Reader& reader, JsonValue& value, berth_meta* meta) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      // The identity of the object and of its state.
      case "name"_field: return reader.problems.Require(reader.ReadString(v, &meta->name));
      case "namespace"_field: return reader.problems.Require(reader.ReadName(v, &meta->ns));
      case "generateName"_field:
        return reader.problems.Require(reader.ReadText(v, &reader.names.base));
      case "uid"_field: return reader.problems.Require(reader.ReadString(v, &meta->uid));
      case "resourceVersion"_field:
        return reader.problems.Require(reader.ReadString(v, &meta->resource_version));
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
  return reader.ReadObjects(value, berth_condition{}, conditions,
                            [&](const Field& field, JsonValue& v, berth_condition& condition) {
                              switch (field.hash) {
                                case "type"_field: return reader.ReadName(v, &condition.type);
                                case "status"_field:
                                  return reader.ReadEnum(v, kConditionStatuses, &condition.status);
                                case "reason"_field: return reader.ReadName(v, &condition.reason);
                                case "lastTransitionTime"_field:
                                  return reader.ReadTime(v, &condition.transition_ns);
                                default: return true;
                              }
                            });
}

bool KeepFields(Reader& reader, JsonObject& object, std::span<const std::string> paths,
                bool keep_text, berth_array* fields) {
  Stack<berth_field>& kept = reader.stack<berth_field>();
  const size_t mark = kept.size();
  if (keep_text) {
    std::string_view text;
    if (const auto error = object.raw_json().get(text)) return reader.FailSyntax(error);
    if (!reader.Rewind(object)) return false;
    const Value value = Value::String(Text(reader.CopyText(TrimSpace(text))));
    kept.Push({{}, reader.arena().New<Value>(value)->abi()});
  }
  for (const std::string& path : paths) {
    berth_field field = {reader.CopyText(path), nullptr};
    if (!FindTree(reader, object, path, &field.value) || !reader.Rewind(object)) return false;
    kept.Push(field);
  }
  *fields = AsArray(kept.Take(mark, reader.arena()));
  return true;
}

bool HasNamespace(std::string_view kind) {
  return std::ranges::find(kNamespaced, kind) != std::end(kNamespaced);
}

bool ExpectText(Reader& reader, JsonValue& value, std::string_view expected) {
  std::string_view text;
  if (!reader.problems.Require(reader.ReadText(value, &text))) return false;
  if (text == expected) return true;
  const auto quote = [](std::string_view t) { return std::string("\"").append(t).append("\""); };
  return reader.problems.Require(reader.FailExpected(quote(expected), quote(text)));
}

bool ExpectName(Reader& reader, berth_meta* meta) {
  if (meta->name.len == 0 && !reader.names.base.empty()) {
    meta->name = reader.CopyText(reader.names.Next());
  }
  if (meta->name.len != 0) return true;
  reader.FailExpected("a name", "nothing");
  return reader.PrependPointer("/metadata/name");
}

bool ReadObject(Reader& reader, JsonObject& object, const TypeMeta& type, ObjectRef* result) {
  reader.Begin(reader.size_hints.object);
  berth_object view = {};
  berth_meta meta = {};
  if (!ReadParts(reader, object, type, &meta, &view.value)) return false;
  const std::string kind = std::string(type.api_version).append("/").append(type.kind);
  ApplyDefaults(reader, kind, &meta);
  view.kind = reader.Intern(kind);
  reader.size_hints.object = reader.SuggestSize();
  *result = Object::Make(reader.Finish(), view, meta);
  return true;
}

}  // namespace berth::host
