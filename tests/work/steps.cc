#include "steps.h"

#include <cstdint>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/instance.h>
#include <berth/testing/views.h>

namespace {
uint64_t g_steps = 0;
}  // namespace

// Called by every basic block of a counted plugin.
extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc() { ++g_steps; }

namespace berth::testing {

namespace {

// Asks for the signature and for what changed since `token`.
void Reuse(Instance& instance, const Cycle& cycle, Step step, uint64_t* token) {
  const berth_dependence* const dependence = DependenceOf(instance, step);
  if (dependence == nullptr) return;
  berth_signature signature{};
  if (dependence->sign != nullptr) dependence->sign(instance.self(), cycle.abi(), &signature);
  if (dependence->changed == nullptr) return;
  dependence->changed(
      instance.self(), cycle.abi(), token,
      [](void* /*to*/, const uint32_t* /*rows*/, uint64_t /*count*/) noexcept {}, nullptr);
}

}  // namespace

uint64_t Steps() { return g_steps; }

void CountedPlugin::Try(const PodSpec& pod, Step step) {
  Instance& instance = plugin_.instance();
  const PodHandle handle(pod, plugin_.ids());
  uint64_t token = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Cycle cycle(&instance, &plugin_.table(), handle);
    Answer answer = cycle.PreFilter();
    if (step == Step::kScore) answer = cycle.PreScore();
    if (!answer.ok()) continue;
    Reuse(instance, cycle, step, &token);
    EvaluateTable(cycle, step);
  }
}

}  // namespace berth::testing
