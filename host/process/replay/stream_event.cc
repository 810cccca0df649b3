#include "host/process/replay/stream_event.h"

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <utility>

#include "host/api/json_reader.h"
#include "host/api/json_syntax.h"
#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

// In the order of StreamType.
constexpr std::array<std::string_view, 6> kTypes = {"ADDED",    "MODIFIED", "DELETED",
                                                    "BOOKMARK", "DECISION", "ATTEMPT"};
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
  const auto known = std::ranges::find(kTypes, envelope.type);
  if (envelope.type.empty() && envelope.is_object) {
    return Status::InvalidArgument(
        "/: expected a watch event, found an object; use kubectl with --output-watch-events to "
        "print "
        "events, and pass existing objects with --cluster");
  }
  if (known == kTypes.end()) {
    return Expected("/type", "ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT",
                    envelope.type.empty() ? "nothing" : Quoted(envelope.type));
  }
  event.type = static_cast<StreamType>(known - kTypes.begin());
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

// Compares two resourceVersions of an object by age. Returns unordered if that is not known.
std::partial_ordering CompareVersions(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return std::partial_ordering::unordered;
  if (a == b) return std::partial_ordering::equivalent;
  if (!IsNumber(a) || !IsNumber(b)) return std::partial_ordering::unordered;
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::string SeenKey(const AnyObject& object) {
  return std::string(KindOf(object)).append(1, ' ').append(Base(object).Key());
}

bool AreDifferent(std::string_view uid, std::string_view other) {
  return !uid.empty() && !other.empty() && uid != other;
}

}  // namespace

std::string_view StreamTypeName(StreamType type) { return kTypes[static_cast<size_t>(type)]; }

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

// ---- StreamCluster ------------------------------------------------------------------------------

void StreamCluster::NoteLoaded(const AnyObject& object) { Record(object, seen_[SeenKey(object)]); }

Result<bool> StreamCluster::Apply(const StreamEvent& event) {
  switch (event.type) {
    case StreamType::kAdded:
    case StreamType::kModified: return Put(event.type, event.object);
    case StreamType::kDeleted: return Delete(event.object);
    case StreamType::kBookmark:
    case StreamType::kDecision:
    case StreamType::kAttempt: break;
  }
  return false;
}

void StreamCluster::Record(const AnyObject& object, Seen& seen) {
  const ObjectBase& base = Base(object);
  if (!base.resource_version().empty()) seen.version = base.resource_version();
  seen.uid = base.uid();
  seen.is_deleted = false;
}

// If the uids are not known, ADDED is taken for a new object of the same name, MODIFIED for the
// same object.
bool StreamCluster::WasDeletedHere(StreamType type, const AnyObject& object,
                                   const Seen& seen) const {
  const ObjectBase& base = Base(object);
  if (seen.is_deleted || cluster_.Find(KindOf(object), base.ns(), base.name()).has_value()) {
    return false;
  }
  if (base.uid().empty() || seen.uid.empty()) return type == StreamType::kModified;
  return base.uid() == seen.uid;
}

Result<bool> StreamCluster::Put(StreamType type, const AnyObject& object) {
  const std::string key = SeenKey(object);
  const auto found = seen_.find(key);
  if (found != seen_.end()) {
    const auto order = CompareVersions(Base(object).resource_version(), found->second.version);
    if (std::is_lteq(order) || WasDeletedHere(type, object, found->second)) return false;
  }
  const Result<AnyObject> stored = cluster_.Put(object);
  if (!stored.ok()) return stored.status();
  Record(object, seen_[key]);
  return true;
}

bool StreamCluster::Delete(const AnyObject& object) {
  const ObjectBase& base = Base(object);
  std::string key = SeenKey(object);
  Seen& seen = seen_[key];
  const auto order = CompareVersions(base.resource_version(), seen.version);
  // The event is about an earlier object of the same name.
  if (std::is_lt(order) || (AreDifferent(base.uid(), seen.uid) && !std::is_gt(order))) return false;
  const bool was_deleted = seen.is_deleted;
  Record(object, seen);
  seen.is_deleted = true;
  if (!was_deleted) RememberDeleted(std::move(key));
  return cluster_.Remove(KindOf(object), base.ns(), base.name()).ok();
}

void StreamCluster::RememberDeleted(std::string key) {
  deleted_.push_back(std::move(key));
  if (deleted_.size() <= max_deleted_) return;
  const auto oldest = seen_.find(deleted_.front());
  if (oldest != seen_.end() && oldest->second.is_deleted) seen_.erase(oldest);
  deleted_.pop_front();
}

}  // namespace berth::host
