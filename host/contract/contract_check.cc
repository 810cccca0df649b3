#include "host/contract/contract_check.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include <berth/testing/check_leaks.h>

#include "host/base/text.h"
#include "host/contract/holdings_check.h"
#include "host/contract/memory_check.h"
#include "host/contract/placement_check.h"

namespace berth::host {
namespace {

using testing::Answer;
using testing::PluginUnderTest;
using testing::PodSpec;

// --- contract ------------------------------------------------------------------------------------

constexpr ContractPromise kPromises[] = {
    {kLibraryPromise, "The library exports only its entry, and its note contains the same data."},
    {kHostPromise, "The host accepts the plugin when it creates it."},
    {"shape", "The data that create() returns is consistent."},
    {"threads", "The plugin calls services only where abi.h allows it."},
    {"outputs", "The plugin returns a result for every selected node, and for no other node."},
    {"codes", "Each status is valid at its extension point, and each rejection has a reason."},
    {"blocks", "Results do not depend on how nodes are divided into blocks or selected."},
    {"concurrency", "Results do not depend on blocks that are processed at the same time."},
    {"repeat", "Results do not change when the same call is repeated."},
    {"whatif",
     "AddPod and RemovePod have the same effect as a change of the pods in the cluster, on one "
     "node and on several together."},
    {"dependence", "Results depend only on what the plugin declares."},
    {"hints", "Hints depend only on what the plugin declares."},
    {"slots", "The plugin writes cycle state within its size only, and never in Filter or Score."},
    {"leaks",
     "No memory is leaked by a call, by a cycle or by destroy(), and what the plugin holds does "
     "not grow with the pods, nodes and objects that come and go."},
    {"instances", "No instance leaves an open file or a thread after destroy()."},
    {"faults", "The plugin throws no exception."},
    {kDeadlinesPromise, "Every call returns before its deadline."},
    {kSurvivesPromise, "No call ends the process."},
};

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

// Checks one plugin once.
class ContractChecker {
 public:
  ContractChecker(const ContractSubject& subject, testing::CallObserver& observer,
                  const ContractSink& sink)
      : subject_(subject), observer_(observer), sink_(sink) {}

  std::optional<ContractCoverage> Run() {
    if (!CanBeCreated()) return std::nullopt;
    world_ = MakeWorld();
    {
      PluginUnderTest plugin(*subject_.entry, ScenarioWith(world_.nodes));
      LeaveOutHints(plugin);
      plugin_ = &plugin;
      seen_.filter.is_declared = plugin.instance().filter.has_value();
      CheckQueue();
      CheckCycles();
      CheckPlacement(
          plugin, world_,
          [this](const char* point, const PodSpec& pod, const Answer& answer, bool is_verdict) {
            if (is_verdict) seen_.AddAnswer(answer);
            ReportBug(point, pod, answer);
          });
      CheckChanges();
      CheckHandOver();
      Observe();
      coverage_.gaps = seen_.Gaps();
    }
    CheckMemory();
    CheckInstances();
    if (!kit_checks_leaks_) CheckLeaks();
    return coverage_;
  }

 private:
  testing::Instance& instance() { return plugin_->instance(); }

  testing::Args Args() const {
    const std::string& args = subject_.request.args;
    return args.empty() ? testing::Args() : testing::Args(std::string_view(args));
  }

  testing::Scenario ScenarioWith(std::vector<testing::NodeSpec> nodes) {
    return {.nodes = std::move(nodes),
            .args = Args(),
            .objects = world_.objects,
            .pending = world_.pods,
            .plugin = subject_.request.plugin,
            .points = subject_.request.points,
            .deadline_ns = subject_.request.deadline_ns,
            .emulated_version = subject_.request.emulated_version,
            .on_failure = [this](const std::string& line) { ReportViolation(line); },
            .observer = &observer_};
  }

