// What the tests of extension points share: plugins that are played by the test, a plan of them,
// and one attempt on a small cluster.
#ifndef BERTH_TESTS_RUNTIME_STAGE_H_
#define BERTH_TESTS_RUNTIME_STAGE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/plugin_faults.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/async_call.h"
#include "host/runtime/attempt.h"
#include "host/runtime/binding.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plan.h"
#include "tests/runtime/puppet_strings.h"

namespace berth::host {

// An answer that was written down beforehand.
struct Said {
  berth_code code = BERTH_SUCCESS;
  std::vector<std::string> reasons = {};
};
berth_code Give(const Said& said, berth_status* status);

// One plugin. What is not set succeeds. A function of a puppet that blocks is called on any thread.
struct Puppet {
  std::function<berth_code(const berth_pod&, berth_status*)> pre_enqueue;
  std::vector<berth_event_interest> interests;  // Before Build().
  std::function<bool(const berth_queued&, const berth_queued&)> less;
  std::function<uint32_t(const berth_queued&, const berth_event&)> hint;
  std::function<berth_code(const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                           berth_status*)>
      pre_filter;
  // Unset before Build(): it has none.
  std::function<berth_code(const berth_cycle&, const berth_pod&, const berth_block&, uint32_t index,
                           berth_status*)>
      add_pod;
  std::function<berth_code(const berth_cycle&, const berth_pod&, const berth_block&, uint32_t index,
                           berth_status*)>
      remove_pod;
  // Unset: every node will do.
  std::function<berth_code(const berth_cycle&, const berth_block&, berth_filter_out&,
                           berth_status*)>
      filter;
  std::function<void(const berth_change&)> change;
  std::function<berth_code(const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                           berth_post_filter_out&, berth_status*)>
      post_filter;
  std::function<berth_code(const berth_cycle&, const berth_target&, berth_status*)> reserve;
  std::function<void(const berth_binding&)> unreserve;
  std::function<berth_code(const berth_cycle&, const berth_target&, int64_t* timeout_ns,
                           berth_status*)>
      permit;
  std::function<berth_code(const berth_binding&, berth_status*)> pre_flight;  // Unset: it has none.
  std::function<berth_code(const berth_binding&, berth_done*, berth_status*)> pre_bind;
  std::function<berth_code(const berth_binding&, berth_done*, berth_status*)> bind;
  std::function<void(const berth_binding&)> post_bind;
  std::function<void()> create;
  std::function<void()> quiesce;
  std::function<void()> destroy;
  bool is_parallel = false;
  // Set when it is made; null: nobody serves it.
  const berth_host* host = nullptr;
  const berth_waiting* waiting = nullptr;
  const berth_activate* activate = nullptr;
  const berth_api* api = nullptr;
  // Before Build():
  bool has_slot = false;           // An int64_t that begins as 7. A negative one cannot be cloned.
  std::vector<berth_str> reasons;  // The constant part of its table.
  std::vector<const char*> columns;  // Of type BERTH_TYPE_I64.
};

class Stage {
 public:
  Stage();
  ~Stage();

  // A plugin of puppets.c, at these points in the order of the calls. Before Build().
  Puppet& Add(const std::string& name, std::initializer_list<Point> points);
  // Ends the profile: "puppet.D" sorts the queue and, where nobody else does, binds.
  void Write();
  // A plan of it.
  void Build();
  // Quiesces and destroys everything; what is bound must be gone.
  void Strike() { attempt_.reset(), plan_.reset(); }

  // Begins an attempt to place pod "p" on the live nodes n0, n1 and n2.
  Attempt& Begin();
  Attempt& Begin(PodRef pod);
  // What Begin() led to: "p" on its way to n1.
  std::unique_ptr<Binding> MakeBinding();

  // Carries out what was posted; time stands still.
  void Drain() {
    while (inbox_.Drain() > 0) {
    }
  }
  // Lets time go by, with what is due in it.
  void Pass(int64_t ns);
  static void Complete(berth_done* done, const Said& said);

  const PlanSpec& spec() const { return spec_; }  // After Write().
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
  HostServices& services() { return services_; }  // Before Build().
  const InstanceHost& HostOf(const std::string& name) const;
  // "puppet.A Reserve bad code", as often as it was noted.
  std::vector<std::string> Faults() const;
  void Quarantine(const std::string& name);
  // Slots that are alive.
  static int64_t slots();
  // Of a slot: ends the process when it is cloned; what its clone answers.
  static constexpr int64_t kDeadlySlot = INT64_MIN;
  // What happened, in order.
  std::vector<std::string> log;
  // What was logged: "puppet.A: text".
  std::vector<std::string> lines;

 private:
  struct Actor;

  static berth_plugin* Create(void* self, berth_str name, const berth_host* host) noexcept;

  TestObjects objects_;
  Cache cache_{objects_.interner()};
  ObjectStore store_;
  TestClock clock_;
  PluginFaults faults_;
  CallMonitor monitor_{objects_.interner()};
  HostServices services_;
  ThreadWaker waker_;
  Inbox inbox_{&waker_};
  TimerQueue timers_;
  AsyncCalls calls_;
  puppet_strings strings_;
  PlanSpec spec_;
  std::map<std::string, std::unique_ptr<Actor>, std::less<>> actors_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Attempt> attempt_;
};

// "Error: running ...", "Success": code and message.
std::string TextOf(const PluginStatus& status);

}  // namespace berth::host

#endif  // BERTH_TESTS_RUNTIME_STAGE_H_
