// Shared by the tests of the embedded cluster: a cluster with a fixed clock, objects from JSON
// text, and a sink that records watch events.
#ifndef BERTH_TESTS_HARNESS_EMBEDDED_FIXTURE_H_
#define BERTH_TESTS_HARNESS_EMBEDDED_FIXTURE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/test_watch_event_text.h"

namespace berth::host {

// Records events as WatchEventText() does.
class RecordingSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> batch) override {
    for (WatchEvent& event : batch) {
      seen.push_back(WatchEventText(event));
      events.push_back(std::move(event));
    }
  }

  std::vector<std::string> seen;
  std::vector<WatchEvent> events;
};

// Returns options with which a decoder keeps the texts of pods and nodes.
inline DecodeOptions KeepTexts() {
  DecodeOptions options;
  options.keep_pod_text = true;
  options.keep_node_text = true;
  return options;
}

class EmbeddedTest : public ::testing::Test {
 protected:
  explicit EmbeddedTest(const DecodeOptions& options = {}) : decoder_(interner_, options) {}

  AnyObject Decode(const std::string& json) {
    Result<AnyObject> object = decoder_.Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s: %s", json.c_str(), object.status().ToString().c_str());
    return *object;
  }

  // Returns a pod default/<name>. `rest` is appended after its metadata, such as `,"spec":{...}`,
  // and `meta` within its metadata.
  AnyObject MakePod(const std::string& name, const std::string& rest = "",
                    const std::string& meta = "") {
    return Decode(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + '"' + meta +
                  "}" + rest + "}");
  }
  AnyObject MakeNode(const std::string& name, const std::string& meta = "") {
    return Decode(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + '"' + meta +
                  "}}");
  }

  // Creates a pod in the cluster and returns it as stored.
  PodRef AddPod(const std::string& name, const std::string& rest = "",
                const std::string& meta = "") {
    Result<AnyObject> pod = cluster_.Create(MakePod(name, rest, meta));
    BERTH_ASSERT_MSG(pod.ok(), "%s", pod.status().ToString().c_str());
    return std::get<PodRef>(*pod);
  }

  // Returns a callback that records the result of a request.
  StatusCallback Note() {
    return [this](Status status) { answers_.push_back(status.ToString()); };
  }
  // Delivers everything and returns the results since the last call.
  std::vector<std::string> Answers() {
    cluster_.Deliver();
    return std::exchange(answers_, {});
  }

  int64_t NowNs() const { return clock_.NowNs(); }
  void Advance(int64_t ns) { clock_.AdvanceTo(NowNs() + ns); }

  Interner interner_;
  Decoder decoder_;
  VirtualClock clock_{1'767'225'600 * kSecond};  // 2026-01-01T00:00:00Z
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 2, .serve = nullptr}};
  std::vector<std::string> answers_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_EMBEDDED_FIXTURE_H_
