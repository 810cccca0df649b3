#include "host/api/json_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

constexpr size_t kMaxFound = 48;  // The number of bytes of a wrong value that a message contains.

// Returns at most `kMaxFound` bytes of `text`, followed by "..." if it is longer. Does not split a
// UTF-8 character.
std::string Shorten(std::string_view text) {
  if (text.size() <= kMaxFound) return std::string(text);
  size_t end = kMaxFound;
  while (end > 0 && IsContinuationByte(text[end])) --end;
  return std::string(text.substr(0, end)).append("...");
}

// In malformed JSON a value may lie at the end of the text, where simdjson computes a length that
// wraps around. The padding after the text is longer than what is read here.
std::string_view TokenOf(JsonValue& value) {
  static_assert(kMaxFound < simdjson::SIMDJSON_PADDING);
  const std::string_view token = value.raw_json_token();
  return TrimSpace(token.substr(0, kMaxFound + 1));
}

std::string Describe(JsonValue& value) {
  const std::string_view token = TokenOf(value);
  if (token.starts_with('{')) return "an object";
  if (token.starts_with('[')) return "an array";
  return token.empty() ? "nothing" : Shorten(token);
}

}  // namespace

Reader::Reader(Interner& interner, DecodeOptions options)
    : calculator(options.emulated_version),
      interner_(interner),
      options_(std::move(options)),
      cache_(options_.cached_ids) {
  BERTH_ASSERT(std::has_single_bit(options_.cached_ids));
}

Reader::~Reader() {
  Begin(0);
  ReleaseIds();
}

// ---- One object -------------------------------------------------------------------------------

void Reader::Begin(size_t expected_bytes) {
  DropIds();
  arena_ = Arena(expected_bytes);
  std::apply([](auto&... stack) { (stack.Clear(), ...); }, stacks_);
  scratch_.Reset();
  error_ = {};
  problems.Clear();
  names.base = {};
}

size_t Reader::SuggestSize() const {
  // A cluster has many similar objects: what is left in each of them counts.
  constexpr size_t kStep = 64;
  // The padding of the views, and names that are a little longer, need additional space.
  constexpr size_t kMargin = 128;
  const size_t needed =
      arena_.bytes_used() + ids_.size() * sizeof(Id) + ObjectMemory::kOwnBytes + kMargin;
  return std::min<size_t>(needed / kStep * kStep + kStep, size_t{16} << 10);
}

ObjectMemory Reader::Finish() {
  ObjectMemory memory(std::move(arena_), interner_, ids_);
  ids_.clear();
  return memory;
}

Status Reader::TakeError() {
  BERTH_ASSERT(error_.code != ErrorCode::kOk);
  DropIds();
  if (error_.path.empty()) error_.path = "/";
  return {error_.code, std::exchange(error_.path, {}).append(": ").append(error_.message)};
}

void Reader::DropIds() {
  for (const Id id : ids_) interner_.Release(id);
  ids_.clear();
  // A new number, so that the next object adds its own references to cached ids.
  ++object_number_;
}

simdjson::padded_string_view Reader::Pad(std::string_view text) {
  const size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
  if (padded_.size() < needed) padded_.resize(std::bit_ceil(needed));
  std::copy(text.begin(), text.end(), padded_.begin());
  std::fill_n(padded_.begin() + static_cast<ptrdiff_t>(text.size()), simdjson::SIMDJSON_PADDING,
              '\0');
  return simdjson::padded_string_view(padded_.data(), text.size(), padded_.size());
}

// ---- Ids --------------------------------------------------------------------------------------

Id Reader::Intern(std::string_view text) {
  if (text.empty()) return kEmptyId;
  const uint64_t hash = HashBytes(text);
  CacheSlot& slot = cache_[hash & (cache_.size() - 1)];
  if (slot.hash != hash || slot.text != text) {
    const Id id = interner_.Intern(text);
    interner_.Release(slot.id);
    slot = {hash, interner_.Text(id), id, 0};
  }
  // While the slot caches this text, an object adds only one reference to its id, even if it
  // contains the text several times.
  if (slot.object != object_number_) {
    slot.object = object_number_;
    interner_.AddRef(slot.id);
    ids_.push_back(slot.id);
  }
  return slot.id;
}

void Reader::ReleaseIds() {
  for (CacheSlot& slot : cache_) {
    interner_.Release(slot.id);
    slot = CacheSlot();
  }
}

// ---- Scalars ----------------------------------------------------------------------------------

bool Reader::IsNull(JsonValue& value) {
  if (value.raw_json_token().front() != 'n') [[likely]]
    return false;
  bool is_null = false;
  return value.is_null().get(is_null) == simdjson::SUCCESS && is_null;
}

bool Reader::Unescape(const char* raw, size_t size, std::string_view* text) {
  while (raw[size] != '"') size += raw[size] == '\\' ? 2 : 1;
  char* copy = static_cast<char*>(arena_.Allocate(size + simdjson::SIMDJSON_PADDING, 1));
  auto* end = reinterpret_cast<uint8_t*>(copy);
  const simdjson::ondemand::raw_json_string escaped(reinterpret_cast<const uint8_t*>(raw));
  if (const auto error = parser_.unescape(escaped, end).get(*text)) return FailSyntax(error);
  return true;
}

