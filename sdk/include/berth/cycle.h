// Cycle:   the data of one attempt to schedule a pod, with the plugin's state in that attempt.
// Binding: the data of the same pod in its binding cycle.
#ifndef BERTH_CYCLE_H_
#define BERTH_CYCLE_H_

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/nodes.h>
#include <berth/pod.h>

namespace berth {
namespace internal {

// Distinguishes the plugin's State from other types, in builds with assertions.
template <class T>
inline constexpr char kTypeTag = 0;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
// Cycle::State<T>() calls StateMustBeTheStateOfAPlugin(StateTag<T>()). The file with BERTH_PLUGINS
// defines this function for the State of each plugin, because Instance derives from DefineState and
// calls it. A library that uses another type does not link, and the linker's message states the
// rule. gnu::used keeps the function for the other files of the library.
template <class T>
struct StateTag {
  friend void StateMustBeTheStateOfAPlugin(StateTag);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T>
struct DefineState {
  [[gnu::used]] friend void StateMustBeTheStateOfAPlugin(StateTag<T> /*tag*/) {}
};

// Returns the type of a column in the catalogue, or 0 for a name that is not in the catalogue.
constexpr uint32_t CatalogueType(std::string_view name) {
  if (name == "name" || name.starts_with("label:")) return BERTH_TYPE_ID;
  if (name == "unschedulable") return BERTH_TYPE_U8;
  if (name == "taints.hard" || name == "taints.soft") return BERTH_TYPE_U32;
  if (name == "taints" || name == "images" || name == "features") return BERTH_TYPE_ARRAY;
  if (name.starts_with("object:")) return BERTH_TYPE_OBJECT;
  if (name.starts_with("annotation:")) return BERTH_TYPE_STR;
  for (const std::string_view prefix :
       {"alloc.", "alloc:", "req.", "req:", "nonzero.", "pods.", "hostport:"}) {
    if (name.starts_with(prefix)) return BERTH_TYPE_I64;
  }
  return 0;
}

template <class T>
constexpr bool MayHold(uint32_t type) {
  switch (type) {
    case BERTH_TYPE_I64: return std::same_as<T, int64_t>;
    case BERTH_TYPE_U32:
    case BERTH_TYPE_ID: return std::same_as<T, uint32_t>;
    case BERTH_TYPE_U8: return std::same_as<T, uint8_t>;
    case BERTH_TYPE_ARRAY: return std::same_as<T, berth_array>;
    case BERTH_TYPE_OBJECT: return std::same_as<T, const berth_object*>;
    case BERTH_TYPE_STR: return std::same_as<T, berth_str>;
    default: return true;
  }
}

}  // namespace internal

// Methods that may write the state receive a Cycle&; the others (Filter, Score) a const Cycle&.
class Cycle {
 public:
  // For the SDK and for tests. `state_tag` is &internal::kTypeTag<State>.
  Cycle(const berth_cycle& cycle, const internal::Services& services, berth_status* status,
        const char* state_tag)
      : cycle_(&cycle), services_(&services), status_(status), state_tag_(state_tag) {}

  berth::Pod pod() const { return *cycle_->pod; }
  // Returns the attempt's number, which increases with every attempt.
  uint64_t id() const { return cycle_->id; }
  // True when nothing that is decided in this cycle is committed.
  bool what_if() const { return (cycle_->flags & BERTH_CYCLE_WHAT_IF) != 0; }
  // True when the host no longer needs the result: return Status::Cancelled(). Test it every few
  // hundred nodes.
  bool canceled() const { return BERTH_CANCELED(cycle_); }
  int64_t deadline_ns() const { return cycle_->deadline_ns; }
  const berth_cycle& abi() const { return *cycle_; }

  // Returns the plugin's state in this cycle. REQUIRES: T is the plugin's State. A type that is the
  // State of no plugin in the library fails to link.
  template <class T>
  T& State() {
    StateMustBeTheStateOfAPlugin(internal::StateTag<T>());
    assert(state_tag_ == &internal::kTypeTag<T>);
    return *static_cast<T*>(cycle_->slots[0]);
  }
  template <class T>
  const T& State() const {
    StateMustBeTheStateOfAPlugin(internal::StateTag<T>());
    assert(state_tag_ == &internal::kTypeTag<T>);
    return *static_cast<const T*>(cycle_->slots[0]);
  }

  // Binds a column whose name depends on the pod: Bind<int64_t>("req:example.com/gpu"). The same
  // name returns the same column. Call it from PreFilter and PreScore only.
  // Errors: if the host has no such column, or one of another type, the current method returns
  //         BERTH_ERROR, whatever status it returns itself.
  template <class T>
  ColumnRef<T> Bind(std::string_view name) {
    const ColumnRef<T> column = TryBind<T>(name);
    if (!column) {
      failed_ = true;
      internal::AddReason(status_,
                          "the host has no column \"" + std::string(name) + "\" of this type");
    }
    return column;
  }
  // Binds a column that the plugin does not require. Returns an unbound reference if the host has
  // no such column.
  template <class T>
  ColumnRef<T> TryBind(std::string_view name) {
    uint32_t index = 0;
    if (!internal::MayHold<T>(internal::CatalogueType(name)) || services_->columns == nullptr ||
        services_->columns->bind(services_->host, cycle_, Str(name), &index) != BERTH_SUCCESS) {
      return ColumnRef<T>();
    }
    return ColumnRef<T>(index);
  }

  // True after a call of Bind failed.
  bool failed() const { return failed_; }

 private:
  const berth_cycle* cycle_;
  const internal::Services* services_;
  berth_status* status_;
  [[maybe_unused]] const char* state_tag_;
  bool failed_ = false;
};

// The node that was chosen for the pod.
class Target {
 public:
  explicit Target(const berth_target& target) : target_(&target) {}

  NodeView node() const { return *target_->node; }
  // Valid only in [cycle].
  uint32_t row() const { return target_->row; }

 private:
  const berth_target* target_;
};

// The data of a pod in its binding cycle; it has no rows and no blocks.
//
// Lifetime:  until the pod has left the binding cycle.
class Binding {
 public:
  Binding(const berth_binding& binding, const char* state_tag)
      : binding_(&binding), state_tag_(state_tag) {}

  berth::Pod pod() const { return *binding_->pod; }
  std::string_view node_name() const { return Str(binding_->node_name); }
  std::string_view node_uid() const { return Str(binding_->node_uid); }
  bool canceled() const { return BERTH_CANCELED(binding_); }
  int64_t deadline_ns() const { return binding_->deadline_ns; }
  const berth_binding& abi() const { return *binding_; }

  // REQUIRES: T is the plugin's State.
  template <class T>
  T& State() const {
    StateMustBeTheStateOfAPlugin(internal::StateTag<T>());
    assert(state_tag_ == &internal::kTypeTag<T>);
    return *static_cast<T*>(binding_->slots[0]);
  }

 private:
  const berth_binding* binding_;
  [[maybe_unused]] const char* state_tag_;
};

}  // namespace berth

#endif  // BERTH_CYCLE_H_
