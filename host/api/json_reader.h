// Reads the fields of a JSON object into the memory of a decoded object, and decodes objects that
// are part of a document: the items of a list, or the object of a watch event. This is not in
// decode.h because it needs simdjson.
#ifndef BERTH_HOST_API_JSON_READER_H_
#define BERTH_HOST_API_JSON_READER_H_

#include <simdjson.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/api/decode.h"
#include "host/api/decode_problems.h"
#include "host/api/generated_name.h"
#include "host/api/objects.h"
#include "host/api/requests.h"
#include "host/api/shared_parts.h"
#include "host/api/value.h"
#include "host/base/arena.h"
#include "host/base/hash.h"
#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

using JsonValue = simdjson::ondemand::value;
using JsonObject = simdjson::ondemand::object;

// ---- Hashes of field names, for use in switch statements --------------------------------------
// The hash covers the first, middle and last eight characters and the length, which distinguish all
// field names of the API. A switch over two names with the same hash does not compile.

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

// Returns the hash of a field name.
// REQUIRES: at least eight bytes can be read at `name.data()`.
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

// A value of an enumeration: its name in the API and its number in the views.
struct EnumValue {
  std::string_view text;
  uint32_t number;
};

// A stack for the elements of nested arrays whose size is not known yet. Each array records the
// size of the stack when it begins, and takes the elements above that mark when it ends.
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
  // Removes the last elements until `size` elements are left.
  void Shrink(size_t size) { elements_.resize(size); }
  void Clear() { elements_.clear(); }

 private:
  std::vector<T> elements_;
};

// Reads JSON values. A method that reads records an error with Fail() and returns false if it
// fails. Its caller returns false immediately, and adds its own part of the path to the error.
//
// Threading: one thread at a time.
// Lifetime: the decoded data is in arena() and in the list of ids, which Begin() clears.
class Reader {
 public:
  Reader(Interner& interner, DecodeOptions options);
  ~Reader();

  const DecodeOptions& options() const { return options_; }
  Interner& interner() const { return interner_; }
  Arena& arena() { return arena_; }
  // Returns the arena for data that is needed only until the object is finished.
  Arena& scratch() { return scratch_; }
  simdjson::ondemand::parser& parser() { return parser_; }
  // Returns a copy of the text with the padding that simdjson needs.
  // Lifetime: until the next call.
  simdjson::padded_string_view Pad(std::string_view text);

  // ---- One object ----
  // Starts an object and discards the data of an object that was not finished. `expected_bytes` is
  // an estimate of the object's size.
  void Begin(size_t expected_bytes);
  // Returns an estimate of the size of the next object of this kind, based on the current object.
  size_t SuggestSize() const;
  // Returns the memory of the object and passes its ownership to the caller.
  ObjectMemory Finish();
  // Ends an object whose data was copied.
  void Discard() { DropIds(); }
  // Returns the recorded error and discards the data of the object.
  Status TakeError();

  // ---- Structure ----
  // Calls read(field, value) for each field that is not null.
  template <class Read>
  bool ForEachField(JsonValue& value, Read&& read);
  template <class Read>
  bool ForEachField(JsonObject& object, Read&& read);
  // Calls read(value) for each element. Elements that are null are passed on as well; every reader
  // except ReadTree() reports them as errors.
  template <class Read>
  bool ForEachElement(JsonValue& value, Read&& read);

  // Reads an array: calls read(value, element) for each value, with a copy of `initial`, and sets
  // `*list` to the elements, which are in the arena.
  template <class T, class Read>
  bool ReadList(JsonValue& value, const T& initial, std::span<T>* list, Read&& read);
  template <class T, class Read>
  bool ReadList(JsonValue& value, const T& initial, berth_array* list, Read&& read);
  // Reads an array of objects, as ReadList() does: calls read(field, value, element) for each field
  // of each object.
  template <class T, class List, class Read>
  bool ReadObjects(JsonValue& value, const T& initial, List* list, Read&& read);
  // Puts `object` back to its beginning.
  bool Rewind(JsonObject& object);

