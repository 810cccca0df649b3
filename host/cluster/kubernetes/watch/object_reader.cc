#include "host/cluster/kubernetes/watch/object_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/json_reader.h"
#include "host/base/json_text.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using LineDocument = simdjson::ondemand::document;
using LineObject = simdjson::ondemand::object;
using LineValue = simdjson::ondemand::value;

static_assert(ListSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::string_view kEndAnnotation = "k8s.io/initial-events-end";
constexpr std::pair<std::string_view, WatchLine::Type> kTypes[] = {
    {"ADDED", WatchLine::Type::kAdded},     {"MODIFIED", WatchLine::Type::kModified},
    {"DELETED", WatchLine::Type::kDeleted}, {"BOOKMARK", WatchLine::Type::kBookmark},
    {"ERROR", WatchLine::Type::kError},
};

simdjson::padded_string_view Padded(std::string_view text) {
  return simdjson::padded_string_view(text.data(), text.size(),
                                      text.size() + ListSplitter::kPadding);
}

ItemType TypeOf(std::string_view kind) {
  const size_t slash = kind.rfind('/');
  return {kind.substr(0, slash), kind.substr(slash + 1)};
}

// Returns a text that may have escapes; empty if the value is no text.
std::string TextIn(LineValue json) {
  std::string_view text;
  return json.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

// Calls read(key, value) for each member, until one of them is malformed.
template <class Read>
void ForEachMember(LineValue json, const Read& read) {
  LineObject members;
  if (json.get_object().get(members) != simdjson::SUCCESS) return;
  for (auto member : members) {
    std::string_view key;
    LineValue found;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (member.value().get(found) != simdjson::SUCCESS) return;
    read(key, found);
  }
}

// The facts that the metadata of an object states.
struct Metadata {
  ObjectMark mark;
  bool ends_initial_events = false;
};

void ReadMetadata(LineValue json, Metadata* metadata) {
  ForEachMember(json, [&](std::string_view key, LineValue found) {
    if (key == "namespace") {
      metadata->mark.ns = TextIn(found);
    } else if (key == "name") {
      metadata->mark.name = TextIn(found);
    } else if (key == "resourceVersion") {
      metadata->mark.resource_version = TextIn(found);
    } else if (key == "annotations") {
      ForEachMember(found, [&](std::string_view name, LineValue text) {
        if (name == kEndAnnotation) metadata->ends_initial_events = TextIn(text) == "true";
      });
    }
  });
}

// Reads the metadata of the object `json`.
Metadata MetadataIn(LineValue json) {
  Metadata metadata;
  ForEachMember(json, [&](std::string_view key, LineValue found) {
    if (key == "metadata") ReadMetadata(found, &metadata);
  });
  return metadata;
}

Status NotUtf8() {
  return Status::InvalidArgument(
      std::string("/: ").append(simdjson::error_message(simdjson::UTF8_ERROR)));
}

Status NoEvent(std::string_view why) {
  return Status::InvalidArgument(std::string("the line of the watch is no event: ").append(why));
}

// A line as kube-apiserver writes it: {"type":"ADDED","object":{...}}
struct UsualLine {
  WatchLine::Type type = WatchLine::Type::kUnknown;
  std::string_view text;  // The text of the object, if the line is well-formed.
};

// Returns the parts of a line with an object, so that the line is parsed once; nullopt if the line
// has another form. The text of the object is not checked: if it is no whole object, or if more
// than one object precedes the last brace, to decode it is an error.
std::optional<UsualLine> SplitUsualLine(std::string_view line) {
  constexpr std::string_view kBegin = R"({"type":")";
  constexpr std::string_view kMiddle = R"(","object":)";
  if (!line.starts_with(kBegin) || !line.ends_with('}')) return std::nullopt;
  line.remove_prefix(kBegin.size());
  line.remove_suffix(1);
  for (const auto& [name, type] : kTypes) {
    if (type >= WatchLine::Type::kBookmark || !line.starts_with(name)) continue;
    if (!line.substr(name.size()).starts_with(kMiddle)) continue;
    return UsualLine{type, line.substr(name.size() + kMiddle.size())};
  }
  return std::nullopt;
}

// Calls read(object) with the object that is the whole text, and checks that nothing follows.
// Returns what is wrong with the text; nullopt if it is well-formed as far as it was read.
// The parser must be that of the decoder's reader, which unescapes strings with it.
template <class Read>
std::optional<std::string> ReadWholeText(simdjson::ondemand::parser& parser, std::string_view text,
                                         const Read& read) {
  LineDocument json;
  LineObject members;
  auto error = parser.iterate(Padded(text)).get(json);
  if (!error) error = json.get_object().get(members);
  if (error) return simdjson::error_message(error);
  if (!read(members)) return std::nullopt;
  if (json.current_location().error() == simdjson::SUCCESS) return "text follows the object";
  return std::nullopt;
}

// Returns `text` unless it is invalid as UTF-8. Otherwise returns `copy`, which becomes the text
// with "?" for each byte outside of ASCII, so that the names in it can be read: they are ASCII.
// `copy` has the padding that simdjson needs.
std::string_view ReadableText(std::string_view text, std::string& copy) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text;
  copy = text;
  std::ranges::replace_if(
      copy, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  copy.append(ListSplitter::kPadding, '\0');
  return std::string_view(copy).substr(0, text.size());
}

// Returns the metadata of the object that is the whole text.
Metadata MetadataOfText(simdjson::ondemand::parser& parser, std::string_view text) {
  LineDocument json;
  LineValue whole;
  if (parser.iterate(Padded(text)).get(json) != simdjson::SUCCESS) return {};
  if (json.get_value().get(whole) != simdjson::SUCCESS) return {};
  return MetadataIn(whole);
}

