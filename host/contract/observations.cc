#include "host/contract/observations.h"

#include <functional>
#include <string_view>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr const char* kUse = "; use --cluster, or --args, with which ";

// Returns the sentence about the first of the declared steps for which `sentence` returns one; or
// one about a plugin that declares none.
std::string OfSteps(const Observations& seen,
                    const std::function<std::string(const Observations::Step&)>& of) {
  if (!seen.filter.is_declared && !seen.score.is_declared) {
    return "This check needs a plugin with Filter or Score.";
  }
  for (const Observations::Step* step : {&seen.filter, &seen.score}) {
    if (!step->is_declared) continue;
    if (std::string text = of(*step); !text.empty()) return text;
  }
  return "";
}

std::string NotCalled(const Observations::Step& step) {
  if (step.is_called) return "";
  return std::string(step.name) + " was never called, because " + step.before +
         " rejected or skipped every pod" + kUse + "a pod reaches it.";
}

std::string NotDifferent(const Observations::Step& step) {
  if (std::string text = NotCalled(step); !text.empty()) return text;
  if (step.differs_by_node) return "";
  return std::string(step.name) + " returned the same result for every node" + kUse +
         "its results differ.";
}

std::string NotInBlocks(const Observations::Step& step) {
  if (!step.is_whole) return "";
  return std::string(step.name) +
         " is called once for all nodes; this check needs a function that is called for blocks.";
}

std::string AbsentColumn(const Observations& seen) {
  if (seen.absent_columns.empty()) return "";
  return "No node has a value in the column " + Join(seen.absent_columns, ", ") +
         ", which the plugin reads; use --cluster with nodes that have one.";
}

std::string NotReached(const Observations& seen) {
  if (!seen.filter.is_declared && !seen.score.is_declared) return "";
  return OfSteps(seen, NotCalled);
}

std::string CodesGap(const Observations& seen) {
  if (!seen.has_status && seen.has_lanes) return "";
  if (!seen.has_status) return "This check needs a plugin with a function that returns a status.";
  if (std::string text = NotReached(seen); !text.empty()) return text;
  if (!seen.can_reject || seen.has_rejected) return "";
  return std::string("The plugin rejected no pod and no node") + kUse + "it rejects one.";
}

std::string BlocksGap(const Observations& seen) {
  if (std::string text = OfSteps(seen, NotInBlocks); !text.empty()) return text;
  if (std::string text = OfSteps(seen, NotDifferent); !text.empty()) return text;
  return AbsentColumn(seen);
}

std::string ConcurrencyGap(const Observations& seen) {
  const auto serial = [](const Observations::Step& step) {
    if (step.is_whole) return NotInBlocks(step);
    return step.is_serial
               ? std::string(step.name) +
                     " is declared SERIAL; this check needs a function without this flag."
               : NotDifferent(step);
  };
  return OfSteps(seen, serial);
}

std::string RepeatGap(const Observations& seen) {
  if (seen.has_queue_sort && !seen.filter.is_declared && !seen.score.is_declared) return "";
  return OfSteps(seen, NotCalled);
}

std::string WhatIfGap(const Observations& seen) {
  if (!seen.filter.is_declared) return "This check needs a plugin with Filter.";
  if (std::string text = NotCalled(seen.filter); !text.empty()) return text;
  if (std::string text = AbsentColumn(seen); !text.empty()) return text;
  if (seen.has_seen_what_if) return "";
  return std::string(seen.has_add_pod ? "No" : "The plugin registers no AddPod, and no") +
         " pod that was added to a node or removed from it changed a result of Filter" + kUse +
         "one does.";
}

std::string DependenceGap(const Observations& seen) {
  if (!seen.filter.has_dependence && !seen.score.has_dependence) {
    return "This check needs a Filter or Score that declares a dependence.";
  }
  const auto same = [](const Observations::Step& step) {
    if (!step.has_dependence) return std::string();
    if (std::string text = NotCalled(step); !text.empty()) return text;
    if (step.differs()) return std::string();
    return std::string(step.name) + " returned the same result for every pod and node" + kUse +
           "its results differ.";
  };
  if (std::string text = OfSteps(seen, same); !text.empty()) return text;
  return AbsentColumn(seen);
}

std::string HintsGap(const Observations& seen) {
  if (!seen.has_hint_parts) {
    return "This check needs a hint that declares the parts of the pod that it reads.";
  }
  if (seen.hints.empty()) {
    return "No hint that declares parts of the pod was called: the check makes only events of "
           "nodes "
           "and pods; test the others in unit tests.";
  }
  if (seen.hints.size() > 1) return "";
  return std::string("The hint returned the same for every pod and event") + kUse +
         "it returns Queue and Skip.";
}

std::string SlotsGap(const Observations& seen) {
  if (!seen.has_slots) return "This check needs a plugin with cycle state.";
  return NotReached(seen);
}

std::string LeaksGap(const Observations& seen) {
  if (!seen.can_measure_heap) {
    return "A sanitizer replaces the heap; use a berth that is built without sanitizers.";
  }
  return NotReached(seen);
}

std::string ThreadsGap(const Observations& seen) {
  if (seen.has_called_services) return "";
  return "The plugin called no service that abi.h restricts to some functions" + std::string(kUse) +
         "it calls one.";
}

}  // namespace

void Observations::AddAnswer(const testing::Answer& answer) {
  has_rejected = has_rejected || answer.code == BERTH_UNSCHEDULABLE ||
                 answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
                 answer.code == BERTH_PENDING;
}

void Observations::AddFilter(const testing::FilterResult& result) {
  AddAnswer(result.pre_filter);
  if (!filter.is_declared || result.nodes.empty()) return;
  std::set<std::string> answers;
  std::string all;
  for (const auto& [node, answer] : result.nodes) {
    if (answer == testing::Unresolvable(testing::kLeftOutByPreFilter)) continue;
    AddAnswer(answer);
    answers.insert(ToString(answer));
    all += node + " " + ToString(answer) + "\n";
  }
  if (answers.empty()) return;  // PreFilter excludes every node.
  filter.is_called = true;
  filter.differs_by_node = filter.differs_by_node || answers.size() > 1;
  filter.results.insert(std::move(all));
}

void Observations::AddScore(const testing::ScoreResult& result) {
  AddAnswer(result.pre_score);
  if (result.raw.empty()) return;
  score.is_called = true;
  std::set<int64_t> scores;
  std::string all;
  for (const auto& [node, raw] : result.raw) {
    scores.insert(raw);
    all += node + " " + std::to_string(raw) + "\n";
  }
  score.differs_by_node = score.differs_by_node || scores.size() > 1;
  score.results.insert(std::move(all));
}

std::vector<ContractGap> Observations::Gaps() const {
  std::vector<ContractGap> gaps;
  const auto add = [&gaps](std::string_view promise, std::string text) {
    if (!text.empty()) gaps.push_back({std::string(promise), std::move(text)});
  };
  add("threads", ThreadsGap(*this));
  add("outputs", OfSteps(*this, NotCalled));
  add("codes", CodesGap(*this));
  add("blocks", BlocksGap(*this));
  add("concurrency", ConcurrencyGap(*this));
  add("repeat", RepeatGap(*this));
  add("whatif", WhatIfGap(*this));
  add("dependence", DependenceGap(*this));
  add("hints", HintsGap(*this));
  add("slots", SlotsGap(*this));
  add("leaks", LeaksGap(*this));
  for (const std::string_view promise : {"faults", "deadlines", "survives"}) {
    add(promise, NotReached(*this));
  }
  return gaps;
}

}  // namespace berth::host
