// The sums of random pods, compared with models of Kubernetes' own helper in 1.36 and 1.37.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/objects.h"
#include "host/api/requests.h"
#include "host/base/split_mix.h"

namespace berth::host {
namespace {

using Amounts = std::map<ResourceKey, int64_t>;  // cpu in thousandths, all others in units.
using List = std::vector<ResourceAmount>;

Amounts AmountsOf(ResourceList list) {
  Amounts amounts;
  for (const ResourceAmount& one : list) {
    const bool is_cpu = one.key == BERTH_PRESENT_CPU;
    amounts[one.key] = is_cpu ? one.amount.MilliValue() : one.amount.Value();
  }
  return amounts;
}

// The resources that a pod may request at pod level. A list of these comes before the others.
bool IsPodLevel(ResourceKey key) { return key <= ScalarKey(1); }

struct RandomContainer {
  std::string name;
  bool sidecar = false;
  List requests;
};

struct RandomStatus {
  std::string name;
  bool has_resources = false;
  std::optional<List> requests;
  std::optional<List> allocated;
};

// A pod, and the sums of component-helpers/resource/helpers.go (PodRequests), written as there.
class RandomPod {
 public:
  explicit RandomPod(uint64_t seed) : random_(seed) {
    // Beyond 16 containers and 16 names, the calculator takes other paths.
    const bool is_large = seed % 4 == 0;
    names_ = is_large ? 60 : 5;
    const uint64_t sizes = is_large ? 50 : 4;
    for (uint64_t n = random_.Next() % sizes; n > 0; --n) containers_.push_back(Container());
    for (uint64_t n = random_.Next() % sizes; n > 0; --n) init_containers_.push_back(Container());
    if (seed % 3 == 0) return;
    infeasible_ = random_.Next() % 2 == 0;
    for (uint64_t n = random_.Next() % sizes; n > 0; --n) {
      RandomStatus status = {Name(), random_.Next() % 2 == 0, {}, MaybeList()};
      if (status.has_resources) status.requests = MaybeList();
      if (!containers_.empty() && random_.Next() % 2 == 0) ReportSpec(status);
      statuses_.push_back(std::move(status));
    }
    if (seed % 3 == 1) return;
    pod_allocated_ = MaybeList();
    has_pod_resources_ = random_.Next() % 2 == 0;
    if (has_pod_resources_) pod_actual_ = MaybeList();
    if (random_.Next() % 2 == 0) pod_requests_ = NewList();
    std::erase_if(pod_requests_, [](const ResourceAmount& one) { return !IsPodLevel(one.key); });
  }

  RequestInputs Inputs() {
    for (const RandomContainer& c : containers_) {
      views_.push_back({c.name, c.sidecar, c.requests});
    }
    for (const RandomContainer& c : init_containers_) {
      init_views_.push_back({c.name, c.sidecar, c.requests});
    }
    for (const RandomStatus& s : statuses_) {
      status_views_.push_back({s.name, s.has_resources, s.requests, s.allocated});
    }
    RequestInputs inputs;
    inputs.containers = views_;
    inputs.init_containers = init_views_;
    inputs.statuses = status_views_;
    inputs.pod_requests = pod_requests_;
    inputs.has_pod_status_resources = has_pod_resources_;
    inputs.pod_status_requests = Split(pod_actual_);
    inputs.pod_status_allocated = Split(pod_allocated_);
    inputs.resize_infeasible = infeasible_;
    return inputs;
  }

  // Each sum below has `defaults` for a container that lacks one of them.
  Amounts RequestOfContainers(const Amounts& defaults = {}) const {
    return Sum([](const RandomContainer& c, bool) { return AmountsOf(c.requests); }, defaults);
  }

  Amounts Request() const {
    Amounts total = RequestOfContainers();
    for (const auto& [key, amount] : AmountsOf(pod_requests_)) total[key] = amount;
    return total;
  }

  Amounts Accounted36(const Amounts& defaults = {}) const {
    Amounts total =
        Sum([this](const RandomContainer& c, bool init) { return Largest(c, init); }, defaults);
    const Amounts effective = EffectiveAtPodLevel();
    for (const auto& [key, amount] : AmountsOf(pod_requests_)) {
      const auto found = effective.find(key);
      total[key] = found != effective.end() ? found->second : 0;
    }
    return total;
  }

