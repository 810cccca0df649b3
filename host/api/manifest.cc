#include "host/api/manifest.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/api/decode_parts.h"
#include "host/api/json_reader.h"
#include "host/api/json_syntax.h"
#include "host/api/yaml.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

static_assert(kManifestPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::string_view kListSuffix = "List";

// Returns `status` with `prefix` in front of the path at the beginning of its message. If it has no
// path, `prefix` becomes the path.
Status PrefixPath(std::string_view prefix, const Status& status) {
  std::string_view message = status.message();
  if (prefix.empty()) return status;
  if (!message.starts_with('/')) return status.Annotate(prefix);
  if (message.starts_with("/: ")) message.remove_prefix(1);
  return {status.code(), std::string(prefix).append(message)};
}

class ManifestReader {
 public:
  // REQUIRES: kManifestPadding bytes after `text` can be read.
  ManifestReader(std::string_view text, std::string_view file_name, Decoder& decoder,
                 const ManifestSink& sink, const ListSink& lists)
      : text_(text),
        file_name_(file_name),
        decoder_(decoder),
        reader_(decoder.reader()),
        sink_(sink),
        lists_(lists) {}

  Status ReadJson();
  Status ReadYaml();

 private:
  // An error in an object.
  struct Finding {
    Status status;
    YamlPlace place;    // Where the value is, if the text is YAML.
    size_t offset = 0;  // Where the value is in the document, if the text is JSON.
    int32_t line = 0;
  };

  // Reads document_ and reports its errors. Returns the length of the document.
  size_t ReadDocument();
  // The functions that return bool return false if the rest of the document cannot be read.
  bool ReadRoot(JsonObject& object);
  bool ReadList(JsonObject& object, const TypeMeta& list, bool* has_items);
  bool ReadItems(JsonValue& items, const ItemType& type);
  // Passes the object at document_[begin] to the sink.
  Status Pass(Result<AnyObject> object, size_t begin);

  // Reports an error of the whole document. Returns false.
  bool Report(const Status& status) { return Report(status, "", 0, ""); }
  // Reports an error of the object at document_[begin]. `path` is the JSON pointer of the object.
  bool Report(const Status& status, std::string_view path, size_t begin,
              std::string_view list_type);
  // Completes the errors of a JSON document, which begins at text_[at]: sets their lines, or
  // replaces them if the document is malformed, because they may result from that. `before`: the
  // number of errors of earlier documents. Returns false if the document is malformed.
  bool CompleteJsonErrors(size_t at, size_t before);
  // Returns the offset of the first syntax error at or after text_[at], or npos.
  size_t FindMalformed(size_t at);
  // Returns whether the current document has a syntax error. Searches it only once.
  bool IsMalformed();
  Status ToStatus() const;
  Status Locate(const Status& status, int32_t line) const;

  const std::string_view text_;
  const std::string_view file_name_;
  Decoder& decoder_;
  Reader& reader_;
  const ManifestSink& sink_;
  const ListSink& lists_;
  std::string_view document_;  // The JSON text from the beginning of the current document.
  int32_t document_line_ = 0;  // The line of the current document of YAML.
  // Whether the current document has a syntax error; nullopt if that is not known yet.
  std::optional<bool> document_is_malformed_;
  std::vector<Finding> findings_;
  size_t error_count_ = 0;  // May be larger than the number of findings.
  std::optional<SyntaxError> malformed_;
  bool searched_malformed_ = false;
};

// ---- Errors -------------------------------------------------------------------------------------

// Adds the file name and the line to an error. `line` is 0 if the error concerns the whole file.
Status ManifestReader::Locate(const Status& status, int32_t line) const {
  std::string place(file_name_);
  if (line != 0) place.append(":").append(std::to_string(line));
  return status.Annotate(place);
}

bool ManifestReader::Report(const Status& status, std::string_view path, size_t begin,
                            std::string_view list_type) {
  ++error_count_;
  if (findings_.size() == kMaxManifestErrors) return false;
  const std::string_view object = document_.substr(begin);
  const std::string_view pointer = PointerOf(status.message());
  const std::string described = DescribeObject(object, list_type);
  Finding& finding = findings_.emplace_back();
  finding.status = PrefixPath(path, status);
  if (!described.empty()) finding.status = std::move(finding.status).Annotate(described);
  finding.place = {document_line_, std::string(path).append(pointer)};
  finding.offset = begin + FindPlace(object, pointer);
  return false;
}

// The text is searched only once, because a text may have many documents with errors.
size_t ManifestReader::FindMalformed(size_t at) {
  if (!std::exchange(searched_malformed_, true)) {
    malformed_ = FindSyntaxError(text_.substr(at));
    if (malformed_.has_value()) malformed_->offset += at;
  }
  return malformed_.has_value() ? malformed_->offset : text_.npos;
}

bool ManifestReader::IsMalformed() {
  if (!document_is_malformed_.has_value()) {
    const auto at = static_cast<size_t>(document_.data() - text_.data());
    const size_t end = at + EndOfValue(document_);
    const size_t malformed = FindMalformed(at);
    // If the last document does not end, the error is at the end of the text.
    document_is_malformed_ = malformed < end || (malformed == end && end == text_.size());
  }
  return *document_is_malformed_;
}

bool ManifestReader::CompleteJsonErrors(size_t at, size_t before) {
  const size_t first = std::min(before, findings_.size());
  if (!IsMalformed()) {
    for (Finding& finding : std::span(findings_).subspan(first)) {
      finding.line = LineAt(text_, at + finding.offset);
    }
    return true;
  }
  findings_.resize(first);
  error_count_ = before + 1;
  if (first < kMaxManifestErrors) {
    findings_.push_back({.status = Status::InvalidArgument(malformed_->message),
                         .place = {},
                         .line = LineAt(text_, malformed_->offset)});
  }
  return false;
}

Status ManifestReader::ToStatus() const {
  if (error_count_ == 0) return {};
  std::string text;
  for (const Finding& finding : findings_) {
    if (!text.empty()) text += '\n';
    text += Locate(finding.status, finding.line).message();
  }
  if (const size_t more = error_count_ - findings_.size(); more > 0) {
    text +=
        "\n... and " + std::to_string(more) + (more == 1 ? " more error in " : " more errors in ");
    text += file_name_;
  }
  return {findings_.front().status.code(), std::move(text)};
}

// ---- Reading ------------------------------------------------------------------------------------

Status ManifestReader::Pass(Result<AnyObject> object, size_t begin) {
  if (!object.ok()) return std::move(object).status();
  return sink_(std::move(object).value(), document_.substr(begin));
}

bool ManifestReader::ReadItems(JsonValue& items, const ItemType& type) {
  simdjson::ondemand::array array;
  if (const auto error = items.get_array().get(array)) {
    error == simdjson::INCORRECT_TYPE ? reader_.FailExpected("an array", items)
                                      : reader_.FailSyntax(error);
    return Report(PrefixPath("/items", reader_.TakeError()));
  }
  size_t index = 0;
  for (auto result : array) {
    JsonValue item;
    const auto path = [&index] { return "/items/" + std::to_string(index); };
    if (const auto error = std::move(result).get(item)) {
      reader_.FailSyntax(error);
      return Report(PrefixPath(path(), reader_.TakeError()));
    }
    const auto begin = static_cast<size_t>(item.raw_json_token().data() - document_.data());
    if (const Status status = Pass(DecodeValue(decoder_, item, type), begin); !status.ok()) {
      Report(status, path(), begin, std::string(type.api_version).append("/").append(type.kind));
      // After an error in a malformed document the parser does not know where it is.
      if (IsMalformed()) return false;
    }
    ++index;
  }
  return true;
}

// Sets `*has_items`, because an object whose kind ends with "List" is a list only if it has items.
bool ManifestReader::ReadList(JsonObject& object, const TypeMeta& list, bool* has_items) {
  const std::string kind = list.kind.substr(0, list.kind.size() - kListSuffix.size());
  const ItemType type = {list.api_version, kind};
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(result).get(field)) {
      reader_.FailSyntax(error);
      return Report(reader_.TakeError());
    }
    if (field.key() != "items") continue;
    *has_items = true;
    if (lists_ && !kind.empty()) lists_(std::string(list.api_version).append("/").append(kind));
    bool is_null = false;
    if (field.value().is_null().get(is_null) == simdjson::SUCCESS && is_null) continue;
    if (!ReadItems(field.value(), type)) return false;
  }
  return true;
}

