// Fixture of the tests of extension points: plugins whose functions the test implements, a plan
// with them, and one attempt on a small cluster.
#ifndef BERTH_TESTS_HARNESS_STAGE_H_
#define BERTH_TESTS_HARNESS_STAGE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/plugin_faults.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/instance_host.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/services/services.h"
#include "tests/harness/puppet_functions.h"

namespace berth::host {

// An answer that a test prepares for a plugin.
struct ScriptedAnswer {
  berth_code code = BERTH_SUCCESS;
  std::vector<std::string> reasons = {};
};
berth_code Report(const ScriptedAnswer& given, berth_status* status);

// The declaration of what answers of a plugin depend on: see berth_dependence.
struct PuppetDependence {
  uint32_t cluster = 0;
  uint64_t pod_parts = 0;
};

// The functions of one plugin. A function that is not set succeeds. PreBind and Bind of puppet.Slow
// and puppet.Slower are called on any thread. Only puppet.Objects declares a kind, v1/Namespace,
// and only puppet.Lanes has lanes.
struct Puppet {
  std::function<berth_code(const berth_queued&, berth_status*)> pre_enqueue;
  std::vector<berth_event_interest> interests;  // Set before Build().
  std::function<bool(const berth_queued&, const berth_queued&)> less;
  // Of puppet.Lanes. Not set: every entity is in lane 0; the first lane is next.
  std::function<uint64_t(const berth_queued&)> lane;
  std::function<uint32_t(std::span<const berth_lane>)> next;
  std::function<uint32_t(const berth_queued&, const berth_event&)> hint;
  std::function<berth_code(const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                           berth_status*)>
      pre_filter;
  // If this is not set before Build(), the plugin has no AddPod and RemovePod.
  std::function<berth_code(const berth_cycle&, const berth_pod&, const berth_block&, uint32_t index,
                           berth_status*)>
      add_pod;
  std::function<berth_code(const berth_cycle&, const berth_pod&, const berth_block&, uint32_t index,
                           berth_status*)>
      remove_pod;
  // If this is not set, every node passes.
  std::function<berth_code(const berth_cycle&, const berth_block&, berth_filter_out&,
                           berth_status*)>
      filter;
  // If this is set before Build(), Filter is called once for all nodes: BERTH_FILTER_WHOLE.
  std::function<berth_code(const berth_cycle&, const berth_nodes& survivors,
                           berth_filter_whole_out&, berth_status*)>
      filter_whole;
  std::function<void(const berth_change&)> change;
  bool pending_changes = false;  // Set before Build(): `change` also gets pods without a node.
  std::function<berth_code(const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                           berth_post_filter_out&, berth_status*)>
      post_filter;
  std::function<berth_code(const berth_cycle&, const berth_nodes& feasible, const berth_nodes& all,
                           berth_status*)>
      pre_score;
  // Not set: every node gets the score 0.
  std::function<berth_code(const berth_cycle&, const berth_block&, int64_t* out, berth_status*)>
      score;
  std::function<berth_code(const berth_cycle&, const berth_target&, berth_status*)> reserve;
  std::function<void(const berth_binding&)> unreserve;
  std::function<berth_code(const berth_cycle&, const berth_target&, int64_t* timeout_ns,
                           berth_status*)>
      permit;
  std::function<berth_code(const berth_binding&, berth_status*)> pre_flight;  // Optional.
  std::function<berth_code(const berth_binding&, berth_done, berth_status*)> pre_bind;
  std::function<berth_code(const berth_binding&, berth_done, berth_status*)> bind;
  std::function<void(const berth_binding&)> post_bind;
  std::function<void(const berth_failed_attempt&)> attempt_failed;
  // If they are not set, nothing is saved, and every state is accepted.
  std::function<berth_code(berth_hand_over_out&, berth_status*)> save;
  std::function<berth_code(uint32_t version, std::string_view bytes, berth_status*)> restore;
  std::function<void()> create;
  bool fails_in_create = false;  // create() returns Error, after `create`.
  std::function<void()> quiesce;
  std::function<void()> destroy;
  bool is_parallel = false;
  // Set when the instance is created; null if the host does not serve it.
  const berth_host* host = nullptr;
  std::vector<std::string> enabled_points;
  int64_t deadline_ns = 0;
  const berth_waiting* waiting = nullptr;
  const berth_activate* activate = nullptr;
  const berth_api* api = nullptr;
  // Set before Build():
  // What Filter and Score declare; no value: nothing. `sign` and `changed` are those of Filter, if
  // they are set before Build().
  std::optional<PuppetDependence> filter_dependence;
  std::optional<PuppetDependence> score_dependence;
  std::function<berth_code(const berth_cycle&, berth_signature&)> sign;
  std::function<uint32_t(uint64_t& token, const std::function<void(uint32_t row)>& put)> changed;
  uint32_t normalize_mode = BERTH_NORMALIZE_NONE;  // Not custom.
  bool is_serial = false;                          // BERTH_FILTER_SERIAL.
  bool has_slot = false;             // An int64_t, initially 7. Cloning a negative value fails.
  std::vector<berth_str> reasons;    // The constant part of the reason table.
  std::vector<const char*> columns;  // Of type BERTH_TYPE_I64.
};

class Stage {
 public:
  Stage();
  ~Stage();

