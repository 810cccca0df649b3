// Decodes values and selectors that are not part of an object.
#include <berth/internal/selector_text.h>

#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

// Decodes `json` by calling `read` with its only value. The text is read as the only element of an
// array, because the parser does not have scalar documents as values.
template <class Read>
Status DecodeOneValue(Reader& reader, std::string_view json, Read read) {
  const size_t limit = reader.options().max_object_bytes;
  if (json.size() > limit) {
    return Status::OutOfRange("/: expected at most " + std::to_string(limit) + " bytes, found " +
                              std::to_string(json.size()) + " bytes");
  }
  reader.Begin(0);
  std::string array_text = "[";
  array_text.append(json).append("]");
  const simdjson::padded_string_view text = reader.Pad(array_text);
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
    if (count++ == 0) {
      if (!read(value)) return reader.TakeError();
      continue;
    }
    reader.FailExpected("the end of the text after the value", "more text");
    return reader.TakeError();
  }
  const bool has_more = document.current_location().error() == simdjson::SUCCESS;
  if (count == 1 && !has_more) return Status::Ok();
  reader.FailExpected(count == 0 ? "a JSON value" : "the end of the text after the value",
                      count == 0 ? "nothing" : "more text");
  return reader.TakeError();
}

// Returns the result of a selector that `reader` has read.
template <class T>
Result<Parsed<T>> FinishSelector(Reader& reader, const T* selector) {
  if (!reader.invalid_selector.empty()) {
    Status status = Status::InvalidArgument(reader.invalid_selector);
    reader.Begin(0);
    return status;
  }
  return Parsed<T>{reader.Finish(), selector};
}

bool ReadNodeSelector(Reader& reader, JsonValue& value, berth_node_selector* selector) {
  const size_t mark = reader.node_terms.size();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& terms) {
    if (field.hash != "nodeSelectorTerms"_field) return true;
    return reader.ForEachElement(terms, [&](JsonValue& element) {
      berth_node_term term = {};
      if (!ReadNodeSelectorTerm(reader, element, &term)) return false;
      reader.node_terms.Push(term);
      return true;
    });
  });
  if (!ok) return false;
  if (reader.node_terms.size() == mark) {
    return reader.FailExpected("nodeSelectorTerms with at least one term", "none");
  }
  selector->struct_size = sizeof(berth_node_selector);
  selector->terms = AsArray(reader.node_terms.Take(mark, reader.arena()));
  return true;
}

}  // namespace

Result<Parsed<berth_value>> DecodeTreeAlone(Reader& reader, std::string_view json) {
  const berth_value* tree = nullptr;
  Status status = DecodeOneValue(reader, json,
                                 [&](JsonValue& value) { return ReadTree(reader, value, &tree); });
  if (!status.ok()) return status;
  return Parsed<berth_value>{reader.Finish(), tree};
}

Result<Parsed<berth_selector>> DecodeLabelSelectorAlone(Reader& reader, std::string_view json) {
  berth_selector* selector = nullptr;
  Status status = DecodeOneValue(
      reader, json, [&](JsonValue& value) { return ReadLabelSelector(reader, value, &selector); });
  if (!status.ok()) return status;
  return FinishSelector<berth_selector>(reader, selector);
}

Result<Parsed<berth_selector>> DecodeSelectorTextAlone(Reader& reader, std::string_view text) {
  if (text.size() > reader.options().max_object_bytes) {
    return Status::OutOfRange("expected at most " +
                              std::to_string(reader.options().max_object_bytes) + " bytes, found " +
                              std::to_string(text.size()) + " bytes");
  }
  internal::SelectorText parsed(text);
  if (!parsed.Read()) return Status::InvalidArgument(parsed.error());
  reader.Begin(0);
  return FinishSelector<berth_selector>(reader, MakeSelector(reader, parsed.requirements()));
}

Result<Parsed<berth_node_selector>> DecodeNodeSelectorAlone(Reader& reader, std::string_view json) {
  berth_node_selector* selector = nullptr;
  Status status = DecodeOneValue(reader, json, [&](JsonValue& value) {
    selector = reader.arena().New<berth_node_selector>();
    return ReadNodeSelector(reader, value, selector);
  });
  if (!status.ok()) return status;
  return FinishSelector<berth_node_selector>(reader, selector);
}

}  // namespace berth::host
