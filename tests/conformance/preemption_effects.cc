#include "tests/conformance/preemption_effects.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/text.h"

namespace berth::host {

using nlohmann::json;

// --- candidates ----------------------------------------------------------------------------------

namespace {

std::string_view FieldOf(const LogRecord& record, std::string_view key) {
  const auto found = std::ranges::find(record.fields, key, &LogField::key);
  return found != record.fields.end() ? found->value : std::string_view();
}

json SortedNames(std::string_view list) {
  std::set<std::string> names;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    names.emplace(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace

void CandidateLog::Write(const LogRecord& record) {
  if (record.message != "candidate for preemption") return;
  const std::scoped_lock lock(mutex_);
  candidates_[std::string(FieldOf(record, "node"))] = {
      {"victims", SortedNames(FieldOf(record, "victims"))},
      {"pdbViolations", std::stoi(std::string(FieldOf(record, "violations")))}};
}

json CandidateLog::Take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(candidates_, json::object());
}

// --- effects -------------------------------------------------------------------------------------

PodStates ReadPodStates(const EmbeddedCluster& cluster) {
  PodStates states;
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    states.all.insert(pod->Key());
    if (pod->terminating()) states.terminating.insert(pod->Key());
    if (!pod->nominated_node().empty()) {
      states.nominations.emplace(pod->Key(), pod->nominated_node());
    }
  }
  return states;
}

void CarryOut(SchedulingLoop& loop, EmbeddedCluster& cluster) {
  while (loop.Settle() || cluster.Deliver() > 0) {
  }
}

void AddPreemption(const PodRef& pod, const Failure& failure, const PodStates& before,
                   const EmbeddedCluster& cluster, json candidates, json& report) {
  if (!failure.overrides_nomination) return;
  if (failure.nominated_node.empty()) {
    if (before.nominations.contains(pod->Key())) report["nominationCleared"] = true;
    return;
  }
  const PodStates after = ReadPodStates(cluster);
  json victims = json::array();
  for (const std::string& name : before.all) {
    const bool is_gone = !after.all.contains(name);
    const bool ends = is_gone || after.terminating.contains(name);
    if (ends && !before.terminating.contains(name)) victims.push_back(name);
  }
  json cleared = json::array();
  for (const auto& [name, node] : before.nominations) {
    if (name != pod->Key() && !after.nominations.contains(name)) cleared.push_back(name);
  }
  report["preemption"] = {{"node", failure.nominated_node}, {"victims", std::move(victims)}};
  if (!candidates.empty()) report["preemption"]["candidates"] = std::move(candidates);
  if (!cleared.empty()) report["preemption"]["clearedNominations"] = std::move(cleared);
}

// --- comparison ----------------------------------------------------------------------------------

namespace {

// Returns the text of a success since 1.37.
std::string SuccessText(const json& preemption, const std::string& node) {
  const size_t victims = preemption["candidates"][node]["victims"].size();
  return "pod on node " + node + ", preempting " + std::to_string(victims) + " victims";
}

}  // namespace

std::string MessageFor(const json& want, const json& got) {
  std::string message = want["message"];
  if (!want.contains("preemption") || !got.contains("preemption")) return message;
  const json& preemption = want["preemption"];
  const std::string node = got["preemption"]["node"];
  if (!preemption["candidates"].contains(node)) return message;
  const std::string named = SuccessText(preemption, preemption["node"]);
  const size_t at = message.find(named);
  if (at != message.npos) message.replace(at, named.size(), SuccessText(preemption, node));
  return message;
}

void ComparePreemption(const json& want, const json& got) {
  EXPECT_EQ(want.value("nominationCleared", false), got.value("nominationCleared", false));
  ASSERT_EQ(want.contains("preemption"), got.contains("preemption")) << got.dump();
  if (!want.contains("preemption")) return;
  const json& expected = want["preemption"];
  const json& found = got["preemption"];
  const json ties = expected.value("tiedNodes", json::array({expected["node"]}));
  EXPECT_TRUE(std::ranges::find(ties, found["node"]) != ties.end()) << found.dump();
  if (found.contains("candidates")) {
    EXPECT_EQ(expected["candidates"], found["candidates"]);
  }
  json victims = json::array();
  const json& all = expected["candidates"][found["node"].get<std::string>()]["victims"];
  const json terminating = expected.value("alreadyTerminating", json::array());
  for (const json& victim : all) {
    if (std::ranges::find(terminating, victim) == terminating.end()) victims.push_back(victim);
  }
  EXPECT_EQ(victims, found["victims"]);
  if (found["node"] != expected["node"]) return;
  EXPECT_EQ(expected.value("clearedNominations", json::array()),
            found.value("clearedNominations", json::array()));
}

}  // namespace berth::host