  // Adds a plugin of puppets.c at these points; at a point, plugins run in the order of the calls.
  // Called: before Build().
  Puppet& Add(const std::string& name, std::initializer_list<Point> points);
  // Sets the deadline of the plugin's calls. REQUIRES: the plugin was added.
  // Called: before Build().
  void SetDeadline(const std::string& name, int64_t deadline_ns);
  // Completes the profile: "puppet.D" sorts the queue and binds, if no other plugin does.
  void CompleteProfile();
  // Completes the profile and builds a plan of it.
  void Build();
  // Quiesces and destroys all instances. REQUIRES: all bindings are destroyed.
  void DestroyPlan() { attempt_.reset(), plan_.reset(); }

  // Begins an attempt to place pod "p" on the live nodes n0, n1 and n2.
  Attempt& Begin();
  Attempt& Begin(PodRef pod);
  // Begins an attempt, ends it, and returns a binding of pod "p" to n1.
  std::unique_ptr<Binding> MakeBinding();

  // Runs the tasks in the inbox; time stands still.
  void Drain() {
    while (inbox_.Drain() > 0) {
    }
  }
  // Advances the clock, and runs timers and tasks at their times.
  void AdvanceTime(int64_t ns);
  static void Complete(berth_done done, const ScriptedAnswer& given);

  const PlanSpec& spec() const { return spec_; }  // After CompleteProfile().
  static const PluginCatalog& catalog();
  const Plan& plan() const { return *plan_; }
  Attempt& attempt() { return *attempt_; }
  AsyncCalls& calls() { return calls_; }
  Inbox& inbox() { return inbox_; }
  TimerQueue& timers() { return timers_; }
  Cache& cache() { return cache_; }
  NodeTable& table() { return cache_.table(); }
  TestObjects& objects() { return objects_; }
  TestClock& clock() { return clock_; }
  CallMonitor& monitor() { return monitor_; }
  PluginFaults& faults() { return faults_; }
  HostServices& services() { return services_; }  // Change before Build().
  // Returns the name of a plugin of the plan; empty for none.
  std::string PluginName(const std::optional<PluginId>& plugin) const {
    return plugin.has_value() ? plan_->NameOf(*plugin) : std::string();
  }
  const InstanceHost& HostOf(const std::string& name) const;
  // Returns "puppet.A Reserve bad code" and the like, once for each fault.
  std::vector<std::string> Faults() const;
  void Quarantine(const std::string& name);
  // Returns how many slots exist.
  static int64_t slots();
  // A slot value whose cloning ends the process.
  static constexpr int64_t kDeadlySlot = INT64_MIN;
  // Calls in order, as the tests record them.
  std::vector<std::string> log;
  // Returns the lines that were logged: "puppet.A: text".
  std::vector<std::string>& lines() { return plugin_log_.lines(); }

 private:
  struct Actor;

  static berth_plugin* Create(void* self, const berth_instance_request* request,
                              const berth_host* host) noexcept;

  TestObjects objects_;
  Cache cache_{objects_.interner()};
  ObjectStore store_;
  TestClock clock_;
  TestLog plugin_log_;
  PluginFaults faults_;
  CallMonitor monitor_{objects_.interner()};
  HostServices services_;
  ThreadWaker waker_;
  Inbox inbox_{&waker_};
  TimerQueue timers_;
  PluginWork work_{&waker_};
  AsyncCalls calls_;
  puppet_functions functions_;
  PlanSpec spec_;
  std::map<std::string, std::unique_ptr<Actor>, std::less<>> actors_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Attempt> attempt_;
};

// Returns code and message: "Error: running ...", "Success".
std::string TextOf(const PluginStatus& status);

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_STAGE_H_
