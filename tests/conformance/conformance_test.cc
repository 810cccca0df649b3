// Compares Berth's decisions with those recorded from kube-scheduler, for each version that Berth
// emulates. Every case runs with the real plugin libraries, with its profile converted to TOML as
// by `berth profile convert`, and yields the report that `berth explain --output json` prints.
// cases/README.md describes the cases.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/api/manifest.h"
#include "host/base/emulated_version.h"
#include "host/base/test_clock.h"
#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/conformance/converted.h"
#include "tests/conformance/kube_profile.h"
#include "tests/conformance/preemption_effects.h"
#include "tests/conformance/rule.h"
#include "tests/conformance/test_plugins.h"

namespace berth::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The number of cases that run, by version. Increase it when a new plugin allows more cases to run.
// Never decrease it.
const std::map<KubeVersion, size_t> kRunning = {{{1, 36}, 649}, {{1, 37}, 648}};
// All cases of cases/.
constexpr size_t kCases = 860;

// Cases with a node on which preemption helps in kube-scheduler alone, where it is not chosen: its
// PodTopologySpread subtracts a pod that is being deleted although it has not counted the pod.
const std::map<std::string, std::string> kOtherCandidates = {
    {"topology-spread/spread-preempt-249", "ip-10-0-0-3"}};

// A line of a file in cases/, and what one version of kube-scheduler decides.
struct RecordedCase {
  std::string name;  // Such as "taints/all-tainted-006".
  std::shared_ptr<const json> content;
  KubeVersion version;
  json expect;  // Null if the outcome is not the same in each run.
};

void PrintTo(const RecordedCase& recorded, std::ostream* out) {
  *out << recorded.name << " as " << ToString(recorded.version);
}

// Calls `each` for every line of a file.
void ForEachLine(const fs::path& file, const std::function<void(json line)>& each) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) each(json::parse(line));
}

// Returns the outcomes in this version that differ from those that the cases have, by name.
std::map<std::string, json> ReadOtherOutcomes(KubeVersion version) {
  std::map<std::string, json> outcomes;
  ForEachLine(fs::path(BERTH_CONFORMANCE_EXPECT) / (ToString(version) + ".jsonl"),
              [&](json line) { outcomes[line["name"]] = std::move(line["expect"]); });
  return outcomes;
}

// Returns no cases if the directory cannot be read; EveryCaseIsCounted fails then.
std::vector<RecordedCase> ReadCases() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(BERTH_CONFORMANCE_CASES, error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::map<KubeVersion, std::map<std::string, json>> others;
  for (const KubeVersion version : kEmulatedVersions) others[version] = ReadOtherOutcomes(version);
  std::vector<RecordedCase> cases;
  for (const fs::path& file : files) {
    ForEachLine(file, [&](json line) {
      const auto content = std::make_shared<const json>(std::move(line));
      const std::string name = (*content)["name"];
      for (const KubeVersion version : kEmulatedVersions) {
        const auto other = others[version].find(name);
        const json& expect = other != others[version].end() ? other->second : (*content)["expect"];
        cases.push_back({name, content, version, expect});
      }
    });
  }
  return cases;
}

// The cases, which are read once per process.
const std::vector<RecordedCase>& Cases() {
  static const auto* const cases = new std::vector<RecordedCase>(ReadCases());
  return *cases;
}

// The plugins of the build, which are loaded once per process.
const PluginCatalog& Catalog() {
  static const auto* const plugins = new TestPlugins();
  return plugins->catalog();
}

// Runs one case on an embedded cluster.
class CaseRun {
 public:
  // `logs_candidates`: whether the candidates of a preemption are logged, so that they can be
  // compared. DefaultPreemption then searches all nodes, which it may do without otherwise.
  explicit CaseRun(const RecordedCase& recorded, bool logs_candidates = true)
      : recorded_(recorded),
        logs_candidates_(logs_candidates),
        case_(*recorded.content),
        catalog_(Catalog()),
        profile_(ReadKubeProfile(case_.value("profile", json::object()), recorded.version)) {
    objects_ = Decode(case_["objects"]);
  }