  Amounts Accounted37(const Amounts& defaults = {}) const {
    Amounts total;
    if (!infeasible_) total = RequestOfContainers(defaults);
    if (pod_allocated_.has_value() && pod_actual_.has_value()) {
      Max(total, pod_allocated_);
      Max(total, pod_actual_);
    } else {
      Max(total, Sum([this](const RandomContainer& c, bool) { return Allocated(c); }, defaults));
      Max(total, Sum([this](const RandomContainer& c, bool) { return Actual(c); }, defaults));
    }
    if (pod_requests_.empty()) return total;
    for (const auto& [key, amount] : EffectiveAtPodLevel()) {
      if (IsPodLevel(key)) total[key] = amount;
    }
    return total;
  }

  bool has_pod_requests() const { return !pod_requests_.empty(); }

 private:
  std::string Name() { return "c" + std::to_string(random_.Next() % 8); }
  RandomContainer Container() { return {Name(), random_.Next() % 2 == 0, NewList()}; }
  List NewList() {
    Amounts amounts;
    for (uint64_t n = random_.Next() % 4; n > 0; --n) {
      const auto name = static_cast<Id>(random_.Next() % names_);
      const ResourceKey key = name == 0 ? ResourceKey{BERTH_PRESENT_CPU} : ScalarKey(name);
      amounts[key] = static_cast<int64_t>(random_.Next() % 10);
    }
    List list;
    for (const auto& [key, amount] : amounts) list.push_back({key, Quantity(amount, 0)});
    return list;
  }
  std::optional<List> MaybeList() {
    if (random_.Next() % 3 == 0) return std::nullopt;
    return NewList();
  }
  // Makes it a status of a container that is not resized.
  void ReportSpec(RandomStatus& status) {
    const RandomContainer& container = containers_[random_.Next() % containers_.size()];
    status = {container.name, true, container.requests, container.requests};
  }
  static std::optional<PodStatusList> Split(const std::optional<List>& list) {
    if (!list.has_value()) return std::nullopt;
    const auto others = std::ranges::find_if_not(*list, IsPodLevel, &ResourceAmount::key);
    return PodStatusList{.pod_level = {list->begin(), others}, .others = {others, list->end()}};
  }

  template <class Requests>
  static Amounts WithDefaults(const Requests& requests, const RandomContainer& container, bool init,
                              const Amounts& defaults) {
    Amounts amounts = requests(container, init);
    amounts.insert(defaults.begin(), defaults.end());
    return amounts;
  }
  // Returns the sum of requests(container, whether it is an init container).
  template <class Requests>
  Amounts Sum(const Requests& requests, const Amounts& defaults) const {
    Amounts total;
    Amounts sidecars;
    Amounts largest;
    for (const RandomContainer& c : containers_) {
      Add(total, WithDefaults(requests, c, false, defaults));
    }
    for (const RandomContainer& c : init_containers_) {
      Amounts phase = WithDefaults(requests, c, true, defaults);
      if (c.sidecar) {
        Add(total, phase);
        Add(sidecars, phase);
        phase = sidecars;
      } else {
        Add(phase, sidecars);
      }
      Max(largest, phase);
    }
    Max(total, largest);
    return total;
  }

  static void Add(Amounts& to, const Amounts& from) {
    for (const auto& [key, amount] : from) to[key] += amount;
  }
  static void Max(Amounts& to, const Amounts& from) {
    for (const auto& [key, amount] : from) to[key] = std::max(to[key], amount);
  }
  static void Max(Amounts& to, const std::optional<List>& from) {
    if (from.has_value()) Max(to, AmountsOf(*from));
  }