  // Removes EnqueueExtensions, which a profile cannot disable, from the instance if it is not among
  // the points of the request.
  void LeaveOutHints(PluginUnderTest& plugin) const {
    const auto& points = subject_.request.points;
    if (!points.has_value()) return;
    if (std::ranges::find(*points, BERTH_POINT_ENQUEUE_EXTENSIONS) != points->end()) return;
    plugin.instance().enqueue_extensions.reset();
  }

  // Creates a cluster with the columns that the plugin reads, also those that it binds in a cycle,
  // which may depend on the cluster.
  ContractCluster MakeWorld() {
    if (subject_.cluster != nullptr) return *subject_.cluster;
    constexpr int kMaxRounds = 3;
    std::vector<testing::ColumnName> columns;
    ContractCluster world = MakeContractCluster(columns);
    for (int round = 0; round < kMaxRounds; ++round) {
      testing::Scenario scenario = ScenarioWith(world.nodes);
      scenario.objects = world.objects;
      PluginUnderTest probe(*subject_.entry, std::move(scenario));
      std::vector<testing::ColumnName> found = FindColumns(probe, world.pods);
      if (round > 0 && found.size() <= columns.size()) break;
      columns = std::move(found);
      world = MakeContractCluster(columns);
    }
    return world;
  }

  // Returns true if the rejection states no more than that create() or init() failed. The test kit
  // reports such a failure more precisely.
  static bool IsByCreate(const HostRejection& rejection) {
    if (rejection.is_by_schema) return false;  // create() need not handle these arguments.
    const LoadErrorCode code = rejection.error.code;
    return code == LoadErrorCode::kInitFailed || code == LoadErrorCode::kBadArguments ||
           code == LoadErrorCode::kCreateFailed;
  }

  // Returns true if the host accepts the plugin and the test kit can create it. Reports a finding
  // otherwise.
  bool CanBeCreated() {
    const std::optional<HostRejection>& rejection = subject_.rejection;
    if (rejection.has_value() && !IsByCreate(*rejection)) return Reject(rejection->error);
    if (!IsCreatedByTheKit()) return false;
    return !rejection.has_value() || Reject(rejection->error);
  }

  bool Reject(const LoadError& rejection) {
    const bool is_by_args = rejection.code == LoadErrorCode::kBadArguments;
    sink_({std::string(is_by_args ? kWantsArguments : kHostPromise), rejection.ToString()});
    return false;
  }

  bool IsCreatedByTheKit() {
    const Answer created = PluginUnderTest::Create(*subject_.entry, ScenarioWith({}));
    if (created.ok()) return true;
    const std::string answers = std::string(subject_.entry->init == nullptr ? "" : "init or ") +
                                "create answers " + ToString(created);
    if (created.code == BERTH_BUG) {
      sink_({"faults", answers});
    } else if (created.code != BERTH_BAD_ARGUMENT && created.code != BERTH_ERROR) {
      sink_({"codes", answers + ", which create must not answer"});
    } else if (!has_violation_) {
      const bool is_by_args = created.code == BERTH_BAD_ARGUMENT;
      sink_({std::string(is_by_args ? kWantsArguments : kNotCreated), answers});
    }
    return false;
  }

  // Reports a violation that the test kit found: "acme.Rack: Filter of ... [kOutputs]".
  void ReportViolation(const std::string& line) {
    has_violation_ = true;
    const size_t mark = line.rfind(" [k");
    const size_t begin = subject_.request.plugin.size() + 2;
    sink_(
        {ToLower(line.substr(mark + 3, line.size() - mark - 4)), line.substr(begin, mark - begin)});
  }

  // Reports an answer that means that the code of the plugin failed.
  void ReportBug(const char* point, const PodSpec& pod, const Answer& answer) {
    if (answer.code != BERTH_BUG) return;
    sink_({"faults", std::string(point) + " of pod " + pod.ns + "/" + pod.name + " answers " +
                         ToString(answer)});
  }

