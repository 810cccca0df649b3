// The sums of random pods, compared with a model of Kubernetes' own helper.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/objects.h"
#include "host/api/requests.h"
#include "host/base/split_mix.h"

namespace berth::host {
namespace {

using Amounts = std::map<ResourceKey, int64_t>;  // cpu in thousandths, all others in units.

Amounts AmountsOf(ResourceList list) {
  Amounts amounts;
  for (const ResourceAmount& one : list) {
    const bool is_cpu = one.key == BERTH_PRESENT_CPU;
    amounts[one.key] = is_cpu ? one.amount.MilliValue() : one.amount.Value();
  }
  return amounts;
}

struct RandomContainer {
  std::string name;
  bool sidecar = false;
  std::vector<ResourceAmount> requests;
};

struct RandomStatus {
  std::string name;
  bool has_resources = false;
  std::vector<ResourceAmount> requests;
  std::vector<ResourceAmount> allocated;
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
      statuses_.push_back({Name(), random_.Next() % 2 == 0, List(), List()});
    }
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
    inputs.resize_infeasible = infeasible_;
    return inputs;
  }

  // Returns the sum of the requests, with `defaults` for a container that lacks one of them.
  Amounts Sum(bool use_status, const Amounts& defaults = {}) const {
    Amounts total;
    Amounts sidecars;
    Amounts largest;
    for (const RandomContainer& c : containers_) Add(total, Of(c, use_status, defaults));
    for (const RandomContainer& c : init_containers_) {
      Amounts phase = Of(c, use_status && c.sidecar, defaults);
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

 private:
  std::string Name() { return "c" + std::to_string(random_.Next() % 8); }
  RandomContainer Container() { return {Name(), random_.Next() % 2 == 0, List()}; }
  std::vector<ResourceAmount> List() {
    Amounts amounts;
    for (uint64_t n = random_.Next() % 4; n > 0; --n) {
      const auto name = static_cast<Id>(random_.Next() % names_);
      const ResourceKey key = name == 0 ? ResourceKey{BERTH_PRESENT_CPU} : ScalarKey(name);
      amounts[key] = static_cast<int64_t>(random_.Next() % 10);
    }
    std::vector<ResourceAmount> list;
    for (const auto& [key, amount] : amounts) list.push_back({key, Quantity(amount, 0)});
    return list;
  }

  Amounts Of(const RandomContainer& container, bool use_status, const Amounts& defaults) const {
    const RandomStatus* status = nullptr;
    for (const RandomStatus& one : statuses_) {
      if (use_status && one.name == container.name) status = &one;
    }
    Amounts amounts = AmountsOf(container.requests);
    if (status != nullptr && status->has_resources) {
      if (infeasible_) amounts.clear();
      Max(amounts, AmountsOf(status->requests));
      Max(amounts, AmountsOf(status->allocated));
    }
    amounts.insert(defaults.begin(), defaults.end());
    return amounts;
  }
  static void Add(Amounts& to, const Amounts& from) {
    for (const auto& [key, amount] : from) to[key] += amount;
  }
  static void Max(Amounts& to, const Amounts& from) {
    for (const auto& [key, amount] : from) to[key] = std::max(to[key], amount);
  }

  SplitMix64 random_;
  uint64_t names_ = 0;
  bool infeasible_ = false;
  std::vector<RandomContainer> containers_;
  std::vector<RandomContainer> init_containers_;
  std::vector<RandomStatus> statuses_;
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
  RequestCalculator calculator;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomPod pod(seed);
    const RequestInputs inputs = pod.Inputs();
    Arena arena;
    const PodRequests requests = calculator.Calculate(inputs, arena);
    ASSERT_EQ(AmountsOf(*requests.request), pod.Sum(false)) << seed;
    ASSERT_EQ(AmountsOf(*requests.request_of_containers), pod.Sum(false, defaults)) << seed;
    ASSERT_EQ(AmountsOf(*requests.accounted), pod.Sum(true)) << seed;
    Amounts nonzero = pod.Sum(true, defaults);
    ASSERT_EQ(requests.nonzero_milli_cpu, nonzero[BERTH_PRESENT_CPU]) << seed;
    ASSERT_EQ(requests.nonzero_memory, nonzero[BERTH_PRESENT_MEMORY]) << seed;
    ASSERT_EQ(AmountsOf(calculator.SumContainers(inputs)), pod.Sum(false)) << seed;
  }
}

}  // namespace
}  // namespace berth::host