  std::set<std::string> Missing() const {
    return MissingFor(case_, recorded_.expect, profile_, objects_, catalog_);
  }

  // Returns the report of `berth explain` on the pod of the case.
  json Explain() {
    if (!Start()) return {};
    return Explain(Find(case_["pod"]));
  }

  // Returns the outcome of each pod of a sequence. Each pod is bound to the first of the nodes that
  // may be selected before the next pod is decided.
  json Steps() {
    json steps = json::array();
    if (!Start()) return steps;
    for (const std::string key : case_["pods"]) steps.push_back(Step(key, steps.size()));
    return steps;
  }

 private:
  std::vector<AnyObject> Decode(const json& manifest) {
    DecodeOptions options;
    options.emulated_version = recorded_.version;
    Decoder decoder(interner_, std::move(options));
    std::vector<AnyObject> objects;
    const Status read = ReadManifest(manifest.dump(), "objects", decoder,
                                     [&objects](AnyObject object, std::string_view) {
                                       objects.push_back(std::move(object));
                                       return Status();
                                     });
    if (!read.ok()) ADD_FAILURE() << read.message();
    return objects;
  }

  bool Start() {
    for (const AnyObject& object : objects_) {
      const Status loaded = cluster_.Load(object);
      if (!loaded.ok()) ADD_FAILURE() << loaded.message();
    }
    SchedulingLoop::Options options;
    options.emulated_version = recorded_.version;
    options.seed = 1;
    options.clock = &clock_;
    if (logs_candidates_) options.log = &candidates_;
    options.logs_decisions = false;
    options.ignored_pod_fields = {std::string(kVolumes)};
    json profiles = json::array();
    if (case_.contains("profile")) profiles.push_back(case_["profile"]);
    const Converted converted =
        ConvertText(KubeConfiguration(profiles).dump(), catalog_, recorded_.version);
    EXPECT_EQ(converted.errors, "");
    if (!converted.errors.empty()) return false;
    auto loop = SchedulingLoop::Create(interner_, cluster_, catalog_, converted.specs, options);
    if (!loop.ok()) {
      ADD_FAILURE() << loop.status().message();
      return false;
    }
    loop_ = std::move(loop).value();
    cluster_.Deliver();
    return true;
  }

  PodRef Find(const std::string& key) const {
    const size_t slash = key.find('/');
    return cluster_.FindPod(key.substr(0, slash), key.substr(slash + 1));
  }

  json Explain(const PodRef& pod) {
    const QueuedEntity* queued = loop_->queue().Find(pod->uid());
    if (queued != nullptr && queued->place == QueuePlace::kGated) {
      return json::parse(ExplainGate(*queued->gate, loop_->plugin_ids()).dump());
    }
    SchedulingCycle& cycle = loop_->cycle();
    const PodStates before = ReadPodStates(cluster_);
    const CycleResult result = cycle.Decide(pod);
    json report = json::parse(ExplainReport(cycle, result).dump());
    CarryOut(*loop_, cluster_);
    if (result.failure.has_value()) {
      AddPreemption(pod, *result.failure, before, cluster_, candidates_.Take(), report);
      SetNomination(pod, *result.failure);
    }
    return report;
  }

  // Changes the nomination in the status of a pod as its failed attempt does.
  void SetNomination(const PodRef& pod, const Failure& failure) {
    if (!failure.overrides_nomination) return;
    PodStatusPatch patch;
    patch.nominated_node = failure.nominated_node;
    EXPECT_TRUE(cluster_.PatchStatus(NameOf(*pod), patch).ok());
    CarryOut(*loop_, cluster_);
  }

  // Removes the pods of a preemption.
  void RemoveVictims(const json& preemption) {
    for (const std::string key : preemption["victims"]) {
      const PodRef victim = Find(key);
      if (victim == nullptr) continue;
      EXPECT_TRUE(cluster_.FinishDeletion(NameOf(*victim)).ok()) << key;
    }
    CarryOut(*loop_, cluster_);
  }