  void CheckQueue() {
    for (const PodSpec& pod : world_.pods) {
      if (instance().pre_enqueue) {
        const Answer answer = plugin_->PreEnqueue(pod);
        seen_.AddAnswer(answer);
        ReportBug("PreEnqueue", pod, answer);
      }
      if (instance().enqueue_extensions) CheckHints(pod);
      if (instance().entity) plugin_->Entity(pod);
      if (!instance().queue_sort) continue;
      for (const PodSpec& other : world_.pods) {
        plugin_->Less({.pod = pod, .queued_ns = 1}, {.pod = other, .queued_ns = 2});
      }
    }
    if (instance().queue_sort && instance().queue_sort->lane != nullptr) CheckLanes();
  }

  // Lets the plugin select lanes until no pod is left.
  void CheckLanes() {
    std::vector<testing::QueuedSpec> active;
    for (const PodSpec& pod : world_.pods) {
      active.push_back({.pod = pod, .queued_ns = static_cast<int64_t>(active.size()) + 1});
    }
    while (!active.empty()) {
      active.erase(active.begin() + static_cast<ptrdiff_t>(plugin_->Next(active)));
    }
  }

  void CheckHints(const PodSpec& pod) {
    testing::HintCaller caller(&instance());
    const testing::PodHandle handle(pod, plugin_->ids());
    for (const testing::EventSpec& event : MakeContractEvents(world_, pod)) {
      plugin_->Hint(pod, event);
      const testing::EventView seen_event(testing::HintCaller::SeenFrom(pod, event),
                                          plugin_->ids());
      for (uint32_t i = 0; i < caller.count(); ++i) {
        const berth_event_interest& interest = caller.interest(i);
        if (interest.has_hint == 0 || interest.pod_parts == 0) continue;
        seen_.has_hint_parts = true;
        if (!caller.IsFor(seen_event.spec(), i)) continue;
        seen_.hints.insert(caller.Invoke(handle, seen_event, i));
      }
    }
  }

  // Checks pods until the time budget is spent, but at least kMinPods. The test kit creates several
  // hundred instances for each pod.
  void CheckCycles() {
    const int64_t begin_ns = subject_.steady_ns();
    coverage_.nodes = static_cast<int>(world_.nodes.size());
    coverage_.nodes_of = world_.nodes_of;
    coverage_.pods_of = static_cast<int>(world_.pods.size());
    for (const PodSpec& pod : world_.pods) {
      if (coverage_.pods >= kMinPods && !IsWithin(subject_.request.budget.pods_ns, begin_ns)) {
        break;
      }
      CheckCycle(pod);
      ++coverage_.pods;
    }
    kit_checks_leaks_ = instance().filter.has_value();
  }

  bool IsWithin(int64_t budget_ns, int64_t begin_ns) const {
    return subject_.steady_ns() - begin_ns < budget_ns;
  }

  // Returns false if the plugin does not wait for anything. Otherwise delivers the answers to its
  // requests, so that the next attempt of the pod can read them.
  bool IsAnswered(const testing::Answer& answer) {
    if (answer.code != BERTH_PENDING) return false;
    plugin_->Advance(0);
    return true;
  }

  void CheckCycle(const PodSpec& pod) {
    if (instance().filter || instance().pre_filter) {
      testing::FilterResult result = plugin_->Filter(pod);
      ReportBug("PreFilter", pod, result.pre_filter);
      if (IsAnswered(result.pre_filter)) result = plugin_->Filter(pod);
      ReportBug("Filter", pod, result.filter);
      seen_.AddFilter(result);
    }
    if (instance().post_filter) {
      ReportBug("PostFilter", pod, plugin_->Place(pod).PostFilter().answer);
      plugin_->Advance(0);
    }
    if (!instance().score) return;
    testing::ScoreResult result = plugin_->Score(pod);
    ReportBug("PreScore", pod, result.pre_score);
    if (IsAnswered(result.pre_score)) result = plugin_->Score(pod);
    ReportBug("Score", pod, result.score);
    seen_.AddScore(result);
  }

