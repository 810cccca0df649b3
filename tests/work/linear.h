// The rule for work that grows with the size of its input, and not with its square.
#ifndef BERTH_TESTS_WORK_LINEAR_H_
#define BERTH_TESTS_WORK_LINEAR_H_

#include <cstdint>

#include <gtest/gtest.h>

namespace berth::testing {

// Expects that the steps for a size are in proportion to it. From 10 to 10,000 they then grow by 11
// times what they grow by from 10 to 1,000; n * log(n) by 14 times, the square by 101.
template <class F>
void ExpectLinear(int size, F&& steps) {
  constexpr uint64_t kMostGrowth = 15;
  const uint64_t least = steps(10);
  const uint64_t some = steps(size / 10);
  const uint64_t most = steps(size);
  ASSERT_GT(some, least) << "the field that grows is not read";
  EXPECT_LE(most - least, kMostGrowth * (some - least)) << least << ", " << some << ", " << most;
}

}  // namespace berth::testing

#endif  // BERTH_TESTS_WORK_LINEAR_H_
