// Shared by the tests of reflectors: a reflector of nodes whose server is the test.
#ifndef BERTH_TESTS_HARNESS_REFLECTOR_FIXTURE_H_
#define BERTH_TESTS_HARNESS_REFLECTOR_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/reflector.h"
#include "host/cluster/test_watch_event_text.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

// Records events as WatchEventText() does; "|" ends a call. Records errors as "error: ..." and
// their end as "ok".
class RecordingReflectorSink final : public ReflectorSink {
 public:
  void OnEvents(std::vector<WatchEvent> events) override {
    for (const WatchEvent& event : events) seen.push_back(WatchEventText(event));
    seen.emplace_back("|");
  }
  void OnWatchError(const Status& status) override {
    seen.push_back(status.ok() ? "ok" : "error: " + status.ToString());
  }

  std::vector<std::string> seen;
};

class ReflectorTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kFirst =
      "GET /api/v1/nodes?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
      "&sendInitialEvents=true&watch=true";
  static constexpr std::string_view kPage = "GET /api/v1/nodes?limit=500";

  static std::string AgainFrom(const std::string& version) {
    return "GET /api/v1/nodes?allowWatchBookmarks=true&resourceVersion=" + version +
           "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";
  }
  static std::string WatchFrom(const std::string& version) {
    return "GET /api/v1/nodes?allowWatchBookmarks=true&resourceVersion=" + version + "&watch=true";
  }

  // ---- Texts of the server
  static std::string NodeText(const std::string& name, int version) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"u-)" +
           name + R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
  }
  // A node whose uid is no text.
  static std::string BrokenNodeText(const std::string& name, int version) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","resourceVersion":")" + std::to_string(version) + R"(","uid":7}})";
  }
  // A node whose cpu is no quantity.
  static std::string PartialNodeText(const std::string& name, int version) {
    std::string text = NodeText(name, version);
    text.pop_back();
    return text + R"(,"status":{"allocatable":{"cpu":"much","pods":"3"}}})";
  }
  // A node with a label that is not UTF-8.
  static std::string NotUtf8NodeText(const std::string& name, int version) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","resourceVersion":")" + std::to_string(version) +
           "\",\"labels\":{\"a\":\"\xFF\"}}}";
  }
  static std::string Line(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
  }
  static std::string Line(const std::string& type, const std::string& name, int version) {
    return Line(type, NodeText(name, version));
  }
  static std::string Bookmark(int version, bool is_end = false) {
    const std::string end = R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
    return Line("BOOKMARK", R"({"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")" +
                                std::to_string(version) + "\"" + (is_end ? end : "") + "}}");
  }
  static std::string StatusText(int code, const std::string& reason,
                                const std::string& message = "text") {
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
           R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}";
  }
  static std::string TooLargeText() {
    return R"({"kind":"Status","status":"Failure","message":"text","reason":"Timeout","details":)"
           R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large"}]},"code":504})";
  }
  static std::string ListText(int version, const std::string& items,
                              const std::string& continue_token = "") {
    return R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" +
           std::to_string(version) + R"(","continue":")" + continue_token + R"("},"items":[)" +
           items + "]}";
  }
  static std::string ResourcesText(const std::string& plural = "nodes") {
    return R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":")" + plural +
           R"(","namespaced":false,"kind":"Node","verbs":["get","list","watch"]}]})";
  }

  // ---- Steps
  void Start(Reflector::Options options = {}) {
    if (options.kind.empty()) options.kind = "v1/Node";
    options.needed_by = [](std::string_view) { return "the host"; };
    reflector_ = Reflector::Create(transport_, executor_, discovery_, reader_, sink_,
                                   std::move(options), Log(log_, "test"));
    reflector_->Start();
  }
  // Starts the reflector, and delivers n1@5 and n2@6 with the resourceVersion 10 as initial events.
  void StartWatching() {
    Start();
    transport_.Answer(0, 200, ResourcesText());
    transport_.Head(0);
    transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 6) + Bookmark(10, true));
    sink_.seen.clear();
  }
  // As StartWatching(), from a server without initial events.
  void StartWatchingWithPages() {
    Start();
    transport_.Answer(0, 200, ResourcesText());
    transport_.Answer(0, 422, StatusText(422, "Invalid"));
    transport_.Answer(0, 200, ListText(10, NodeText("n1", 5) + "," + NodeText("n2", 6)));
    transport_.Head(0);
    sink_.seen.clear();
  }
  // Advances the time, and answers discovery when it asks again: the server serves nodes.
  void Advance(int64_t ns) {
    host::Advance(executor_, clock_, ns);
    const std::vector<std::string> targets = transport_.open();
    const auto at = std::ranges::find(targets, "GET /api/v1");
    if (at == targets.end()) return;
    transport_.Answer(static_cast<size_t>(at - targets.begin()), 200, ResourcesText());
  }
  // Expects that nothing is sent within the shortest delay, and that something is sent after the
  // longest one. `round`: 0 for the first delay.
  void ExpectDelay(int round = 0) {
    const int64_t shortest_ns = (800 * kMillisecond) << round;
    EXPECT_EQ(reflector_->state(), Reflector::State::kWaiting);
    EXPECT_THAT(Open(), ::testing::IsEmpty());
    Advance(shortest_ns - 1);
    EXPECT_THAT(Open(), ::testing::IsEmpty());
    Advance(shortest_ns + 1);
    EXPECT_EQ(Open().size(), 1u);
  }

  // Returns the open requests without timeoutSeconds, whose range it checks.
  std::vector<std::string> Open() {
    static const std::regex kTimeout("&timeoutSeconds=([0-9]+)");
    std::vector<std::string> targets = transport_.open();
    for (std::string& target : targets) {
      std::smatch match;
      if (!std::regex_search(target, match, kTimeout)) continue;
      const int seconds = std::stoi(match[1]);
      EXPECT_GE(seconds, 300);
      EXPECT_LE(seconds, 600);
      last_timeout_seconds_ = seconds;
      target = std::regex_replace(target, kTimeout, "");
    }
    return targets;
  }
  std::vector<std::string> Seen() { return std::exchange(sink_.seen, {}); }

  TestClock clock_;
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  Interner interner_;
  ObjectReader reader_{interner_, {}};
  Discovery discovery_{transport_, executor_, /*seed=*/1, Log()};
  TestLog log_{BERTH_LOG_ERROR};
  RecordingReflectorSink sink_;
  std::unique_ptr<Reflector> reflector_;
  int last_timeout_seconds_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_REFLECTOR_FIXTURE_H_
