// The samples of sdk/services.md. The lint `readme` checks that this file contains each of them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

namespace {

using namespace std::chrono_literals;

constexpr const char* kQuotas = "acme.com/v1/Quota";

// The number of pods that all instances of this library have seen.
struct Seen {
  int pods = 0;
};

// Uses every service once.
class Tour : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Tour";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Uses every service of the host.";
  static constexpr std::array kKinds{kQuotas};
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kOther};
  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;
  struct State {
    berth_id best = BERTH_ID_NONE;
  };

  // The formatting of the samples is that of the page.
  // clang-format off
  explicit Tour(const berth::Host& host)
      : host_(host),
        team_(host.Intern("acme.com/team")),
        refused_(host.metrics().Counter("tour_refused_total", "Refused pods.", {"team"})),
        seen_(host.shared().Get<Seen>("seen")),
        poll_(host.timers(), [this] { Poll(); }) {
    static_cast<void>(host.objects().Watch<&Tour::OnQuota>(kQuotas, this));
    static_cast<void>(poll_.Start(30s));
  }
  // clang-format on

  void OnChange(const berth::Change& change) {
    if (change.kind != BERTH_CHANGE_NODE_ADDED) return;
    // clang-format off
    first_ = host_.Retain(*change.node);  // Released with the handle.
    // clang-format on
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all,
                          berth::PreFilterOut& /*out*/) {
    const berth::Pod pod = cycle.pod();
    // clang-format off
    const std::string_view team = host_.Text(pod.Label(team_));  // Empty: no such label.
    // clang-format on
    const std::string_view ns = host_.Text(pod.ns());
    // clang-format off
    const berth::Value quota = berth::ValueOf(host_.objects().Get(kQuotas, ns, team));
    if (quota["spec"]["closed"].AsBool()) {
      refused_.Observe(1, {team});
      host_.log().Warn("the quota is closed", {{"pod", pod.name()}, {"team", team}});
      return berth::Status::Unschedulable("the quota is closed");
    }
    // clang-format on
    // clang-format off
    const std::string_view text = pod.Annotation("acme.com/rule").value_or("{}");
    const berth::ParsedValue rule = host_.values().Parse(text);
    if (!rule.ok()) return berth::Status::Unresolvable("acme.com/rule is not JSON");
    const berth::Selector friends = host_.selectors().FromValue(rule.value()["friends"]);
    const bool is_own_friend = friends.Matches(pod.labels());
    // clang-format on
    // clang-format off
    if (const auto row = host_.nodes().Find("gateway")) {
      const auto place = host_.nodes().Find(all, *row);  // The block and the index in `all`.
      gateway_index_ = place->index;
    }
    // clang-format on
    own_friend_ = is_own_friend;
    // clang-format off
    lucky_ = host_.random().Below(cycle, 100) == 0;  // The same number in a replay.
    // clang-format on
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::Verdict();
  }

  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                           const berth::Verdicts& verdicts, berth::PostFilterOut& out) {
    static_cast<void>(verdicts);
    const auto found = host_.nodes().Find("gateway");
    if (!found.has_value()) return berth::Status::Unschedulable("no gateway");
    // clang-format off
    std::vector<uint32_t> rows = {*found};
    std::vector<uint8_t> codes(1);
    berth::WhatIfQuestion question = host_.what_if().Begin(cycle, rows, berth::WhatIfMode::kApart);
    const berth::Status asked = question.RunFilters(codes);
    // clang-format on
    if (!asked.ok() || codes[0] != BERTH_SUCCESS) return asked;
    // clang-format off
    static_cast<void>(host_.nominator().ForEach("gateway", [&](const berth_pod& nominated) {
      if (nominated.priority < cycle.pod()->priority) {
        static_cast<void>(host_.nominator().Clear(berth::Pod(nominated).uid()));
      }
    }));
    // clang-format on
    out.Nominate("gateway");
    return berth::Status::Success();
  }

  // clang-format off
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes&, const berth::Nodes&) {
    const std::string uid(cycle.pod().uid());
    const auto known = best_.find(uid);
    if (known != best_.end() && known->second.has_value()) {
      cycle.Emplace<State>().best = host_.Find(*known->second);
      return berth::Status::Success();
    }
    if (known != best_.end()) return berth::Status::Pending("waiting for advice");  // Was asked.
    const berth::Status sent = host_.http().Send(
        {.url = "https://advice.example/best-node", .timeout = 5s},
        [this, uid](const berth::HttpResult& result) {  // Called later, in any case.
          best_[uid] = result.ok() ? result.body() : "";  // Without advice, no node is the best.
          static_cast<void>(host_.activate().Pod(uid));
        });
    if (!sent.ok()) return berth::Status::Skip();
    best_[uid] = std::nullopt;
    return berth::Status::Pending("waiting for advice");
  }
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    return node[berth::NodeName{}] == cycle.State<State>().best ? 100 : 0;
  }
  void PostBind(const berth::Binding& binding) {
    best_.erase(std::string(berth::Pod(binding.pod()).uid()));
  }
  // clang-format on

  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    host_.log().Info("waits", {{"seen", std::to_string(++seen_.pods)}});
    timeout = 10s;
    return berth::Status::Wait();
  }

  berth::Status PreBind(const berth::Binding& binding, berth::Done& done) {
    // clang-format off
    berth::Patch patch;
    patch.Annotation("acme.com/seen", "true");
    return host_.api().PatchPod(binding.pod(), patch, done);  // The answer completes `done`.
    // clang-format on
  }

  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    const std::string body = R"({"pod":")" + std::string(berth::Pod(binding.pod()).name()) + "\"}";
    // clang-format off
    return host_.http().Send({.method = "POST", .url = "https://audit.example/bound", .body = body},
                             done);  // Its end completes `done`.
    // clang-format on
  }

  void Quiesce() {
    if (thread_.joinable()) thread_.join();
  }

  void Ask() {
    if (thread_.joinable()) thread_.join();
    // clang-format off
    thread_ = std::thread([this, work = berth::PendingWork(host_.timers())] {
      static_cast<void>(host_.timers().Post([this] { Open(); }));  // On the scheduling thread.
    });
    // clang-format on
  }

  std::optional<uint32_t> gateway_index() const { return gateway_index_; }
  bool own_friend() const { return own_friend_; }
  int polls() const { return polls_; }

 private:
  // clang-format off
  void OnQuota(const berth::ObjectChange& change) {
    if (change.now != nullptr) Ask();
  }
  // clang-format on
  void Poll() { ++polls_; }
  // clang-format off
  void Open() {
    static_cast<void>(host_.waiting().ForEach([this](const berth_pod& pod) {
      static_cast<void>(host_.waiting().Allow(berth::Pod(pod).uid()));
    }));
    static_cast<void>(host_.activate().Pod("uid-of-a-pod-that-was-refused"));
  }
  // clang-format on

  const berth::Host host_;
  const berth_id team_;
  const berth::Metric refused_;
  Seen& seen_;
  berth::Timer poll_;
  berth::Ref<berth_node> first_;
  std::thread thread_;
  std::map<std::string, std::optional<std::string>> best_;  // By uid; empty until the answer.
  std::optional<uint32_t> gateway_index_;
  bool own_friend_ = false;
  bool lucky_ = false;
  int polls_ = 0;
};

}  // namespace

