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
#include <berth/internal/detect.h>
#include <berth/internal/points.h>

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
constexpr void CheckFacts() {
  static_assert(
      requires {
        { P::kName } -> Text;
      },
      "the plugin has no name; expected\n"
      "  static constexpr std::string_view kName = \"acme.RackPower\";");
  static_assert(
      requires {
        { P::kVersion } -> Text;
      },
      "the plugin has no version; expected\n"
      "  static constexpr std::string_view kVersion = \"1.0.0\";");
  static_assert(
      requires {
        { P::kAbout } -> Text;
      },
      "the plugin has no description; expected\n"
      "  static constexpr std::string_view kAbout = \"One sentence.\";");
  if constexpr (requires {
                  { P::kName } -> Text;
                  { P::kVersion } -> Text;
                  { P::kAbout } -> Text;
                }) {
    static_assert(IsWord(P::kName), "kName must have only letters, digits and the characters ._-+");
    static_assert(IsWord(P::kVersion),
                  "kVersion must have only letters, digits and the characters ._-+");
    static_assert(!P::kAbout.empty(), "kAbout must not be empty: write one sentence");
  }
}

// Returns true, or fails to compile with a message that names the mistake.
template <class P>
constexpr bool CheckPlugin() {
  static_assert(std::is_class_v<P>, "the argument of BERTH_PLUGIN must be a class");
  static_assert(!std::is_final_v<P>,
                "a plugin class must not be final: its methods are looked up by deriving from it");
  static_assert(std::derived_from<P, Plugin>,
                "a plugin class must derive publicly from berth::Plugin");
  if constexpr (std::is_class_v<P> && !std::is_final_v<P> && std::derived_from<P, Plugin>) {
    CheckFacts<P>();
    AllPoints::Check<P>();
    CheckDependence<P>();
    static_assert(PointsOf<P>::kCount > 0,
                  "the class has no extension point: add a method Filter, Score, Reserve, ... "
                  "(see berth/<point>.h)");
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
    if constexpr (kHasValidate<P>) {
      static_assert(
          requires(const Args& args, ArgErrors& errors) { P::Validate(args, errors); },
          "Validate has the wrong signature; expected\n"
          "  static void Validate(const Args& args, berth::ArgErrors& errors)");
    }
    static_assert(std::is_constructible_v<P, const Host&, const typename P::Args&> ||
                      std::is_constructible_v<P, const typename P::Args&> ||
                      std::is_constructible_v<P, const Host&> || std::is_default_constructible_v<P>,
                  "the plugin has no matching constructor; expected one of (const berth::Host&, "
                  "const Args&), "
                  "(const Args&), (const berth::Host&), ()");
  }
  return true;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_CHECK_H_
