// Writes rows of arguments as JSON: values, and a JSON Schema at compile time.
#ifndef BERTH_INTERNAL_ARGS_SCHEMA_H_
#define BERTH_INTERNAL_ARGS_SCHEMA_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <berth/args.h>
#include <berth/internal/json.h>
#include <berth/internal/text.h>
#include <berth/value.h>

namespace berth::internal {

template <class T>
constexpr bool IsStructArg() {
  if constexpr (std::is_class_v<T> && !std::is_final_v<T>) {
    return kHaskArgs<T>;
  } else {
    return false;
  }
}
template <class T>
concept StructArg = IsStructArg<T>();
template <class T>
concept IntegerArg = std::same_as<T, int32_t> || std::same_as<T, int64_t>;
template <class T>
concept ScalarArg = std::same_as<T, bool> || IntegerArg<T> || std::same_as<T, double> ||
    std::same_as<T, std::string> || std::is_enum_v<T>;

// The limits of an integer, narrowed to the range of its type.
template <class T>
constexpr Range<int64_t> IntegerRange(const ArgLimits& limits) {
  constexpr int64_t kMin = std::numeric_limits<T>::min();
  constexpr int64_t kMax = std::numeric_limits<T>::max();
  return {limits.integers.min < kMin ? kMin : limits.integers.min,
          limits.integers.max > kMax ? kMax : limits.integers.max};
}

template <class E, class N>
constexpr std::string_view NameOf(E value, const N& names) {
  for (const auto& name : names.names) {
    if (name.value == value) return name.text;
  }
  return {};
}

// Writes `value` as JSON.
template <class T, class N>
constexpr void WriteValue(JsonWriter& out, const T& value, const N& names) {
  if constexpr (std::same_as<T, bool>) {
    out.Bool(value);
  } else if constexpr (IntegerArg<T>) {
    out.Integer(value);
  } else if constexpr (std::same_as<T, double>) {
    out.Float(value);
  } else if constexpr (std::same_as<T, std::string>) {
    out.String(value);
  } else if constexpr (std::is_enum_v<T>) {
    out.String(NameOf(value, names));
  } else if constexpr (kIsVector<T>) {
    out.Raw("[");
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i != 0) out.Raw(",");
      WriteValue(out, static_cast<const typename T::value_type&>(value[i]), names);
    }
    out.Raw("]");
  } else if constexpr (StructArg<T>) {
    bool first = true;
    out.Raw("{");
    T::kArgs.ForEach([&](const auto& row) {
      if (!first) out.Raw(",");
      first = false;
      out.String(row.key);
      out.Raw(":");
      WriteValue(out, value.*row.member, row.names);
    });
    out.Raw("}");
  } else {
    out.Raw("null");
  }
}

// Returns whether the standard library can construct a T at compile time. libstdc++ 12 can under
// g++. Under clang 14 it cannot construct a T with text, and libc++ 14 cannot construct a T with a
// string or a vector.
template <class T>
constexpr bool MakeOne() {
  T made{};
  static_cast<void>(made);
  return true;
}
template <class T>
consteval bool MadeInConstant(...) {
  return false;
}
template <class T, bool = MakeOne<T>()>
consteval bool MadeInConstant(int /*preferred*/) {
  return true;
}

template <class T, class Rows>
constexpr void WriteObjectSchema(JsonWriter& out, const Rows& rows, const T* initial);

