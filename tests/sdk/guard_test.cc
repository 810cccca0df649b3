#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// Selects what the plugin throws.
enum class Thrown { kNothing, kError, kMemory, kStandard, kOther };
Thrown g_thrown = Thrown::kNothing;

class Throws : public Plugin {
 public:
  static constexpr std::string_view kName = "Throws";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Throws.";
  Throws() { Throw(); }
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const {
    Throw();
    return kPass;
  }
  static void Throw() {
    switch (g_thrown) {
      case Thrown::kNothing: return;
      case Thrown::kError: throw Error("no such device");
      case Thrown::kMemory: throw std::bad_alloc();
      case Thrown::kStandard: throw std::out_of_range("at");
      case Thrown::kOther: throw 5;
    }
  }
};

TEST(Guard, TurnsExceptionsIntoCodes) {
  const struct {
    Thrown thrown;
    berth_code code;
    std::vector<std::string> texts;
  } cases[] = {
      {Thrown::kNothing, BERTH_SUCCESS, {}},
      {Thrown::kError, BERTH_ERROR, {"no such device"}},
      {Thrown::kMemory, BERTH_ERROR, {"out of memory"}},
      {Thrown::kStandard, BERTH_BUG, {"at"}},
      {Thrown::kOther, BERTH_BUG, {"threw an object that is not a std::exception"}},
  };
  for (const auto& c : cases) {
    testing::SmallHost host;
    g_thrown = Thrown::kNothing;
    testing::SmallInstance plugin(kEntryOf<Throws>, host);
    testing::SmallCycle<int> cycle;
    testing::RecordedStatus recorded;
    uint8_t codes[1];
    uint64_t reasons[1];
    berth_filter_out out = {sizeof(out), 0, codes, reasons};
    const berth_block block = {sizeof(block), 1,       1,       0,       nullptr,
                               nullptr,       nullptr, nullptr, nullptr, nullptr};
    g_thrown = c.thrown;
    EXPECT_EQ(plugin.Point<berth_filter>(BERTH_POINT_FILTER)
                  ->filter(plugin.self(), &cycle.cycle, &block, &out, recorded.abi()),
              c.code);
    EXPECT_EQ(recorded.texts, c.texts);
    testing::SmallInstance created(kEntryOf<Throws>, host);
    EXPECT_EQ(created.code, c.code) << "in the constructor";
    EXPECT_EQ(created.recorded.texts, c.texts);
  }
  g_thrown = Thrown::kNothing;
}

// Keeps an index from changes, and throws at a change without a pod.
class ThrowsOnChange : public Plugin {
 public:
  static constexpr std::string_view kName = "ThrowsOnChange";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Keeps an index.";
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }
  void OnChange(const Change& change) {
    if (change.pod == nullptr) throw Error("no pod");
  }
  std::vector<EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_NODE, BERTH_ACTION_ADD}};
  }
  QueueingHint Hint(const Queued& queued, const Event& /*event*/) const {
    if (queued.attempts > 1) throw Error("in Hint");
    return QueueingHint::kSkip;
  }
};

TEST(Guard, HintOfABrokenIndexQueuesThePod) {
  testing::SmallHost host;
  testing::SmallInstance plugin(kEntryOf<ThrowsOnChange>, host);
  const auto* changes = plugin.Point<berth_changes>(BERTH_POINT_CHANGES);
  const auto* extensions = plugin.Point<berth_enqueue_extensions>(BERTH_POINT_ENQUEUE_EXTENSIONS);
  const berth_pod pod = {};
  const berth_event event = {};
  const auto hint = [&](uint32_t attempts) {
    berth_queued queued = {};
    queued.attempts = attempts;
    return extensions->hint(plugin.self(), &queued, &event);
  };
  berth_change change = {};
  change.pod = &pod;
  changes->change(plugin.self(), &change);
  EXPECT_EQ(hint(1), uint32_t{BERTH_HINT_SKIP});
  EXPECT_EQ(hint(2), uint32_t{BERTH_HINT_QUEUE}) << "after an exception";
  EXPECT_EQ(hint(1), uint32_t{BERTH_HINT_SKIP}) << "an exception of Hint breaks no index";
  change.pod = nullptr;
  changes->change(plugin.self(), &change);
  EXPECT_EQ(hint(1), uint32_t{BERTH_HINT_QUEUE}) << "after OnChange threw";
}

}  // namespace
}  // namespace berth
