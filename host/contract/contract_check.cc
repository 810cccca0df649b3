#include "host/contract/contract_check.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <berth/testing/fake_host.h>

#include "host/contract/contract_world.h"

namespace berth::host {
namespace {

using testing::Answer;
using testing::PluginUnderTest;
using testing::PodSpec;

constexpr ContractPromise kPromises[] = {
    {kLibraryPromise, "It exports its entry and nothing else, and its note says the same."},
    {"shape", "What it says of itself when it is created fits together."},
    {"threads", "Services are called where abi.h allows it."},
    {"outputs", "Every selected node is answered for, and no other."},
    {"codes", "Answers are those of the point, and a refusal has a reason."},
    {"blocks", "Answers do not depend on how nodes are put into blocks, or selected."},
    {"concurrency", "Nor on other blocks being worked on at the same time."},
    {"repeat", "Nor on being asked again."},
    {"whatif", "AddPod and RemovePod come to what a cluster with, or without, the pod would."},
    {"dependence", "Answers depend on what is declared, and on nothing else."},
    {"hints", "So do hints."},
    {"slots", "Cycle state keeps to its memory, and is read-only in blocks."},
    {"leaks", "Nothing is left behind by a cycle, or by destroy."},
    {"instances", "No instance leaves a file or a thread behind."},
    {"faults", "Nothing is thrown that is not an answer."},
    {kDeadlinesPromise, "Every call returns in time."},
    {kSurvivesPromise, "Nothing ends the process."},
};

// Services that the kit has not: nothing comes of them. Who asks hears what a host may answer.
constexpr berth_api kApi = {
    sizeof(berth_api),
    0,
    [](const berth_host*, const berth_binding*, berth_done*) noexcept -> berth_code {
      return BERTH_PENDING;
    },
    [](const berth_host*, const berth_pod*, berth_str, berth_api_answer,
       void*) noexcept -> berth_code { return BERTH_UNSUPPORTED; },
    [](const berth_host*, const berth_pod*, berth_str, berth_api_answer,
       void*) noexcept -> berth_code { return BERTH_UNSUPPORTED; },
    [](const berth_host*, const berth_tagged*, const berth_tagged*, berth_str, berth_str, berth_str,
       berth_str) noexcept -> berth_code { return BERTH_SUCCESS; },
    [](const berth_host*, berth_str, berth_str, berth_str, int64_t, berth_api_answer,
       void*) noexcept -> berth_code { return BERTH_UNSUPPORTED; }};
constexpr berth_whatif kWhatIf = {
    sizeof(berth_whatif),
    0,
    [](const berth_host*, const berth_cycle*, uint32_t, berth_whatif_row**) noexcept -> berth_code {
      return BERTH_CONFLICT;
    },
    [](berth_whatif_row*, const berth_pod*, berth_status*) noexcept -> berth_code {
      return BERTH_CONFLICT;
    },
    [](berth_whatif_row*, const berth_pod*, berth_status*) noexcept -> berth_code {
      return BERTH_CONFLICT;
    },
    [](berth_whatif_row*, berth_status*) noexcept -> berth_code { return BERTH_CONFLICT; },
    [](berth_whatif_row*) noexcept {}};
constexpr berth_nominator kNominator = {
    sizeof(berth_nominator), 0,
    [](const berth_host*, berth_str, int32_t (*)(void*, const berth_pod*),
       void*) noexcept -> berth_code { return BERTH_SUCCESS; },
    [](const berth_host*, berth_str) noexcept -> berth_code { return BERTH_NOT_FOUND; }};
constexpr berth_activate kActivate = {
    sizeof(berth_activate), 0,
    [](const berth_host*, const berth_str*, uint64_t) noexcept -> berth_code {
      return BERTH_SUCCESS;
    }};
constexpr berth_waiting kWaiting = {
    sizeof(berth_waiting), 0,
    [](const berth_host*, int32_t (*)(void*, const berth_pod*), void*) noexcept -> berth_code {
      return BERTH_SUCCESS;
    },
    [](const berth_host*, berth_str) noexcept -> berth_code { return BERTH_NOT_FOUND; },
    [](const berth_host*, berth_str, berth_str) noexcept -> berth_code { return BERTH_NOT_FOUND; }};

const std::map<std::string, const void*>& QuietServices() {
  static const std::map<std::string, const void*> services = {
      {BERTH_SERVICE_API, &kApi},
      {BERTH_SERVICE_WHATIF, &kWhatIf},
      {BERTH_SERVICE_NOMINATOR, &kNominator},
      {BERTH_SERVICE_ACTIVATE, &kActivate},
      {BERTH_SERVICE_WAITING, &kWaiting}};
  return services;
}

constexpr const char* kOpenFiles = "/proc/self/fd";
constexpr const char* kThreads = "/proc/self/task";

size_t EntriesOf(const char* directory) {
  std::error_code error;
  size_t count = 0;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    ++count;
  }
  return count;
}

// One plugin, asked about everything once.
class ContractChecker {
 public:
  ContractChecker(const ContractSubject& subject, testing::CallObserver& observer,
                  const ContractSink& sink)
      : subject_(subject), observer_(observer), sink_(sink) {}