  void CheckChanges() {
    plugin_->AddNode(testing::MakeNode("late"));
    plugin_->ChangeNode(testing::MakeNode("late").Label("example.com/changed", "1"));
    testing::PodSpec pod = world_.pods.front();
    plugin_->AddPod(pod, "late", BERTH_CHANGE_FLAG_ASSUMED);
    plugin_->RemovePod(pod.name, "late", BERTH_CHANGE_FLAG_FORGOTTEN);
    plugin_->AddPod(pod, "late", BERTH_CHANGE_FLAG_ASSUMED);
    plugin_->ConfirmPod(pod.name, "late");
    plugin_->ChangePod(pod.Label("example.com/changed", "1").CpuMilli(250), "late");
    plugin_->RemovePod(pod.name, "late");
    plugin_->RemoveNode("late");
    plugin_->Advance(60 * kSecond);
  }

  // Hands the state over to another instance with the same arguments, as a reload does.
  void CheckHandOver() {
    if (!instance().hand_over) return;
    testing::SavedState state = plugin_->Save();
    const Answer saved = state.answer;
    if (saved.code == BERTH_BUG) sink_({"faults", "save answers " + ToString(saved)});
    if (saved.code != BERTH_BUG && saved.code != BERTH_ERROR && saved.code != BERTH_SKIP &&
        !saved.ok()) {
      sink_({"codes", "save answers " + ToString(saved) + ", which save must not answer"});
    }
    if (!saved.ok()) return;
    testing::Scenario scenario = ScenarioWith(world_.nodes);
    scenario.handed_over = std::move(state);
    const PluginUnderTest successor(*subject_.entry, std::move(scenario));
    const Answer& restored = successor.restored();
    if (restored.ok()) return;
    sink_({restored.code == BERTH_BUG ? "faults" : "codes",
           "restore answers " + ToString(restored) +
               " to the state that save of the same library and arguments wrote"});
  }

  void CheckMemory() {
    const MemoryBudget budget{subject_.request.budget.memory_ns, subject_.steady_ns};
    const auto create = [this] {
      auto plugin = std::make_unique<PluginUnderTest>(*subject_.entry, QuietScenario());
      LeaveOutHints(*plugin);
      return plugin;
    };
    const MemoryReport report = CheckMemoryOfCalls(create, world_, budget);
    for (const MemoryLeak& leak : report.leaks) sink_({"leaks", ToString(leak)});
    const HoldingsReport holdings = CheckHoldings(create, world_, budget);
    for (const std::string& leak : holdings.leaks) sink_({"leaks", leak});
    std::vector<std::string> gaps = report.gaps;
    gaps.insert(gaps.end(), holdings.gaps.begin(), holdings.gaps.end());
    const auto known = std::ranges::find(coverage_.gaps, "leaks", &ContractGap::promise);
    if (gaps.empty() || known != coverage_.gaps.end()) return;
    coverage_.gaps.push_back({"leaks", Join(gaps, " ")});
  }

  // Returns the scenario of an instance that is only measured: no call is checked.
  testing::Scenario QuietScenario() {
    testing::Scenario scenario = ScenarioWith(world_.nodes);
    for (uint32_t check = 0; check <= static_cast<uint32_t>(testing::Check::kLeaks); ++check) {
      scenario.without.push_back(static_cast<testing::Check>(check));
    }
    return scenario;
  }

