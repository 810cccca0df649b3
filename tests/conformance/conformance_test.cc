// Decisions recorded from kube-scheduler 1.36.2, case by case, through real plugin libraries and
// the report that `berth explain --output json` prints; the profile of each as TOML, which
// `berth profile convert` makes of it. cases/README.md says what a case is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/api/manifest.h"
#include "host/base/test_clock.h"
#include "host/cli/explain_report.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/conformance/converted.h"
#include "tests/conformance/kube_profile.h"
#include "tests/conformance/rule.h"
#include "tests/conformance/test_plugins.h"

namespace berth::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// How many cases run. A new plugin makes more of them run: raise this with it. It never falls.
constexpr size_t kRunning = 424;

std::vector<json> ReadCases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(BERTH_CONFORMANCE_CASES)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<json> cases;
  for (const fs::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) cases.push_back(json::parse(line));
  }
  return cases;
}

class CaseRun {
 public:
  CaseRun(const json& a_case, const PluginCatalog& catalog)
      : case_(a_case),
        catalog_(catalog),
        profile_(ReadKubeProfile(a_case.value("profile", json::object()))) {
    Decoder decoder(interner_);
    const Status read =
        ReadManifest(case_["objects"].dump(), "objects", decoder, [this](AnyObject object) {
          objects_.push_back(std::move(object));
          return Status();
        });
    if (!read.ok()) ADD_FAILURE() << read.message();
  }

  std::set<std::string> Missing() const { return MissingFor(case_, profile_, objects_, catalog_); }

  // What `berth explain` says of the case's pod.
  json Explain() {
    if (!Start()) return {};
    return Explain(Find(case_["pod"]));
  }

  // The same for one pod after the other, each of which is bound to the first of the nodes that may
  // be chosen.
  json Steps() {
    json steps = json::array();
    if (!Start()) return steps;
    for (const std::string key : case_["pods"]) steps.push_back(Step(key));
    return steps;
  }

 private:
  bool Start() {
    EmbeddedCluster::Options cluster_options;
    cluster_options.now_ns = [] { return int64_t{1'780'000'000'000'000'000}; };
    cluster_ = std::make_unique<EmbeddedCluster>(std::move(cluster_options));
    for (const AnyObject& object : objects_) {
      const Status loaded = cluster_->Load(object);
      if (!loaded.ok()) ADD_FAILURE() << loaded.message();
    }
    SchedulingLoop::Options options;
    options.seed = 1;
    options.clock = &clock_;
    options.ignored_pod_fields = {std::string(kVolumes)};
    json profiles = json::array();
    if (case_.contains("profile")) profiles.push_back(case_["profile"]);
    const Converted converted = ConvertText(KubeConfiguration(profiles).dump(), catalog_);
    EXPECT_EQ(converted.errors, "");
    if (!converted.errors.empty()) return false;
    auto loop = SchedulingLoop::Create(interner_, *cluster_, catalog_, converted.specs, options);
    if (!loop.ok()) {
      ADD_FAILURE() << loop.status().message();
      return false;
    }
    loop_ = std::move(loop).value();
    cluster_->Deliver();
    return true;
  }

  PodRef Find(const std::string& key) const {
    const size_t slash = key.find('/');
    return cluster_->FindPod(key.substr(0, slash), key.substr(slash + 1));
  }

  json Explain(const PodRef& pod) {
    const QueuedEntity* queued = loop_->queue().Find(pod->uid());
    if (queued != nullptr && queued->place == QueuePlace::kGated) {
      return json::parse(ExplainGate(*queued->gate, loop_->plugin_ids()).dump());
    }
    Scheduler& scheduler = loop_->scheduler();
    const Decision decision = scheduler.Decide(pod);
    json report = json::parse(ExplainReport(scheduler, decision).dump());
    scheduler.attempt().End();
    return report;
  }

