#include "host/api/manifest.h"

#include <string>
#include <utility>
#include <vector>

#include "host/api/decode_parts.h"
#include "host/api/decode_value.h"
#include "host/api/json_syntax.h"
#include "host/api/yaml.h"

namespace berth::host {
namespace {

static_assert(kManifestPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kListSuffix = "List";

// Returns `status` with `prefix` in front of the path at the beginning of its message.
Status PrefixPath(std::string_view prefix, const Status& status) {
  std::string_view message = status.message();
  if (message.starts_with("/: ")) message.remove_prefix(1);
  return {status.code(), std::string(prefix).append(message)};
}

class ManifestReader {
 public:
  ManifestReader(std::string_view file_name, Decoder& decoder, const ManifestSink& sink)
      : file_name_(file_name), decoder_(decoder), reader_(decoder.reader()), sink_(sink) {}

  // REQUIRES: kManifestPadding bytes after `text` can be read.
  Status ReadJson(std::string_view text);
  Status ReadYaml(std::string_view text);

 private:
  // Reads the document at the beginning of `text` and sets `*size` to its length.
  Status ReadDocument(std::string_view text, size_t* size);
  Status ReadRoot(JsonObject& object);
  Status ReadList(JsonObject& object, const TypeMeta& list, bool* has_items);
  Status ReadItems(JsonValue& items, const ItemType& type);
  Status Pass(Result<AnyObject> object);
  Status Failure();

  // Adds the file name and the line to an error. `line` is 0 if the document is the whole file.
  Status Locate(const Status& status, int32_t line) const;

  std::string_view file_name_;
  Decoder& decoder_;
  Reader& reader_;
  const ManifestSink& sink_;
};

Status ManifestReader::Locate(const Status& status, int32_t line) const {
  std::string place(file_name_);
  if (line != 0) place.append(":").append(std::to_string(line));
  return status.Annotate(place);
}

Status ManifestReader::Failure() { return reader_.TakeError(); }

Status ManifestReader::Pass(Result<AnyObject> object) {
  if (!object.ok()) return std::move(object).status();
  return sink_(std::move(object).value());
}

Status ManifestReader::ReadItems(JsonValue& items, const ItemType& type) {
  simdjson::ondemand::array array;
  if (const auto error = items.get_array().get(array)) {
    error == simdjson::INCORRECT_TYPE ? reader_.FailExpected("an array", items)
                                      : reader_.FailSyntax(error);
    return PrefixPath("/items", Failure());
  }
  size_t index = 0;
  for (auto result : array) {
    JsonValue item;
    Status status;
    if (const auto error = std::move(result).get(item)) {
      reader_.FailSyntax(error);
      status = Failure();
    } else {
      status = Pass(DecodeValue(decoder_, item, type));
    }
    if (!status.ok()) return PrefixPath("/items/" + std::to_string(index), status);
    ++index;
  }
  return Status::Ok();
}

// Sets `*has_items`, because an object whose kind ends with "List" is a list only if it has items.
Status ManifestReader::ReadList(JsonObject& object, const TypeMeta& list, bool* has_items) {
  const std::string kind = list.kind.substr(0, list.kind.size() - kListSuffix.size());
  const ItemType type = {list.api_version, kind};
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(result).get(field)) {
      reader_.FailSyntax(error);
      return Failure();
    }
    if (field.key() != "items") continue;
    *has_items = true;
    bool is_null = false;
    if (field.value().is_null().get(is_null) == simdjson::SUCCESS && is_null) continue;
    if (Status status = ReadItems(field.value(), type); !status.ok()) return status;
  }
  return Status::Ok();
}

Status ManifestReader::ReadRoot(JsonObject& object) {
  reader_.Begin(0);
  TypeMeta type;
  if (!FindType(reader_, object, &type)) return Failure();
  if (type.kind.ends_with(kListSuffix)) {
    bool has_items = false;
    Status status = ReadList(object, type, &has_items);
    if (!status.ok() || has_items) return status;
    bool more = false;
    if (const auto error = object.reset().get(more)) {
      reader_.FailSyntax(error);
      return Failure();
    }
  }
  return Pass(DecodeDocument(decoder_, object, {type.api_version, type.kind}));
}

Status ManifestReader::ReadDocument(std::string_view text, size_t* size) {
  simdjson::ondemand::document document;
  JsonObject object;
  reader_.Begin(0);
  auto error = reader_.parser()
                   .iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING)
                   .get(document);
  if (!error) error = document.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) {
    reader_.FailExpected("an object", text.starts_with('[') ? "an array" : "another JSON value");
    return Failure();
  }
  if (error) {
    reader_.FailSyntax(error);
    return Failure();
  }
  if (Status status = ReadRoot(object); !status.ok()) return status;
  const char* next = nullptr;
  const bool is_more = document.current_location().get(next) == simdjson::SUCCESS;
  *size = is_more ? static_cast<size_t>(next - text.data()) : text.size();
  return Status::Ok();
}

Status ManifestReader::ReadJson(std::string_view text) {
  size_t at = text.find_first_not_of(kSpaces);
  // Most files contain one document, so the whole text is passed to the parser first. EndOfValue()
  // finds the end of every later document, and of the first one if the text does not end with an
  // object.
  const bool try_whole_text = text[text.find_last_not_of(kSpaces)] == '}';
  size_t size = try_whole_text ? text.size() - at : EndOfValue(text.substr(at));
  while (at != text.npos) {
    const Status status = ReadDocument(text.substr(at, size), &size);
    if (!status.ok()) {
      const auto error = FindSyntaxError(text.substr(at));
      if (error) {
        return Locate(Status::InvalidArgument(error->message), LineAt(text, at + error->offset));
      }
      return Locate(status, at == 0 ? 0 : LineAt(text, at));
    }
    at = text.find_first_not_of(kSpaces, at + size);
    if (at != text.npos) size = EndOfValue(text.substr(at));
  }
  return Status::Ok();
}

Status ManifestReader::ReadYaml(std::string_view text) {
  Result<std::vector<JsonDocument>> documents = YamlToJson(text);
  if (!documents.ok()) return Locate(documents.status(), 0);
  if (documents->empty()) {
    return Locate(Status::InvalidArgument("expected objects, found no document"), 0);
  }
  for (JsonDocument& document : *documents) {
    const size_t size = document.json.size();
    document.json.resize(size + kManifestPadding);
    size_t read = 0;
    const Status status = ReadDocument({document.json.data(), size}, &read);
    if (!status.ok()) return Locate(status, document.line);
    document.json = std::string();
  }
  return Status::Ok();
}

// Returns the text without a byte order mark.
std::string_view SkipByteOrderMark(std::string_view text) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  return text;
}

// Returns whether the text begins with a byte order mark of UTF-16.
bool IsUtf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

}  // namespace

Status ReadPaddedManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                          const ManifestSink& sink) {
  text = SkipByteOrderMark(text);
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) {
    return Status::InvalidArgument("expected objects, found an empty text").Annotate(file_name);
  }
  if (IsUtf16(text)) {
    return Status::InvalidArgument("expected UTF-8, found UTF-16").Annotate(file_name);
  }
  ManifestReader reader(file_name, decoder, sink);
  const bool is_json = text[begin] == '{' || text[begin] == '[';
  return is_json ? reader.ReadJson(text) : reader.ReadYaml(text);
}

Status ReadManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                    const ManifestSink& sink) {
  std::string padded;
  padded.reserve(text.size() + kManifestPadding);
  padded.append(text).append(kManifestPadding, '\0');
  return ReadPaddedManifest({padded.data(), text.size()}, file_name, decoder, sink);
}

}  // namespace berth::host
