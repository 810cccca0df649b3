// A plugin that rejects pods until a timer or a thread of its own lets them pass.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace {

// PreEnqueue holds pods back, PreFilter makes them unschedulable or lets them wait, and PreScore
// lets them wait; a profile selects one of these. The arguments decide what happens from the first
// pod on.
class Later : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Later";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Lets pods pass later.";
  static constexpr std::array kServices{BERTH_SERVICE_ACTIVATE, BERTH_SERVICE_TIMER};
  struct Args {
    std::string pod;
    int64_t opens_ms = -1;
    int64_t every_ms = -1;
    int64_t thread_ms = -1;
    bool hangs = false;
    bool announces = true;
    bool posts_on = false;
    bool rejects = true;
    bool awaits = false;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("pod", &Args::pod, "The name of the only pod to reject; by default all."),
      berth::Arg("opensMs", &Args::opens_ms, "After this time a timer lets all pods pass."),
      berth::Arg("everyMs", &Args::every_ms,
                 "A timer that changes nothing fires at this interval."),
      berth::Arg("threadMs", &Args::thread_ms, "After this time a thread lets all pods pass."),
      berth::Arg("hangs", &Args::hangs, "A thread announces work that it never does."),
      berth::Arg("announces", &Args::announces, "Whether the thread announces its work."),
      berth::Arg("postsOn", &Args::posts_on, "A function posts itself again and again."),
      berth::Arg("rejects", &Args::rejects, "Whether pods are rejected at first."),
      berth::Arg("awaits", &Args::awaits, "PreFilter returns Pending instead of a rejection."));

  Later(berth::Host host, Args args)
      : host_(std::move(host)),
        args_(std::move(args)),
        opening_(host_.timers(), [this] { Open(); }),
        ticking_(host_.timers(), [this] { Tick(); }) {}

  void Quiesce() {
    {
      const std::scoped_lock lock(mutex_);
      stops_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    opening_.Cancel();
    ticking_.Cancel();
  }

  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }
  berth::Status PreEnqueue(const berth::Pod& pod) {
    return Passes(pod) ? berth::Status::Success() : berth::Status::Pending("not yet");
  }
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    if (Passes(cycle.pod())) return berth::Status::Success();
    return args_.awaits ? berth::Status::Pending("not yet")
                        : berth::Status::Unresolvable("not yet");
  }
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    return Passes(cycle.pod()) ? berth::Status::Success() : berth::Status::Pending();
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const berth::NodeRow<Columns>& /*node*/) const {
    return 0;
  }

 private:
  bool Passes(const berth::Pod& pod) {
    if (!has_begun_) Begin();
    if (is_open_ || !args_.rejects || (!args_.pod.empty() && pod.name() != args_.pod)) return true;
    rejected_.emplace(pod.uid());
    return false;
  }
  void Begin() {
    has_begun_ = true;
    if (args_.opens_ms >= 0) (void)opening_.Start(std::chrono::milliseconds(args_.opens_ms));
    if (args_.every_ms >= 0) (void)ticking_.Start(std::chrono::milliseconds(args_.every_ms));
    if (args_.posts_on) PostOn();
    if (args_.thread_ms < 0 && !args_.hangs) return;
    berth::PendingWork work;
    if (args_.announces) work = berth::PendingWork(host_.timers());
    thread_ = std::thread([this, kept = std::move(work)] {
      if (Sleep() && !args_.hangs) (void)host_.timers().Post([this] { Open(); });
    });
  }
  // Returns false if the instance ends.
  bool Sleep() {
    std::unique_lock lock(mutex_);
    const auto stops = [this] { return stops_; };
    if (args_.hangs) {
      wake_.wait(lock, stops);
    } else {
      wake_.wait_for(lock, std::chrono::milliseconds(args_.thread_ms), stops);
    }
    return !stops_;
  }
  void Open() {
    is_open_ = true;
    for (const std::string& uid : rejected_) (void)host_.activate().Pod(uid);
    rejected_.clear();
  }
  void Tick() { (void)ticking_.Start(std::chrono::milliseconds(args_.every_ms)); }
  void PostOn() {
    (void)host_.timers().Post([this] { PostOn(); });
  }

  berth::Host host_;
  const Args args_;
  std::set<std::string> rejected_;  // uids
  bool has_begun_ = false;
  bool is_open_ = false;
  berth::Timer opening_;
  berth::Timer ticking_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace

BERTH_PLUGIN(Later);
