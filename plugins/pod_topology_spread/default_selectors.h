// The selectors of default constraints, which are deduced from the objects that select the pod.
// kube-scheduler: pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector.
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_DEFAULT_SELECTORS_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_DEFAULT_SELECTORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/host.h>
#include <berth/needed_kind.h>
#include <berth/pod.h>

namespace spread {

// The kinds that DefaultSelectors reads.
inline constexpr const char* kServices = "v1/Service";
inline constexpr const char* kReplicationControllers = "v1/ReplicationController";
inline constexpr const char* kReplicaSets = "apps/v1/ReplicaSet";
inline constexpr const char* kStatefulSets = "apps/v1/StatefulSet";

// The requirements of several objects, joined by AND.
//
// Lifetime: valid until the objects change, so at most until the end of a cycle or of a hint.
class JoinedSelector {
 public:
  JoinedSelector() = default;
  JoinedSelector(const JoinedSelector&) = delete;
  JoinedSelector& operator=(const JoinedSelector&) = delete;

  bool empty() const { return requirements_.empty(); }
  // Returns the selector, whose requirements this object owns.
  const berth_selector* get() const { return &selector_; }

 private:
  friend class DefaultSelectors;

  void Add(const berth_requirement& requirement);
  // Removes the requirements for `key`.
  void Remove(berth_id key);
  void Finish();

  std::vector<berth_requirement> requirements_;
  berth_selector selector_ = {sizeof(berth_selector), 0, {}};
};

// Follows the Services, and reads the controllers of pods when they are needed.
//
// Threading: watch callbacks: [event]; For: [queue] [cycle].
class DefaultSelectors {
 public:
  // Starts to watch the kinds above. Errors: throws berth::Error if the host refuses the watch.
  explicit DefaultSelectors(const berth::Host& host);
  DefaultSelectors(const DefaultSelectors&) = delete;
  DefaultSelectors& operator=(const DefaultSelectors&) = delete;

  // Returns the joined selectors of all Services in the pod's namespace that select the pod, and of
  // the ReplicationController, ReplicaSet or StatefulSet that controls it. Returns null if nothing
  // selects the pod: default constraints do not apply to it then.
  std::shared_ptr<const JoinedSelector> For(const berth::Pod& pod);

  // Tells the host whether the decision about the pod depends on Services that the cluster does not
  // have: `may_matter()` returns whether a selector could change it. For() looks up the controller.
  template <class F>
  void NoteNeeds(const berth::Pod& pod, F&& may_matter) {
    for (berth::NeededKind& need : controller_needs_) need.Note(false);
    if (!service_need_.is_open()) return;
    // A Service without a selector is left out, and one that has a selector selects by labels.
    service_need_.Note(!pod.labels().empty() && may_matter());
  }

  // Watch callbacks.
  void OnService(const berth::ObjectChange& change);
  void OnController(const berth::ObjectChange& change);

 private:
  // A namespace, and one label that all pods of a Service in it have.
  struct LabelOfNamespace {
    berth_id ns;
    berth_id_pair label;

    friend bool operator==(const LabelOfNamespace& a, const LabelOfNamespace& b) {
      return a.ns == b.ns && a.label.key == b.label.key && a.label.value == b.label.value;
    }
  };
  struct Hash {
    std::size_t operator()(const LabelOfNamespace& of) const {
      std::uint64_t hash = of.ns;
      for (const berth_id id : {of.label.key, of.label.value}) {
        hash = (hash ^ id) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
      }
      return hash;
    }
  };
  struct Service {
    std::string name;
    berth::InternedId ns;
    berth::Selector selector;
  };
  // The names of a controller's kind.
  struct ControllerKind {
    berth_id api_version;
    berth_id kind;
    const char* objects;  // The kind as berth::Objects names it.
    bool replaces;        // The selector replaces requirements of Services for the same keys.
  };

  static LabelOfNamespace PlaceOf(berth_id ns, const berth_selector& selector);
  void AddService(const berth_object& service);
  void RemoveService(const berth_object& service);
  void AddController(const berth::Pod& pod, JoinedSelector& joined);
  // Returns the selector of a controller; null if it has none or it does not parse.
  const berth_selector* SelectorOf(const berth_object& controller, bool is_map);

  const berth::Host host_;
  const std::vector<ControllerKind> kinds_;
  berth::NeededKind service_need_;
  std::vector<berth::NeededKind> controller_needs_;  // Of kinds_.
  // Services by the first requirement of their selectors, so that For() tests only the Services
  // that have a label of the pod. Services with empty selectors add no requirement and are left
  // out.
  std::unordered_map<LabelOfNamespace, std::vector<Service>, Hash> services_;
  // The parsed selectors of controllers that For() needed, by the current object.
  std::unordered_map<const berth_object*, berth::Selector> controllers_;
};

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_DEFAULT_SELECTORS_H_
