// Cycle:   the data of one attempt to schedule a pod, with the plugin's state in that attempt.
// Binding: the data of the same pod in its binding cycle.
#ifndef BERTH_CYCLE_H_
#define BERTH_CYCLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <berth/abi.h>
#include <berth/internal/fail.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/nodes.h>
#include <berth/pod.h>
#include <berth/status.h>

namespace berth {
namespace internal {

// The addresses of the elements identify the type of a state, and whether its slot has a state.
template <class T>
inline constexpr char kStateTags[2] = {};
template <class T>
inline constexpr const char* kEmptyTag = &kStateTags<T>[0];
template <class T>
inline constexpr const char* kFullTag = &kStateTags<T>[1];

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

// The beginning of every slot. One comparison of the tag tests both the type of the state and
// whether there is a state, so that the test of the type costs nothing for each node.
struct SlotHead {
  const char* tag;  // kEmptyTag<T> or kFullTag<T>; null: the plugin has no such slot.
};
inline constexpr SlotHead kNoSlot = {nullptr};

// The content of a slot: the state, or nothing before Emplace.
template <class T>
struct StateSlot : SlotHead {
  StateSlot() : SlotHead{kEmptyTag<T>} {}

  template <class... Args>
  T& Emplace(Args&&... args) {
    tag = kEmptyTag<T>;
    if constexpr (std::is_constructible_v<T, Args...>) {
      state.emplace(std::forward<Args>(args)...);
    } else {
      state.emplace(T{std::forward<Args>(args)...});
    }
    tag = kFullTag<T>;
    return *state;
  }

  std::optional<T> state;
};

// A state of a plugin, for the messages about it.
struct StateFacts {
  const char* name;         // "State" or "ScoreState".
  const char* prepared_at;  // "PreFilter": the point that emplaces the state; null: none known.
};

// The states of the plugin of a Cycle or Binding.
struct States {
  const StateFacts* facts;  // By slot.
  const char* method;       // The method that is being called: "Filter".
  // By slot: StateSlot<T>, or kNoSlot, which is never written.
  void* slots[2] = {const_cast<SlotHead*>(&kNoSlot), const_cast<SlotHead*>(&kNoSlot)};
};

// Returns the name of type T.
template <class T>
constexpr std::string_view TypeName() {
  constexpr std::string_view kStart = "T = ";
  const std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = Name; ...]" or "[T = Name]"
  const std::size_t begin = text.find(kStart) + kStart.size();
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

// Throws the error of a method that uses the state of another plugin. The linker finds only types
// that are the state of no plugin in the library.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailForeignState(const States& states,
                                                                    std::string_view type) {
  FailBug(std::string(states.method)
              .append(" uses the state ")
              .append(type)
              .append(", which is neither the State nor the ScoreState of this plugin"));
}

// Throws the error of a method that uses a state that no method has emplaced.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailNoState(const States& states,
                                                               uint32_t slot) {
  const StateFacts& facts = states.facts[slot];
  const std::string_view method = states.method;
  std::string text(method);
  text.append(" requires the ").append(facts.name);
  text.append(" of the plugin, which no method has emplaced in this cycle: ");
  if (facts.prepared_at == nullptr || method == facts.prepared_at) {
    Fail(text + "call Emplace first");
  }
  const std::string_view at = facts.prepared_at;
  text.append(at).append(" was not called (the profile must run the plugin at ").append(at);
  if (at == "PreScore") text.append(", and two or more nodes must be feasible");
  Fail(text.append("), or it did not call Emplace"));
}

// Returns the slot of state T.
template <class T>
StateSlot<T>& SlotOf(const States& states) {
  auto* const head =
      static_cast<SlotHead*>(states.slots[StateMustBeTheStateOfAPlugin(StateTag<T>())]);
  if (head->tag != kFullTag<T> && head->tag != kEmptyTag<T>) [[unlikely]]
    FailForeignState(states, TypeName<T>());
  return *static_cast<StateSlot<T>*>(head);
}

template <class T>
T* TryStateIn(const States& states) {
  StateSlot<T>& slot = SlotOf<T>(states);
  return slot.tag == kFullTag<T> ? &*slot.state : nullptr;
}

// Throws the error of a method that uses a state of type T although there is none.
template <class T>
[[noreturn, gnu::cold, gnu::noinline]] void FailState(const States& states) {
  static_cast<void>(SlotOf<T>(states));
  FailNoState(states, StateMustBeTheStateOfAPlugin(StateTag<T>()));
}

