// Two plugins in one library. Together they use everything that the library's entry describes:
// arguments, columns, reasons and slots.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace acme {

class Rack : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Rack";
  static constexpr std::string_view kVersion = "1.4.0";
  static constexpr std::string_view kAbout = "Keeps a \"rack\" below its power.";
  static constexpr berth::Reasons kReasons{"Insufficient power"};
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  struct Args {
    int64_t watts = 4000;
    std::string label = "example.com/rack";
    std::vector<std::string> ignored = {"none"};
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("watts", &Args::watts, berth::Range{0, 100'000}, "Power."),
                           berth::Arg("label", &Args::label, "The rack's label."),
                           berth::Arg("ignored", &Args::ignored, "Racks to leave alone."));
  using Columns = berth::Columns<berth::AllocCpu, berth::Label<"example.com/rack">>;
  using Node = berth::NodeRow<Columns>;
  struct State {
    std::vector<int64_t> used;
  };

  Rack(const berth::Host& host, const Args& args) : host_(host), args_(args) {}
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    cycle.Emplace<State>().used.push_back(args_.watts);
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& node) const {
    return berth::UnschedulableIf(node[berth::AllocCpu{}] > args_.watts, 0);
  }

 private:
  berth::Host host_;
  Args args_;
};

class Order : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Order";
  static constexpr std::string_view kVersion = "0.1.0-rc1";
  static constexpr std::string_view kAbout = "First come, first served.";
  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Ascending(queued.queued_ns);
  }
};

}  // namespace acme

BERTH_PLUGINS(acme::Rack, acme::Order);
