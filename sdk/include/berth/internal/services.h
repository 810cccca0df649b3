// The services of one instance, looked up once in create(), and the instance's fault.
#ifndef BERTH_INTERNAL_SERVICES_H_
#define BERTH_INTERNAL_SERVICES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/fail.h>
#include <berth/internal/pending_calls.h>
#include <berth/kube_version.h>
#include <berth/span.h>

namespace berth::internal {

// The exception of a call that cannot return a code (OnChange, Unreserve, a timer). The instance is
// no longer valid, so every later call that can return a code returns BERTH_BUG with this text.
class Fault {
 public:
  bool set() const { return state_.load(std::memory_order_acquire) == kWritten; }
  std::string_view text() const { return {text_, size_}; }
  // Keeps the first fault.
  void Set(std::string_view where, std::string_view what) {
    uint32_t none = kNone;
    if (!state_.compare_exchange_strong(none, kWriting, std::memory_order_acq_rel)) return;
    Append(where);
    Append(": ");
    Append(what);
    state_.store(kWritten, std::memory_order_release);
  }

 private:
  enum : uint32_t { kNone, kWriting, kWritten };

  void Append(std::string_view text) {
    const std::size_t room = sizeof(text_) - size_;
    const std::size_t size = text.size() < room ? text.size() : room;
    if (size != 0) std::memcpy(text_ + size_, text.data(), size);
    size_ += size;
  }

  std::atomic<uint32_t> state_ = kNone;
  std::size_t size_ = 0;
  char text_[256] = {};
};

// The data of a berth_instance_request that the instance keeps.
struct Terms {
  std::string profile;
  std::vector<std::string> points;  // The ids of extension points at which the host calls it.
  int64_t deadline_ns = 0;
  KubeVersion emulated_version;

  Terms() = default;
  explicit Terms(const berth_instance_request& request)
      : profile(Str(request.profile)),
        deadline_ns(request.deadline_ns),
        emulated_version(KubeVersion::FromAbi(request.emulated_version)) {
    for (const berth_str& point : Span<const berth_str>(request.points)) {
      points.emplace_back(Str(point));
    }
  }
};

// Throws the error of a service that the host does not serve. It is a function of its own so that a
// use of a service, which may stand in a loop over nodes, costs one test and no code for the text.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailNotServed(const char* id) {
  Fail(std::string("this host does not serve ") + id);
}

// A service of the host, which the host may not serve. Its use throws then.
template <class T>
class Service {
 public:
  Service(const T* table, const char* id) : table_(table), id_(id) {}

  explicit operator bool() const { return table_ != nullptr; }
  friend bool operator==(const Service& service, std::nullptr_t) {
    return service.table_ == nullptr;
  }
  const T* operator->() const {
    if (table_ == nullptr) [[unlikely]]
      FailNotServed(id_);
    return table_;
  }
  const T& operator*() const { return *operator->(); }

 private:
  const T* table_;
  const char* id_;
};

struct Services {
  const berth_host* host = nullptr;
  Fault* fault = nullptr;
  Terms terms;
  Service<berth_log> log;
  Service<berth_strings> strings;
  Service<berth_refs> refs;
  Service<berth_columns> columns;
  Service<berth_values> values;
  Service<berth_selectors> selectors;
  Service<berth_metrics> metrics;
  Service<berth_objects> objects;
  Service<berth_node_lookup> nodes;
  Service<berth_whatif> whatif;
  Service<berth_nominator> nominator;
  Service<berth_activate> activate;
  Service<berth_waiting> waiting;
  Service<berth_timer> timer;
  Service<berth_random> random;
  Service<berth_shared> shared;
  Service<berth_api> api;
  Service<berth_completion> completion;
  Service<berth_http> http;

  // The callbacks that live as long as the instance, and those that the host calls once. They are
  // destroyed before the services, which their destructors may use.
  mutable std::vector<std::unique_ptr<Kept>> kept;
  mutable PendingCalls pending;

  Services(const berth_host* from, Fault* instance_fault, Terms instance_terms = {})
      : host(from),
        fault(instance_fault),
        terms(std::move(instance_terms)),
        log(Find<berth_log>(BERTH_SERVICE_LOG)),
        strings(Find<berth_strings>(BERTH_SERVICE_STRINGS)),
        refs(Find<berth_refs>(BERTH_SERVICE_REFS)),
        columns(Find<berth_columns>(BERTH_SERVICE_COLUMNS)),
        values(Find<berth_values>(BERTH_SERVICE_VALUES)),
        selectors(Find<berth_selectors>(BERTH_SERVICE_SELECTORS)),
        metrics(Find<berth_metrics>(BERTH_SERVICE_METRICS)),
        objects(Find<berth_objects>(BERTH_SERVICE_OBJECTS)),
        nodes(Find<berth_node_lookup>(BERTH_SERVICE_NODES)),
        whatif(Find<berth_whatif>(BERTH_SERVICE_WHATIF)),
        nominator(Find<berth_nominator>(BERTH_SERVICE_NOMINATOR)),
        activate(Find<berth_activate>(BERTH_SERVICE_ACTIVATE)),
        waiting(Find<berth_waiting>(BERTH_SERVICE_WAITING)),
        timer(Find<berth_timer>(BERTH_SERVICE_TIMER)),
        random(Find<berth_random>(BERTH_SERVICE_RANDOM)),
        shared(Find<berth_shared>(BERTH_SERVICE_SHARED)),
        api(Find<berth_api>(BERTH_SERVICE_API)),
        completion(Find<berth_completion>(BERTH_SERVICE_COMPLETION)),
        http(Find<berth_http>(BERTH_SERVICE_HTTP)) {}

  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  void Keep(std::unique_ptr<Kept> callback) const { kept.push_back(std::move(callback)); }

  template <class T>
  Service<T> Find(const char* id) const {
    const void* service = nullptr;
    if (host->get_service(host, id, &service) != BERTH_SUCCESS) service = nullptr;
    return {static_cast<const T*>(service), id};
  }
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_SERVICES_H_
