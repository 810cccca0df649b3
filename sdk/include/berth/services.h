// The host's services. Each is a small value that is tested like a pointer: `if (host.timers())`.
// The comment of its struct in abi.h states which threads may call it.
#ifndef BERTH_SERVICES_H_
#define BERTH_SERVICES_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/done.h>
#include <berth/internal/callback.h>
#include <berth/internal/fail.h>
#include <berth/internal/handle.h>
#include <berth/internal/services.h>
#include <berth/internal/status_sink.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>
#include <berth/value.h>

namespace berth {

// Structured log: a constant message, with the variable data as pairs. Threading: [any].
//
//   host.log().Info("no device left", {{"claim", claim}, {"class", device_class}});
class Log {
 public:
  using Pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  static constexpr std::size_t kPairsMax = 16;  // Further pairs are dropped.

  explicit Log(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->log); }

  bool Enabled(uint32_t level) const {
    return services_->log && level >= __atomic_load_n(services_->log->level, __ATOMIC_RELAXED);
  }
  void Trace(std::string_view text, Pairs pairs = {}) const { Put(BERTH_LOG_TRACE, text, pairs); }
  void Debug(std::string_view text, Pairs pairs = {}) const { Put(BERTH_LOG_DEBUG, text, pairs); }
  void Info(std::string_view text, Pairs pairs = {}) const { Put(BERTH_LOG_INFO, text, pairs); }
  void Warn(std::string_view text, Pairs pairs = {}) const { Put(BERTH_LOG_WARN, text, pairs); }
  void Error(std::string_view text, Pairs pairs = {}) const { Put(BERTH_LOG_ERROR, text, pairs); }

 private:
  void Put(uint32_t level, std::string_view text, Pairs pairs) const {
    if (!Enabled(level)) return;
    std::array<berth_str_pair, kPairsMax> out = {};
    std::size_t count = 0;
    for (const auto& [key, value] : pairs) {
      if (count == kPairsMax) break;
      out[count++] = {Str(key), Str(value)};
    }
    services_->log->log(services_->host, level, Str(text), out.data(), count);
  }

  const internal::Services* services_;
};

// One series of a metric: the metric with its label values. Threading: [any].
class Series {
 public:
  Series() = default;
  Series(const internal::Services& services, uint64_t series)
      : services_(&services), series_(series) {}

  // False if the host serves no metrics, or too many series exist; Observe then does nothing.
  explicit operator bool() const { return services_ != nullptr; }
  // Adds to a counter, sets a gauge, or records a value in a histogram. Takes no lock.
  void Observe(double value) const {
    if (services_ != nullptr) services_->metrics->observe(services_->host, series_, value);
  }

 private:
  const internal::Services* services_ = nullptr;
  uint64_t series_ = 0;
};

// One metric of the plugin. Threading: [any].
class Metric {
 public:
  Metric() = default;
  Metric(const internal::Services& services, uint32_t metric, std::size_t labels)
      : services_(&services), metric_(metric), labels_(labels) {}

  // False if the host serves no metrics; With and Observe then do nothing.
  explicit operator bool() const { return services_ != nullptr; }
  // Returns the series with these label values, which are in the order of their definition. Keep
  // the result: the call looks up texts. If the number of labels is wrong, the result is empty.
  Series With(std::initializer_list<std::string_view> labels = {}) const {
    if (services_ == nullptr || labels.size() != labels_) return Series();
    std::array<berth_str, kLabelsMax> texts = {};
    std::transform(labels.begin(), labels.end(), texts.begin(),
                   [](std::string_view text) { return Str(text); });
    uint64_t series = 0;
    const berth_code code =
        services_->metrics->series(services_->host, metric_, texts.data(), &series);
    return code == BERTH_SUCCESS ? Series(*services_, series) : Series();
  }
  // With(labels).Observe(value), for values that are observed rarely.
  void Observe(double value, std::initializer_list<std::string_view> labels = {}) const {
    With(labels).Observe(value);
  }
  static constexpr std::size_t kLabelsMax = 8;