template <class T>
T& StateIn(const States& states) {
  auto* const head =
      static_cast<SlotHead*>(states.slots[StateMustBeTheStateOfAPlugin(StateTag<T>())]);
  if (head->tag != kFullTag<T>) [[unlikely]]
    FailState<T>(states);
  return *static_cast<StateSlot<T>*>(head)->state;
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
  // link; with the state of another plugin in the library, the methods below throw a
  // std::logic_error, so that the current method returns BERTH_BUG.

  // Constructs the state from `args`, in place of the previous one if there is one, and returns it.
  // Called: from PreFilter, PreScore, or any other method that receives a Cycle&.
  template <class T, class... Args>
  T& Emplace(Args&&... args) {
    return internal::SlotOf<T>(states_).Emplace(std::forward<Args>(args)...);
  }
  // Returns the state.
  // Errors: throws an Error if no method has emplaced the state in this cycle, so that the current
  //         method returns BERTH_ERROR. Its text names the method, the state, and the point that
  //         was not called or did not call Emplace.
  template <class T>
  T& State() {
    return internal::StateIn<T>(states_);
  }
  template <class T>
  const T& State() const {
    return internal::StateIn<T>(states_);
  }
  // Returns the state, or null if no method has emplaced it in this cycle.
  template <class T>
  T* TryState() {
    return internal::TryStateIn<T>(states_);
  }
  template <class T>
  const T* TryState() const {
    return internal::TryStateIn<T>(states_);
  }

  // Binds a column whose name depends on the pod: Bind<int64_t>("req:example.com/gpu"). The same
  // name returns the same column.
  // Called: from PreFilter and PreScore only.
  // Errors: if the host has no such column, or one of another type, the current method returns
  //         BERTH_ERROR, whatever status it returns itself. In another method than PreFilter and
  //         PreScore, Bind throws an exception, and the method returns BERTH_BUG even if it catches
  //         the exception, or is built without exceptions.
  template <class T>
  ColumnRef<T> Bind(std::string_view name) {
    const ColumnRef<T> column = TryBind<T>(name);
    if (!column && failure_ != BERTH_BUG) {
      failure_ = BERTH_ERROR;
      internal::AddReason(status_,
                          "the host has no column \"" + std::string(name) + "\" of this type");
    }
    return column;
  }
  // Binds a column that the plugin does not require. Returns an unbound reference if the host has
  // no such column, or one of another type.
  // Called: from PreFilter and PreScore only; otherwise as Bind.
  template <class T>
  ColumnRef<T> TryBind(std::string_view name) {
    static_assert(!internal::kColumnTypes<T>.empty(),
                  "Cycle::Bind<T>: T must be int64_t, uint32_t (also for ids), uint8_t, "
                  "berth_array, berth_str or const berth_object*");
    if (!MayBind()) return FailBind(name), ColumnRef<T>();
    const std::optional<uint32_t> index =
        internal::BindColumn(*services_, *cycle_, name, internal::kColumnTypes<T>);
    return index.has_value() ? ColumnRef<T>(*index) : ColumnRef<T>();
  }

  // True after a call of Bind failed.
  bool failed() const { return failure_ != BERTH_SUCCESS; }
  // For the SDK: returns the code of the current method after a call of Bind failed, or Success if
  // none failed.
  berth_code failure() const { return failure_; }

 private:
  bool MayBind() const {
    const std::string_view method = states_.method;
    return method == "PreFilter" || method == "PreScore";
  }
  // Reports a call of Bind in a wrong method. The flag is set too, because the method may catch the
  // exception.
  [[gnu::cold, gnu::noinline]] void FailBind(std::string_view name) {
    failure_ = BERTH_BUG;
    const std::string text = std::string(states_.method) + " binds the column \"" +
                             std::string(name) + "\", which only PreFilter and PreScore may do";
    internal::AddReason(status_, text);
#if defined(__cpp_exceptions)
    throw internal::ReportedFault(text);
#endif
  }

  const berth_cycle* cycle_;
  const internal::Services* services_;
  berth_status* status_;
  internal::States states_;
  berth_code failure_ = BERTH_SUCCESS;
};

namespace internal {

// Returns the code and reasons of a method that received `cycle`, or the code of a failed Bind.
inline berth_code Answer(const Cycle& cycle, const Status& answer, berth_status* status) {
  return cycle.failed() ? cycle.failure() : Answer(answer, status);
}

}  // namespace internal

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
  // The times, on the clock of Timers::Now(), at which the method must return, and at which its
  // Done must be completed if it returns Pending. 0: none.
  int64_t call_deadline_ns() const { return binding_->call_deadline_ns; }
  int64_t completion_deadline_ns() const { return binding_->completion_deadline_ns; }
  const berth_binding& abi() const { return *binding_; }

  // Returns the plugin's State or ScoreState, as Cycle::State does.
  // Errors: throws an Error if no method has emplaced the state in the cycle.
  template <class T>
  T& State() const {
    return internal::StateIn<T>(states_);
  }
  // Returns the state, or null if no method has emplaced it in the cycle. Use it in Unreserve,
  // which is also called for a plugin whose Reserve did not run.
  template <class T>
  T* TryState() const {
    return internal::TryStateIn<T>(states_);
  }

 private:
  const berth_binding* binding_;
  internal::States states_;
};

}  // namespace berth

#endif  // BERTH_CYCLE_H_
