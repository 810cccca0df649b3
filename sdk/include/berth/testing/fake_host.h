// A plugin under test: a fake host without a cluster, which checks that the plugin keeps the
// contract.
//
//   PluginUnderTest plugin({.nodes = {MakeNode("a").CpuMilli(1000)}, .args = {{"cpuMilli", 200}}});
//   EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(801)).On("a"),
//             Unschedulable("Insufficient cpu headroom"));
//
// Filter and Score do more than return a result: they call the plugin again with other blocks, on
// other threads, and with pods and nodes added and changed, and report every contract violation
// (report.h, enum Check). Include <berth/testing/gtest.h> to make each violation a test failure.
#ifndef BERTH_TESTING_FAKE_HOST_H_
#define BERTH_TESTING_FAKE_HOST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>
#include <berth/testing/answer.h>
#include <berth/testing/args.h>
#include <berth/testing/builders.h>
#include <berth/testing/call.h>
#include <berth/testing/cycle.h>
#include <berth/testing/entity_runs.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/fake_metrics.h>
#include <berth/testing/instance.h>
#include <berth/testing/parts.h>
#include <berth/testing/placement.h>
#include <berth/testing/queue_sort.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>

namespace berth::testing {

// The input of a test. Every member has a default.
struct Scenario {
  std::vector<NodeSpec> nodes = {};
  Args args = {};
  std::vector<ObjectSpec> objects = {};
  std::vector<std::string> not_served = {};  // kinds that the API server does not serve
  std::vector<PodSpec> pending = {};         // pods without a node; see berth.changes/1
  std::string plugin = {};  // the plugin's name; may be empty if the library has one plugin
  std::string profile = "default-scheduler";
  // the ids of the extension points that the profile enables; nothing: all that the plugin has
  std::optional<std::vector<std::string>> points = {};
  // of the plugin's calls, as the profile sets it; see Host::deadline_ns()
  int64_t deadline_ns = 0;
  // the version of Kubernetes whose decisions the plugin makes; see Host::emulated_version()
  KubeVersion emulated_version = kNewestKubeVersion;
  // the state of the instance that this one replaces, as PluginUnderTest::Save() returned it;
  // nothing, or an answer that is not Success: Restore is not called
  std::optional<SavedState> handed_over = {};
  // the objects that several PluginUnderTest share through Host::shared(), as the instances of two
  // profiles do; null: this one shares none
  std::shared_ptr<SharedObjects> shared = {};
  std::vector<Check> without = {};  // checks to switch off for this plugin
  // services of the test, by id, which replace the kit's; NULL: the host does not serve it
  std::map<std::string, const void*> services = {};
  std::function<void(const std::string&)> on_failure = {};
  CallObserver* observer = nullptr;  // receives every call into the plugin
};

// How an attempt failed: see berth_failed_attempt.
struct FailedAttemptSpec {
  berth_code code = BERTH_UNSCHEDULABLE;
  std::string message = {};
  std::vector<std::string> plugins = {};  // those that rejected the pod
  std::string node = {};                  // the one that the pod had been given; empty: none
  uint32_t flags = 0;                     // BERTH_FAILED_*
};

// One instance of a plugin in a cluster that the test specifies.
//
// Threading: one thread.
class PluginUnderTest {
 public:
  // Tests the plugin that is linked into this binary.
  explicit PluginUnderTest(Scenario scenario)
      : PluginUnderTest(Library(berth_entry_v1), std::move(scenario)) {}
  PluginUnderTest(std::vector<NodeSpec> nodes, Args args)
      : PluginUnderTest(Scenario{.nodes = std::move(nodes), .args = std::move(args)}) {}
  PluginUnderTest(const berth_entry& entry, Scenario scenario);
  // Tests the plugin of a shared object, which is loaded as the host loads it.
  static PluginUnderTest FromLibrary(const std::string& path, Scenario scenario);

  // Only calls create() and returns its result, for tests of wrong arguments. Reasons are "/path:
  // text".
  static Answer Create(Scenario scenario) {
    return Create(Library(berth_entry_v1), std::move(scenario));
  }
  static Answer CreateFromLibrary(const std::string& path, Scenario scenario);
  static Answer Create(const berth_entry& entry, Scenario scenario);