  // 1.36: a map of the statuses by name, in which the last one stays.
  Amounts Largest(const RandomContainer& container, bool init) const {
    const RandomStatus* status = nullptr;
    for (const RandomStatus& one : statuses_) {
      if ((!init || container.sidecar) && one.name == container.name) status = &one;
    }
    Amounts amounts = AmountsOf(container.requests);
    if (status == nullptr || !status->has_resources) return amounts;
    if (infeasible_) amounts.clear();
    Max(amounts, status->requests);
    Max(amounts, status->allocated);
    return amounts;
  }
  // 1.37: the first status of the name.
  const RandomStatus* Find(const std::string& name) const {
    const auto found = std::ranges::find(statuses_, name, &RandomStatus::name);
    return found != statuses_.end() ? &*found : nullptr;
  }
  Amounts Allocated(const RandomContainer& container) const {
    const RandomStatus* status = Find(container.name);
    if (status != nullptr && status->allocated.has_value()) return AmountsOf(*status->allocated);
    return infeasible_ ? Amounts() : AmountsOf(container.requests);
  }
  Amounts Actual(const RandomContainer& container) const {
    const RandomStatus* status = Find(container.name);
    if (status != nullptr && status->requests.has_value()) return AmountsOf(*status->requests);
    return Allocated(container);
  }
  Amounts EffectiveAtPodLevel() const {
    Amounts effective = AmountsOf(pod_requests_);
    if (!has_pod_resources_) return effective;
    if (infeasible_) effective.clear();
    Max(effective, pod_actual_);
    Max(effective, pod_allocated_);
    return effective;
  }

  SplitMix64 random_;
  uint64_t names_ = 0;
  bool infeasible_ = false;
  std::vector<RandomContainer> containers_;
  std::vector<RandomContainer> init_containers_;
  std::vector<RandomStatus> statuses_;
  List pod_requests_;
  bool has_pod_resources_ = false;
  std::optional<List> pod_actual_;
  std::optional<List> pod_allocated_;
  std::vector<ContainerRequests> views_;
  std::vector<ContainerRequests> init_views_;
  std::vector<ContainerStatus> status_views_;
};

Amounts AmountsOf(const berth_resources& resources) {
  Amounts amounts;
  if (resources.present & BERTH_PRESENT_CPU) amounts[BERTH_PRESENT_CPU] = resources.milli_cpu;
  if (resources.present & BERTH_PRESENT_MEMORY) amounts[BERTH_PRESENT_MEMORY] = resources.memory;
  for (const berth_quantity& scalar : Elements<berth_quantity>(resources.scalars)) {
    amounts[ScalarKey(scalar.name)] = scalar.value;
  }
  return amounts;
}

TEST(RandomRequests, AreThoseOfTheHelper) {
  const Amounts defaults = {{BERTH_PRESENT_CPU, kDefaultCpu.MilliValue()},
                            {BERTH_PRESENT_MEMORY, kDefaultMemory.Value()}};
  RequestCalculator calculators[] = {RequestCalculator({1, 36}), RequestCalculator({1, 37})};
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomPod pod(seed);
    const RequestInputs inputs = pod.Inputs();
    for (RequestCalculator& calculator : calculators) {
      const bool is_old = &calculator == calculators;
      SCOPED_TRACE((is_old ? "1.36, " : "1.37, ") + std::to_string(seed));
      Arena arena;
      const PodRequests requests = calculator.Calculate(inputs, arena);
      ASSERT_EQ(AmountsOf(*requests.request), pod.Request());
      ASSERT_EQ(AmountsOf(*requests.request_of_containers), pod.RequestOfContainers(defaults));
      const Amounts accounted = is_old ? pod.Accounted36() : pod.Accounted37();
      ASSERT_EQ(AmountsOf(*requests.accounted), accounted);
      Amounts missing = defaults;
      if (pod.has_pod_requests()) {
        std::erase_if(missing, [&](const auto& one) { return accounted.contains(one.first); });
      }
      Amounts nonzero = is_old ? pod.Accounted36(missing) : pod.Accounted37(missing);
      ASSERT_EQ(requests.nonzero_milli_cpu, nonzero[BERTH_PRESENT_CPU]);
      ASSERT_EQ(requests.nonzero_memory, nonzero[BERTH_PRESENT_MEMORY]);
      ASSERT_EQ(AmountsOf(calculator.SumContainers(inputs)), pod.RequestOfContainers());
    }
  }
}

}  // namespace
}  // namespace berth::host