  // Sets the start time of a pod that was placed in this step, as the recorded cases do.
  void StartPod(const std::string& key, size_t step) {
    for (json object : case_["objects"]["items"]) {
      const json& meta = object["metadata"];
      const bool is_pod =
          object["kind"] == "Pod" &&
          meta.value("namespace", "default") + "/" + meta["name"].get<std::string>() == key;
      if (!is_pod) continue;
      object["spec"]["nodeName"] = std::string(Find(key)->node_name());
      object["status"] = {{"phase", "Running"}, {"startTime", StartTime(step)}};
      const auto updated = cluster_.Update(Decode(object).front());
      EXPECT_TRUE(updated.ok()) << updated.status().message();
    }
    CarryOut(*loop_, cluster_);
  }
  // Returns 2026-02-01T00:00Z plus a minute for each step. REQUIRES: less than a day.
  static std::string StartTime(size_t step) {
    const auto two_digits = [](size_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    return "2026-02-01T" + two_digits(step / 60) + ":" + two_digits(step % 60) + ":00Z";
  }

  // Decides one pod of a sequence, and binds it or removes the victims of its preemption.
  json Step(const std::string& key, size_t index) {
    json step = {
        {"pod", key}, {"code", "Skipped"}, {"selected", json::array()}, {"chosen", nullptr}};
    const PodRef pod = Find(key);
    // The texts that the recorded cases contain.
    if (pod == nullptr || !pod->node_name().empty()) {
      step["message"] = pod == nullptr ? "preempted before" : "already placed";
      return step;
    }
    const json report = Explain(pod);
    step["code"] = report["code"];
    if (report.contains("message")) step["message"] = report["message"];
    if (report.contains("preemption")) {
      step["preemption"] = report["preemption"];
      RemoveVictims(report["preemption"]);
    }
    if (!report.contains("selected")) return step;
    step["selected"] = report["selected"];
    const std::string chosen = step["selected"].front();
    step["chosen"] = chosen;
    if (step["selected"].size() > 1) step["tie"] = true;
    cluster_.Bind(NameOf(*pod), chosen,
                  [](const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); });
    CarryOut(*loop_, cluster_);
    StartPod(key, index);
    return step;
  }

  const RecordedCase& recorded_;
  const bool logs_candidates_;
  const json& case_;
  const PluginCatalog& catalog_;
  Interner interner_;
  KubeProfile profile_;
  std::vector<AnyObject> objects_;
  TestClock clock_;
  CandidateLog candidates_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
  std::unique_ptr<SchedulingLoop> loop_;
};

// Returns the outcome without the plugins that Berth does not have yet and that score 0 on every
// node.
json WithoutZeroScores(json value) {
  if (!value.contains("scores")) return value;
  for (const char* plugin : {"DynamicResources", "VolumeBinding"}) {
    const bool is_zero = std::ranges::all_of(
        value["scores"], [&](const json& node) { return node["plugins"].value(plugin, 0) == 0; });
    if (!is_zero || Catalog().plugins().contains(plugin)) continue;
    value["weights"].erase(plugin);
    for (json& node : value["scores"]) node["plugins"].erase(plugin);
  }
  return value;
}

// Compares messages without the text of DynamicResources' PostFilter, because Berth does not have
// this plugin. Where it fails, because its PreFilter was not called, preemption is not tried in
// kube-scheduler.
void ExpectMessage(std::string want, const std::string& got) {
  static const std::regex no_claims(" no new claims to deallocate(,|$)");
  static const std::regex without_state(" not found$");
  std::smatch found;
  if (std::regex_search(want, found, without_state)) {
    want = found.prefix();
    EXPECT_TRUE(got.starts_with(want)) << "want: " << want << "\n got: " << got;
    return;
  }
  EXPECT_EQ(std::regex_replace(want, no_claims, ""), got);
}