  PluginUnderTest(const PluginUnderTest&) = delete;
  PluginUnderTest& operator=(const PluginUnderTest&) = delete;
  ~PluginUnderTest();

  // Switches this check off.
  PluginUnderTest& Without(Check check) { return reporter_.Without(check), *this; }

  // --- Queue ---
  Answer PreEnqueue(const PodSpec& pod) { return PreEnqueue(QueuedSpec{.pod = pod}); }
  // Also sets the attempts and times.
  Answer PreEnqueue(const QueuedSpec& queued);

  // Returns the bytes of QueueSort's key for the pod. Checks that two calls return the same bytes.
  SortKey Key(const QueuedSpec& queued);

  // Returns whether `a` is tried before `b`, by the key or by less. Checks that the order is
  // strict.
  bool Less(const QueuedSpec& a, const QueuedSpec& b);

  // Returns the lane of the entity. Checks that two calls return the same number.
  uint64_t Lane(const QueuedSpec& queued);

  // Returns the text that names the entity of the pod; empty for a pod that stands alone. Checks
  // that two calls return the same text, and that each puts at most one.
  std::string Entity(const PodSpec& pod);

  // Returns which of these entities, all of which are active, is tried now: an index into `active`.
  // Without lanes it is the first one by Less; otherwise the first one of the lane that the plugin
  // returns, which counts it as tried. Equal entities are tried in the order of `active`; without
  // QueueSort, all are equal. With Entity, the pods of the entity that the last call returned come
  // first in their lane, except those that were returned since the first of them. Checks the lanes,
  // that the order is strict, and that the returned index is in range. The host also ends an entity
  // when no pod is active, of which this function learns nothing.
  size_t Next(const std::vector<QueuedSpec>& active);

  // Returns the plugin's hint for an event and a pod that it rejected, and checks that the hint
  // reads only the declared parts of the pod. Returns BERTH_HINT_QUEUE if the plugin registered for
  // the event without a hint, and BERTH_HINT_SKIP if it did not register for it.
  uint32_t Hint(const PodSpec& pod, const EventSpec& event);

  // --- Scheduling cycle ---
  // Runs PreFilter and Filter over all nodes, and all checks.
  FilterResult Filter(const PodSpec& pod);

  // Calls AttemptFailed for the pod, which need not have been placed before.
  void FailAttempt(const PodSpec& pod, const FailedAttemptSpec& failed = {});

  // Runs PreFilter, PreScore, Score and normalisation over all nodes, as if all were feasible, and
  // all checks.
  ScoreResult Score(const PodSpec& pod);

  // Starts an attempt to place the pod. The test calls the later points one by one; see
  // placement.h.
  Placement Place(const PodSpec& pod);
  Answer Reserve(const PodSpec& pod, const std::string& node) { return Place(pod).Reserve(node); }
  PermitResult Permit(const PodSpec& pod, const std::string& node);
  Answer PreBind(const PodSpec& pod, const std::string& node) { return Place(pod).PreBind(node); }
  Answer Bind(const PodSpec& pod, const std::string& node) { return Place(pod).Bind(node); }

  // --- Reload ---
  // Returns the state that the plugin hands over to its successor, for Scenario::handed_over.
  SavedState Save();
  // The answer of Restore to Scenario::handed_over; Success if it was not called.
  const Answer& restored() const { return instance_->restored(); }

