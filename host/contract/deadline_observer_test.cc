#include "host/contract/deadline_observer.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/call.h>

#include "host/guard/call_monitor.h"

namespace berth::host {
namespace {

using ::berth::testing::CallScope;
using ::berth::testing::Reporter;
using ::berth::testing::Word;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr struct {
  const char* function;
  Word word;
  int64_t deadline_ns;
  const char* deadline;
} kCalls[] = {
    {"Filter", testing::kBlock, CallDeadlines().of(Point::kFilter),
     "the deadline of the host is 1.0 s"},
    {"hint", testing::kQueue, CallDeadlines().of(Point::kEnqueueExtensions),
     "the deadline of the host is 1.0 s"},
    {"a slot's clone", testing::kCycle, CallDeadlines().call_ns,
     "the deadline of the host is 1.0 s"},
    {"PostFilter", testing::kCycle, CallDeadlines().of(Point::kPostFilter),
     "the deadline of the host is 10.0 s"},
    {"PreBind", testing::kBind, CallDeadlines().of(Point::kPreBind),
     "the deadline of the host is 1.0 s"},
    {"Bind", testing::kBind, CallDeadlines().of(Point::kBind), "the deadline of the host is 1.0 s"},
    {"Bind", testing::kBindOnPool, CallDeadlines().bind_ns, "the deadline of the host is 600.0 s"},
    {"create", testing::kLoad, DeadlineObserver::kLoadDeadlineNs,
     "the deadline of the check is 10.0 s"},
    {"destroy", testing::kLoad, DeadlineObserver::kLoadDeadlineNs,
     "the deadline of the check is 10.0 s"},
};

// Returns the texts that the observer reports about a call that takes `took_ns`. `deadline_ns`: the
// plugin's own deadline.
std::vector<std::string> Reports(const char* function, Word word, int64_t took_ns,
                                 int64_t deadline_ns = 0) {
  std::atomic<int64_t> now_ns = 0;
  std::mutex mutex;
  std::vector<std::string> reported;
  DeadlineObserver observer([&now_ns] { return now_ns.load(); }, deadline_ns,
                            [&](const std::string& text) {
                              const std::lock_guard lock(mutex);
                              reported.push_back(text);
                            });
  Reporter reporter("acme.Slow");
  reporter.set_observer(&observer);
  {
    const CallScope call(&reporter, function, word);
    now_ns += took_ns;
  }
  const std::lock_guard lock(mutex);
  return reported;
}

TEST(DeadlineObserverTest, HasTheDeadlinesOfTheHost) {
  for (const auto& c : kCalls) {
    SCOPED_TRACE(std::string(c.function) + " " + testing::WordNames(c.word));
    EXPECT_THAT(Reports(c.function, c.word, c.deadline_ns - 1), IsEmpty());
    const int64_t tenths = c.deadline_ns / 100'000'000;
    EXPECT_THAT(Reports(c.function, c.word, c.deadline_ns),
                ElementsAre(std::string(c.function) + " took " + std::to_string(tenths / 10) + "." +
                            std::to_string(tenths % 10) + " s; " + c.deadline));
  }
}

TEST(DeadlineObserverTest, PluginMayHaveADeadlineOfItsOwn) {
  constexpr int64_t kOwnNs = 5 * kSecond;
  for (const auto& c : kCalls) {
    SCOPED_TRACE(std::string(c.function) + " " + testing::WordNames(c.word));
    // Calls that create or destroy a plugin have no deadline in a profile.
    const bool is_own = c.word != testing::kLoad;
    const int64_t limit_ns = is_own ? kOwnNs : c.deadline_ns;
    EXPECT_THAT(Reports(c.function, c.word, limit_ns - 1, kOwnNs), IsEmpty());
    EXPECT_THAT(Reports(c.function, c.word, limit_ns, kOwnNs),
                ElementsAre(::testing::HasSubstr(is_own ? "; the deadline of the plugin is 5.0 s"
                                                        : c.deadline)));
  }
}

TEST(DeadlineObserverTest, ReportsACallThatDoesNotReturn) {
  std::atomic<int64_t> now_ns = 0;
  std::promise<std::string> reported;
  DeadlineObserver observer([&now_ns] { return now_ns.load(); }, 0,
                            [&reported](const std::string& text) { reported.set_value(text); });
  Reporter reporter("acme.Slow");
  reporter.set_observer(&observer);
  const CallScope call(&reporter, "Score", testing::kBlock);
  now_ns += CallDeadlines().call_ns + DeadlineObserver::kHangingAfterNs;
  auto text = reported.get_future();
  ASSERT_EQ(text.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(text.get(), "Score has not returned after 3.0 s; the deadline of the host is 1.0 s");
}

}  // namespace
}  // namespace berth::host
