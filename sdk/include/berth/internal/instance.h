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
#include <berth/internal/points.h>
#include <berth/internal/services.h>
#include <berth/internal/text.h>

BERTH_INTERNAL_DETECT(Quiesce);

namespace berth::internal {

// The State as a berth_slot. An empty type has no slot.
template <class State>
struct SlotOf {
  static_assert(std::is_nothrow_default_constructible_v<State>,
                "State: the default constructor must be noexcept; hold a member whose "
                "constructor may throw in a std::unique_ptr or std::optional");
  static_assert(std::is_copy_constructible_v<State>,
                "State must be copyable: the host clones it for what-if questions");
  static_assert(alignof(State) <= 64, "State must not be aligned to more than 64 bytes");
  static constexpr bool kTrivial = std::is_trivially_copyable_v<State>;

  static void Construct(void* at) noexcept { ::new (at) State(); }
  static berth_code Clone(void* to, const void* from) noexcept {
    return Guard(nullptr, [&]() -> berth_code {
      ::new (to) State(*static_cast<const State*>(from));
      return BERTH_SUCCESS;
    });
  }
  static void Destroy(void* at) noexcept { static_cast<State*>(at)->~State(); }

  static constexpr berth_slot Make(const char* type_id) {
    return {sizeof(berth_slot),
            static_cast<uint32_t>(sizeof(State)),
            static_cast<uint32_t>(alignof(State)),
            0,
            type_id,
            &Construct,
            kTrivial ? nullptr : &Clone,
            std::is_trivially_destructible_v<State> ? nullptr : &Destroy};
  }
};

template <class P>
inline constexpr bool kHasState = !std::is_empty_v<typename P::State>;

template <class P>
inline constexpr auto kSlots = [] {
  if constexpr (kHasState<P>) {
    return std::array<berth_slot, 1>{SlotOf<typename P::State>::Make(kTerminated<P::kName>.text)};
  } else {
    return std::array<berth_slot, 0>{};
  }
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
class Instance : private DefineState<typename P::State> {
 public:
  using PluginType = P;
  template <class Point>
  using TableOf = typename Point::template Table<Instance>;

  Instance(const berth_host* from, const typename P::Args& args)
      : services(from, &fault), plugin_(MakePlugin<P>(Host(services), args)), tables_(*this) {
    // Lets the compiler define the function, which other files of the library may call.
    StateMustBeTheStateOfAPlugin(StateTag<typename P::State>());
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  P& plugin() { return plugin_; }
  const P& plugin() const { return plugin_; }
  Cycle Wrap(const berth_cycle& cycle, berth_status* status) const {
    return Cycle(cycle, services, status, &kTypeTag<typename P::State>);
  }
  Binding Wrap(const berth_binding& binding) const {
    return Binding(binding, &kTypeTag<typename P::State>);
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