  // Completes the observations after all calls.
  void Observe() {
    const testing::Instance& plugin = instance();
    if (plugin.filter) {
      seen_.filter.is_serial = (plugin.filter->flags & BERTH_FILTER_SERIAL) != 0;
      seen_.filter.is_whole = testing::IsWholeFilter(plugin);
      seen_.filter.has_dependence = plugin.filter->dependence != nullptr;
    }
    if (plugin.score) {
      seen_.score.is_declared = true;
      seen_.score.is_serial = (plugin.score->flags & BERTH_SCORE_SERIAL) != 0;
      seen_.score.has_dependence = plugin.score->dependence != nullptr;
    }
    seen_.can_reject =
        plugin.pre_enqueue || plugin.pre_filter || plugin.filter || plugin.reserve || plugin.permit;
    seen_.has_status = seen_.can_reject || plugin.post_filter || plugin.pre_score || plugin.score ||
                       plugin.pre_bind || plugin.bind;
    seen_.has_queue_sort = plugin.queue_sort.has_value();
    seen_.has_lanes = plugin.queue_sort && plugin.queue_sort->lane != nullptr;
    seen_.has_add_pod = plugin.pre_filter && plugin.pre_filter->add_pod != nullptr;
    seen_.has_slots = instance().plugin().slots.count > 0;
    seen_.absent_columns = FindAbsentColumns(*plugin_, world_.pods);
    seen_.has_seen_what_if = instance().reporter().Saw(testing::Check::kWhatIf);
    seen_.has_called_services = instance().reporter().Saw(testing::Check::kThreads);
    seen_.can_measure_heap = CanMeasureHeap();
  }

  // The leak of a single instance is too small to be detected; that of a thousand is not.
  void CheckInstances() {
    testing::Scenario scenario = ScenarioWith({});
    scenario.objects.clear();
    scenario.pending.clear();
    const auto create = [&] { PluginUnderTest(*subject_.entry, scenario); };
    create();  // Resources that the library takes only once are no leak.
    const size_t files = EntriesOf(kOpenFiles);
    constexpr size_t kOwnThreads = 2;  // This thread and the observer's thread.
    const size_t threads = Settled(kThreads, kOwnThreads);
    const int64_t begin_ns = subject_.steady_ns();
    int& created = coverage_.instances;
    while (created < kMaxInstances &&
           (created < kMinInstances || IsWithin(subject_.request.budget.instances_ns, begin_ns))) {
      create();
      ++created;
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
    sink_({"instances", "after create and destroy, " + std::to_string(coverage_.instances) +
                            " times, there are " + std::to_string(after - before) + " more " +
                            what + " than before"});
  }

  // The test kit checks for leaks at Filter. This checks plugins without Filter.
  void CheckLeaks() {
    testing::Reporter reporter(subject_.request.plugin);
    reporter.set_handler([this](const std::string& line) { ReportViolation(line); });
    reporter.set_observer(&observer_);
    testing::World world{testing::Library(*subject_.entry)};
    world.info = &world.library.Find(subject_.request.plugin);
    world.SetProfile("default-scheduler", subject_.request.points, subject_.request.deadline_ns);
    world.args = Args();
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
  ContractCluster world_;
  Observations seen_;
  PluginUnderTest* plugin_ = nullptr;
  bool has_violation_ = false;  // The test kit has found a violation.
  bool kit_checks_leaks_ = false;
  ContractCoverage coverage_;
};

}  // namespace

std::span<const ContractPromise> ContractPromises() { return kPromises; }

std::optional<ContractCoverage> CheckContract(const ContractSubject& subject,
                                              testing::CallObserver& observer,
                                              const ContractSink& sink) {
  return ContractChecker(subject, observer, sink).Run();
}

size_t SettledCount(size_t most, const std::function<size_t()>& count,
                    const std::function<void()>& wait) {
  // After this many counts in a row without a decrease the count is final.
  constexpr int kMaxUnchanged = 20;
  size_t least = count();
  for (int unchanged = 0; least > most && unchanged < kMaxUnchanged; ++unchanged) {
    wait();
    const size_t now = count();
    if (now < least) unchanged = 0;
    least = std::min(least, now);
  }
  return least;
}

}  // namespace berth::host