  std::optional<ContractEffort> Run() {
    if (!IsCreated()) return std::nullopt;
    {
      PluginUnderTest probe(*subject_.entry, ScenarioWith({}));
      world_ = MakeContractWorld(probe.instance().columns());
    }
    {
      PluginUnderTest plugin(*subject_.entry, ScenarioWith(world_.nodes));
      plugin_ = &plugin;
      CheckQueue();
      CheckCycles();
      for (const PodSpec& pod : world_.pods) CheckPlacement(pod);
      CheckChanges();
      TakeFaults();
    }
    CheckInstances();
    if (!kit_looks_for_leaks_) CheckLeaks();
    return effort_;
  }

 private:
  testing::Instance& instance() { return plugin_->instance(); }

  testing::Args Args() const {
    const std::string& args = subject_.question.args;
    return args.empty() ? testing::Args() : testing::Args(std::string_view(args));
  }

  testing::Scenario ScenarioWith(std::vector<testing::NodeSpec> nodes) {
    return {.nodes = std::move(nodes),
            .args = Args(),
            .plugin = subject_.question.plugin,
            .services = QuietServices(),
            .on_failure = [this](const std::string& line) { Broken(line); },
            .observer = &observer_};
  }

  // Whether there is somebody to ask.
  bool IsCreated() {
    const Answer created = PluginUnderTest::Create(*subject_.entry, ScenarioWith({}));
    if (created.ok()) return true;
    const std::string answers = std::string(subject_.entry->init == nullptr ? "" : "init or ") +
                                "create answers " + ToString(created);
    if (created.code == BERTH_BUG) {
      sink_({"faults", answers});
    } else if (created.code != BERTH_BAD_ARGUMENT && created.code != BERTH_ERROR) {
      sink_({"codes", answers + ", which is no answer of create"});
    } else if (!is_broken_) {
      const bool is_by_args = created.code == BERTH_BAD_ARGUMENT;
      sink_({std::string(is_by_args ? kWantsArguments : kNotCreated), answers});
    }
    return false;
  }