  // --- Cluster ---
  void AddNode(const NodeSpec& node);
  // Replaces the object of the node of this name. The pods on the node stay; `node.pods` is not
  // used.
  void ChangeNode(const NodeSpec& node);
  void RemoveNode(const std::string& name);
  // `flags`: BERTH_CHANGE_FLAG_ASSUMED for a pod that this scheduler placed.
  void AddPod(PodSpec pod, const std::string& node, uint32_t flags = 0);
  void RemovePod(const std::string& name, const std::string& node, uint32_t flags = 0);
  // Replaces the object of the pod of this name on the node: POD_CHANGED. ConfirmPod does this with
  // another resource version, as the cluster does with an assumed pod.
  void ChangePod(PodSpec pod, const std::string& node);
  void ConfirmPod(const std::string& name, const std::string& node);
  // Adds, changes and removes a pod without a node, which a plugin sees if it asks for pending
  // pods.
  void AddPendingPod(const PodSpec& pod);
  void ChangePendingPod(const PodSpec& pod);
  void RemovePendingPod(const std::string& name);
  // Assumes a pending pod on a node, and forgets an assumed pod.
  void AssumePod(const std::string& name, const std::string& node);
  void ForgetPod(const std::string& name, const std::string& node);
  // Begins or ends to serve a kind, which has one version. At the end, its objects are deleted.
  void SetServed(const std::string& kind, bool served);
  // Adds an object, or replaces the object of the same name.
  void PutObject(const ObjectSpec& object);
  void RemoveObject(const ObjectSpec& object);
  // Nominates a pod to a node, for berth.nominator/1 and what-if questions.
  void Nominate(const PodSpec& pod, const std::string& node);
  // Adds a pod that waits on Permit, for berth.waiting/1.
  void AddWaiting(const PodSpec& pod);
  // Advances the clock: fires the timers that are due, in order. Before the first one, and after
  // each one, it calls what the plugin posted and delivers the answers of the API server.
  // Advance(0) does this without letting time pass.
  void Advance(int64_t ns);
  // Ends the instance: calls what is open with CANCELLED, then quiesce and destroy. Afterwards the
  // test may only read the records.
  void End();

  // --- Records ---
  const std::vector<LogLine>& log() const { return instance_->services().log(); }
  // Returns how much work of its threads the plugin has announced: the PendingWork that exist.
  // Threading: any.
  size_t pending_work() const { return instance_->services().holds(); }
  const std::map<std::string, Metric>& metrics() const {
    return instance_->services().metrics().all();
  }
  // The API server, which answers from a table: plugin.api().Reply("GET", "/x", {.http_status =
  // 404}).
  FakeApi& api() { return instance_->services().api(); }
  // Web services, which answer from queues: plugin.http().Reply("http://a/x", {.body = "{}"}).
  FakeHttp& http() { return instance_->services().http(); }
  // The plugin's requests about nominated, waiting and queued pods.
  const SchedulingServices& scheduling() const { return instance_->services().scheduling(); }
  Ids& ids() { return *world_.ids; }
  // The number of ids that the plugin interned and has not released. After End(): the number of
  // those that it left to the host, which releases them.
  size_t held_ids() { return instance_->services().held_ids(); }
  // The number of ids, references, values and selectors that the plugin has not released. After
  // End(): of those that it left to the host.
  Holdings holdings() { return instance_->services().holdings(); }
  // For tests that call the plugin directly.
  Instance& instance() { return *instance_; }
  const Table& table() const { return table_; }

 private:
  PluginUnderTest(Library library, Scenario scenario);

  static Answer Create(Library library, Scenario scenario);

  static void Fill(const Library& library, Scenario& scenario, Reporter* reporter, World* world);

  void SetUp(Scenario& scenario);

  template <class Call>
  Answer Invoke(const char* point, Word word, Call call);

  template <class T>
  T Flushed(T value);

  void Need(bool has, const char* what) const;
  Row& NeedRow(const std::string& node);
  PodHandle& NeedPod(const std::string& name, const std::string& node);
  std::vector<PodHandle>::iterator NeedPending(const std::string& name);
  std::optional<ObjectHandle> FindObject(const ObjectSpec& object) const;

  static Answer LeftOut(const Cycle& cycle, const Row& row);

  void AddVerdicts(Cycle& cycle, FilterResult* result);

  void AddScores(Cycle& cycle, ScoreResult* result);

  void RunChecks(const PodHandle& pod, Step step);

  // Returns "<namespace>/<text>", or "" for a pod that stands alone and for a group.
  std::string EntityName(const QueuedSpec& queued);
  // Returns the mutations of a pod, which are kept for the next call with an equal pod.
  MutatedPods& MutationsOf(const PodHandle& pod);
  // Keeps pods of the test, whose parts are copied to other pods.
  void Remember(const PodSpec& pod);

  Reporter reporter_;
  World world_;
  Table table_;
  int64_t now_ns_ = 0;
  std::unique_ptr<Instance> instance_;
  std::vector<PodSpec> known_;
  std::unique_ptr<MutatedPods> mutated_;
  bool leaks_checked_ = false;
  EntityRuns entity_runs_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_FAKE_HOST_H_
