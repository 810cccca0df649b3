// The base classes of the plugins in the snippets.
#ifndef BERTH_TESTS_SDK_MUST_NOT_COMPILE_SAMPLE_H_
#define BERTH_TESTS_SDK_MUST_NOT_COMPILE_SAMPLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

class Sampled : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "Sample";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "A sample.";
};

// Implements an extension point, so that the mistake in the snippet is the only one.
class Filtering : public Sampled {
 public:
  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<berth::Columns<>>& /*node*/) const {
    return berth::kPass;
  }
};

#endif  // BERTH_TESTS_SDK_MUST_NOT_COMPILE_SAMPLE_H_