  json Step(const std::string& key) {
    json step = {
        {"pod", key}, {"code", "Skipped"}, {"selected", json::array()}, {"chosen", nullptr}};
    const PodRef pod = Find(key);
    if (!pod->node_name().empty()) {
      step["message"] = "already placed";  // The recording's own words.
      return step;
    }
    const json report = Explain(pod);
    step["code"] = report["code"];
    if (report.contains("message")) step["message"] = report["message"];
    if (!report.contains("selected")) return step;
    step["selected"] = report["selected"];
    const std::string chosen = step["selected"].front();
    step["chosen"] = chosen;
    if (step["selected"].size() > 1) step["tie"] = true;
    cluster_->Bind(NameOf(*pod), chosen,
                   [](const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); });
    cluster_->Deliver();
    return step;
  }

  const json& case_;
  const PluginCatalog& catalog_;
  Interner interner_;
  KubeProfile profile_;
  std::vector<AnyObject> objects_;
  TestClock clock_;
  std::unique_ptr<EmbeddedCluster> cluster_;
  std::unique_ptr<SchedulingLoop> loop_;
};

json WithoutDynamicResources(json value) {
  if (value.contains("weights")) value["weights"].erase("DynamicResources");
  if (!value.contains("scores")) return value;
  for (json& node : value["scores"]) node["plugins"].erase("DynamicResources");
  return value;
}

// What PostFilter adds to a message; not compared until there is one.
void ExpectMessage(const std::string& want, const std::string& got) {
  ASSERT_TRUE(want.starts_with(got)) << "want: " << want << "\n got: " << got;
  static const std::regex post_filter("( (no new claims to deallocate|preemption: |not found).*)?");
  EXPECT_TRUE(std::regex_match(want.substr(got.size()), post_filter))
      << "want: " << want << "\n got: " << got;
}

void Compare(json want, const json& got) {
  want = WithoutDynamicResources(std::move(want));
  for (const char* field : {"code", "nodes", "preEnqueue", "preFilter", "feasible", "scores",
                            "weights", "selected", "rejectors", "nominatedNodeOnly"}) {
    ASSERT_EQ(want.contains(field), got.contains(field)) << field << "\n got: " << got.dump();
    if (!want.contains(field)) continue;
    EXPECT_EQ(want[field], got[field]) << field;
  }
  ASSERT_EQ(want.contains("message"), got.contains("message")) << got.dump();
  if (want.contains("message")) ExpectMessage(want["message"], got["message"]);
}

void CompareSteps(const json& want, const json& got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    for (const char* field : {"pod", "code", "selected", "chosen"}) {
      ASSERT_EQ(want[i][field], got[i][field]) << field << "\n got: " << got[i].dump();
    }
    EXPECT_EQ(want[i].contains("tie"), got[i].contains("tie"));
    ASSERT_EQ(want[i].contains("message"), got[i].contains("message")) << got[i].dump();
    if (want[i].contains("message")) ExpectMessage(want[i]["message"], got[i]["message"]);
  }
}

TEST(Conformance, CasesThatRunAreEqual) {
  const TestPlugins plugins;
  size_t running = 0;
  for (const json& a_case : ReadCases()) {
    SCOPED_TRACE(std::string(a_case["name"]));
    CaseRun run(a_case, plugins.catalog());
    if (!run.Missing().empty()) continue;
    ++running;
    const json& expect = a_case["expect"];
    if (a_case.contains("pods")) {
      CompareSteps(expect["steps"], run.Steps());
    } else {
      Compare(expect, run.Explain());
    }
  }
  EXPECT_EQ(running, kRunning) << "the rule lets another number of cases run than is committed";
}

// Not a test of behaviour: prints what is still to come.
TEST(Conformance, CasesThatDoNotRunByReason) {
  const TestPlugins plugins;
  std::map<std::string, size_t> reasons;
  size_t waiting = 0;
  for (const json& a_case : ReadCases()) {
    const auto missing = CaseRun(a_case, plugins.catalog()).Missing();
    waiting += !missing.empty();
    std::string joined;
    for (const std::string& reason : missing) joined += (joined.empty() ? "" : " + ") + reason;
    if (!joined.empty()) ++reasons[joined];
  }
  std::ostringstream table;
  for (const auto& [reason, count] : reasons) table << "  " << count << "\t" << reason << "\n";
  std::cout << waiting << " cases wait for:\n" << table.str();
  EXPECT_EQ(waiting + kRunning, 632U);
}

}  // namespace
}  // namespace berth::host
