// A plugin whose methods are in another file than its entry.
#ifndef BERTH_TESTS_SDK_TWO_FILES_TWO_FILES_H_
#define BERTH_TESTS_SDK_TWO_FILES_TWO_FILES_H_

#include <cstdint>
#include <string_view>

#include <berth/plugin.h>

namespace acme {

class TwoFiles : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.TwoFiles";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Has its entry in one file and its methods in another.";
  struct State {
    int64_t wanted = 0;
  };

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all, berth::PreFilterOut& out);
};

}  // namespace acme

#endif  // BERTH_TESTS_SDK_TWO_FILES_TWO_FILES_H_