// Writes the schema of one member without its description. `initial` is null if it is not known.
template <class T, class N>
constexpr void WriteTypeSchema(JsonWriter& out, const ArgLimits& limits, const N& names,
                               const T* initial) {
  if constexpr (std::same_as<T, bool>) {
    out.Raw("\"type\":\"boolean\"");
  } else if constexpr (IntegerArg<T>) {
    out.Raw("\"type\":\"integer\"");
    if (limits.ranged || std::same_as<T, int32_t>) {
      const Range<int64_t> range = IntegerRange<T>(limits);
      out.Raw(",\"minimum\":");
      out.Integer(range.min);
      out.Raw(",\"maximum\":");
      out.Integer(range.max);
    }
  } else if constexpr (std::same_as<T, double>) {
    out.Raw("\"type\":\"number\"");
    if (limits.ranged) {
      out.Raw(",\"minimum\":");
      out.Float(limits.floats.min);
      out.Raw(",\"maximum\":");
      out.Float(limits.floats.max);
    }
  } else if constexpr (std::same_as<T, std::string>) {
    out.Raw("\"type\":\"string\"");
  } else if constexpr (std::is_enum_v<T>) {
    out.Raw("\"enum\":[");
    for (std::size_t i = 0; i < names.names.size(); ++i) {
      if (i != 0) out.Raw(",");
      out.String(names.names[i].text);
    }
    out.Raw("]");
  } else if constexpr (kIsVector<T>) {
    using Element = typename T::value_type;
    out.Raw("\"type\":\"array\"");
    if (limits.items.min != 0) {
      out.Raw(",\"minItems\":");
      out.Integer(limits.items.min);
    }
    if (limits.items.max != std::numeric_limits<uint32_t>::max()) {
      out.Raw(",\"maxItems\":");
      out.Integer(limits.items.max);
    }
    out.Raw(",\"items\":{");
    if constexpr (StructArg<Element> && MadeInConstant<Element>(0)) {
      Element element{};
      WriteTypeSchema<Element>(out, limits, names, &element);
    } else {
      WriteTypeSchema(out, limits, names, static_cast<const Element*>(nullptr));
    }
    out.Raw("}");
  } else if constexpr (StructArg<T>) {
    WriteObjectSchema(out, T::kArgs, initial);
  }
}

template <class M, class Row>
constexpr void WriteRowSchema(JsonWriter& out, const Row& row, const M* initial) {
  out.String(row.key);
  out.Raw(":{");
  WriteTypeSchema(out, row.limits, row.names, initial);
  if constexpr (!StructArg<M> && !std::same_as<M, Value>) {
    if (initial != nullptr && !row.limits.required) {
      out.Raw(",\"default\":");
      WriteValue(out, *initial, row.names);
    }
  }
  out.Raw(std::same_as<M, Value> ? "\"description\":" : ",\"description\":");
  out.String(row.help);
  out.Raw("}");
}

template <class T, class Rows>
constexpr void WriteObjectSchema(JsonWriter& out, const Rows& rows, const T* initial) {
  out.Raw("\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
  bool first = true;
  rows.ForEach([&](const auto& row) {
    if (!first) out.Raw(",");
    first = false;
    using Member = typename std::decay_t<decltype(row)>::Member;
    const Member* const member = initial == nullptr ? nullptr : &(initial->*row.member);
    WriteRowSchema<Member>(out, row, member);
  });
  out.Raw("}");
  first = true;
  rows.ForEach([&](const auto& row) {
    if (!row.limits.required) return;
    out.Raw(first ? ",\"required\":[" : ",");
    first = false;
    out.String(row.key);
  });
  if (!first) out.Raw("]");
}

template <class P>
struct WriteSchema {
  using Args = typename P::Args;

  constexpr void operator()(JsonWriter& out) const {
    out.Raw("{");
    if constexpr (MadeInConstant<Args>(0)) {
      Args initial{};
      WriteObjectSchema<Args>(out, RowsOf<P>(), &initial);
    } else {
      WriteObjectSchema(out, RowsOf<P>(), static_cast<const Args*>(nullptr));
    }
    out.Raw("}");
  }
};

// The JSON Schema of a plugin's arguments. Initial values are left out if Args cannot be
// constructed at compile time; nothing else depends on that.
template <class P>
inline constexpr auto kArgsSchema = [] {
  constexpr WriteSchema<P> kWrite;
  Chars<JsonSize(kWrite)> text;
  JsonWriter out(text.text);
  kWrite(out);
  return text;
}();

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_ARGS_SCHEMA_H_
