// The size of tests in a build with a sanitizer, where each step takes about ten times as long.
#ifndef BERTH_TESTS_HARNESS_SANITIZED_H_
#define BERTH_TESTS_HARNESS_SANITIZED_H_

namespace berth {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// Returns how often a random test repeats its steps: a sanitizer finds the same with fewer.
template <class T>
constexpr T Repetitions(T usual, T sanitized) {
  return kIsSanitized ? sanitized : usual;
}

}  // namespace berth

#endif  // BERTH_TESTS_HARNESS_SANITIZED_H_
