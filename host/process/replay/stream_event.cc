#include "host/process/replay/stream_event.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "host/api/json_reader.h"
#include "host/api/json_syntax.h"
#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

struct TypeWord {
  std::string_view word;
  StreamType type;
};
constexpr std::array<TypeWord, 6> kTypes = {{{"ADDED", StreamType::kAdded},
                                             {"MODIFIED", StreamType::kModified},
                                             {"DELETED", StreamType::kDeleted},
                                             {"BOOKMARK", StreamType::kBookmark},
                                             {"DECISION", StreamType::kDecision},
                                             {"ATTEMPT", StreamType::kAttempt}}};
constexpr std::string_view kErrorType = "ERROR";

// The event without its object.
struct Envelope {
  std::string_view type;
  std::optional<std::string_view> after;
  std::optional<std::string_view> other;  // A key that is not allowed.
  bool is_object = false;                 // The text is an object, not an event.
};

Status Expected(std::string_view place, std::string_view what, std::string_view found) {
  std::string message(place);
  message.append(": expected ").append(what).append(", found ").append(found);
  return Status::InvalidArgument(std::move(message));
}

class EventReader {
 public:
  EventReader(std::string_view text, Decoder& decoder)
      : text_(text), decoder_(decoder), reader_(decoder.reader()) {}

  Status Read(StreamEvent& event);

 private:
  Status ReadEnvelope(Envelope& envelope);
  Status ReadObject(StreamEvent& event);
  Status ReadServerError();
  // Finds `key` among the keys that have not been read yet. Returns false if there is none.
  Result<bool> Find(JsonObject& object, std::string_view key, JsonValue& value);
  Status Syntax(simdjson::error_code error);

  std::string_view text_;
  Decoder& decoder_;
  Reader& reader_;
  const char* copy_ = nullptr;  // The padded copy of the text that simdjson reads.
  simdjson::ondemand::document document_;
  JsonObject root_;
};

Status ReadTimeAndType(const Envelope& envelope, StreamEvent& event) {
  bool known = false;
  for (const auto& [word, type] : kTypes) {
    if (word != envelope.type) continue;
    event.type = type;
    known = true;
  }
  if (envelope.type.empty() && envelope.is_object) {
    return Status::InvalidArgument(
        "/: expected a watch event, found an object; use kubectl with --output-watch-events to "
        "print "
        "events, and pass existing objects with --cluster");
  }
  if (!known) {
    return Expected("/type", "ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT",
                    envelope.type.empty() ? "nothing" : Quoted(envelope.type));
  }
  if (!envelope.after.has_value()) return {};
  const Result<int64_t> after = ParseDuration(*envelope.after);
  if (!after.ok()) return after.status().Annotate("/after");
  if (*after < 0) return Expected("/after", "a time that is not negative", Quoted(*envelope.after));
  event.after_ns = *after;
  return {};
}

Status EventReader::Syntax(simdjson::error_code error) {
  reader_.FailSyntax(error);
  return reader_.TakeError();
}

Status EventReader::Read(StreamEvent& event) {
  reader_.Begin(0);
  const simdjson::padded_string_view padded = reader_.Pad(text_);
  copy_ = padded.data();
  auto error = reader_.parser().iterate(padded).get(document_);
  if (!error) error = document_.get_object().get(root_);
  if (error) return Syntax(error);
  Envelope envelope;
  if (Status status = ReadEnvelope(envelope); !status.ok()) return status;
  bool is_more = false;
  if (const auto again = root_.reset().get(is_more)) return Syntax(again);
  if (envelope.type == kErrorType) return ReadServerError();
  if (Status status = ReadTimeAndType(envelope, event); !status.ok()) return status;
  if (!HasObject(event.type)) return {};
  if (envelope.other.has_value()) {
    return Expected("/", "the keys type, object and after", Quoted(*envelope.other));
  }
  return ReadObject(event);
}

