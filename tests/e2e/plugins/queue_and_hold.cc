// Plugins of the end-to-end tests: another order of the queue, and delays in Permit and PreBind.
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include <berth/plugin.h>

namespace {

// QueueSort: the pod with the lowest cpu request is tried first.
class SmallestFirst : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.SmallestFirst";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Tries the pod with the lowest cpu request first.";

  berth::SortKey Key(const berth::Queued& queued) const {
    const berth::Pod pod(*queued.pod);
    return berth::SortKey().Ascending(pod.request().milli_cpu).Ascending(queued.queued_ns);
  }
};

// Permit makes the pods with the label acme.com/permit wait for a minute. PreBind of the pods with
// the label acme.com/bind takes `milliseconds`.
class Hold : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Hold";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Delays the pods that have a label.";
  static constexpr bool kBlocksInBind = true;
  struct Args {
    int64_t milliseconds = 0;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("milliseconds", &Args::milliseconds, berth::Range{0, 60'000},
                 "How long PreBind of a pod with the label acme.com/bind takes."));

  Hold(const berth::Host& host, const Args& args)
      : permit_(host.Intern("acme.com/permit")),
        bind_(host.Intern("acme.com/bind")),
        milliseconds_(args.milliseconds) {}

  berth::Status Permit(berth::Cycle& cycle, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    if (cycle.pod().Label(permit_) == BERTH_ID_NONE) return berth::Status::Success();
    timeout = std::chrono::minutes(1);
    return berth::Status::Wait("the pod has the label acme.com/permit");
  }
  berth::Status PreBindPreFlight(const berth::Binding& binding) {
    const bool waits = binding.pod().Label(bind_) != BERTH_ID_NONE;
    return waits ? berth::Status::Success() : berth::Status::Skip();
  }
  berth::Status PreBind(const berth::Binding& /*binding*/) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    return berth::Status::Success();
  }

 private:
  const berth_id permit_;
  const berth_id bind_;
  const int64_t milliseconds_;
};

}  // namespace

BERTH_PLUGINS(SmallestFirst, Hold);