  // "acme.Rack: Filter of ... [kOutputs]", as the kit says it.
  void Broken(const std::string& line) {
    is_broken_ = true;
    const size_t mark = line.rfind(" [k");
    const size_t begin = subject_.question.plugin.size() + 2;
    std::string promise = line.substr(mark + 3, line.size() - mark - 4);
    std::ranges::transform(promise, promise.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    sink_({std::move(promise), line.substr(begin, mark - begin)});
  }

  // An answer that says that the plugin's code failed.
  void Expect(const char* point, const PodSpec& pod, const Answer& answer) {
    if (answer.code != BERTH_BUG) return;
    sink_({"faults", std::string(point) + " of pod " + pod.ns + "/" + pod.name + " answers " +
                         ToString(answer)});
  }

  void TakeFaults() {
    for (const std::string& text : instance().services().faults()) sink_({"faults", text});
  }

  void CheckQueue() {
    for (const PodSpec& pod : world_.pods) {
      if (instance().pre_enqueue) Expect("PreEnqueue", pod, plugin_->PreEnqueue(pod));
      if (instance().enqueue_extensions) CheckHints(pod);
      if (!instance().queue_sort) continue;
      for (const PodSpec& other : world_.pods) {
        plugin_->Less({.pod = pod, .queued_ns = 1}, {.pod = other, .queued_ns = 2});
      }
    }
  }

  void CheckHints(const PodSpec& pod) {
    const testing::NodeSpec& node = world_.nodes.front();
    const PodSpec gone = world_.nodes.front().pods.front();
    for (const testing::EventSpec& event :
         {testing::EventSpec{
              .resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD, .new_node = {node}},
          testing::EventSpec{.resource = BERTH_RESOURCE_NODE,
          .action = BERTH_ACTION_UPDATE_NODE_LABEL,
          .old_node = {world_.nodes.back()},
          .new_node = {node}},
          testing::EventSpec{.resource = BERTH_RESOURCE_NODE,
          .action = BERTH_ACTION_UPDATE_NODE_ALLOCATABLE,
          .old_node = {world_.nodes.back()},
          .new_node = {node}},
          testing::EventSpec{
              .resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_DELETE, .old_pod = {gone}},
          testing::EventSpec{
              .resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_ADD, .new_pod = {gone}}}) {
      plugin_->Hint(pod, event);
    }
  }

  // For each pod some hundred instances are made.
  void CheckCycles() {
    const int64_t begin_ns = subject_.steady_ns();
    effort_.pods_of = static_cast<int>(world_.pods.size());
    for (const PodSpec& pod : world_.pods) {
      if (effort_.pods >= kFewestPods && !IsWithin(subject_.question.budget.pods_ns, begin_ns)) {
        break;
      }
      CheckCycle(pod);
      ++effort_.pods;
    }
    kit_looks_for_leaks_ = instance().filter.has_value();
  }

  bool IsWithin(int64_t budget_ns, int64_t begin_ns) const {
    return subject_.steady_ns() - begin_ns < budget_ns;
  }

  void CheckCycle(const PodSpec& pod) {
    if (instance().filter || instance().pre_filter) {
      const testing::FilterResult result = plugin_->Filter(pod);
      Expect("PreFilter", pod, result.pre_filter);
      Expect("Filter", pod, result.filter);
    }
    if (instance().post_filter) {
      Expect("PostFilter", pod, plugin_->Place(pod).PostFilter().answer);
    }
    if (!instance().score) return;
    const testing::ScoreResult result = plugin_->Score(pod);
    Expect("PreScore", pod, result.pre_score);
    Expect("Score", pod, result.score);
  }

  void CheckPlacement(const PodSpec& pod) {
    const std::string& node = world_.nodes.front().name;
    testing::Placement placement = plugin_->Place(pod);
    const auto& reserve = instance().reserve;
    if (reserve) Expect("Reserve", pod, placement.Reserve(node));
    if (instance().permit) Expect("Permit", pod, placement.Permit(node).answer);
    if (instance().pre_bind) {
      Expect("PreBindPreFlight", pod, placement.PreFlight(node));
      Expect("PreBind", pod, placement.PreBind(node));
    }
    if (instance().bind) Expect("Bind", pod, placement.Bind(node));
    if (instance().post_bind) placement.PostBind(node);
    if (!reserve || reserve->unreserve == nullptr) return;
    testing::Placement again = plugin_->Place(pod);
    again.Unreserve(node);  // Never reserved.
    Expect("Reserve", pod, again.Reserve(node));
    again.Unreserve(node);
    again.Unreserve(node);
  }

  void CheckChanges() {
    plugin_->AddNode(testing::MakeNode("late"));
    plugin_->AddPod(world_.pods.front(), "late", BERTH_CHANGE_ASSUMED);
    plugin_->RemovePod(world_.pods.front().name, "late", BERTH_CHANGE_FORGOTTEN);
    plugin_->RemoveNode("late");
    plugin_->Advance(int64_t{60} * 1'000'000'000);
  }

  // What one instance leaves behind hides in the noise; a thousand do not.
  void CheckInstances() {
    const auto make = [this] { PluginUnderTest(*subject_.entry, ScenarioWith({})); };
    make();  // What is taken once, for all, is no leak.
    const size_t files = EntriesOf(kOpenFiles);
    constexpr size_t kOwnThreads = 2;  // This one, and that which watches the calls.
    const size_t threads = Settled(kThreads, kOwnThreads);
    const int64_t begin_ns = subject_.steady_ns();
    int& made = effort_.instances;
    while (made < kMostInstances &&
           (made < kFewestInstances || IsWithin(subject_.question.budget.instances_ns, begin_ns))) {
      make();
      ++made;
    }
    Compare("open files", files, EntriesOf(kOpenFiles));
    Compare("threads", threads, Settled(kThreads, threads));
  }

  static size_t Settled(const char* directory, size_t most) {
    return SettledCount(
        most, [directory] { return EntriesOf(directory); },
        [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  }

  void Compare(const char* what, size_t before, size_t after) {
    if (after <= before) return;
    sink_({"instances", "after create and destroy, " + std::to_string(effort_.instances) +
                            " times, there are " + std::to_string(after - before) + " " + what +
                            " more than before"});
  }

  // The kit looks for them at Filter; this is for plugins that have none.
  void CheckLeaks() {
    testing::Reporter reporter(subject_.question.plugin);
    reporter.set_handler([this](const std::string& line) { Broken(line); });
    reporter.set_observer(&observer_);
    testing::World world{testing::Library(*subject_.entry)};
    world.info = &world.library.Find(subject_.question.plugin);
    world.profile = "default-scheduler";
    world.args = Args();
    world.scripted = QuietServices();
    world.reporter = &reporter;
    testing::Table table;
    table.ids = world.ids.get();
    for (const testing::NodeSpec& node : world_.nodes) table.Add(node);
    const testing::Prober prober(world, {}, 0, testing::Step::kFilter);
    testing::LeakChecker(prober, table, testing::PodHandle(world_.pods.front(), *world.ids)).Run();
  }

  const ContractSubject& subject_;
  testing::CallObserver& observer_;
  const ContractSink& sink_;
  ContractWorld world_;
  PluginUnderTest* plugin_ = nullptr;
  bool is_broken_ = false;  // The kit has found something.
  bool kit_looks_for_leaks_ = false;
  ContractEffort effort_;
};

}  // namespace

std::span<const ContractPromise> ContractPromises() { return kPromises; }

std::optional<ContractEffort> CheckContract(const ContractSubject& subject,
                                            testing::CallObserver& observer,
                                            const ContractSink& sink) {
  return ContractChecker(subject, observer, sink).Run();
}

size_t SettledCount(size_t most, const std::function<size_t()>& count,
                    const std::function<void()>& wait) {
  constexpr int kMostStill = 20;  // In a row, after which it will not come down.
  size_t least = count();
  for (int still = 0; least > most && still < kMostStill; ++still) {
    wait();
    const size_t now = count();
    if (now < least) still = 0;
    least = std::min(least, now);
  }
  return least;
}

}  // namespace berth::host
