// Include this in a GoogleTest test to turn every contract violation into a failure of that test.
#ifndef BERTH_TESTING_GTEST_H_
#define BERTH_TESTING_GTEST_H_

#include <string>

#include <gtest/gtest.h>

#include <berth/testing/fake_host.h>

namespace berth::testing {

inline const bool kFailuresGoToGoogleTest = [] {
  default_failure_handler = [](const std::string& text) { ADD_FAILURE() << text; };
  return true;
}();

}  // namespace berth::testing

#endif  // BERTH_TESTING_GTEST_H_
