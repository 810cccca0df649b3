// Counts the steps that a plugin takes. A step is a basic block: code without a branch inside. The
// count depends on the code and the input alone, never on the machine.
#ifndef BERTH_TESTS_WORK_STEPS_H_
#define BERTH_TESTS_WORK_STEPS_H_

#include <cstdint>
#include <string>
#include <utility>

#include <berth/testing/evaluate.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/pod_spec.h>

namespace berth::testing {

// Returns the steps of all counted plugins since the process began. Code of the C library and of
// the kit is not counted: neither is what memmove moves.
uint64_t Steps();

// A counted plugin in a cluster.
class CountedPlugin {
 public:
  CountedPlugin(const std::string& name, Scenario scenario)
      : plugin_(PluginUnderTest::FromLibrary(
            std::string(COUNTED_PLUGIN_DIR "/libcounted_") + name + ".so", std::move(scenario))) {}

  // Makes two attempts to place the pod: PreFilter and, for kScore, PreScore, then the signature,
  // what changed since the attempt before, and the step itself on every node. The first attempt
  // creates what later ones reuse.
  void Try(const PodSpec& pod, Step step);
  // Returns the steps of what `call` does to the plugin.
  template <class F>
  uint64_t Count(F&& call) {
    const uint64_t before = Steps();
    call(plugin_);
    return Steps() - before;
  }

 private:
  PluginUnderTest plugin_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTS_WORK_STEPS_H_
