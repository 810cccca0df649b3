// Detects whether a class has a member of a given name, with any signature. It distinguishes an
// extension-point method with the wrong signature from a missing one.
#ifndef BERTH_INTERNAL_DETECT_H_
#define BERTH_INTERNAL_DETECT_H_

#include <type_traits>

namespace berth::internal {

// Accepts any T, so that an unevaluated expression can ask for the result of a call.
template <class T>
T& Make() noexcept;

}  // namespace berth::internal

// Defines berth::internal::kHas<Name><P>: whether class P has a member `Name`: a method, overloaded
// or not, a template, public or not. In a class with two bases, looking up a name that both bases
// have is ambiguous; a name that only the decoy has is not. P must not be final.
#define BERTH_INTERNAL_DETECT(Name)              \
  namespace berth::internal {                    \
  struct Decoy##Name {                           \
    int Name;                                    \
  };                                             \
  template <class P>                             \
  struct Probe##Name : P, Decoy##Name {};        \
  template <class P>                             \
  inline constexpr bool kHas##Name = !requires { \
    &Probe##Name<P>::Name;                       \
  };                                             \
  }                                              \
  static_assert(true, "a semicolon follows")

#endif  // BERTH_INTERNAL_DETECT_H_