 private:
  const internal::Services* services_ = nullptr;
  uint32_t metric_ = 0;
  std::size_t labels_ = 0;
};

// Defines metrics, in the constructor only. The host adds the labels plugin and profile.
class Metrics {
 public:
  using LabelNames = std::initializer_list<std::string_view>;  // At most Metric::kLabelsMax.

  explicit Metrics(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->metrics); }

  Metric Counter(std::string_view name, std::string_view help, LabelNames labels = {}) const {
    return Define(BERTH_METRIC_COUNTER, name, help, labels, {});
  }
  Metric Gauge(std::string_view name, std::string_view help, LabelNames labels = {}) const {
    return Define(BERTH_METRIC_GAUGE, name, help, labels, {});
  }
  // `buckets` are upper bounds, ascending. Empty: the host's default, for seconds.
  Metric Histogram(std::string_view name, std::string_view help, LabelNames labels = {},
                   std::initializer_list<double> buckets = {}) const {
    return Define(BERTH_METRIC_HISTOGRAM, name, help, labels, buckets);
  }

 private:
  Metric Define(uint32_t kind, std::string_view name, std::string_view help, LabelNames labels,
                std::initializer_list<double> buckets) const {
    if (!services_->metrics || labels.size() > Metric::kLabelsMax) return Metric();
    std::array<berth_str, Metric::kLabelsMax> names = {};
    std::transform(labels.begin(), labels.end(), names.begin(),
                   [](std::string_view text) { return Str(text); });
    const berth_metric metric = {sizeof(metric), kind,          Str(name),       Str(help),
                                 names.data(),   labels.size(), buckets.begin(), buckets.size()};
    uint32_t index = 0;
    const berth_code code = services_->metrics->define(services_->host, &metric, &index);
    return code == BERTH_SUCCESS ? Metric(*services_, index, labels.size()) : Metric();
  }

  const internal::Services* services_;
};

// An id that the instance holds and the destructor releases. Movable only. Threading: [any], one
// thread at a time.
class InternedId {
 public:
  InternedId() = default;
  InternedId(const internal::Services& services, std::string_view text)
      : id_(services.host, services.strings->release,
            services.strings->intern(services.host, Str(text))) {}

  // Returns 0 if it is empty.
  berth_id get() const { return id_.get(); }

 private:
  internal::Handle<berth_id> id_;
};

// A counted reference to a berth_pod, berth_node or berth_object, which keeps it alive beyond the
// current call. Movable only. Threading: [any], one thread at a time.
template <class T>
class [[nodiscard]] Ref {
  static_assert(std::is_same_v<T, berth_pod> || std::is_same_v<T, berth_node> ||
                    std::is_same_v<T, berth_object>,
                "only pods, nodes and objects of the host can be retained");

 public:
  Ref() = default;
  // See Host::Retain().
  Ref(const internal::Services& services, const T& object) {
    const berth_refs& refs = *services.refs;
    const berth_tagged tagged = {kKind, 0, &object};
    if (refs.retain(services.host, tagged) != BERTH_SUCCESS) {
      internal::Fail("cannot retain something that is no object of the host");
    }
    object_ = internal::Handle<berth_tagged>(services.host, refs.release, tagged);
  }

  explicit operator bool() const { return bool(object_); }
  // Returns null if it is empty.
  const T* get() const { return static_cast<const T*>(object_.get().object); }
  // REQUIRES: the reference is not empty.
  const T& operator*() const { return *get(); }
  const T* operator->() const { return get(); }

 private:
  static constexpr uint32_t kKind = std::is_same_v<T, berth_pod>    ? BERTH_KIND_POD
                                    : std::is_same_v<T, berth_node> ? BERTH_KIND_NODE
                                                                    : BERTH_KIND_OBJECT;

  internal::Handle<berth_tagged> object_;
};

