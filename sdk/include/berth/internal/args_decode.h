// Decodes arguments from the profile's tree into the plugin's struct, and collects all errors.
#ifndef BERTH_INTERNAL_ARGS_DECODE_H_
#define BERTH_INTERNAL_ARGS_DECODE_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/args.h>
#include <berth/internal/args_schema.h>
#include <berth/internal/json.h>
#include <berth/value.h>

namespace berth::internal {

inline char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the number of insertions, removals and replacements that turn `a` into `b`, ignoring the
// case of letters.
inline std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// Finds the known word that is most similar to `word`. Text() returns `, did you mean "headroom"?`,
// or nothing if no known word is similar.
class Suggestion {
 public:
  explicit Suggestion(std::string_view word) : word_(word), best_(word.size() / 3 + 1) {}

  void Offer(std::string_view known) {
    const std::size_t distance = EditDistance(word_, known);
    if (distance > best_ || (distance == best_ && !nearest_.empty())) return;
    best_ = distance;
    nearest_ = known;
  }
  std::string Text() const {
    return nearest_.empty() ? std::string() : ", did you mean \"" + std::string(nearest_) + "\"?";
  }

 private:
  std::string_view word_;
  std::size_t best_;
  std::string_view nearest_;
};

// Appends a key to a JSON pointer, escaped as RFC 6901 requires.
inline std::string Under(const std::string& path, std::string_view key) {
  std::string out = path + "/";
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

inline std::string FloatText(double value) {
  char text[64] = {};
  JsonWriter out(text);
  constexpr double kLimit = 9e18;
  if (value < -kLimit || value > kLimit || value != value) return "out of range";
  out.Float(value);
  return {text, out.size()};
}

// Describes the value that was found: `string "10%"`, `integer 7`.
inline std::string FoundText(const Value& value) {
  switch (value.kind()) {
    case BERTH_VALUE_BOOL: return value.AsBool() ? "true" : "false";
    case BERTH_VALUE_INT: return "integer " + std::to_string(value.AsInt());
    case BERTH_VALUE_FLOAT: return "number " + FloatText(value.AsFloat());
    case BERTH_VALUE_STRING: return "string \"" + std::string(value.AsString()) + "\"";
    case BERTH_VALUE_ARRAY: return "an array";
    case BERTH_VALUE_OBJECT: return "an object";
    default: return "nothing";
  }
}

// Describes the value that is expected: `integer 0..100`.
template <class T, class N>
std::string ExpectedText(const ArgLimits& limits, const N& names) {
  if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (IntegerArg<T>) {
    const Range<int64_t> range = IntegerRange<T>(limits);
    if (!limits.ranged && std::same_as<T, int64_t>) return "integer";
    return "integer " + std::to_string(range.min) + ".." + std::to_string(range.max);
  } else if constexpr (std::same_as<T, double>) {
    if (!limits.ranged) return "number";
    return "number " + FloatText(limits.floats.min) + ".." + FloatText(limits.floats.max);
  } else if constexpr (std::same_as<T, std::string>) {
    return "string";
  } else if constexpr (std::is_enum_v<T>) {
    std::string text = "one of";
    const char* before = " \"";
    for (const auto& name : names.names) {
      text.append(before).append(name.text).append("\"");
      before = ", \"";
    }
    return text;
  } else if constexpr (kIsVector<T>) {
    const Items& items = limits.items;
    if (items.max != std::numeric_limits<uint32_t>::max()) {
      return "array of " + std::to_string(items.min) + ".." + std::to_string(items.max);
    }
    return items.min == 0 ? "array" : "array of at least " + std::to_string(items.min);
  } else {
    return "object";
  }
}

// Returns whether `value` is valid, and if so stores it in `out`.
template <class T, class N>
bool DecodeScalar(const Value& value, const ArgLimits& limits, const N& names, T& out) {
  const uint32_t kind = value.kind();
  if constexpr (std::same_as<T, bool>) {
    if (kind != BERTH_VALUE_BOOL) return false;
    out = value.AsBool();
  } else if constexpr (IntegerArg<T>) {
    const Range<int64_t> range = IntegerRange<T>(limits);
    if (kind != BERTH_VALUE_INT || value.AsInt() < range.min || value.AsInt() > range.max)
      return false;
    out = static_cast<T>(value.AsInt());
  } else if constexpr (std::same_as<T, double>) {
    if (kind != BERTH_VALUE_INT && kind != BERTH_VALUE_FLOAT) return false;
    const double number = value.AsFloat();
    if (limits.ranged && !(number >= limits.floats.min && number <= limits.floats.max)) {
      return false;
    }
    out = number;
  } else if constexpr (std::same_as<T, std::string>) {
    if (kind != BERTH_VALUE_STRING) return false;
    out = value.AsString();
  } else {
    if (kind != BERTH_VALUE_STRING) return false;
    const auto name = std::find_if(names.names.begin(), names.names.end(),
                                   [&](const auto& n) { return n.text == value.AsString(); });
    if (name == names.names.end()) return false;
    out = name->value;
  }
  return true;
}

template <class T, class Rows>
bool DecodeObject(const Value& value, const Rows& rows, const std::string& path, T& out,
                  ArgErrors& errors);

template <class T, class N>
void Mismatch(const Value& value, const ArgLimits& limits, const N& names, const std::string& path,
              ArgErrors& errors) {
  std::string text = "expected " + ExpectedText<T>(limits, names) + ", found " + FoundText(value);
  if constexpr (std::is_enum_v<T>) {
    if (value.kind() == BERTH_VALUE_STRING) {
      Suggestion suggestion(value.AsString());
      for (const auto& name : names.names) suggestion.Offer(name.text);
      text += suggestion.Text();
    }
  }
  errors.Add(path, text);
}

// The parts of a row that do not depend on its member.
template <class N>
struct RowView {
  const ArgLimits& limits;
  const N& names;
};

template <class T, class N>
void DecodeValue(const Value& value, const RowView<N>& row, const std::string& path, T& out,
                 ArgErrors& errors) {
  if constexpr (std::same_as<T, Value>) {
    out = value;
  } else if constexpr (kIsVector<T>) {
    const Items& items = row.limits.items;
    if (value.kind() != BERTH_VALUE_ARRAY || value.size() < items.min || value.size() > items.max) {
      std::string found = FoundText(value);
      if (value.kind() == BERTH_VALUE_ARRAY) found = "one of " + std::to_string(value.size());
      errors.Add(path, "expected " + ExpectedText<T>(row.limits, row.names) + ", found " + found);
      return;
    }
    out.clear();
    for (uint64_t i = 0; i < value.size(); ++i) {
      typename T::value_type element{};
      DecodeValue(value.At(i), row, path + "/" + std::to_string(i), element, errors);
      out.push_back(std::move(element));
    }
  } else if constexpr (StructArg<T>) {
    DecodeObject(value, T::kArgs, path, out, errors);
  } else if (!DecodeScalar(value, row.limits, row.names, out)) {
    Mismatch<T>(value, row.limits, row.names, path, errors);
  }
}

template <class Rows>
void ReportUnknownKeys(const Value& value, const Rows& rows, const std::string& path,
                       ArgErrors& errors) {
  for (uint64_t i = 0; i < value.size(); ++i) {
    const std::string_view key = value.KeyAt(i);
    bool known = false;
    Suggestion suggestion(key);
    rows.ForEach([&](const auto& row) {
      known = known || row.key == key;
      suggestion.Offer(row.key);
    });
    if (known) continue;
    errors.Add(Under(path, key), "unknown key \"" + std::string(key) + "\"" + suggestion.Text());
  }
}

template <class T, class Rows>
bool PermitsAll(const Rows& rows, const T& value);

// Returns whether a row with these limits and names permits the value.
template <class T, class N>
bool Permits(const ArgLimits& limits, const N& names, const T& value) {
  if constexpr (IntegerArg<T>) {
    const Range<int64_t> range = IntegerRange<T>(limits);
    return value >= range.min && value <= range.max;
  } else if constexpr (std::same_as<T, double>) {
    return !limits.ranged || (value >= limits.floats.min && value <= limits.floats.max);
  } else if constexpr (std::is_enum_v<T>) {
    return std::any_of(names.names.begin(), names.names.end(),
                       [&](const auto& name) { return name.value == value; });
  } else if constexpr (kIsVector<T>) {
    if (value.size() < limits.items.min || value.size() > limits.items.max) return false;
    return std::all_of(value.begin(), value.end(), [&](const typename T::value_type& element) {
      return Permits(limits, names, element);
    });
  } else if constexpr (StructArg<T>) {
    return PermitsAll(T::kArgs, value);
  } else {
    return true;
  }
}

template <class T, class Rows>
bool PermitsAll(const Rows& rows, const T& value) {
  bool permitted = true;
  rows.ForEach([&](const auto& row) {
    permitted = permitted && Permits(row.limits, row.names, value.*row.member);
  });
  return permitted;
}

// Fills in `out`, which keeps its initial value if the profile's is wrong. Returns whether the row
// permits the value of `out`.
template <class M, class Row>
bool DecodeMember(const Value& value, const Row& row, const std::string& path, M& out,
                  ArgErrors& errors) {
  if constexpr (StructArg<M>) {
    return DecodeObject(value, M::kArgs, path, out, errors);
  } else {
    const uint32_t before = errors.count();
    M decoded = out;
    DecodeValue(value, RowView<std::decay_t<decltype(row.names)>>{row.limits, row.names}, path,
                decoded, errors);
    if (errors.count() == before) {
      out = std::move(decoded);
      return true;
    }
    errors.Replace(path);
    return Permits(row.limits, row.names, out);
  }
}

// Fills in the members of `out`; those whose values are wrong keep their initial ones. Returns
// whether the rows permit the values of all members.
template <class T, class Rows>
bool DecodeObject(const Value& value, const Rows& rows, const std::string& path, T& out,
                  ArgErrors& errors) {
  if (!value.absent() && value.kind() != BERTH_VALUE_OBJECT) {
    errors.Add(path, "expected object, found " + FoundText(value));
    errors.Replace(path);
    return PermitsAll(rows, out);
  }
  ReportUnknownKeys(value, rows, path, errors);
  bool permitted = true;
  rows.ForEach([&](const auto& row) {
    const Value member = value[row.key];
    const std::string below = Under(path, row.key);
    auto& target = out.*row.member;
    if (!member.absent()) {
      permitted = DecodeMember(member, row, below, target, errors) && permitted;
    } else if (row.limits.required) {
      errors.Add(below, "is required");
      errors.Replace(below);
      permitted = Permits(row.limits, row.names, target) && permitted;
    }
  });
  return permitted;
}

// Fills in `out`. Returns false if there were errors, all of which are added to `status`.
template <class P>
bool DecodeArgs(const Value& value, typename P::Args& out, berth_status* status) {
  ArgErrors errors(status);
  const bool permitted = DecodeObject(value, RowsOf<P>(), "", out, errors);
  if constexpr (kHasValidate<P>) {
    if (permitted) P::Validate(std::as_const(out), errors);
  }
  return errors.count() == 0;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_ARGS_DECODE_H_
