#include "host/cli/contract_check.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <berth/testing/fake_host.h>

#include "host/cli/contract_world.h"

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
    {"instances", "A thousand instances leave no file and no thread behind."},
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

  void Run() {
    const Answer created = PluginUnderTest::Create(*subject_.entry, ScenarioWith({}));
    if (!created.ok()) return sink_({std::string(kNotCreated), ToString(created)});
    {
      PluginUnderTest probe(*subject_.entry, ScenarioWith({}));
      world_ = MakeContractWorld(probe.instance().columns());
    }
    {
      PluginUnderTest plugin(*subject_.entry, ScenarioWith(world_.nodes));
      plugin_ = &plugin;
      CheckQueue();
      for (const PodSpec& pod : world_.pods) CheckCycle(pod);
      for (const PodSpec& pod : world_.pods) CheckPlacement(pod);
      CheckChanges();
      TakeFaults();
    }
    CheckInstances();
  }

 private:
  testing::Instance& instance() { return plugin_->instance(); }

  testing::Args Args() const {
    return subject_.args.empty() ? testing::Args() : testing::Args(std::string_view(subject_.args));
  }

  testing::Scenario ScenarioWith(std::vector<testing::NodeSpec> nodes) {
    return {.nodes = std::move(nodes),
            .args = Args(),
            .plugin = subject_.plugin,
            .services = QuietServices(),
            .on_failure = [this](const std::string& line) { Broken(line); },
            .observer = &observer_};
  }

  // "acme.Rack: Filter of ... [kOutputs]", as the kit says it.
  void Broken(const std::string& line) {
    const size_t mark = line.rfind(" [k");
    const size_t begin = subject_.plugin.size() + 2;
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
    constexpr int kInstances = 1000;
    const auto make = [this] { PluginUnderTest(*subject_.entry, ScenarioWith({})); };
    make();  // What is taken once, for all, is no leak.
    const size_t files = EntriesOf("/proc/self/fd");
    const size_t threads = EntriesOf("/proc/self/task");
    for (int i = 0; i < kInstances; ++i) make();
    Compare("open files", files, EntriesOf("/proc/self/fd"));
    Compare("threads", threads, EntriesOf("/proc/self/task"));
    CheckLeaks();
  }

  void Compare(const char* what, size_t before, size_t after) {
    if (after <= before) return;
    sink_({"instances", "after a thousand times create and destroy there are " +
                            std::to_string(after - before) + " " + what + " more than before"});
  }

  // The kit looks for them at Filter and Score; this is for plugins that have neither.
  void CheckLeaks() {
    testing::Reporter reporter(subject_.plugin);
    reporter.set_handler([this](const std::string& line) { Broken(line); });
    reporter.set_observer(&observer_);
    testing::World world{testing::Library(*subject_.entry)};
    world.info = &world.library.Find(subject_.plugin);
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
};

}  // namespace

std::span<const ContractPromise> ContractPromises() { return kPromises; }

void CheckContract(const ContractSubject& subject, testing::CallObserver& observer,
                   const ContractSink& sink) {
  ContractChecker(subject, observer, sink).Run();
}

}  // namespace berth::host
