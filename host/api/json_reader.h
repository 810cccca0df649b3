// Reading fields of one JSON object into the memory of one of ours: what all decode_*.cc share.
#ifndef BERTH_HOST_API_JSON_READER_H_
#define BERTH_HOST_API_JSON_READER_H_

#include <simdjson.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/api/requests.h"
#include "host/api/value.h"
#include "host/base/arena.h"
#include "host/base/hash.h"
#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

using JsonValue = simdjson::ondemand::value;
using JsonObject = simdjson::ondemand::object;

// ---- Names of fields as numbers, for switch ---------------------------------------------------
// The first, middle and last eight characters and the length tell every name of the API from every
// other; a switch over two names that they do not tell apart does not compile.

namespace json_internal {

constexpr uint64_t MixName(uint64_t head, uint64_t middle, uint64_t tail, uint64_t size) {
  uint64_t mixed = head * 0x9e3779b97f4a7c15ULL;
  mixed = std::rotl(mixed, 23) ^ (tail * 0xc2b2ae3d27d4eb4fULL);
  mixed = std::rotl(mixed, 29) ^ (middle * 0x165667b19e3779f9ULL);
  return mixed ^ size;
}

template <class Load>
constexpr uint64_t HashName(size_t size, Load load) {
  if (size < 8)
    return MixName(size == 0 ? 0 : load(0) & (~uint64_t{0} >> (64 - 8 * size)), 0, 0, size);
  return MixName(load(0), size > 16 ? load(size / 2 - 4) : 0, load(size - 8), size);
}

}  // namespace json_internal

// At least eight bytes can be read at `name.data()`.
inline uint64_t FieldHash(std::string_view name) {
  return json_internal::HashName(name.size(), [&](size_t at) {
    uint64_t word;
    std::memcpy(&word, name.data() + at, sizeof word);
    return word;
  });
}

consteval uint64_t operator""_field(const char* name, size_t size) {
  return json_internal::HashName(size, [&](size_t at) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && at + i < size; ++i) {
      word |= uint64_t{static_cast<unsigned char>(name[at + i])} << (8 * i);
    }
    return word;
  });
}

struct Field {
  std::string_view name;
  uint64_t hash;  // FieldHash(name)
};

// A word of the API and the number that the views have for it.
struct Word {
  std::string_view text;
  uint32_t number;
};

// Elements of nested arrays while their number is not known: each array takes what was pushed
// since it began.
template <class T>
class Stack {
 public:
  size_t size() const { return elements_.size(); }
  T& Push(const T& element) { return elements_.emplace_back(element); }
  std::span<T> Since(size_t mark) { return std::span<T>(elements_).subspan(mark); }
  std::span<T> Take(size_t mark, Arena& arena) {
    const std::span<T> copy = arena.CopyArray(std::span<const T>(elements_).subspan(mark));
    elements_.resize(mark);
    return copy;
  }
  // Drops what was pushed last, down to `size`.
  void Shrink(size_t size) { elements_.resize(size); }
  void Clear() { elements_.clear(); }

 private:
  std::vector<T> elements_;
};