  // ---- Scalars ----
  // Reads a string as a view of the JSON text, or as a copy in the arena if it contains escapes.
  bool ReadText(JsonValue& value, std::string_view* text);
  // Reads a string as a copy in the arena.
  bool ReadString(JsonValue& value, berth_str* text);
  // Reads a string as an id; the empty string is kNoId.
  bool ReadName(JsonValue& value, Id* id);
  // Reads a string as an id; the empty string is kEmptyId.
  bool ReadId(JsonValue& value, Id* id);
  // ReadInt32 and ReadInt64 also accept whole numbers such as 3.0 and 1e3: kubectl sends them as 3
  // and 1000. An API server refuses them, and never sends them.
  bool ReadInt32(JsonValue& value, int32_t* number);
  bool ReadInt64(JsonValue& value, int64_t* number);
  bool ReadBool(JsonValue& value, bool* truth);
  // Reads a truth value that sets or clears a flag of `*flags`.
  bool ReadFlag(JsonValue& value, uint32_t flag, uint32_t* flags);
  bool ReadTime(JsonValue& value, int64_t* nanoseconds);
  // Reads the name of one of `values` and sets `*number` to its number; the empty string is 0.
  bool ReadEnum(JsonValue& value, std::span<const EnumValue> values, uint32_t* number);
  // ReadIds and ReadStrings read a JSON array of strings.
  bool ReadIds(JsonValue& value, berth_array* ids);
  bool ReadStrings(JsonValue& value, berth_array* texts);

  Id Intern(std::string_view text);
  berth_str CopyText(std::string_view text) { return AsStr(arena_.CopyString(text)); }

  // ---- Errors ----
  // These methods record an error or extend its path, and return false.
  bool Fail(ErrorCode code, std::string message);
  // Fails with the message "expected <what>, found <found>".
  bool FailExpected(std::string_view what, std::string_view found);
  bool FailExpected(std::string_view what, JsonValue& found);
  bool FailSyntax(simdjson::error_code error);
  // Puts "/<segment>" in front of the path of the error.
  bool PrependSegment(std::string_view segment);
  bool PrependSegment(size_t index);
  // Puts a JSON pointer, which is already escaped, in front of the path of the error.
  bool PrependPointer(std::string_view pointer);

  // ForEachField() and ForEachElement() pass the error of a value to `problems`, and go on with the
  // next value if it was taken.
  DecodeProblems problems;

  // ---- Working memory for the parts of an object, empty between objects ----
  // Returns the stack for the elements of arrays of T.
  template <class T>
  Stack<T>& stack() {
    return std::get<Stack<T>>(stacks_);
  }
  NameGenerator names;
  ResourceSum resources;
  ResourceSum limits;
  RequestCalculator calculator;

  void ReleaseIds();

  // The objects whose memory the next ones may share.
  SharedParts shared_parts;

  // Estimates of the bytes that an object of each kind needs, based on the last one decoded.
  struct SizeHints {
    size_t pod = 2048;
    size_t node = 4096;
    size_t object = 2048;
  };
  SizeHints size_hints;

 private:
  // A cache entry for a frequent text, which is looked up without the interner's lock.
  struct CacheSlot {
    uint64_t hash = 0;
    std::string_view text;
    Id id = kNoId;        // The cache holds its own reference to this id.
    uint64_t object = 0;  // The number of the object that last added a reference.
  };

  // Reads the string whose first character, after the opening quote, is at `raw`.
  bool TextAt(const char* raw, std::string_view* text);
  bool Unescape(const char* raw, size_t size, std::string_view* text);
  bool IsNull(JsonValue& value);
  bool CheckElements(size_t count);
  void DropIds();

  template <class... T>
  using Stacks = std::tuple<Stack<T>...>;