bool ManifestReader::ReadRoot(JsonObject& object) {
  reader_.Begin(0);
  TypeMeta type;
  if (!FindType(reader_, object, &type)) return Report(reader_.TakeError());
  if (type.kind.ends_with(kListSuffix)) {
    bool has_items = false;
    if (!ReadList(object, type, &has_items)) return false;
    if (has_items) return true;
    if (!reader_.Rewind(object)) return Report(reader_.TakeError());
  }
  const Status status = Pass(DecodeDocument(decoder_, object, {type.api_version, type.kind}), 0);
  return status.ok() || Report(status);
}

size_t ManifestReader::ReadDocument() {
  const size_t errors_before = error_count_;
  simdjson::ondemand::document document;
  JsonObject object;
  reader_.Begin(0);
  auto error = reader_.parser()
                   .iterate(document_.data(), document_.size(),
                            document_.size() + simdjson::SIMDJSON_PADDING)
                   .get(document);
  if (!error) error = document.get_object().get(object);
  if (!error) {
    ReadRoot(object);
  } else {
    const bool is_array = document_.starts_with('[');
    error == simdjson::INCORRECT_TYPE
        ? reader_.FailExpected("an object", is_array ? "an array" : "another JSON value")
        : reader_.FailSyntax(error);
    Report(reader_.TakeError());
  }
  if (error_count_ > errors_before) return EndOfValue(document_);
  const char* next = nullptr;
  const bool is_more = document.current_location().get(next) == simdjson::SUCCESS;
  return is_more ? static_cast<size_t>(next - document_.data()) : document_.size();
}

