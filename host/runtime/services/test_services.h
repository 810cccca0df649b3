// Fixture for tests of services: an InstanceHost with everything that services need, and a fake
// scheduler.
#ifndef BERTH_HOST_RUNTIME_SERVICES_TEST_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_TEST_SERVICES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/cache/object_store.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/services.h"
#include "host/runtime/services/test_find_service.h"

namespace berth::host {

// Records requests, and gives the answers that the test sets.
class FakeScheduler final : public SchedulerRequests {
 public:
  Row FindNode(std::string_view name) const override {
    const auto found = rows.find(name);
    return found != rows.end() ? found->second : kNoRow;
  }
  const Nominator& nominator() const override { return nominator_; }
  bool ClearNomination(std::string_view uid) override {
    asked.push_back("clear " + std::string(uid));
    return nominator_.Remove(uid);
  }
  void Activate(std::string_view uid) override { asked.push_back("activate " + std::string(uid)); }
  std::vector<PodRef> Waiting(PluginId plugin) const override {
    asked_waiting = plugin;
    return waiting;
  }
  bool Allow(std::string_view uid, PluginId plugin) override {
    asked.push_back("allow " + std::string(uid) + " by " + std::to_string(plugin));
    return Waits(uid);
  }
  bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) override {
    asked.push_back("reject " + std::string(uid) + " by " + std::to_string(plugin) + ": " +
                    std::string(reason));
    return Waits(uid);
  }
  void Evict(const PodName& pod, std::string_view message, EvictionCallback done) override {
    asked.push_back("evict " + std::string(pod.ns) + "/" + std::string(pod.name) + " " +
                    std::string(pod.uid) + ": " + std::string(message));
    done(evicted, evicts_in_memory);
  }

  Nominator& nominations() { return nominator_; }
  std::map<std::string, Row, std::less<>> rows;  // Of nodes, by name.
  std::vector<std::string> asked;
  std::vector<PodRef> waiting;
  mutable PluginId asked_waiting = 0;  // The plugin of the last Waiting().
  Status evicted;                      // The result of every eviction.
  bool evicts_in_memory = false;       // Whether pods have a place only in memory.

 private:
  bool Waits(std::string_view uid) const {
    return std::ranges::any_of(waiting, [&](const PodRef& pod) { return pod->uid() == uid; });
  }

  Nominator nominator_;
};

class ServicesTest : public ::testing::Test {
 protected:
  ServicesTest() {
    services_.log = &log_;
    services_.monitor = &monitor_;
    services_.faults = &faults_;
    services_.scheduler = &scheduler_;
    services_.client = &cluster_;
    services_.timers = &timers_;
    services_.work = &work_;
    services_.clock = &clock_;
    services_.metrics = &metrics_;
    services_.inbox = &inbox_;
    host_ = Host("test.Plugin");
  }

  std::unique_ptr<InstanceHost> Host(const std::string& plugin,
                                     const std::string& profile = "default-scheduler",
                                     const void* library = nullptr) {
    return std::make_unique<InstanceHost>(services_, plugin,
                                          std::vector<std::string>{"v1/Namespace"}, profile,
                                          InstanceLibrary{.path = {}, .id = library});
  }
  template <class T>
  static const T& Service(const InstanceHost& host, const char* id) {
    return *FindService<T>(host.abi(), id);
  }
  template <class T>
  const T& Service(const char* id) {
    return Service<T>(*host_, id);
  }
  const berth_host* abi() const { return host_->abi(); }
  // Delivers events, tasks and timers, as the scheduling thread does between cycles.
  void RunLoop() {
    while (cluster_.Deliver() + inbox_.Drain() + timers_.RunDue(clock_.NowNs()) > 0) {
    }
  }

  TestObjects test_objects_;
  ObjectStore objects_;
  TestClock clock_;
  TestLog log_{BERTH_LOG_TRACE, true};
  std::vector<std::string>& lines_ = log_.lines();  // "2 test.Plugin: message"
  PluginFaults faults_{{.quarantine = {}, .log = &log_, .clock = &clock_}};
  CallMonitor monitor_{test_objects_.interner()};
  FakeScheduler scheduler_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};
  TimerQueue timers_;
  PluginWork work_{nullptr};
  MetricStore metrics_;
  Inbox inbox_{nullptr};
  HostServices services_{test_objects_.interner(), objects_};
  std::unique_ptr<InstanceHost> host_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_TEST_SERVICES_H_
