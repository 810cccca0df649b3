// Arguments: a struct, and one row per member. The SDK derives from the rows the parsing, the
// checks, the error texts, the JSON Schema and the table of a README.
//
//   struct Args {
//     int64_t cpu_milli = 500;
//     std::string zone;
//   };
//   static constexpr auto kArgs = berth::ArgRows<Args>(
//       berth::Arg("cpuMilli", &Args::cpu_milli, berth::Range{0, 1'000'000},
//                  "Cpu to keep free on each node."),
//       berth::Arg("zone", &Args::zone, "Look at this zone only."));
//
// A member is a bool, int32_t, int64_t, double, std::string, an enum with berth::Names, a struct
// that has its own kArgs, a std::vector of any of these, or a berth::Value. A member that the
// profile does not name keeps its initial value; an array that the profile names replaces the
// initial one.
//
// An optional method checks what rows cannot express. All errors are reported, not only the first:
//   static void Validate(const Args& args, berth::ArgErrors& errors);
// Validate also runs if the profile has other errors, so that one check of a profile finds all of
// them. An argument that is wrong or missing then has its initial value, and errors that Validate
// adds for it or for a part of it are dropped. Validate sees only values that the rows permit: it
// does not run if the initial value of a wrong or missing argument is outside its Range or Items.
#ifndef BERTH_ARGS_H_
#define BERTH_ARGS_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/span.h>
#include <berth/value.h>

BERTH_INTERNAL_DETECT(kArgs);
BERTH_INTERNAL_DETECT(Validate);

namespace berth {

// The Args of a plugin without arguments.
struct NoArgs {};

// The permitted values of a number, both ends included. For a vector it applies to each element.
template <class T>
struct Range {
  T min;
  T max;
};
template <class A, class B>
Range(A, B) -> Range<std::common_type_t<A, B>>;

// The permitted number of elements of a vector, both ends included.
struct Items {
  uint32_t min = 0;
  uint32_t max = std::numeric_limits<uint32_t>::max();
};

// The profile must name the argument.
struct Required {};
inline constexpr Required kRequired{};

// The names of an enum's values: Names{Name{"LeastAllocated", kLeast}, Name{"MostAllocated",
// kMost}}.
template <class E>
struct Name {
  std::string_view text;
  E value;
};
template <class E>
Name(const char*, E) -> Name<E>;
template <class E, std::size_t N>
struct Names {
  std::array<Name<E>, N> names;
};
template <class E, class... Rest>
Names(Name<E>, Rest...) -> Names<E, 1 + sizeof...(Rest)>;

// Collects the errors of arguments. Paths are JSON pointers: "/scoringStrategy/resources/0/weight".
class ArgErrors {
 public:
  explicit ArgErrors(berth_status* status) : status_(status) {}

  // Adds an error, unless Replace() was called for the argument or for one that contains it.
  void Add(std::string_view path, std::string_view text) {
    if (IsReplaced(path)) return;
    ++count_;
    if (status_ != nullptr) status_->add_argument_error(status_, Str(path), Str(text));
  }
  // Drops further errors of the argument, because its initial value replaces the wrong one.
  void Replace(std::string_view path) { replaced_.emplace_back(path); }
  uint32_t count() const { return count_; }

 private:
  bool IsReplaced(std::string_view path) const {
    for (const std::string_view above : replaced_) {
      if (!path.starts_with(above)) continue;
      if (path.size() == above.size() || path[above.size()] == '/') return true;
    }
    return false;
  }

  berth_status* status_;
  uint32_t count_ = 0;
  std::vector<std::string> replaced_;
};

namespace internal {

struct NoNames {};

struct ArgLimits {
  bool ranged = false;
  bool required = false;
  Items items;
  Range<int64_t> integers{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  Range<double> floats{0, 0};

  template <class T>
  constexpr void Set(const Range<T>& range) {
    ranged = true;
    if constexpr (std::integral<T>) {
      integers = {static_cast<int64_t>(range.min), static_cast<int64_t>(range.max)};
    }
    floats = {static_cast<double>(range.min), static_cast<double>(range.max)};
  }
  constexpr void Set(const Items& count) { items = count; }
  constexpr void Set(const Required& /*yes*/) { required = true; }
  template <class E, std::size_t N>
  constexpr void Set(const Names<E, N>& /*kept by the row*/) {}
};

template <class T, class M, class N>
struct ArgRow {
  using Struct = T;
  using Member = M;