Status ManifestReader::ReadJson() {
  size_t at = text_.find_first_not_of(kJsonSpaces);
  // Most files contain one document, so the whole text is passed to the parser first. EndOfValue()
  // finds the end of every later document, and of the first one if the text does not end with an
  // object.
  const bool try_whole_text = text_[text_.find_last_not_of(kJsonSpaces)] == '}';
  size_t size = try_whole_text ? text_.size() - at : EndOfValue(text_.substr(at));
  while (at != text_.npos) {
    const size_t errors_before = error_count_;
    document_ = text_.substr(at, size);
    document_is_malformed_ = std::nullopt;
    size = ReadDocument();
    if (error_count_ > errors_before && !CompleteJsonErrors(at, errors_before)) break;
    at = text_.find_first_not_of(kJsonSpaces, at + size);
    if (at != text_.npos) size = EndOfValue(text_.substr(at));
  }
  return ToStatus();
}

Status ManifestReader::ReadYaml() {
  Result<std::vector<JsonDocument>> documents = YamlToJson(text_);
  if (!documents.ok()) return Locate(documents.status(), 0);
  if (documents->empty()) {
    return Locate(Status::InvalidArgument("expected objects, found no document"), 0);
  }
  for (JsonDocument& document : *documents) {
    const size_t size = document.json.size();
    document.json.resize(size + kManifestPadding);
    document_ = {document.json.data(), size};
    document_is_malformed_ = false;
    document_line_ = document.line;
    ReadDocument();
    document.json = std::string();
  }
  std::vector<YamlPlace> places;
  for (const Finding& finding : findings_) places.push_back(finding.place);
  if (places.empty()) return {};
  const std::vector<int32_t> lines = FindYamlLines(text_, places);
  for (size_t i = 0; i < lines.size(); ++i) findings_[i].line = lines[i];
  return ToStatus();
}

// ---- Texts that are no manifests ----------------------------------------------------------------

constexpr size_t kMaxSearched = 4096;  // The bytes of the text that are searched for HTML.

// Returns the first line that is neither empty nor a comment, without the spaces around it.
std::string_view FirstLine(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = TrimSpace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.front() != '#') return line;
  }
  return "";
}

// Returns true for the header of a table: "NAME   READY   STATUS   RESTARTS   AGE". Units in
// parentheses may have small letters: "NAME   CPU(cores)   MEMORY(bytes)".
bool IsTableHeader(std::string_view line) {
  constexpr std::array<std::string_view, 3> kFirst = {"NAME ", "NAMESPACE ", "LAST SEEN "};
  const auto is_first = [line](std::string_view word) { return line.starts_with(word); };
  if (!std::ranges::any_of(kFirst, is_first)) return false;
  bool in_unit = false;
  return std::ranges::all_of(line, [&in_unit](char c) {
    if (c == '(' || c == ')') in_unit = c == '(';
    const bool is_mark = std::string_view(" -_()%/.").find(c) != std::string_view::npos;
    return IsUpper(c) || IsDigit(c) || is_mark || (in_unit && IsLower(c));
  });
}

// The output of kubectl describe begins with "Name:", some spaces and a name.
bool IsDescription(std::string_view line, std::string_view text) {
  if (!line.starts_with("Name:  ")) return false;
  constexpr std::array<std::string_view, 3> kNext = {"\nNamespace:  ", "\nLabels:  ", "\nRoles:  "};
  return std::ranges::any_of(
      kNext, [text](std::string_view next) { return text.find(next) != std::string_view::npos; });
}

bool IsErrorMessage(std::string_view line) {
  constexpr std::array<std::string_view, 4> kBegins = {"Error from server",
                                                       "error: ", "Unable to connect to the server",
                                                       "The connection to the server"};
  return std::ranges::any_of(kBegins,
                             [line](std::string_view begin) { return line.starts_with(begin); });
}