Status EventReader::ReadEnvelope(Envelope& envelope) {
  const bool ok = reader_.ForEachField(root_, [&](const Field& field, JsonValue& value) {
    if (field.name == "type") return reader_.ReadText(value, &envelope.type);
    if (field.name == "after") return reader_.ReadText(value, &envelope.after.emplace());
    if (field.name != "object") envelope.other = field.name;
    envelope.is_object |= field.name == "apiVersion";
    return true;
  });
  return ok ? Status() : reader_.TakeError();
}

Result<bool> EventReader::Find(JsonObject& object, std::string_view key, JsonValue& value) {
  const auto error = object.find_field(key).get(value);
  if (error == simdjson::NO_SUCH_FIELD) return false;
  if (error) return Syntax(error);
  return true;
}

Status EventReader::ReadObject(StreamEvent& event) {
  JsonValue value;
  const Result<bool> found = Find(root_, "object", value);
  if (!found.ok()) return found.status();
  if (!*found) return Expected("/object", "the object", "nothing");
  const auto begin = static_cast<size_t>(value.raw_json_token().data() - copy_);
  Result<AnyObject> object = DecodeValue(decoder_, value);
  if (!object.ok()) {
    const Status status = object.status();
    std::string_view message = status.message();
    if (message.starts_with("/: ")) message.remove_prefix(1);
    return {status.code(), std::string("/object").append(message)};
  }
  event.object = std::move(object).value();
  const std::string_view rest = text_.substr(begin);
  event.object_json = rest.substr(0, EndOfValue(rest));
  return {};
}

// The object of an ERROR event is a v1 Status.
Status EventReader::ReadServerError() {
  std::string message = "the server ended the watch with an error";
  JsonValue value;
  JsonObject status;
  const Result<bool> found = Find(root_, "object", value);
  if (!found.ok()) return found.status();
  if (*found && value.get_object().get(status) == simdjson::SUCCESS) {
    JsonValue text;
    std::string_view why;
    const Result<bool> has_message = Find(status, "message", text);
    if (has_message.ok() && *has_message && reader_.ReadText(text, &why))
      message.append(": ").append(why);
  }
  return Status::Unavailable("/type: " + message);
}

// Returns `error` with the line and the description of an object in front.
Status PutInFront(int64_t line, std::string_view object_json, const Status& error) {
  std::string place = std::to_string(line);
  const std::string object = DescribeObject(object_json);
  if (!object.empty()) place.append(": ").append(object);
  return error.Annotate(place);
}

}  // namespace

std::string_view StreamTypeName(StreamType type) { return kTypes[static_cast<size_t>(type)].word; }

Status PlaceInEvent(const JsonText& text, const Status& error) {
  const std::string_view pointer = PointerOf(error.message());
  const std::string_view json = text.text;
  const size_t object = FindPlace(json, "/object");
  const size_t place = pointer.empty() ? object : FindPlace(json, pointer);
  return PutInFront(text.line + LineAt(json, place) - 1, json.substr(object), error);
}

Result<StreamEvent> ReadStreamEvent(const JsonText& text, Decoder& decoder) {
  StreamEvent event;
  Status status = EventReader(text.text, decoder).Read(event);
  if (status.ok()) return event;
  if (status.code() == ErrorCode::kUnavailable) {
    return std::move(status).Annotate(std::to_string(text.line));
  }
  if (const auto error = FindSyntaxError(text.text)) {
    const std::string_view object =
        std::string_view(text.text).substr(FindPlace(text.text, "/object"));
    status = PutInFront(text.line + LineAt(text.text, error->offset) - 1, object,
                        Status::InvalidArgument(error->message));
  } else {
    status = PlaceInEvent(text, status);
  }
  if (!HasMember(text.text, "type") || !HasMember(text.text, "object")) {
    return Status::Unsupported(std::string(status.message()));
  }
  StreamEvent rejected;
  rejected.after_ns = event.after_ns;
  rejected.rejection = std::move(status);
  return rejected;
}

}  // namespace berth::host
