#include <algorithm>
#include <string>

#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

// The kinds with a namespace that scheduling reads. Whether another kind has a namespace is not
// known.
constexpr std::string_view kNamespaced[] = {
    "apps/v1/ReplicaSet",
    "apps/v1/StatefulSet",
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
  const size_t mark = reader.id_pairs.size();
  for (const berth_id_pair& pair : Elements<berth_id_pair>(meta->labels)) {
    if (pair.key != key) reader.id_pairs.Push(pair);
  }
  reader.id_pairs.Push({key, value});
  std::ranges::sort(reader.id_pairs.Since(mark), {}, &berth_id_pair::key);
  meta->labels = AsArray(reader.id_pairs.Take(mark, reader.arena()));
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
  if (!ReadWholeObject(reader, object, tree)) return false;
  bool more = false;
  if (const auto error = object.reset().get(more)) return reader.FailSyntax(error);
  const bool ok = reader.ForEachField(object, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "metadata"_field: return ReadMeta(reader, v, meta);
      case "apiVersion"_field: return ExpectText(reader, v, type.api_version);
      case "kind"_field: return ExpectText(reader, v, type.kind);
      default: return true;
    }
  });
  return ok && ExpectName(reader, *meta);
}

}  // namespace

bool HasNamespace(std::string_view kind) {
  return std::ranges::find(kNamespaced, kind) != std::end(kNamespaced);
}

bool ExpectText(Reader& reader, JsonValue& value, std::string_view expected) {
  std::string_view text;
  if (!reader.ReadText(value, &text)) return false;
  if (text == expected) return true;
  const auto quote = [](std::string_view t) { return std::string("\"").append(t).append("\""); };
  return reader.FailExpected(quote(expected), quote(text));
}

bool ExpectName(Reader& reader, const berth_meta& meta) {
  if (meta.name.len != 0) return true;
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
