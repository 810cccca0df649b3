#include <algorithm>

#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

bool ReadTaints(Reader& reader, JsonValue& value, berth_array* taints) {
  constexpr berth_taint kInitial = {kNoId, kEmptyId, 0, 0};
  return reader.ReadObjects(value, kInitial, taints,
                            [&](const Field& field, JsonValue& v, berth_taint& taint) {
                              switch (field.hash) {
                                case "key"_field: return reader.ReadName(v, &taint.key);
                                case "value"_field: return reader.ReadId(v, &taint.value);
                                case "effect"_field: return ReadEffect(reader, v, &taint.effect);
                                default: return true;
                              }
                            });
}

bool ReadImages(Reader& reader, JsonValue& value, berth_array* images) {
  return reader.ReadObjects(value, berth_image{}, images,
                            [&](const Field& field, JsonValue& v, berth_image& image) {
                              switch (field.hash) {
                                case "names"_field: return reader.ReadIds(v, &image.names);
                                case "sizeBytes"_field: return reader.ReadInt64(v, &image.size);
                                default: return true;
                              }
                            });
}

bool ReadFeatures(Reader& reader, JsonValue& value, berth_array* features) {
  std::span<Id> ids;
  const auto read = [&](JsonValue& element, Id& id) { return reader.ReadId(element, &id); };
  if (!reader.ReadList(value, kNoId, &ids, read)) return false;
  std::ranges::sort(ids);
  *features = AsArray(ids);
  return true;
}

struct NodeParts {
  berth_node node = {};
  berth_meta meta = {};
};

bool ReadNodeSpec(Reader& reader, JsonValue& value, berth_node* node) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "taints"_field: return ReadTaints(reader, v, &node->taints);
      case "unschedulable"_field: return reader.ReadFlag(v, 1, &node->unschedulable);
      default: return true;
    }
  });
}

bool ReadNodeStatus(Reader& reader, JsonValue& value, berth_node* node) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "capacity"_field: return ReadResources(reader, v, &node->capacity);
      case "allocatable"_field:
        // The capacity does not replace a list that cannot be read.
        node->allocatable = &kNoResources;
        return ReadResources(reader, v, &node->allocatable);
      case "conditions"_field: return ReadConditions(reader, v, &node->conditions);
      case "images"_field: return ReadImages(reader, v, &node->images);
      case "declaredFeatures"_field: return ReadFeatures(reader, v, &node->declared_features);
      default: return true;
    }
  });
}

bool ReadParts(Reader& reader, JsonObject& object, NodeParts* parts) {
  const DecodeOptions& options = reader.options();
  if (!KeepFields(reader, object, options.node_fields, options.keep_node_text,
                  &parts->meta.fields)) {
    return false;
  }
  if (reader.options().skip_unreadable) reader.problems.StartSkipping();
  const bool ok = reader.ForEachField(object, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "metadata"_field: return reader.problems.Require(ReadMeta(reader, v, &parts->meta));
      case "spec"_field: return ReadNodeSpec(reader, v, &parts->node);
      case "status"_field: return ReadNodeStatus(reader, v, &parts->node);
      case "apiVersion"_field: return ExpectText(reader, v, "v1");
      case "kind"_field: return ExpectText(reader, v, "Node");
      default: return true;
    }
  });
  return ok && ExpectName(reader, &parts->meta);
}

}  // namespace

bool ReadNode(Reader& reader, JsonObject& object, NodeRef* result) {
  reader.Begin(reader.size_hints.node);
  NodeParts parts;
  if (!ReadParts(reader, object, &parts)) return false;
  berth_node& node = parts.node;
  if (node.capacity == nullptr) node.capacity = &kNoResources;
  if (node.allocatable == nullptr) node.allocatable = node.capacity;
  node.name = reader.Intern(Text(parts.meta.name));
  parts.meta.ns = kNoId;
  *result = reader.shared_parts.MakeNode(node, parts.meta);
  if (*result != nullptr) {
    reader.Discard();
    return true;
  }
  reader.size_hints.node = reader.SuggestSize();
  *result = Node::Make(reader.Finish(), node, parts.meta);
  reader.shared_parts.Add(*result);
  return true;
}

}  // namespace berth::host
