#include "host/api/decode.h"

#include <cstring>

#include "host/api/decode_parts.h"
#include "host/api/decode_value.h"

namespace berth::host {
namespace {

bool ReadAny(Reader& reader, JsonObject& object, TypeMeta type, AnyObject* result) {
  if (type.kind.empty() && !FindType(reader, object, &type)) return false;
  if (type.api_version == "v1" && type.kind == "Pod") {
    return ReadPod(reader, object, &result->emplace<PodRef>());
  }
  if (type.api_version == "v1" && type.kind == "Node") {
    return ReadNode(reader, object, &result->emplace<NodeRef>());
  }
  return ReadObject(reader, object, type, &result->emplace<ObjectRef>());
}

Status CheckSize(const Reader& reader, size_t bytes) {
  const size_t limit = reader.options().max_object_bytes;
  if (bytes <= limit) return Status::Ok();
  return Status::OutOfRange("/: expected an object of at most " + std::to_string(limit) +
                            " bytes, found " + std::to_string(bytes) + " bytes");
}

// Decodes `json` by calling `read` with its object. The text is copied because simdjson reads past
// its end.
template <class Read>
Status DecodeText(Reader& reader, std::string_view json, Read read) {
  if (Status size = CheckSize(reader, json.size()); !size.ok()) return size;
  reader.Begin(0);
  const simdjson::padded_string_view text = reader.Pad(json);
  simdjson::ondemand::document document;
  JsonObject object;
  auto error = reader.parser().iterate(text).get(document);
  if (!error) error = document.get_object().get(object);
  if (error == simdjson::EMPTY) {
    reader.FailExpected("an object", "nothing");
    return reader.TakeError();
  }
  if (error == simdjson::INCORRECT_TYPE) {
    reader.FailExpected("an object", "another JSON value");
    return reader.TakeError();
  }
  if (error) {
    reader.FailSyntax(error);
    return reader.TakeError();
  }
  if (!read(object)) return reader.TakeError();
  if (document.current_location().error() == simdjson::SUCCESS) {
    reader.FailExpected("the end of the text after the object", "more text");
    return reader.TakeError();
  }
  return Status::Ok();
}

}  // namespace

bool FindType(Reader& reader, JsonObject& object, TypeMeta* type) {
  bool has_version = false;
  bool has_kind = false;
  for (auto result : object) {
    simdjson::ondemand::field json_field;
    if (const auto error = std::move(result).get(json_field)) return reader.FailSyntax(error);
    const auto key = json_field.key();
    const bool is_version = key == "apiVersion";
    if (!is_version && key != "kind") continue;
    const char* name = is_version ? "apiVersion" : "kind";
    std::string_view text;
    if (!reader.ReadText(json_field.value(), &text))
      return reader.PrependSegment(std::string_view(name));
    (is_version ? type->api_version : type->kind) = text;
    (is_version ? has_version : has_kind) = true;
    if (has_version && has_kind) break;
  }
  bool more = false;
  if (const auto error = object.reset().get(more)) return reader.FailSyntax(error);
  const char* missing = !has_kind || type->kind.empty()             ? "kind"
                        : !has_version || type->api_version.empty() ? "apiVersion"
                                                                    : nullptr;
  if (missing == nullptr) return true;
  reader.FailExpected("the object's type", "nothing");
  return reader.PrependSegment(std::string_view(missing));
}

Decoder::Decoder(Interner& interner, DecodeOptions options)
    : reader_(std::make_unique<Reader>(interner, std::move(options))) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;

Result<PodRef> Decoder::DecodePod(std::string_view json) {
  PodRef pod;
  Status status = DecodeText(*reader_, json,
                             [&](JsonObject& object) { return ReadPod(*reader_, object, &pod); });
  if (!status.ok()) return status;
  return pod;
}

Result<NodeRef> Decoder::DecodeNode(std::string_view json) {
  NodeRef node;
  Status status = DecodeText(*reader_, json,
                             [&](JsonObject& object) { return ReadNode(*reader_, object, &node); });
  if (!status.ok()) return status;
  return node;
}

Result<ObjectRef> Decoder::DecodeObject(std::string_view json) {
  ObjectRef result;
  Status status = DecodeText(*reader_, json, [&](JsonObject& object) {
    TypeMeta type;
    return FindType(*reader_, object, &type) && ReadObject(*reader_, object, type, &result);
  });
  if (!status.ok()) return status;
  return result;
}

Result<AnyObject> Decoder::Decode(std::string_view json) {
  AnyObject result;
  Status status = DecodeText(
      *reader_, json, [&](JsonObject& object) { return ReadAny(*reader_, object, {}, &result); });
  if (!status.ok()) return status;
  return result;
}

Result<Parsed<berth_value>> Decoder::DecodeTree(std::string_view json) {
  return DecodeTreeAlone(*reader_, json);
}

Result<Parsed<berth_selector>> Decoder::DecodeLabelSelector(std::string_view json) {
  return DecodeLabelSelectorAlone(*reader_, json);
}

Result<Parsed<berth_selector>> Decoder::DecodeSelectorText(std::string_view text) {
  return DecodeSelectorTextAlone(*reader_, text);
}

Result<Parsed<berth_node_selector>> Decoder::DecodeNodeSelector(std::string_view json) {
  return DecodeNodeSelectorAlone(*reader_, json);
}

Result<AnyObject> DecodeDocument(Decoder& decoder, JsonObject& object, const ItemType& type) {
  Reader& reader = decoder.reader();
  AnyObject result;
  reader.Begin(0);
  if (!ReadAny(reader, object, {std::string(type.api_version), std::string(type.kind)}, &result))
    return reader.TakeError();
  return result;
}

Result<AnyObject> DecodeValue(Decoder& decoder, JsonValue& value, const ItemType& type) {
  Reader& reader = decoder.reader();
  reader.Begin(0);
  const char* begin = value.raw_json_token().data();
  JsonObject object;
  if (const auto error = value.get_object().get(object)) {
    error == simdjson::INCORRECT_TYPE ? reader.FailExpected("an object", value)
                                      : reader.FailSyntax(error);
    return reader.TakeError();
  }
  Result<AnyObject> result = DecodeDocument(decoder, object, type);
  // The object is not the whole document, so the current location is the end of the object.
  const char* end = begin;
  if (result.ok() && value.current_location().get(end) == simdjson::SUCCESS) {
    Status size = CheckSize(reader, static_cast<size_t>(end - begin));
    if (!size.ok()) return size;
  }
  return result;
}

void Decoder::ReleaseIds() { reader_->ReleaseIds(); }
Interner& Decoder::interner() const { return reader_->interner(); }
const DecodeOptions& Decoder::options() const { return reader_->options(); }

}  // namespace berth::host
