// Does a class have a member of a given name, whatever its signature? That is how a method that was
// meant for an extension point and has the wrong signature is told from one that is not there.
#ifndef BERTH_INTERNAL_DETECT_H_
#define BERTH_INTERNAL_DETECT_H_

#include <type_traits>

namespace berth::internal {

// Accepts everything, so that an unevaluated expression may ask what a call would return.
template <class T>
T& Make() noexcept;

}  // namespace berth::internal

// Defines berth::internal::kHas<Name><P>: class P has a member `Name`: a method, overloaded or not,
// a template, public or not. Name lookup in a class with two bases that both have the name is
// ambiguous; in one where only the decoy has it, it is not. P must not be final.
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