namespace internal {

// Throws the error of a service call about objects of the kind.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailObjects(std::string_view kind,
                                                               berth_code code) {
  const std::string what = "cannot look up objects of kind \"" + std::string(kind) + "\": ";
  if (code == BERTH_BAD_ARGUMENT) FailBug(what + "kKinds does not name it");
  if (code == BERTH_CONFLICT) FailBug(what + "the current call may not read objects");
  Fail(what + "the host returned the code " + std::to_string(code));
}

}  // namespace internal

// A change of an object: `old` is null for an addition, `now` for a deletion.
using ObjectChange = berth_object_change;

// Objects of the kinds that the plugin named in kKinds, as "v1/PersistentVolumeClaim".
class Objects {
 public:
  explicit Objects(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->objects); }

  // Returns null if there is no such object, also if the API server does not serve the kind now.
  // Errors: throws a std::logic_error if kKinds does not name the kind, or if the current call may
  //         not read objects, such as Bind of a plugin with kBlocksInBind.
  const berth_object* Get(std::string_view kind, std::string_view ns, std::string_view name) const {
    const berth_object* object = nullptr;
    const berth_code code = LookUp(kind, ns, name, &object);
    if (code == BERTH_SUCCESS) return object;
    if (code != BERTH_NOT_FOUND && code != BERTH_UNSUPPORTED) [[unlikely]]
      internal::FailObjects(kind, code);
    return nullptr;
  }
  // As Get(), but returns the code of the host, also for an error. Sets `*object` to null unless
  // the code is BERTH_SUCCESS.
  berth_code LookUp(std::string_view kind, std::string_view ns, std::string_view name,
                    const berth_object** object) const {
    return services_->objects->get(services_->host, Str(kind), Str(ns), Str(name), object);
  }
  // Calls `each(const berth_object&)` for each object, ordered by namespace and name. If `each`
  // returns a bool, false stops the iteration. An empty `ns` means all namespaces.
  // Errors: BERTH_BAD_ARGUMENT for a kind that was not declared; BERTH_UNSUPPORTED for one that the
  //         API server does not serve now.
  template <class F>
  Status List(std::string_view kind, std::string_view ns, F&& each) const {
    internal::EachCall<F, berth_object> call(each);
    const Status status(services_->objects->list(services_->host, Str(kind), Str(ns),
                                                 &decltype(call)::Call, &call));
    call.Rethrow();
    return status;
  }
  // Returns whether the API server serves the kind, as far as the host knows. Errors: as Get().
  bool Served(std::string_view kind) const {
    const berth_code code = services_->objects->served(services_->host, Str(kind));
    if (code != BERTH_SUCCESS && code != BERTH_UNSUPPORTED) [[unlikely]]
      internal::FailObjects(kind, code);
    return code == BERTH_SUCCESS;
  }
  // Calls `(to->*kMethod)(const berth::ObjectChange& change)` on the scheduling thread for every
  // change of the kind from now on: objects.Watch<&Zones::OnClaim>(kind, this). A kind that the API
  // server does not serve has no changes until it does. REQUIRES: `to` is the plugin, or lives as
  // long as the plugin.
  template <auto kMethod, class T>
  Status Watch(std::string_view kind, T* to) const {
    using Call = internal::MethodCall<kMethod, T>;
    auto kept = std::make_unique<Call>(*services_, to);
    const Status status(
        services_->objects->watch(services_->host, Str(kind), &Call::Changed, kept.get()));
    if (status.ok()) services_->Keep(std::move(kept));
    return status;
  }

 private:
  const internal::Services* services_;
};

// A value that Values::Parse() has read. It owns the value, unlike Value. Movable only.
class ParsedValue {
 public:
  // An empty object, whose status is NotFound.
  ParsedValue() = default;
  // `value`: null if there is none.
  ParsedValue(const internal::Services& services, const berth_value* value, Status status)
      : status_(std::move(status)) {
    if (value != nullptr) value_ = {services.host, services.values->release, value};
  }

