// Replaces the default plugin NodeName: accepts every node, and logs each call.
#include <array>
#include <string_view>

#include <berth/plugin.h>

namespace {

class Talker : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Logs every call of Filter.";
  static constexpr std::array kServices{BERTH_SERVICE_LOG};
  using Columns = berth::Columns<berth::NodeName>;

  explicit Talker(const berth::Host& host) : log_(host.log()) {}

  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<Columns>& /*node*/) const {
    log_.Warn("looked at a node");
    log_.Info("took it");
    return berth::UnschedulableIf(false, 0);
  }

 private:
  const berth::Log log_;
};

}  // namespace

BERTH_PLUGIN(Talker)
