// Checks at compile time whether a class is a valid plugin. Every error names the mistake and what
// to write instead.
#ifndef BERTH_INTERNAL_CHECK_H_
#define BERTH_INTERNAL_CHECK_H_

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <berth/args.h>
#include <berth/cycle.h>
#include <berth/host.h>
#include <berth/internal/args_schema.h>
#include <berth/internal/detect.h>
#include <berth/internal/near_names.h>
#include <berth/internal/points.h>
#include <berth/quiesce.h>

namespace berth {
class Plugin;
}

BERTH_INTERNAL_DETECT(kName);
BERTH_INTERNAL_DETECT(kVersion);
BERTH_INTERNAL_DETECT(kAbout);

namespace berth::internal {

template <class T>
concept Text = std::same_as<std::remove_cvref_t<T>, std::string_view>;

// Returns whether the text has only letters, digits and "._-+". Names and versions are used in
// profiles, metrics and file names.
constexpr bool IsWord(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '.' && c != '_' && c != '-' && c != '+') return false;
  }
  return !text.empty();
}

template <class P>
concept HasName = requires {
  { P::kName } -> Text;
};
template <class P>
concept HasVersion = requires {
  { P::kVersion } -> Text;
};
template <class P>
concept HasAbout = requires {
  { P::kAbout } -> Text;
};

// Returns whether P has a name, a version and a description. Fails to compile with a message if one
// is missing, private or of another type.
template <class P>
constexpr bool CheckFacts() {
  constexpr bool kIsPrivate = (kHaskName<P> && !requires { P::kName; }) ||
                              (kHaskVersion<P> && !requires { P::kVersion; }) ||
                              (kHaskAbout<P> && !requires { P::kAbout; });
  static_assert(
      !kIsPrivate,
      "kName, kVersion and kAbout must be public: is `public:` missing at the beginning of "
      "the class?");
  static_assert(kIsPrivate || HasName<P>,
                "the plugin has no name; expected\n"
                "  static constexpr std::string_view kName = \"acme.RackPower\";");
  static_assert(kIsPrivate || HasVersion<P>,
                "the plugin has no version; expected\n"
                "  static constexpr std::string_view kVersion = \"1.0.0\";");
  static_assert(kIsPrivate || HasAbout<P>,
                "the plugin has no description; expected\n"
                "  static constexpr std::string_view kAbout = \"One sentence.\";");
  if constexpr (HasName<P> && HasVersion<P> && HasAbout<P>) {
    static_assert(IsWord(P::kName), "kName must have only letters, digits and the characters ._-+");
    static_assert(IsWord(P::kVersion),
                  "kVersion must have only letters, digits and the characters ._-+");
    static_assert(!P::kAbout.empty(), "kAbout must not be empty: write one sentence");
    return true;
  }
  return false;
}

template <class Rows>
inline constexpr bool kRowsFit = false;

// Returns whether the SDK can read a member of type M from a profile. N: the row's Names, or
// NoNames.
template <class M, class N>
constexpr bool MemberFits() {
  if constexpr (kIsVector<M>) {
    return MemberFits<typename M::value_type, N>();
  } else if constexpr (std::is_enum_v<M>) {
    return kAreNamesOf<std::remove_cv_t<N>, M>;
  } else if constexpr (StructArg<M>) {
    return kRowsFit<std::remove_cvref_t<decltype(M::kArgs)>>;
  } else {
    return ScalarArg<M> || std::same_as<M, Value>;
  }
}

template <class T, class... Row>
inline constexpr bool kRowsFit<ArgList<T, Row...>> =
    (MemberFits<typename Row::Member, decltype(Row::names)>() && ...);