  // False if it is empty: default-constructed, moved away, or not JSON, and status() then has the
  // reason.
  explicit operator bool() const { return bool(value_); }
  bool ok() const { return bool(value_); }
  const Status& status() const { return status_; }
  // Returns the value, which is absent if this object is empty. Lifetime: that of this object, or
  // of the one that it is moved to.
  Value value() const { return Value(value_.get()); }

 private:
  internal::Handle<const berth_value*> value_;
  Status status_{BERTH_NOT_FOUND};
};

// Reads JSON: host.values().Parse(annotation). Threading: [any].
class Values {
 public:
  explicit Values(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->values != nullptr; }

  ParsedValue Parse(std::string_view json) const {
    internal::StatusSink sink;
    const berth_value* value = services_->values->parse(services_->host, Str(json), sink.abi());
    return {*services_, value, sink.Take(value == nullptr ? BERTH_BAD_ARGUMENT : BERTH_SUCCESS)};
  }

 private:
  const internal::Services* services_;
};

// A selector that Selectors has read. It owns the selector. Movable only. T is berth_selector or
// berth_node_selector.
template <class T>
class OwnedSelector {
 public:
  // An empty object, whose status is NotFound and which matches nothing.
  OwnedSelector() = default;
  // `selector`: null if there is none.
  OwnedSelector(const internal::Services& services, const T* selector, Status status)
      : status_(std::move(status)) {
    if (selector == nullptr) return;
    service_ = &*services.selectors;
    if constexpr (std::same_as<T, berth_selector>) {
      selector_ = {services.host, service_->release, selector};
    } else {
      selector_ = {services.host, service_->release_node, selector};
    }
  }

  // False if it is empty: default-constructed, moved away, or not a valid selector, and status()
  // then has the reasons. An empty selector matches nothing.
  explicit operator bool() const { return bool(selector_); }
  bool ok() const { return bool(selector_); }
  const Status& status() const { return status_; }
  // May be null. Use it with berth::Matches(), which costs less than Matches() of this class.
  const T* get() const { return selector_.get(); }
  // Returns whether the labels of an object, or the node, match.
  bool Matches(Labels labels) const requires std::same_as<T, berth_selector> {
    return ok() && service_->matches(selector_.host(), get(), labels.abi()) != 0;
  }
  bool Matches(const berth_node& node) const requires std::same_as<T, berth_node_selector> {
    return ok() && service_->matches_node(selector_.host(), get(), &node) != 0;
  }

 private:
  const berth_selectors* service_ = nullptr;
  internal::Handle<const T*> selector_;
  Status status_{BERTH_NOT_FOUND};
};
using Selector = OwnedSelector<berth_selector>;
using NodeSelector = OwnedSelector<berth_node_selector>;

// Reads selectors from objects and texts. Threading: [any].
class Selectors {
 public:
  explicit Selectors(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->selectors != nullptr; }

  // Reads a LabelSelector: {"matchLabels": {...}, "matchExpressions": [...]}.
  Selector FromValue(const Value& label_selector) const {
    return Read<berth_selector>(services_->selectors->from_value, label_selector.abi());
  }
  // Reads a map of labels: {"app": "web"}.
  Selector FromMap(const Value& labels) const {
    return Read<berth_selector>(services_->selectors->from_map, labels.abi());
  }
  // Reads a selector as `kubectl get -l` does: "app=web,tier in (a,b),!old".
  Selector FromText(std::string_view text) const {
    return Read<berth_selector>(services_->selectors->from_text, Str(text));
  }
  // Reads a NodeSelector: {"nodeSelectorTerms": [...]}.
  NodeSelector FromNodeSelector(const Value& node_selector) const {
    return Read<berth_node_selector>(services_->selectors->node_selector, node_selector.abi());
  }

 private:
  template <class T, class Function, class From>
  OwnedSelector<T> Read(Function* read, From from) const {
    internal::StatusSink sink;
    const T* selector = nullptr;
    const berth_code code = read(services_->host, from, &selector, sink.abi());
    return {*services_, code == BERTH_SUCCESS ? selector : nullptr, sink.Take(code)};
  }

  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_SERVICES_H_
