#include <algorithm>
#include <vector>

#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

// Removes every member whose key occurs again later. Moves the other members to the front in their
// order, and returns their number.
size_t DropOverridden(std::span<Member> members) {
  constexpr size_t kFew = 16;
  const auto same = [&](size_t a, size_t b) {
    return Text(members[a].key) == Text(members[b].key);
  };
  std::vector<bool> overridden;
  const auto drop = [&](size_t i) {
    overridden.resize(members.size());
    overridden[i] = true;
  };
  if (members.size() <= kFew) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = i + 1; j < members.size(); ++j) {
        if (same(i, j)) drop(i);
      }
    }
  } else {
    std::vector<uint32_t> order(members.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return Text(members[i].key); });
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      if (same(order[i], order[i + 1])) drop(order[i]);
    }
  }
  if (overridden.empty()) return members.size();
  size_t count = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!overridden[i]) members[count++] = members[i];
  }
  return count;
}

// Reads one tree. DecodeOptions::max_depth limits the depth of the recursion.
class TreeReader {
 public:
  // `whole` is set if the tree is an object of the API, whose metadata.managedFields is skipped.
  explicit TreeReader(Reader& reader, bool whole) : reader_(reader), whole_(whole) {}

  bool Read(JsonValue& value, Value* out) {
    switch (value.raw_json_token().front()) {
      case '{': return ReadMembers(value, out);
      case '[': return ReadElements(value, out);
      case '"': return ReadText(value, out);
      case 't':
      case 'f': return ReadTruth(value, out);
      case 'n': return ReadNull(value, out);
      default: return ReadNumber(value, out);
    }
  }

  // Reads an object; `json` is a JsonValue, or the JsonObject of a document.
  template <class Json>
  bool ReadMembers(Json& json, Value* out) {
    if (!Enter()) return false;
    const size_t mark = reader_.members.size();
    const bool ok = reader_.ForEachField(json, [&](const Field& field, JsonValue& v) {
      if (IsSkipped(field)) return true;
      Member member = {{}, reader_.CopyText(field.name)};
      if (!Read(v, &member.value)) return false;
      reader_.members.Push(member);
      return true;
    });
    --depth_;
    if (!ok) return false;
    const size_t count = DropOverridden(reader_.members.Since(mark));
    reader_.members.Shrink(mark + count);
    *out = Value::Object(reader_.members.Take(mark, reader_.arena()));
    return true;
  }

 private:
  bool ReadElements(JsonValue& value, Value* out) {
    if (!Enter()) return false;
    const size_t mark = reader_.members.size();
    const bool ok = reader_.ForEachElement(value, [&](JsonValue& v) {
      Member element;
      if (!Read(v, &element.value)) return false;
      reader_.members.Push(element);
      return true;
    });
    --depth_;
    if (ok) *out = Value::Array(reader_.members.Take(mark, reader_.arena()));
    return ok;
  }

  bool ReadText(JsonValue& value, Value* out) {
    berth_str text = {};
    if (!reader_.ReadString(value, &text)) return false;
    *out = Value::String(Text(text));
    return true;
  }

  bool ReadTruth(JsonValue& value, Value* out) {
    bool truth = false;
    if (!reader_.ReadBool(value, &truth)) return false;
    *out = Value::Bool(truth);
    return true;
  }

  bool ReadNull(JsonValue& value, Value* out) {
    bool is_null = false;
    if (value.is_null().get(is_null) != simdjson::SUCCESS || !is_null) {
      return reader_.FailExpected("a JSON value", value);
    }
    *out = Value();
    return true;
  }

  bool ReadNumber(JsonValue& value, Value* out) {
    int64_t whole = 0;
    double number = 0;
    if (value.get_int64().get(whole) == simdjson::SUCCESS) {
      *out = Value::Int(whole);
    } else if (value.get_double().get(number) == simdjson::SUCCESS) {
      *out = Value::Float(number);
    } else {
      return reader_.FailExpected("a JSON value", value);
    }
    return true;
  }

  bool Enter() {
    const uint32_t limit = reader_.options().max_depth;
    if (depth_ < limit) return ++depth_, true;
    return reader_.Fail(ErrorCode::kOutOfRange,
                        "nested deeper than " + std::to_string(limit) + " levels");
  }

  bool IsSkipped(const Field& field) {
    if (!whole_ || depth_ > 2) return false;
    if (depth_ == 1) in_metadata_ = field.hash == "metadata"_field;
    return depth_ == 2 && in_metadata_ && field.hash == "managedFields"_field;
  }

  Reader& reader_;
  const bool whole_;
  bool in_metadata_ = false;
  uint32_t depth_ = 0;
};

const berth_value* Keep(Reader& reader, const Value& value) {
  return reader.arena().New<Value>(value)->abi();
}

}  // namespace

bool ReadTree(Reader& reader, JsonValue& value, const berth_value** tree) {
  Value root;
  if (!TreeReader(reader, false).Read(value, &root)) return false;
  *tree = Keep(reader, root);
  return true;
}

bool ReadWholeObject(Reader& reader, JsonObject& object, const berth_value** tree) {
  Value root;
  if (!TreeReader(reader, true).ReadMembers(object, &root)) return false;
  *tree = Keep(reader, root);
  return true;
}

}  // namespace berth::host
