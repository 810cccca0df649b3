// One instance of a plugin: its object, its services, and the tables of its extension points.
#ifndef BERTH_INTERNAL_INSTANCE_H_
#define BERTH_INTERNAL_INSTANCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <berth/abi.h>
#include <berth/args.h>
#include <berth/cycle.h>
#include <berth/host.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/internal/near_names.h>
#include <berth/internal/points.h>
#include <berth/internal/services.h>
#include <berth/internal/text.h>
#include <berth/quiesce.h>

namespace berth::internal {

// A state as a berth_slot, which is constructed without a state.
template <class State>
struct MakeSlot {
  static_assert(std::is_copy_constructible_v<State>,
                "State must be copyable: the host clones it for what-if questions");
  static_assert(alignof(State) <= 64, "State must not be aligned to more than 64 bytes");
  using Slot = StateSlot<State>;

  static void Construct(void* at) noexcept { ::new (at) Slot(); }
  static berth_code Clone(void* to, const void* from) noexcept {
    return Guard(nullptr, [&]() -> berth_code {
      ::new (to) Slot(*static_cast<const Slot*>(from));
      return BERTH_SUCCESS;
    });
  }
  static void Destroy(void* at) noexcept { static_cast<Slot*>(at)->~Slot(); }

  static constexpr berth_slot Make(const char* type_id) {
    return {sizeof(berth_slot),
            static_cast<uint32_t>(sizeof(Slot)),
            static_cast<uint32_t>(alignof(Slot)),
            0,
            type_id,
            &Construct,
            std::is_trivially_copyable_v<Slot> ? nullptr : &Clone,
            std::is_trivially_destructible_v<Slot> ? nullptr : &Destroy};
  }
};

template <class P>
inline constexpr bool kHasState = !std::is_same_v<typename P::State, NoState>;
template <class P>
inline constexpr bool kHasScoreState = !std::is_same_v<typename P::ScoreState, NoScoreState>;
// The ScoreState, or NoScoreState where it is wrongly the State too, which kSlots reports.
template <class P>
using ScoreStateOf = std::conditional_t<std::is_same_v<typename P::State, typename P::ScoreState>,
                                        NoScoreState, typename P::ScoreState>;
// The slot of the ScoreState follows that of the State.
template <class P>
inline constexpr uint32_t kScoreStateSlot = kHasState<P>&& kHasScoreState<P> ? 1 : 0;

template <class P>
inline constexpr auto kSlots = [] {
  constexpr const char* kId = kTerminated<P::kName>.text;
  static_assert(!std::is_same_v<typename P::State, typename P::ScoreState>,
                "State and ScoreState must be different types");
  if constexpr (kHasState<P> && kHasScoreState<P>) {
    return std::array<berth_slot, 2>{MakeSlot<typename P::State>::Make(kId),
                                     MakeSlot<typename P::ScoreState>::Make(kId)};
  } else if constexpr (kHasState<P>) {
    return std::array<berth_slot, 1>{MakeSlot<typename P::State>::Make(kId)};
  } else if constexpr (kHasScoreState<P>) {
    return std::array<berth_slot, 1>{MakeSlot<typename P::ScoreState>::Make(kId)};
  } else {
    return std::array<berth_slot, 0>{};
  }
}();

// The states by slot. State is emplaced by PreFilter or, if there is none, PreScore; ScoreState by
// PreScore.
template <class P>
inline constexpr auto kStateFacts = [] {
  constexpr const char* kPreFilter = kHasPreFilter<P> ? "PreFilter" : nullptr;
  constexpr const char* kPreScore = kHasPreScore<P> ? "PreScore" : nullptr;
  std::array<StateFacts, 2> facts = {};
  if (kHasScoreState<P>) {
    facts[kScoreStateSlot<P>] = {"ScoreState", kPreScore};
  }
  if (kHasState<P>) {
    facts[0] = {"State", kPreFilter != nullptr ? kPreFilter : kPreScore};
  }
  return facts;
}();

template <class P>
inline constexpr auto kReasonTexts = [] {
  constexpr std::size_t kCount = P::kReasons.texts.size();
  std::array<berth_str, kCount> out = {};
  for (std::size_t i = 0; i < kCount; ++i) out[i] = Str(P::kReasons.texts[i]);
  return out;
}();

template <class T, std::size_t N>
berth_array ArrayOf(const std::array<T, N>& items) {
  return {items.data(), static_cast<uint32_t>(N), static_cast<uint32_t>(sizeof(T))};
}

template <class P>
P MakePlugin(const Host& host, const typename P::Args& args) {
  using Args = typename P::Args;
  if constexpr (std::is_constructible_v<P, const Host&, const Args&>) {
    return P(host, args);
  } else if constexpr (!std::is_empty_v<Args> && std::is_constructible_v<P, const Args&>) {
    return P(args);
  } else if constexpr (std::is_constructible_v<P, const Host&>) {
    return P(host);
  } else {
    return P();
  }
}

template <class P>
class Instance : private DefineState<typename P::State, 0>,
                 private DefineState<ScoreStateOf<P>, kScoreStateSlot<P>> {
 public:
  using PluginType = P;
  template <class Point>
  using TableOf = typename Point::template Table<Instance>;

  Instance(const berth_host* from, Terms terms, const typename P::Args& args)
      : services(from, &fault, std::move(terms)),
        plugin_(MakePlugin<P>(Host(services), args)),
        tables_(*this) {
    // Lets the compiler define the functions, which other files of the library may call.
    StateMustBeTheStateOfAPlugin(StateTag<typename P::State>());
    StateMustBeTheStateOfAPlugin(StateTag<ScoreStateOf<P>>());
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  P& plugin() { return plugin_; }
  const P& plugin() const { return plugin_; }
  // `method`: the method of the plugin that is about to be called.
  Cycle Wrap(const berth_cycle& cycle, berth_status* status, const char* method) const {
    return Cycle(cycle, services, status, StatesIn(cycle.slots, method));
  }
  Binding Wrap(const berth_binding& binding, const char* method) const {
    return Binding(binding, StatesIn(binding.slots, method));
  }

  berth_plugin* abi() {
    abi_ = {sizeof(berth_plugin),
            0,
            this,
            ArrayOf(P::Columns::kRequests),
            ArrayOf(kSlots<P>),
            ArrayOf(kReasonTexts<P>),
            &GetPoint,
            nullptr,
            &Destroy};
    if constexpr (kHasQuiesce<P>) abi_.quiesce = &Quiesce;
    return &abi_;
  }

 private:
  static States StatesIn(void* const* slots, const char* method) {
    States states{kStateFacts<P>.data(), method};
    for (std::size_t i = 0; i < kSlots<P>.size(); ++i) states.slots[i] = slots[i];
    return states;
  }

  template <class... Point>
  struct Tables : TableOf<Point>... {
    explicit Tables(const Instance& instance) : TableOf<Point>(instance)... {}
    const void* Find(std::string_view id) const {
      const void* found = nullptr;
      (Match<Point>(id, found), ...);
      return found;
    }

   private:
    template <class One>
    void Match(std::string_view id, const void*& found) const {
      if (id == One::kId) found = &static_cast<const TableOf<One>&>(*this).abi;
    }
  };
  template <class List>
  struct TablesOf;
  template <class... Point>
  struct TablesOf<PointList<Point...>> {
    using Type = Tables<Point...>;
  };

  static const void* GetPoint(const berth_plugin* plugin, const char* id) noexcept {
    return static_cast<const Instance*>(plugin->self)->tables_.Find(id);
  }
  static void Quiesce(berth_plugin* plugin) noexcept {
    Instance& self = *static_cast<Instance*>(plugin->self);
    GuardVoid(self.services, "Quiesce", [&] { self.plugin_.Quiesce(); });
  }
  static void Destroy(berth_plugin* plugin) noexcept {
    delete static_cast<Instance*>(plugin->self);
  }

 public:
  Fault fault;
  const Services services;

 private:
  P plugin_;
  typename TablesOf<PointsOf<P>>::Type tables_;
  berth_plugin abi_ = {};
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_INSTANCE_H_
