// A plugin that prints to standard output, and calls exit() or fork() where its arguments say.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <berth/plugin.h>

namespace {

class Quitter : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Quitter";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Prints, and ends the process.";
  struct Args {
    std::string how;
    int64_t status = 0;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("how", &Args::how, "Where the plugin ends the process; empty for nowhere."),
      berth::Arg("status", &Args::status, "The argument of exit()."));
  using Columns = berth::Columns<berth::NodeName>;

  explicit Quitter(const Args& args) : args_(args) {
    std::puts("hello from the constructor");
    if (args_.how == "create") std::exit(static_cast<int>(args_.status));
    if (args_.how == "fork" && ::fork() == 0) {  // A process that outlives the command.
      ::sleep(60);
      ::_exit(0);
    }
  }

  berth::Verdict Filter(const berth::Cycle& /*cycle*/,
                        const berth::NodeRow<Columns>& /*node*/) const {
    std::puts("hello from Filter");
    if (args_.how == "filter") std::exit(static_cast<int>(args_.status));
    if (args_.how == "quick") std::quick_exit(static_cast<int>(args_.status));
    if (args_.how == "thread") {
      std::thread([this] { std::exit(static_cast<int>(args_.status)); }).join();
    }
    return berth::UnschedulableIf(false, 0);
  }

 private:
  const Args args_;
};

}  // namespace

BERTH_PLUGIN(Quitter)