// Returns true if the first line with content cannot be the first line of a YAML document that is a
// mapping or a sequence.
bool IsPlainText(std::string_view text) {
  const std::string_view line = FirstLine(text);
  // Characters that begin a collection, a quoted key, an anchor, a tag, an alias, a complex key, a
  // block scalar or a directive.
  if (line.empty() ||
      std::string_view("{[\"'&!*?|>%").find(line.front()) != std::string_view::npos) {
    return false;
  }
  if (line.starts_with("---") || line == "-" || line.starts_with("- ")) return false;
  const size_t key_end = std::min(line.find_first_of(" \t"), line.size());
  const size_t next = std::min(line.find_first_not_of(" \t", key_end), line.size());
  const std::string_view key = line.substr(0, key_end);
  return !key.ends_with(':') && !line.substr(next).starts_with(':');
}

// Returns the text without a byte order mark.
std::string_view SkipByteOrderMark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

// Returns whether the text begins with a byte order mark of UTF-16.
bool IsUtf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

// Returns an error if the text is neither JSON nor YAML, but something that users confuse with
// them.
Status CheckFormat(std::string_view text) {
  std::string_view found = RecognizeForeignText(text);
  if (found.empty() && IsPlainText(text)) found = "plain text";
  if (found.empty()) return {};
  return Status::InvalidArgument(
      std::string("this looks like ")
          .append(found)
          .append("; expected Kubernetes objects as YAML or JSON: use kubectl get -o json"));
}

// Returns whether the text begins with an object whose first key has quotes, as in all JSON, and
// nothing separates documents of YAML.
bool LooksLikeJson(std::string_view text) {
  size_t at = text.find_first_not_of(kJsonSpaces);
  while (at < text.size() && text[at] == '[') at = text.find_first_not_of(kJsonSpaces, at + 1);
  if (at >= text.size() || text[at] != '{') return false;
  at = text.find_first_not_of(kJsonSpaces, at + 1);
  return at < text.size() && (text[at] == '"' || text[at] == '}') &&
         text.find("\n---") == text.npos;
}

// Returns whether the text, whose first character after spaces is `first`, is JSON; see
// ReadManifest(). Otherwise it is YAML.
bool IsJson(std::string_view text, char first, std::string_view file_name) {
  if (first != '{' && first != '[') return false;
  const std::string name = ToLower(file_name);
  if (name.ends_with(".json")) return true;
  const bool is_yaml_name = name.ends_with(".yaml") || name.ends_with(".yml");
  // The whole text is searched only if its name or its beginning leave a doubt.
  if (!is_yaml_name && LooksLikeJson(text)) return true;
  if (!FindSyntaxError(text).has_value()) return true;
  return !is_yaml_name && !YamlToJson(text).ok();
}

}  // namespace

std::string_view RecognizeForeignText(std::string_view text) {
  if (text.starts_with("\x1f\x8b")) return "a gzip file";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string_view line = FirstLine(text);
  text = text.substr(0, kMaxSearched);
  if (line.starts_with('<') && !line.starts_with("<<")) {
    return ToLower(text).find("<html") != std::string::npos || !line.starts_with("<?xml")
               ? "an HTML page"
               : "an XML document";
  }
  if (IsTableHeader(line)) return "a table that kubectl prints";
  if (IsDescription(line, text)) return "the output of kubectl describe";
  if (IsErrorMessage(line)) return "an error message of kubectl";
  return "";
}

Status ReadPaddedManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                          const ManifestSink& sink, const ListSink& lists) {
  text = SkipByteOrderMark(text);
  const size_t begin = text.find_first_not_of(kJsonSpaces);
  if (begin == text.npos) {
    return Status::InvalidArgument("expected objects, found an empty text").Annotate(file_name);
  }
  if (IsUtf16(text)) {
    return Status::InvalidArgument("expected UTF-8, found UTF-16").Annotate(file_name);
  }
  if (Status status = CheckFormat(text); !status.ok()) return status.Annotate(file_name);
  ManifestReader reader(text, file_name, decoder, sink, lists);
  return IsJson(text, text[begin], file_name) ? reader.ReadJson() : reader.ReadYaml();
}

Status ReadManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                    const ManifestSink& sink) {
  std::string padded;
  padded.reserve(text.size() + kManifestPadding);
  padded.append(text).append(kManifestPadding, '\0');
  return ReadPaddedManifest({padded.data(), text.size()}, file_name, decoder, sink);
}

}  // namespace berth::host