// Returns whether the rows can be read. Fails to compile with a message for every mistake in the
// arguments.
template <class P>
constexpr bool CheckArgs() {
  using Args = typename P::Args;
  static_assert(std::is_default_constructible_v<Args>,
                "Args must be default-constructible: give its members initial values");
  static_assert(std::same_as<Args, NoArgs> || kHaskArgs<P>,
                "Args has no rows; expected\n"
                "  static constexpr auto kArgs = berth::ArgRows<Args>(berth::Arg(\"key\", "
                "&Args::member, \"Help.\"), ...);");
  static_assert(!kHaskArgs<P> || std::is_constructible_v<P, const Host&, const Args&> ||
                    std::is_constructible_v<P, const Args&>,
                "kArgs is declared, but no constructor takes the arguments; expected "
                "(const berth::Host&, const Args&) or (const Args&)");
  constexpr bool kValidateFits = requires(const Args& args, ArgErrors& errors) {
    P::Validate(args, errors);
  };
  BERTH_INTERNAL_CHECK_METHOD(Validate, P, kValidateFits,
                              "expected\n"
                              "  static void Validate(const Args& args, berth::ArgErrors& errors)");
  if constexpr (kHaskArgs<P>) {
    constexpr bool kFit = kRowsFit<std::remove_cvref_t<decltype(P::kArgs)>>;
    static_assert(
        kFit,
        "an argument must be a bool, int32_t, int64_t, double, std::string, berth::Value, an enum "
        "whose row has berth::Names, a struct with `static constexpr auto kArgs`, or a "
        "std::vector of one of these");
    return kFit;
  }
  return true;
}

// Returns whether the plugin declares the kind of every column "object:<kind>".
template <class P>
constexpr bool DeclaresKindsOfColumns() {
  constexpr std::string_view kPrefix = "object:";
  for (const berth_column_request& column : P::Columns::kRequests) {
    const std::string_view name = column.name;
    if (!name.starts_with(kPrefix)) continue;
    bool declared = false;
    for (const char* kind : P::kKinds) declared = declared || name.substr(kPrefix.size()) == kind;
    if (!declared) return false;
  }
  return true;
}

template <class P>
constexpr bool DeclaresPodsOrNodes() {
  for (const std::string_view kind : P::kKinds) {
    if (kind == "v1/Pod" || kind == "v1/Node") return true;
  }
  return false;
}

// Fails to compile with a message if the plugin's kinds are wrong.
template <class P>
constexpr void CheckKinds() {
  static_assert(!DeclaresPodsOrNodes<P>(),
                "kKinds must not name v1/Pod or v1/Node: blocks and OnChange have the pods and "
                "nodes; with kPendingChanges, OnChange also has the pods without a node");
  static_assert(DeclaresKindsOfColumns<P>(),
                "kKinds must name the kind of every column berth::NodeObject<\"kind\">");
}

template <class P>
constexpr void CheckMethods() {
  CheckKinds<P>();
  using Args = typename P::Args;
  CheckNearNames<P>();
  AllPoints::Check<P>();
  CheckQuiesce<P>();
  CheckDependence<P>();
  static_assert(PointsOf<P>::kCount > 0,
                "the class has no extension point: add a method Filter, Score, Reserve, ... "
                "(see berth/<point>.h)");
  static_assert(std::is_constructible_v<P, const Host&, const Args&> ||
                    std::is_constructible_v<P, const Args&> ||
                    std::is_constructible_v<P, const Host&> || std::is_default_constructible_v<P>,
                "the plugin has no matching constructor; expected one of (const berth::Host&, "
                "const Args&), (const Args&), (const berth::Host&), ()");
}

// Fails to compile with a message that names the mistake. Returns whether the class is complete
// enough to build the library's entry; if not, the entry stays empty, so that the message is the
// only one.
template <class P>
constexpr bool CheckPlugin() {
  static_assert(std::is_class_v<P>, "the argument of BERTH_PLUGIN must be a class");
  static_assert(!std::is_final_v<P>,
                "a plugin class must not be final: its methods are looked up by deriving from it");
  static_assert(std::derived_from<P, Plugin>,
                "a plugin class must derive publicly from berth::Plugin");
  if constexpr (std::is_class_v<P> && !std::is_final_v<P> && std::derived_from<P, Plugin>) {
    if constexpr (CheckFacts<P>()) {
      if constexpr (CheckArgs<P>() && P::Columns::kAreColumns) {
        CheckMethods<P>();
        return true;
      }
    }
  }
  return false;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_CHECK_H_
