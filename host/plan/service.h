// The services of a plugin instance as its host uses them: functions, and opaque states.
#ifndef BERTH_HOST_PLAN_SERVICE_H_
#define BERTH_HOST_PLAN_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string_view>

namespace berth::host {

class InstanceHost;

// The state that one service keeps for one plugin instance. Only the service knows its type.
// Threading: all methods are called on the scheduling thread.
class ServiceState {
 public:
  ServiceState() = default;
  virtual ~ServiceState() = default;
  ServiceState(const ServiceState&) = delete;
  ServiceState& operator=(const ServiceState&) = delete;

  // Returns the functions of a service whose instances have functions of their own: see
  // ServiceInfo::functions.
  virtual const void* functions() const { return nullptr; }
  // Activates the instance. May call the plugin. See InstanceHost::Begin().
  virtual void Begin() {}
  // Ends everything that needs no answer, and refuses new callbacks from now on.
  // Called: when the host of the instance is closed. Must not: call the plugin.
  virtual void Stop() {}
  // Calls the remaining callbacks with CANCELLED.
  // Called: after Stop() of all services.
  virtual void Cancel() {}
  // Drops the remaining callbacks without a call, and refuses new ones.
  // Called: when the host is retired, also if it was not closed.
  virtual void Drop() {}
  // Ends what the plugin may only do within a call of PostFilter.
  // Called: when such a call has returned.
  virtual void EndPostFilter() {}
};

// How long the state of a service lives.
enum class StateLifetime : uint8_t {
  kInstance,  // Until the instance is retired.
  // Until the instance is retired, but for ever if threads may still be inside the instance then:
  // the plugin reads what the state holds without a call of the service.
  kReadByPlugin,
  kHost,  // As long as the InstanceHost: the functions use the state without a lock.
};

// One service of <berth/abi.h>.
struct ServiceInfo {
  std::string_view id;  // "berth.log/1"
  // The struct of functions. Null: ServiceState::functions() returns it.
  const void* functions = nullptr;
  // Returns whether the host has what the service needs; otherwise the service is UNSUPPORTED. Null
  // if the service is always served.
  bool (*is_served)(const InstanceHost& host) = nullptr;
  // Creates the state for an instance, whose host outlives it unless it is kept for ever. Null if
  // the service has no state.
  std::shared_ptr<ServiceState> (*create_state)(InstanceHost& host) = nullptr;
  StateLifetime lifetime = StateLifetime::kInstance;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_SERVICE_H_