BERTH_PLUGIN(Tour)

namespace berth::testing {
namespace {

Scenario TourScenario() {
  return {.nodes = {MakeNode("a"), MakeNode("gateway")},
          .objects = {
              MakeObject("acme.com/v1/Quota", "default", "red", R"({"spec":{"closed":true}})")}};
}

TEST(ServicesGuide, ObjectsMetricsAndLogAreUsed) {
  PluginUnderTest plugin(TourScenario());
  EXPECT_EQ(plugin.Filter(MakePod("p").Label("acme.com/team", "red")).On("a"),
            Unschedulable("the quota is closed"));
  ASSERT_FALSE(plugin.log().empty());
  EXPECT_EQ(plugin.log()[0].pairs.at("team"), "red");
  EXPECT_FALSE(plugin.metrics().at("tour_refused_total").observations.empty());
  EXPECT_EQ(plugin.Filter(MakePod("p").Label("acme.com/team", "blue")).On("a"), Success());
  EXPECT_EQ(plugin.Filter(MakePod("p").Annotation("acme.com/rule", "{")).On("a"),
            Unresolvable("acme.com/rule is not JSON"));
}

TEST(ServicesGuide, InstancesOfALibraryShareAState) {
  const auto see = [](PluginUnderTest& plugin) {
    EXPECT_EQ(plugin.Permit(MakePod("p"), "a").answer.code, BERTH_WAIT);
    return plugin.log().back().pairs.at("seen");
  };
  Scenario scenario = TourScenario();
  PluginUnderTest alone(TourScenario());
  scenario.shared = std::make_shared<SharedObjects>();
  {
    PluginUnderTest one(scenario);
    EXPECT_EQ(see(one), "1");
    PluginUnderTest two(scenario);
    EXPECT_EQ(see(two), "2");
    EXPECT_EQ(see(one), "3");
    EXPECT_EQ(see(alone), "1");
  }
  PluginUnderTest three(scenario);
  EXPECT_EQ(see(three), "1") << "the state ended with the last instance";
}

TEST(ServicesGuide, PostFilterAsksAndClearsNominations) {
  PluginUnderTest plugin(TourScenario());
  plugin.Nominate(MakePod("low").Priority(1), "gateway");
  Placement placement = plugin.Place(MakePod("p").Priority(2));
  EXPECT_EQ(placement.PostFilter({}).nominated, "gateway");
  EXPECT_TRUE(plugin.scheduling().nominations().empty());
}

TEST(ServicesGuide, APodWaitsForASlowService) {
  PluginUnderTest plugin(TourScenario());
  plugin.http().Reply("https://advice.example/best-node", {.body = "gateway"});
  EXPECT_EQ(plugin.Score(MakePod("p")).pre_score, Pending("waiting for advice"));
  plugin.Advance(0);
  // The thread of the plugin may have activated another pod too.
  const std::vector<std::string> activated = plugin.scheduling().activated();
  EXPECT_EQ(std::count(activated.begin(), activated.end(), "uid-p"), 1);
  EXPECT_EQ(plugin.Score(MakePod("p")).raw.at("gateway"), 100);
  EXPECT_EQ(plugin.Score(MakePod("p")).raw.at("a"), 0);
}

TEST(ServicesGuide, AnHttpRequestCompletesABinding) {
  PluginUnderTest plugin(TourScenario());
  plugin.http().Reply("https://audit.example/bound", {});
  Placement placement = plugin.Place(MakePod("p"));
  EXPECT_EQ(placement.Bind("a"), Pending());
  plugin.Advance(0);
  EXPECT_EQ(placement.completion().answer, Success());
  EXPECT_EQ(plugin.http().calls()[0].body, R"({"pod":"p"})");
}

TEST(ServicesGuide, AThreadPostsWhatAllowsAndActivates) {
  PluginUnderTest plugin(TourScenario());
  plugin.AddWaiting(MakePod("member"));
  plugin.PutObject(MakeObject("acme.com/v1/Quota", "default", "red", "{}"));
  while (plugin.pending_work() > 0) std::this_thread::sleep_for(1ms);
  plugin.Advance(0);
  EXPECT_FALSE(plugin.scheduling().activated().empty());
  EXPECT_EQ(plugin.scheduling().allowed(), (std::vector<std::string>{"uid-member"}));
}

}  // namespace
}  // namespace berth::testing
