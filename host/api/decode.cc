#include "host/api/decode.h"

#include <berth/internal/selector_text.h>

#include "host/api/decode_parts.h"
#include "host/api/json_reader.h"

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

Status CheckSize(const Reader& reader, size_t bytes,
                 std::string_view expected = "/: expected an object of") {
  const size_t limit = reader.options().max_object_bytes;
  if (bytes <= limit) return Status::Ok();
  return Status::OutOfRange(std::string(expected) + " at most " + std::to_string(limit) +
                            " bytes, found " + std::to_string(bytes) + " bytes");
}

// Decodes `json` by calling read(object, &result) with its object. The text is copied because
// simdjson reads past its end.
template <class T, class Read>
Result<T> DecodeText(Reader& reader, std::string_view json, Read read) {
  if (Status size = CheckSize(reader, json.size()); !size.ok()) return size;
  reader.Begin(0);
  const simdjson::padded_string_view text = reader.Pad(json);
  simdjson::ondemand::document document;
  JsonObject object;
  auto error = reader.parser().iterate(text).get(document);
  if (!error) error = document.get_object().get(object);
  T result;
  if (error == simdjson::EMPTY) {
    reader.FailExpected("an object", "nothing");
  } else if (error == simdjson::INCORRECT_TYPE) {
    reader.FailExpected("an object", "another JSON value");
  } else if (error) {
    reader.FailSyntax(error);
  } else if (read(object, &result)) {
    if (document.current_location().error() != simdjson::SUCCESS) return result;
    reader.FailExpected("the end of the text after the object", "more text");
  }
  return reader.TakeError();
}

// ---- Values that are not part of an object ------------------------------------------------------

// Decodes `json` by calling `read` with its only value. The text is read as the only element of an
// array, because the parser does not have scalar documents as values.
template <class Read>
Status DecodeOneValue(Reader& reader, std::string_view json, Read read) {
  if (Status size = CheckSize(reader, json.size(), "/: expected"); !size.ok()) return size;
  reader.Begin(0);
  const simdjson::padded_string_view text = reader.Pad(std::string("[").append(json).append("]"));
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  auto error = reader.parser().iterate(text).get(document);
  if (!error) error = document.get_array().get(array);
  if (error) {
    reader.FailSyntax(error);
    return reader.TakeError();
  }
  size_t count = 0;
  for (auto element : array) {
    JsonValue value;
    if ((error = std::move(element).get(value))) {
      reader.FailSyntax(error);
      return reader.TakeError();
    }
    if (++count > 1) break;
    if (!read(value)) return reader.TakeError();
  }
  const bool has_more = count > 1 || document.current_location().error() == simdjson::SUCCESS;
  if (count == 1 && !has_more) return Status::Ok();
  reader.FailExpected(count == 0 ? "a JSON value" : "the end of the text after the value",
                      count == 0 ? "nothing" : "more text");
  return reader.TakeError();
}

// Returns the result of a selector that `reader` has read.
template <class T>
Result<Parsed<T>> FinishSelector(Reader& reader, const T* selector) {
  if (!reader.problems.invalid_selector().empty()) {
    Status status = Status::InvalidArgument(reader.problems.invalid_selector());
    reader.Begin(0);
    return status;
  }
  return Parsed<T>{reader.Finish(), selector};
}

bool ReadNodeSelector(Reader& reader, JsonValue& value, berth_node_selector* selector) {
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& terms) {
    return field.hash != "nodeSelectorTerms"_field ||
           ReadNodeTerms(reader, terms, &selector->terms);
  });
  if (!ok) return false;
  if (selector->terms.count == 0) {
    return reader.FailExpected("nodeSelectorTerms with at least one term", "none");
  }
  selector->struct_size = sizeof(berth_node_selector);
  return true;
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
  if (!reader.Rewind(object)) return false;
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
  return DecodeText<PodRef>(*reader_, json, [this](JsonObject& object, PodRef* pod) {
    return ReadPod(*reader_, object, pod);
  });
}

Result<NodeRef> Decoder::DecodeNode(std::string_view json) {
  return DecodeText<NodeRef>(*reader_, json, [this](JsonObject& object, NodeRef* node) {
    return ReadNode(*reader_, object, node);
  });
}

Result<ObjectRef> Decoder::DecodeObject(std::string_view json) {
  return DecodeText<ObjectRef>(*reader_, json, [this](JsonObject& object, ObjectRef* result) {
    TypeMeta type;
    return FindType(*reader_, object, &type) && ReadObject(*reader_, object, type, result);
  });
}

Result<AnyObject> Decoder::Decode(std::string_view json) {
  return DecodeText<AnyObject>(*reader_, json, [this](JsonObject& object, AnyObject* result) {
    return ReadAny(*reader_, object, {}, result);
  });
}

Result<Parsed<berth_value>> Decoder::DecodeTree(std::string_view json) {
  const berth_value* tree = nullptr;
  Status status = DecodeOneValue(
      *reader_, json, [&](JsonValue& value) { return ReadTree(*reader_, value, &tree); });
  if (!status.ok()) return status;
  return Parsed<berth_value>{reader_->Finish(), tree};
}

Result<Parsed<berth_selector>> Decoder::DecodeLabelSelector(std::string_view json) {
  berth_selector* selector = nullptr;
  Status status = DecodeOneValue(*reader_, json, [&](JsonValue& value) {
    return ReadLabelSelector(*reader_, value, &selector);
  });
  if (!status.ok()) return status;
  return FinishSelector<berth_selector>(*reader_, selector);
}

Result<Parsed<berth_selector>> Decoder::DecodeSelectorText(std::string_view text) {
  if (Status size = CheckSize(*reader_, text.size(), "expected"); !size.ok()) return size;
  internal::SelectorText parsed(text);
  if (!parsed.Read()) return Status::InvalidArgument(parsed.error());
  reader_->Begin(0);
  return FinishSelector<berth_selector>(*reader_, MakeSelector(*reader_, parsed.requirements()));
}

Result<Parsed<berth_node_selector>> Decoder::DecodeNodeSelector(std::string_view json) {
  berth_node_selector* selector = nullptr;
  Status status = DecodeOneValue(*reader_, json, [&](JsonValue& value) {
    selector = reader_->arena().New<berth_node_selector>();
    return ReadNodeSelector(*reader_, value, selector);
  });
  if (!status.ok()) return status;
  return FinishSelector<berth_node_selector>(*reader_, selector);
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

Status Decoder::problems() const { return reader_->problems.ToStatus(); }

void Decoder::ReleaseIds() { reader_->ReleaseIds(); }
Interner& Decoder::interner() const { return reader_->interner(); }
const DecodeOptions& Decoder::options() const { return reader_->options(); }

}  // namespace berth::host
