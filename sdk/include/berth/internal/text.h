// Texts at compile time: names of columns, tables of ids, JSON.
#ifndef BERTH_INTERNAL_TEXT_H_
#define BERTH_INTERNAL_TEXT_H_

#include <array>
#include <cstddef>
#include <string_view>

namespace berth::internal {

// A string literal as a template argument: Label<"topology.kubernetes.io/zone">.
template <std::size_t N>
struct Literal {
  char text[N];

  // NOLINTNEXTLINE(google-explicit-constructor): a template argument is written as a literal.
  constexpr Literal(const char (&literal)[N]) : text{} {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view View() const { return {text, N - 1}; }
};

// A text of fixed length, followed by a zero byte.
template <std::size_t N>
struct Chars {
  char text[N + 1] = {};

  constexpr std::string_view View() const { return {text, N}; }
};

// A zero-terminated copy of `kView`, a std::string_view with static storage.
template <const std::string_view& kView>
inline constexpr auto kTerminated = [] {
  Chars<kView.size()> out;
  for (std::size_t i = 0; i < kView.size(); ++i) out.text[i] = kView[i];
  return out;
}();

// Joins two literals: "label:" + "topology.kubernetes.io/zone".
template <Literal kPrefix, Literal kName>
inline constexpr auto kJoined = [] {
  Chars<kPrefix.View().size() + kName.View().size()> out;
  std::size_t at = 0;
  for (const char c : kPrefix.View()) out.text[at++] = c;
  for (const char c : kName.View()) out.text[at++] = c;
  return out;
}();

// Returns `ids` followed by a null pointer, as the lists of berth_plugin_info require.
template <std::size_t N>
constexpr std::array<const char*, N + 1> NullTerminated(const std::array<const char*, N>& ids) {
  std::array<const char*, N + 1> out = {};
  for (std::size_t i = 0; i < N; ++i) out[i] = ids[i];
  return out;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TEXT_H_