  std::string_view key;
  M T::*member;
  ArgLimits limits;
  N names;
  std::string_view help;
};

template <class T>
inline constexpr bool kIsRange = false;
template <class T>
inline constexpr bool kIsRange<Range<T>> = true;
template <class T>
inline constexpr bool kIsRangeOfIntegers = false;
template <std::integral T>
inline constexpr bool kIsRangeOfIntegers<Range<T>> = true;
template <class T>
inline constexpr bool kIsNames = false;
template <class E, std::size_t N>
inline constexpr bool kIsNames<Names<E, N>> = true;
template <class A, class E>
inline constexpr bool kAreNamesOf = false;
template <class E, std::size_t N>
inline constexpr bool kAreNamesOf<Names<E, N>, E> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;

// The type that Range and Names apply to: of a vector, also of vectors, the innermost elements.
template <class M>
struct ElementOf {
  using Type = M;
};
template <class T, class A>
struct ElementOf<std::vector<T, A>> : ElementOf<T> {};

// Fails to compile with a message if option A does not apply to a member of type M.
template <class M, class A>
constexpr void CheckOption() {
  using Element = typename ElementOf<M>::Type;
  if constexpr (kIsRange<A>) {
    static_assert(std::is_arithmetic_v<Element> && !std::same_as<Element, bool>,
                  "berth::Range limits numbers: the member of this berth::Arg is no number and no "
                  "vector of numbers");
    static_assert(!std::integral<Element> || kIsRangeOfIntegers<A>,
                  "berth::Range of an integer needs integers: write berth::Range{0, 1'000}, not "
                  "berth::Range{0, 1e3}");
  } else if constexpr (std::same_as<A, Items>) {
    static_assert(kIsVector<M>,
                  "berth::Items limits vectors: the member of this berth::Arg is no "
                  "std::vector");
  } else if constexpr (kIsNames<A>) {
    static_assert(kAreNamesOf<A, Element>,
                  "berth::Names names the values of another type than the member of this "
                  "berth::Arg");
  } else {
    static_assert(std::same_as<A, Required>,
                  "the options of berth::Arg are berth::Range, berth::Items, berth::Names and "
                  "berth::kRequired");
  }
}

template <class T, class... Row>
struct ArgList {
  using Struct = T;
  std::tuple<Row...> rows;

  // Calls `each(row)` for every row, in order.
  template <class F>
  constexpr void ForEach(F&& each) const {
    std::apply([&](const Row&... row) { (each(row), ...); }, rows);
  }
};

constexpr NoNames PickNames() { return {}; }
template <class First, class... Rest>
constexpr auto PickNames(const First& first, const Rest&... rest) {
  if constexpr (kIsNames<First>) {
    return first;
  } else {
    return PickNames(rest...);
  }
}

template <class T, class M, class... Option>
constexpr auto MakeRow(std::string_view key, M T::*member, std::string_view help,
                       const Option&... option) {
  (CheckOption<M, Option>(), ...);
  static_assert((0 + ... + int{kIsRange<Option>}) <= 1 && (0 + ... + int{kIsNames<Option>}) <= 1 &&
                    (0 + ... + int{std::same_as<Option, Items>}) <= 1 &&
                    (0 + ... + int{std::same_as<Option, Required>}) <= 1,
                "berth::Arg has the same option twice");
  ArgLimits limits;
  (limits.Set(option), ...);
  const auto names = PickNames(option...);
  return ArgRow<T, M, std::remove_const_t<decltype(names)>>{key, member, limits, names, help};
}

template <class T>
inline constexpr ArgList<T> kNoRows{};

// The rows of a plugin, or of a struct that is an argument.
template <class P>
constexpr const auto& RowsOf() {
  if constexpr (kHaskArgs<P>) {
    return P::kArgs;
  } else {
    return kNoRows<NoArgs>;
  }
}

}  // namespace internal

// Returns a row: the key in the profile, the member, options (Range, Items, Names, kRequired; each
// at most once, in any order) and a help text.
template <class T, class M>
constexpr auto Arg(std::string_view key, M T::*member, std::string_view help) {
  return internal::MakeRow(key, member, help);
}
template <class T, class M, class A>
constexpr auto Arg(std::string_view key, M T::*member, A a, std::string_view help) {
  return internal::MakeRow(key, member, help, a);
}
template <class T, class M, class A, class B>
constexpr auto Arg(std::string_view key, M T::*member, A a, B b, std::string_view help) {
  return internal::MakeRow(key, member, help, a, b);
}
template <class T, class M, class A, class B, class C>
constexpr auto Arg(std::string_view key, M T::*member, A a, B b, C c, std::string_view help) {
  return internal::MakeRow(key, member, help, a, b, c);
}

template <class T, class... Row>
constexpr auto ArgRows(Row... rows) {
  static_assert((std::same_as<T, typename Row::Struct> && ...),
                "ArgRows<Args>(...): the member of a row belongs to another struct");
  return internal::ArgList<T, Row...>{{rows...}};
}

}  // namespace berth

#endif  // BERTH_ARGS_H_
