// Cycle:   the data of one attempt to schedule a pod, with the plugin's state in that attempt.
// Binding: the data of the same pod in its binding cycle.
#ifndef BERTH_CYCLE_H_
#define BERTH_CYCLE_H_

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <berth/abi.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/nodes.h>
#include <berth/pod.h>
#include <berth/status.h>

namespace berth {
namespace internal {

// Distinguishes the plugin's State from other types, in builds with assertions.
template <class T>
inline constexpr char kTypeTag = 0;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
// Cycle::State<T>() calls StateMustBeTheStateOfAPlugin(StateTag<T>()), which returns the slot of
// the state. The file with BERTH_PLUGINS defines this function for the states of each plugin,
// because Instance derives from DefineState and calls it. A library that uses another type does not
// link, and the linker's message states the rule. gnu::used keeps the function for other files.
template <class T>
struct StateTag {
  friend uint32_t StateMustBeTheStateOfAPlugin(StateTag);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T, uint32_t kSlot>
struct DefineState {
  [[gnu::used]] friend uint32_t StateMustBeTheStateOfAPlugin(StateTag<T> /*tag*/) { return kSlot; }
};

// The states of a plugin that declares none.
struct NoState {};
struct NoScoreState {};

// The content of a slot: the state, or nothing before Emplace.
template <class T>
using StateSlot = std::optional<T>;

// A state of a plugin, for the messages about it.
struct StateFacts {
  const char* tag;          // &kTypeTag<State>
  const char* prepared_at;  // "PreFilter": the point that emplaces the state; null: none known.
};

// The states of the plugin of a Cycle or Binding.
struct States {
  const StateFacts* facts;  // By slot.
  const char* method;       // The method that is being called: "Filter".
};

// Throws the error of a method that uses a state that no method has emplaced. Without exceptions it
// ends the process.
[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowNoState(const States& states,
                                                                uint32_t slot) {
  const char* const at = states.facts[slot].prepared_at;
#if defined(__cpp_exceptions)
  const std::string method = states.method;
  if (at == nullptr || method == at) {
    throw Error(method + " uses the state of the plugin, but no method has emplaced it");
  }
  const std::string before = at;
  throw Error(before + " has not run, but " + method + " requires it: enable the plugin at " +
              before);
#else
  (void)at;
  std::abort();
#endif
}

// Returns the slot of state T among `slots`.
template <class T>
StateSlot<T>& SlotOf(void* const* slots, [[maybe_unused]] const States& states) {
  const uint32_t slot = StateMustBeTheStateOfAPlugin(StateTag<T>());
  assert(states.facts[slot].tag == &kTypeTag<T>);
  return *static_cast<StateSlot<T>*>(slots[slot]);
}

template <class T>
T& StateIn(void* const* slots, const States& states) {
  StateSlot<T>& slot = SlotOf<T>(slots, states);
  if (!slot.has_value()) [[unlikely]]
    ThrowNoState(states, StateMustBeTheStateOfAPlugin(StateTag<T>()));
  return *slot;
}

template <class T>
T* TryStateIn(void* const* slots, const States& states) {
  StateSlot<T>& slot = SlotOf<T>(slots, states);
  return slot.has_value() ? &*slot : nullptr;
}

// The types of columns whose values are of type T, in the order in which Bind tries them: a
// berth_id is a uint32_t.
template <class T>
inline constexpr std::array<uint32_t, 0> kColumnTypes = {};
template <>
inline constexpr std::array<uint32_t, 1> kColumnTypes<int64_t> = {BERTH_TYPE_I64};
template <>
inline constexpr std::array<uint32_t, 2> kColumnTypes<uint32_t> = {BERTH_TYPE_ID, BERTH_TYPE_U32};
template <>
inline constexpr std::array<uint32_t, 1> kColumnTypes<uint8_t> = {BERTH_TYPE_U8};
template <>
inline constexpr std::array<uint32_t, 1> kColumnTypes<berth_array> = {BERTH_TYPE_ARRAY};
template <>
inline constexpr std::array<uint32_t, 1> kColumnTypes<const berth_object*> = {BERTH_TYPE_OBJECT};
template <>
inline constexpr std::array<uint32_t, 1> kColumnTypes<berth_str> = {BERTH_TYPE_STR};

// Binds a column of one of the types. Returns its index, or no value if the host has no such
// column.
inline std::optional<uint32_t> BindColumn(const Services& services, const berth_cycle& cycle,
                                          std::string_view name, std::span<const uint32_t> types) {
  // As a C string, the name would end at the zero byte and be that of another column.
  if (services.columns == nullptr || name.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string text(name);
  for (const uint32_t type : types) {
    const berth_column_request request = {sizeof(request), 0, text.c_str(), type, 0};
    uint32_t index = 0;
    const berth_code code = services.columns->bind(services.host, &cycle, &request, &index);
    if (code == BERTH_SUCCESS) return index;
    if (code != BERTH_BAD_ARGUMENT) break;  // Otherwise the column has another type.
  }
  return std::nullopt;
}

}  // namespace internal

// Methods that may write the state receive a Cycle&; the others (Filter, Score) a const Cycle&.
class Cycle {
 public:
  // For the SDK.
  Cycle(const berth_cycle& cycle, const internal::Services& services, berth_status* status,
        internal::States states)
      : cycle_(&cycle), services_(&services), status_(status), states_(states) {}

  berth::Pod pod() const { return *cycle_->pod; }
  // Returns the attempt's number, which increases with every attempt.
  uint64_t id() const { return cycle_->id; }
  // True when nothing that is decided in this cycle is committed.
  bool what_if() const { return (cycle_->flags & BERTH_CYCLE_WHAT_IF) != 0; }
  // True when the host no longer needs the result: return Status::Cancelled(). Test it every few
  // hundred nodes.
  bool cancelled() const { return BERTH_IS_CANCELLED(cycle_); }
  int64_t deadline_ns() const { return cycle_->deadline_ns; }
  const berth_cycle& abi() const { return *cycle_; }

  // The plugin's state in this cycle, which lives until the pod has left the binding cycle. T is
  // the plugin's State or ScoreState. A type that is the state of no plugin in the library fails to
  // link.

  // Constructs the state from `args`, in place of the previous one if there is one, and returns it.
  // Called: from PreFilter, PreScore, or any other method that receives a Cycle&.
  template <class T, class... Args>
  T& Emplace(Args&&... args) {
    internal::StateSlot<T>& slot = internal::SlotOf<T>(cycle_->slots, states_);
    if constexpr (std::is_constructible_v<T, Args...>) {
      return slot.emplace(std::forward<Args>(args)...);
    } else {
      return slot.emplace(T{std::forward<Args>(args)...});
    }
  }
  // Returns the state.
  // Errors: throws an Error if no method has emplaced the state in this cycle, so that the current
  //         method returns BERTH_ERROR: "PreFilter has not run, but Filter requires it: enable the
  //         plugin at PreFilter".
  template <class T>
  T& State() {
    return internal::StateIn<T>(cycle_->slots, states_);
  }
  template <class T>
  const T& State() const {
    return internal::StateIn<T>(cycle_->slots, states_);
  }
  // Returns the state, or null if no method has emplaced it in this cycle.
  template <class T>
  T* TryState() {
    return internal::TryStateIn<T>(cycle_->slots, states_);
  }
  template <class T>
  const T* TryState() const {
    return internal::TryStateIn<T>(cycle_->slots, states_);
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
  // no such column, or one of another type.
  template <class T>
  ColumnRef<T> TryBind(std::string_view name) {
    static_assert(!internal::kColumnTypes<T>.empty(),
                  "Cycle::Bind<T>: T must be int64_t, uint32_t (also for ids), uint8_t, "
                  "berth_array, berth_str or const berth_object*");
    const std::optional<uint32_t> index =
        internal::BindColumn(*services_, *cycle_, name, internal::kColumnTypes<T>);
    return index.has_value() ? ColumnRef<T>(*index) : ColumnRef<T>();
  }

  // True after a call of Bind failed.
  bool failed() const { return failed_; }

 private:
  const berth_cycle* cycle_;
  const internal::Services* services_;
  berth_status* status_;
  internal::States states_;
  bool failed_ = false;
};

// The node that was chosen for the pod. The pod is already assumed on the node: the columns and the
// pods of the node include it.
//
// Lifetime:  until the call that passed it returns.
class Target {
 public:
  explicit Target(const berth_target& target) : target_(&target) {}

  NodeView node() const { return *target_->node; }
  // Valid only in [cycle].
  uint32_t row() const { return target_->row; }
  std::span<const berth_pod* const> pods() const { return block().Pods(target_->index); }
  // Returns the node with the columns of the plugin: target.Node<Columns>()[berth::ReqCpu{}].
  template <class C>
  NodeRow<C> Node() const {
    return Block<C>(*target_->block)[target_->index];
  }
  // Returns the value of a column that was bound in PreFilter or PreScore.
  template <class T>
  T Get(ColumnRef<T> ref) const {
    return block().Get(ref, target_->index);
  }

 private:
  RawBlock block() const { return RawBlock(*target_->block); }

  const berth_target* target_;
};

// The data of a pod in its binding cycle; it has no rows and no blocks.
//
// Lifetime:  until the pod has left the binding cycle.
class Binding {
 public:
  // For the SDK.
  Binding(const berth_binding& binding, internal::States states)
      : binding_(&binding), states_(states) {}

  berth::Pod pod() const { return *binding_->pod; }
  std::string_view node_name() const { return Str(binding_->node_name); }
  std::string_view node_uid() const { return Str(binding_->node_uid); }
  bool cancelled() const { return BERTH_IS_CANCELLED(binding_); }
  int64_t deadline_ns() const { return binding_->deadline_ns; }
  const berth_binding& abi() const { return *binding_; }

  // Returns the plugin's State or ScoreState, as Cycle::State does.
  // Errors: throws an Error if no method has emplaced the state in the cycle.
  template <class T>
  T& State() const {
    return internal::StateIn<T>(binding_->slots, states_);
  }
  // Returns the state, or null if no method has emplaced it in the cycle. Use it in Unreserve,
  // which is also called for a plugin whose Reserve did not run.
  template <class T>
  T* TryState() const {
    return internal::TryStateIn<T>(binding_->slots, states_);
  }

 private:
  const berth_binding* binding_;
  internal::States states_;
};

}  // namespace berth

#endif  // BERTH_CYCLE_H_