bool Reader::ReadText(JsonValue& value, std::string_view* text) {
  simdjson::ondemand::raw_json_string raw;
  if (value.get_raw_json_string().get(raw)) [[unlikely]]
    return FailExpected("a string", value);
  return TextAt(raw.raw(), text);
}

bool Reader::ReadString(JsonValue& value, berth_str* text) {
  std::string_view found;
  if (!ReadText(value, &found)) return false;
  *text = CopyText(found);
  return true;
}

bool Reader::ReadName(JsonValue& value, Id* id) {
  std::string_view text;
  if (!ReadText(value, &text)) return false;
  *id = text.empty() ? kNoId : Intern(text);
  return true;
}

bool Reader::ReadId(JsonValue& value, Id* id) {
  std::string_view text;
  if (!ReadText(value, &text)) return false;
  *id = Intern(text);
  return true;
}

bool Reader::ReadInt64(JsonValue& value, int64_t* number) {
  if (value.get_int64().get(*number) == simdjson::SUCCESS) [[likely]]
    return true;
  constexpr double kExact = 0x1p53;  // From it on, a double may be another number than its text.
  double found = 0;
  if (value.get_double().get(found) == simdjson::SUCCESS && std::abs(found) < kExact &&
      std::trunc(found) == found) {
    *number = static_cast<int64_t>(found);
    return true;
  }
  return FailExpected("an integer", value);
}

bool Reader::ReadInt32(JsonValue& value, int32_t* number) {
  int64_t wide = 0;
  if (!ReadInt64(value, &wide)) return false;
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    return FailExpected("an integer of 32 bits", std::to_string(wide));
  }
  *number = static_cast<int32_t>(wide);
  return true;
}

bool Reader::ReadBool(JsonValue& value, bool* truth) {
  if (value.get_bool().get(*truth)) [[unlikely]]
    return FailExpected("true or false", value);
  return true;
}

bool Reader::ReadFlag(JsonValue& value, uint32_t flag, uint32_t* flags) {
  bool truth = false;
  if (!ReadBool(value, &truth)) return false;
  *flags = truth ? *flags | flag : *flags & ~flag;
  return true;
}

bool Reader::ReadTime(JsonValue& value, int64_t* nanoseconds) {
  std::string_view text;
  if (!ReadText(value, &text)) return false;
  const Result<int64_t> time = ParseTime(text);
  if (!time.ok()) return Fail(time.status().code(), std::string(time.status().message()));
  *nanoseconds = *time;
  return true;
}

bool Reader::ReadEnum(JsonValue& value, std::span<const EnumValue> values, uint32_t* number) {
  std::string_view text;
  if (!ReadText(value, &text)) return false;
  if (text.empty()) {
    *number = 0;
    return true;
  }
  for (const EnumValue& candidate : values) {
    if (candidate.text == text) {
      *number = candidate.number;
      return true;
    }
  }
  std::string expected;
  for (const EnumValue& candidate : values) {
    if (!expected.empty()) expected.append(&candidate == &values.back() ? " or " : ", ");
    expected.append(candidate.text);
  }
  return FailExpected(expected, "\"" + Shorten(text) + "\"");
}

bool Reader::ReadIds(JsonValue& value, berth_array* ids) {
  return ReadList(value, kNoId, ids, [this](JsonValue& v, Id& id) { return ReadId(v, &id); });
}

bool Reader::ReadStrings(JsonValue& value, berth_array* texts) {
  return ReadList(value, berth_str{}, texts,
                  [this](JsonValue& v, berth_str& text) { return ReadString(v, &text); });
}

bool Reader::Rewind(JsonObject& object) {
  bool more = false;
  if (const auto error = object.reset().get(more)) return FailSyntax(error);
  return true;
}

// ---- Errors -----------------------------------------------------------------------------------

bool Reader::Fail(ErrorCode code, std::string message) {
  error_.code = code;
  error_.path.clear();
  error_.message = std::move(message);
  return false;
}

bool Reader::FailExpected(std::string_view what, std::string_view found) {
  std::string message = "expected ";
  message.append(what).append(", found ").append(found);
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

bool Reader::FailExpected(std::string_view what, JsonValue& found) {
  return FailExpected(what, Describe(found));
}

bool Reader::FailSyntax(simdjson::error_code error) {
  const std::string text(simdjson::error_message(error));
  return problems.Require(Fail(ErrorCode::kInvalidArgument, "malformed JSON: " + text));
}

bool Reader::PrependSegment(std::string_view segment) {
  error_.path.insert(0, PointerSegment(segment));
  return false;
}

bool Reader::PrependSegment(size_t index) { return PrependSegment(std::to_string(index)); }

bool Reader::PrependPointer(std::string_view pointer) {
  error_.path.insert(0, pointer);
  return false;
}

}  // namespace berth::host