void Compare(json want, const json& got) {
  want = WithoutZeroScores(std::move(want));
  for (const char* field : {"code", "nodes", "preEnqueue", "preFilter", "feasible", "scores",
                            "weights", "selected", "rejectors", "nominatedNodeOnly"}) {
    ASSERT_EQ(want.contains(field), got.contains(field)) << field << "\n got: " << got.dump();
    if (!want.contains(field)) continue;
    EXPECT_EQ(want[field], got[field]) << field;
  }
  ASSERT_EQ(want.contains("message"), got.contains("message")) << got.dump();
  if (want.contains("message")) ExpectMessage(MessageFor(want, got), got["message"]);
  ComparePreemption(want, got);
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
    if (want[i].contains("message")) ExpectMessage(MessageFor(want[i], got[i]), got[i]["message"]);
    ComparePreemption(want[i], got[i]);
  }
}

// Returns the name of the test of a case: GoogleTest allows letters, digits and '_' only.
std::string TestName(const ::testing::TestParamInfo<RecordedCase>& info) {
  std::string name = info.param.name + " as " + ToString(info.param.version);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::string JoinReasons(const std::set<std::string>& reasons) {
  return Join(std::vector<std::string>(reasons.begin(), reasons.end()), " + ");
}

class ConformanceTest : public ::testing::TestWithParam<RecordedCase> {};

// Returns whether a preemption is expected.
bool HasPreemption(const json& expect) {
  const json steps = expect.value("steps", json::array());
  return expect.contains("preemption") ||
         std::ranges::any_of(steps, [](const json& step) { return step.contains("preemption"); });
}

void CompareRun(const RecordedCase& recorded, CaseRun& run) {
  if (recorded.content->contains("pods")) {
    CompareSteps(recorded.expect["steps"], run.Steps());
    return;
  }
  json expect = recorded.expect;
  const auto other = kOtherCandidates.find(recorded.name);
  if (other != kOtherCandidates.end()) expect["preemption"]["candidates"].erase(other->second);
  Compare(std::move(expect), run.Explain());
}

TEST_P(ConformanceTest, DecidesAsRecorded) {
  const RecordedCase& recorded = GetParam();
  CaseRun run(recorded);
  const std::set<std::string> missing = run.Missing();
  if (!missing.empty()) GTEST_SKIP() << "these are missing: " << JoinReasons(missing);
  SCOPED_TRACE(recorded.name);
  CompareRun(recorded, run);
  if (!HasPreemption(recorded.expect)) return;
  SCOPED_TRACE("candidates are not logged");
  CaseRun quiet(recorded, /*logs_candidates=*/false);
  CompareRun(recorded, quiet);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConformanceTest, ::testing::ValuesIn(Cases()), TestName);

// Prints, for each version and reason, how many cases do not run.
TEST(ConformanceCasesTest, EveryCaseIsCounted) {
  std::map<KubeVersion, std::map<std::string, size_t>> waiting;
  std::map<KubeVersion, size_t> running;
  std::map<KubeVersion, size_t> all;
  for (const RecordedCase& recorded : Cases()) {
    ++all[recorded.version];
    const std::set<std::string> missing = CaseRun(recorded).Missing();
    if (missing.empty()) {
      ++running[recorded.version];
    } else {
      ++waiting[recorded.version][JoinReasons(missing)];
    }
  }
  for (const KubeVersion version : kEmulatedVersions) {
    SCOPED_TRACE(ToString(version));
    std::cout << "as " << ToString(version) << ": " << running[version] << " of " << all[version]
              << " cases run; the others do not because these are missing:\n";
    for (const auto& [reason, count] : waiting[version]) {
      std::cout << "  " << count << "\t" << reason << "\n";
    }
    EXPECT_EQ(running[version], kRunning.at(version))
        << "MissingFor() allows another number of cases to run than kRunning";
    EXPECT_EQ(all[version], kCases);
  }
}

}  // namespace
}  // namespace berth::host