  Interner& interner_;
  DecodeOptions options_;
  Stacks<berth_id_pair, berth_str_pair, berth_str, Id, berth_requirement, berth_node_term,
         berth_pod_term, berth_owner, berth_field, Member, berth_port, berth_container,
         ContainerRequests, berth_toleration, berth_taint, berth_spread, berth_volume,
         berth_condition, berth_image, berth_resource_claim, ContainerStatus>
      stacks_;
  Arena arena_;
  Arena scratch_;
  std::vector<Id> ids_;
  std::vector<CacheSlot> cache_;
  uint64_t object_number_ = 1;
  simdjson::ondemand::parser parser_;
  std::vector<char> padded_;
  DecodeFault error_;
};

// ---- Definitions of templates and of functions that are called for every field ----------------

inline bool Reader::TextAt(const char* raw, std::string_view* text) {
  // Searches for a quote or backslash in steps of eight characters. The string ends with a quote,
  // and the JSON text is padded, so that reading past its end is safe.
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
  return problems.Require(
      Fail(ErrorCode::kOutOfRange,
           "expected at most " + std::to_string(options_.max_elements) + " elements, found more"));
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
    const size_t kept = problems.kept();
    const bool ok = read(field, value) || problems.Take(error_);
    if (problems.kept() != kept) [[unlikely]]
      problems.Place(kept, field.name);
    if (!ok) [[unlikely]]
      return PrependSegment(field.name);
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
    const size_t kept = problems.kept();
    const bool ok = read(element) || problems.Take(error_);
    if (problems.kept() != kept) [[unlikely]]
      problems.Place(kept, std::to_string(count));
    if (!ok) [[unlikely]]
      return PrependSegment(count);
    ++count;
  }
  return true;
}

template <class T, class Read>
bool Reader::ReadList(JsonValue& value, const T& initial, std::span<T>* list, Read&& read) {
  Stack<T>& elements = stack<T>();
  const size_t mark = elements.size();
  const bool ok = ForEachElement(value, [&](JsonValue& v) {
    T element = initial;
    if (!read(v, element)) return false;
    elements.Push(element);
    return true;
  });
  if (ok) *list = elements.Take(mark, arena_);
  return ok;
}

template <class T, class Read>
bool Reader::ReadList(JsonValue& value, const T& initial, berth_array* list, Read&& read) {
  std::span<T> elements;
  if (!ReadList(value, initial, &elements, std::forward<Read>(read))) return false;
  *list = AsArray(elements);
  return true;
}

template <class T, class List, class Read>
bool Reader::ReadObjects(JsonValue& value, const T& initial, List* list, Read&& read) {
  return ReadList(value, initial, list, [&](JsonValue& object, T& element) {
    return ForEachField(object,
                        [&](const Field& field, JsonValue& v) { return read(field, v, element); });
  });
}

// ---- Objects that are part of a document that is being read -------------------------------------

// The type that a list defines for its items: a PodList of v1 defines Pod and v1. Both fields are
// empty if the items state their own type.
struct ItemType {
  std::string_view api_version;
  std::string_view kind;
};

// Decodes `value` and consumes it.
// REQUIRES: `value` was not accessed before, and simdjson::SIMDJSON_PADDING bytes after the text of
// the document can be read.
//
// If `type` is empty, the object's own `apiVersion` and `kind` determine its type. Otherwise these
// fields may be absent, and must match `type` if they are present.
//
// Returns: see Decoder. The JSON pointer of an error begins at `value`. After an error in a
// document without syntax errors, the elements after `value` can be read.
Result<AnyObject> DecodeValue(Decoder& decoder, JsonValue& value, const ItemType& type = {});

// Decodes an object that is a whole document, as DecodeValue() does.
Result<AnyObject> DecodeDocument(Decoder& decoder, JsonObject& object, const ItemType& type = {});

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_READER_H_