DecodeOptions SkippingUnreadable(DecodeOptions options) {
  options.skip_unreadable = true;
  return options;
}

}  // namespace

std::string ObjectMark::Key() const { return ns.empty() || name.empty() ? name : ns + "/" + name; }

ObjectReader::ObjectReader(Interner& interner, const DecodeOptions& options)
    : decoder_(interner, SkippingUnreadable(options)) {}
ObjectReader::~ObjectReader() = default;

Result<WatchLine> ObjectReader::ReadLine(std::string_view line, std::string_view kind) {
  if (const std::optional<UsualLine> usual = SplitUsualLine(line)) {
    // An error is reported as that of the line, which the other way finds out.
    if (Result<AnyObject> decoded = ReadItem(usual->text, kind); decoded.ok()) {
      WatchLine result;
      result.type = usual->type;
      result.object = std::move(decoded).value();
      result.problems = problems();
      result.resource_version = Base(result.object).resource_version();
      return result;
    }
  }
  return ReadAnyLine(line, kind);
}

Result<WatchLine> ObjectReader::ReadAnyLine(std::string_view line, std::string_view kind) {
  std::string copy;
  const std::string_view readable = ReadableText(line, copy);
  const bool is_utf8 = readable.data() == line.data();
  // The members "type" and "object" may have any order, so that the first pass finds them.
  std::string type;
  std::string_view text;
  bool is_well_formed = true;
  const std::optional<std::string> problem =
      ReadWholeText(decoder_.reader().parser(), readable, [&](LineObject& members) {
        for (auto member : members) {
          std::string_view key;
          LineValue found;
          is_well_formed = member.unescaped_key().get(key) == simdjson::SUCCESS &&
                           member.value().get(found) == simdjson::SUCCESS;
          if (is_well_formed && key == "type") type = TextIn(found);
          LineObject inner;
          if (is_well_formed && key == "object") {
            is_well_formed = found.get_object().get(inner) == simdjson::SUCCESS &&
                             inner.raw_json().get(text) == simdjson::SUCCESS;
          }
          if (!is_well_formed) return false;
        }
        return true;
      });
  if (problem) return NoEvent(*problem);
  if (!is_well_formed) return NoEvent("it is malformed");
  if (type.empty()) return NoEvent("it has no type");
  if (text.empty()) return NoEvent("it has no object");
  WatchLine result;
  for (const auto& [name, known] : kTypes) {
    if (type == name) result.type = known;
  }
  if (result.type == WatchLine::Type::kError) {
    result.error = ReadServerStatus(text);
    return result;
  }
  if (result.type < WatchLine::Type::kBookmark) {
    // The text of the object is followed by the rest of the line, or by the padding of the line.
    Result<AnyObject> decoded = is_utf8 ? ReadItem(text, kind) : Result<AnyObject>(NotUtf8());
    if (decoded.ok()) {
      result.object = std::move(decoded).value();
      result.problems = problems();
      result.resource_version = Base(result.object).resource_version();
      return result;
    }
    result.decode_error = std::move(decoded).status();
  } else if (result.type == WatchLine::Type::kUnknown) {
    result.decode_error =
        Status::Unsupported("expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, found " + type);
  }
  Metadata metadata = MetadataOfText(decoder_.reader().parser(), text);
  result.resource_version = metadata.mark.resource_version;
  result.ends_initial_events = metadata.ends_initial_events;
  if (!result.decode_error.ok()) result.mark = std::move(metadata.mark);
  return result;
}

Result<AnyObject> ObjectReader::ReadItem(std::string_view item, std::string_view kind) {
  const size_t limit = decoder_.options().max_object_bytes;
  if (item.size() > limit) {
    return Status::OutOfRange("/: expected an object of at most " + std::to_string(limit) +
                              " bytes, found " + std::to_string(item.size()) + " bytes");
  }
  std::optional<Result<AnyObject>> result;
  const std::optional<std::string> problem =
      ReadWholeText(decoder_.reader().parser(), item, [&](LineObject& members) {
        result.emplace(DecodeDocument(decoder_, members, TypeOf(kind)));
        return result->ok();
      });
  if (problem) return Status::InvalidArgument("/: " + *problem);
  return *std::move(result);
}

ObjectMark ObjectReader::ReadMark(std::string_view item) {
  std::string copy;
  return MetadataOfText(decoder_.reader().parser(), ReadableText(item, copy)).mark;
}

Result<ObjectReader::ListMeta> ObjectReader::ReadListMeta(std::string_view list_without_items) {
  // Limits the depth, also for the text of the error.
  const Result<nlohmann::ordered_json> list = ParseBody(list_without_items);
  if (!list.ok()) {
    return Status::InvalidArgument("expected a list of the API: " +
                                   std::string(list.status().message()));
  }
  if (!TextMember(*list, "kind").ends_with("List")) {
    return Status::InvalidArgument("expected a list of the API, found " + QuotedJson(*list));
  }
  ListMeta result;
  if (const auto meta = list->find("metadata"); meta != list->end() && meta->is_object()) {
    result.resource_version = TextMember(*meta, "resourceVersion");
    result.continue_token = TextMember(*meta, "continue");
    const auto remaining = meta->find("remainingItemCount");
    if (remaining != meta->end() && remaining->is_number_integer()) {
      result.remaining = remaining->get<int64_t>();
    }
  }
  if (result.resource_version.empty()) {
    return Status::InvalidArgument("/metadata/resourceVersion: expected a text, found nothing");
  }
  return result;
}

void ObjectReader::ReleaseIds() { decoder_.ReleaseIds(); }

}  // namespace berth::host
