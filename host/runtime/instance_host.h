// The host as one plugin instance sees it: berth_host and its services.
#ifndef BERTH_HOST_RUNTIME_INSTANCE_HOST_H_
#define BERTH_HOST_RUNTIME_INSTANCE_HOST_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <berth/abi.h>

#include "host/api/interner.h"
#include "host/api/status.h"
#include "host/cache/object_store.h"

// A promise to complete a [bind] call. Opaque to plugins, hence outside our namespace.
// Whoever makes one keeps it while it is open; who may complete it later than its maker waits holds
// a reference of its own.
struct berth_done : std::enable_shared_from_this<berth_done> {
  // Called on the scheduling thread; empty once an answer is there.
  std::function<void(berth_code code, std::string_view reason)> answer;
  // Carries a task to the scheduling thread. Empty: who completes is there already.
  std::function<void(std::function<void()> task)> post;
  std::atomic<bool> completed = false;

  // The first call counts. Threading: [any].
  void Complete(berth_code code, std::string_view reason);

 private:
  void Deliver(berth_code code, std::string_view reason);
};

namespace berth::host {

// What the services of every instance work on. Owned by the process, shared by its instances.
struct HostServices {
  Interner& interner;
  const ObjectStore& objects;
  // Writes a line of a plugin. Threading: [any].
  std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
  uint32_t log_level = BERTH_LOG_INFO;
  // POST pods/binding; the answer completes `done`. Null: berth.api/1 answers UNSUPPORTED.
  std::function<berth_code(const berth_binding& binding, berth_done* done)> bind;
  // Carries a task to the scheduling thread, from any. Null where plugins have no threads.
  std::function<void(std::function<void()> task)> post = nullptr;
};

struct ServiceInfo {
  std::string_view id;
  const void* service;  // Null: this host knows the id and does not serve it.
};

// Every service of <berth/abi.h>, by id.
std::span<const ServiceInfo> Services();

// Lifetime: longer than the instance that it was passed to.
class InstanceHost {
 public:
  // `kinds` are those that the plugin declared.
  InstanceHost(HostServices& services, std::string plugin, std::vector<std::string> kinds);
  InstanceHost(const InstanceHost&) = delete;
  InstanceHost& operator=(const InstanceHost&) = delete;

  const berth_host* abi() const { return &abi_; }
  HostServices& services() const { return services_; }
  const std::string& plugin() const { return plugin_; }
  const berth_log* log_service() const { return &log_; }
  bool Declared(std::string_view kind) const;
  // An id that lives as long as this host.
  Id Intern(std::string_view text);

  static InstanceHost& FromAbi(const berth_host* host);

 private:
  HostServices& services_;
  std::string plugin_;
  std::vector<std::string> kinds_;
  std::mutex mutex_;  // Guards ids_ and interned_: plugins intern on any thread.
  IdRefs ids_;
  std::unordered_set<Id> interned_;
  berth_log log_;
  berth_host abi_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_INSTANCE_HOST_H_