// Functions that read return false after they have said what is wrong. Whoever calls them passes
// that on at once; on the way up each level adds its part of the path.
//
// Threading: one thread at a time. What is read lives in arena() and ids(), which Begin() empties.
class Reader {
 public:
  Reader(Interner& interner, DecodeOptions options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const DecodeOptions& options() const { return options_; }
  Interner& interner() const { return interner_; }
  Arena& arena() { return arena_; }
  // For what is only needed until the object is finished.
  Arena& scratch() { return scratch_; }
  simdjson::ondemand::parser& parser() { return parser_; }
  // A copy of the text that simdjson may read on behind; valid until the next one.
  simdjson::padded_string_view Pad(std::string_view text);

  // ---- One object ----
  // Forgets what is left of an object that was not finished. `expected_bytes` is a guess.
  void Begin(size_t expected_bytes);
  // What the next object of the kind may take, from what this one does.
  size_t SuggestSize() const;
  // Hands over what was read.
  ObjectMemory Finish();
  // What went wrong. Drops what was read.
  Status TakeError();

  // ---- Structure ----
  // Calls read(field, value) for each field that is not null.
  template <class Read>
  bool ForEachField(JsonValue& value, Read&& read);
  template <class Read>
  bool ForEachField(JsonObject& object, Read&& read);
  // Calls read(value) for each element; null elements are errors.
  template <class Read>
  bool ForEachElement(JsonValue& value, Read&& read);

  // ---- Scalars ----
  // In the JSON text, or in the arena where it has escapes.
  bool ReadText(JsonValue& value, std::string_view* text);
  // In the arena.
  bool ReadString(JsonValue& value, berth_str* text);
  // Empty text is kNoId.
  bool ReadName(JsonValue& value, Id* id);
  // Empty text is kEmptyId.
  bool ReadId(JsonValue& value, Id* id);
  bool ReadInt32(JsonValue& value, int32_t* number);
  bool ReadInt64(JsonValue& value, int64_t* number);
  bool ReadBool(JsonValue& value, bool* truth);
  bool ReadTime(JsonValue& value, int64_t* nanoseconds);
  // One of `words`; the empty text is 0.
  bool ReadWord(JsonValue& value, std::span<const Word> words, uint32_t* number);
  // A JSON array of texts.
  bool ReadIds(JsonValue& value, berth_array* ids);
  bool ReadStrings(JsonValue& value, berth_array* texts);

  Id Intern(std::string_view text);
  berth_str CopyText(std::string_view text) { return AsStr(arena_.CopyString(text)); }

  // ---- Errors ----
  // All return false.
  bool Fail(ErrorCode code, std::string message);
  // "expected <what>, found <found>"
  bool FailExpected(std::string_view what, std::string_view found);
  bool FailExpected(std::string_view what, JsonValue& found);
  bool FailSyntax(simdjson::error_code error);
  // Puts "/<segment>" before the path of the error.
  bool Under(std::string_view segment);
  bool Under(size_t index);
  // The same for several segments, escaped already.
  bool UnderPointer(std::string_view pointer);

  // ---- Working memory of the parts, empty between objects ----
  Stack<berth_id_pair> id_pairs;
  Stack<berth_str_pair> str_pairs;
  Stack<berth_str> strs;
  Stack<Id> id_list;
  Stack<berth_requirement> requirements;
  Stack<berth_node_term> node_terms;
  Stack<berth_pod_term> pod_terms;
  Stack<berth_owner> owners;
  Stack<berth_field> kept_fields;
  Stack<Member> members;
  Stack<berth_port> ports;
  Stack<berth_container> containers;
  Stack<ContainerRequests> container_requests;
  Stack<berth_toleration> tolerations;
  Stack<berth_taint> taints;
  Stack<berth_spread> spreads;
  Stack<berth_volume> volumes;
  Stack<berth_condition> conditions;
  Stack<berth_image> images;
  Stack<berth_resource_claim> claims;
  Stack<ContainerStatus> container_statuses;
  ResourceSum resources;
  ResourceSum limits;
  RequestCalculator calculator;

  void ReleaseIds();

  // Bytes that objects of a kind take, from those seen last.
  struct SizeHints {
    size_t pod = 2048;
    size_t node = 4096;
    size_t object = 2048;
  };
  SizeHints size_hints;

 private:
  // Texts that come again and again, looked up without the interner's lock.
  struct CacheSlot {
    uint64_t hash = 0;
    std::string_view text;
    Id id = kNoId;        // With a reference of the cache's own.
    uint64_t object = 0;  // The object that last took a reference.
  };
  static constexpr size_t kCacheSlots = 4096;

  // The text behind the opening quote at `raw`.
  bool TextAt(const char* raw, std::string_view* text);
  bool Unescape(const char* raw, size_t size, std::string_view* text);
  bool IsNull(JsonValue& value);
  bool CheckElements(size_t count);
  void ClearStacks();
  void DropIds();

  Interner& interner_;
  DecodeOptions options_;
  Arena arena_;
  Arena scratch_;
  std::vector<Id> ids_;
  std::vector<CacheSlot> cache_;
  uint64_t object_number_ = 1;
  simdjson::ondemand::parser parser_;
  std::vector<char> padded_;
  ErrorCode error_code_ = ErrorCode::kOk;
  std::string error_path_;
  std::string error_message_;
};

// ---- Bodies of templates and of what is called for every field --------------------------------

inline bool Reader::TextAt(const char* raw, std::string_view* text) {
  // Eight characters at a time to the quote or backslash: the text is padded, so that reading on
  // behind its end is safe, and ends with a quote.
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  constexpr uint64_t kHighs = 0x8080808080808080ULL;
  for (size_t at = 0;; at += 8) {
    uint64_t word;
    std::memcpy(&word, raw + at, sizeof word);
    const uint64_t quotes = word ^ (kOnes * '"');
    const uint64_t slashes = word ^ (kOnes * '\\');
    const uint64_t found = (((quotes - kOnes) & ~quotes) | ((slashes - kOnes) & ~slashes)) & kHighs;
    if (found == 0) continue;
    const size_t size = at + static_cast<size_t>(std::countr_zero(found)) / 8;
    if (raw[size] != '"') [[unlikely]]
      return Unescape(raw, size, text);
    *text = {raw, size};
    return true;
  }
}

inline bool Reader::CheckElements(size_t count) {
  if (count < options_.max_elements) [[likely]]
    return true;
  return Fail(ErrorCode::kOutOfRange,
              "more than " + std::to_string(options_.max_elements) + " elements");
}

template <class Read>
bool Reader::ForEachField(JsonValue& value, Read&& read) {
  JsonObject object;
  if (const auto error = value.get_object().get(object)) [[unlikely]] {
    return error == simdjson::INCORRECT_TYPE ? FailExpected("an object", value) : FailSyntax(error);
  }
  return ForEachField(object, std::forward<Read>(read));
}

template <class Read>
bool Reader::ForEachField(JsonObject& object, Read&& read) {
  size_t count = 0;
  for (auto result : object) {
    simdjson::ondemand::field json_field;
    if (const auto error = std::move(result).get(json_field)) [[unlikely]] {
      return FailSyntax(error);
    }
    if (!CheckElements(count++)) [[unlikely]]
      return false;
    Field field;
    if (!TextAt(json_field.key().raw(), &field.name)) [[unlikely]]
      return false;
    JsonValue& value = json_field.value();
    if (IsNull(value)) continue;
    field.hash = FieldHash(field.name);
    if (!read(field, value)) [[unlikely]]
      return Under(field.name);
  }
  return true;
}

template <class Read>
bool Reader::ForEachElement(JsonValue& value, Read&& read) {
  simdjson::ondemand::array array;
  if (const auto error = value.get_array().get(array)) [[unlikely]] {
    return error == simdjson::INCORRECT_TYPE ? FailExpected("an array", value) : FailSyntax(error);
  }
  size_t count = 0;
  for (auto result : array) {
    JsonValue element;
    if (const auto error = std::move(result).get(element)) [[unlikely]]
      return FailSyntax(error);
    if (!CheckElements(count)) [[unlikely]]
      return false;
    if (!read(element)) [[unlikely]]
      return Under(count);
    ++count;
  }
  return true;
}

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_READER_H_
