// Detects whether a class has a member of a given name, with any signature. It distinguishes an
// extension-point method that is private, or has the wrong signature, from a missing one.
#ifndef BERTH_INTERNAL_DETECT_H_
#define BERTH_INTERNAL_DETECT_H_

#include <type_traits>

namespace berth::internal {

// Accepts any T, so that an unevaluated expression can ask for the result of a call.
template <class T>
T& Make() noexcept;

// An argument of any type, for an unevaluated call.
struct AnyArgument {
  template <class T>
  operator T&() const;
};

}  // namespace berth::internal

// Defines, in berth::internal:
//   kHas<Name><P>          whether class P has a member `Name`: a method, overloaded or not, a
//                          template, public or not. In a class with two bases, looking up a name
//                          that both bases have is ambiguous; a name that only the decoy has is
//                          not. P must not be final.
//   kHides<Name><P, kFits> whether P has such a member, and only because it is not public it is not
//                          the expected one. A public member has an address or, if it is overloaded
//                          or a template, can be called with some number of arguments. Of several
//                          overloads with the same number of parameters, none can be called in this
//                          way; they count as not public if none has the expected signature.
//                          `kFits`: whether P has the expected method; a call with arguments of any
//                          type is not tried then, because it may instantiate a body.
#define BERTH_INTERNAL_DETECT(Name)                                                               \
  namespace berth::internal {                                                                     \
  struct Decoy##Name {                                                                            \
    int Name;                                                                                     \
  };                                                                                              \
  template <class P>                                                                              \
  struct Probe##Name : P, Decoy##Name {};                                                         \
  template <class P>                                                                              \
  inline constexpr bool kHas##Name = !requires {                                                  \
    &Probe##Name<P>::Name;                                                                        \
  };                                                                                              \
  template <class P, class... A>                                                                  \
  concept Calls##Name = requires(P & p, A... a) {                                                 \
    p.Name(a...);                                                                                 \
  };                                                                                              \
  template <class P>                                                                              \
  concept Reaches##Name = requires {                                                              \
    &P::Name;                                                                                     \
  }                                                                                               \
  || requires { typename P::Name; }                                                               \
  || Calls##Name<P> || Calls##Name<P, AnyArgument> || Calls##Name<P, AnyArgument, AnyArgument> || \
      Calls##Name<P, AnyArgument, AnyArgument, AnyArgument> ||                                    \
      Calls##Name<P, AnyArgument, AnyArgument, AnyArgument, AnyArgument>;                         \
  template <class P>                                                                              \
  concept Hidden##Name = (kHas##Name<P>)&&(!Reaches##Name<P>);                                    \
  template <class P, bool kFits>                                                                  \
  inline constexpr bool kHides##Name = false;                                                     \
  template <class P>                                                                              \
  inline constexpr bool kHides##Name<P, false> = Hidden##Name<P>;                                 \
  }                                                                                               \
  static_assert(true, "a semicolon follows")

// Fails to compile if class P has a method `Name` that is private, or that does not fit. `fits`:
// whether the method has the expected signature. `expected`: "expected ...".
#define BERTH_INTERNAL_CHECK_METHOD(Name, P, fits, expected)                                       \
  static_assert(!::berth::internal::kHides##Name<P, (fits)>, #Name " is private: make it public"); \
  static_assert(                                                                                   \
      !::berth::internal::kHas##Name<P> || (fits) || ::berth::internal::kHides##Name<P, (fits)>,   \
      #Name " has the wrong signature; " expected)

#endif  // BERTH_INTERNAL_DETECT_H_
