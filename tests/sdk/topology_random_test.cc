// Compares a TopologyIndex with a naive recount in random clusters: pods and nodes come, go and are
// relabelled, pods terminate and are forgotten, and labels of namespaces change.
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/topology_deltas.h>

#include "host/base/split_mix.h"
#include "tests/sdk/topology_cluster.h"
#include "tests/sdk/topology_model.h"

namespace berth {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeSpec;
using testing::PodHandle;
using testing::PodSpec;
using testing::PodTermSpec;
using testing::RequirementSpec;
using testing::SelectorSpec;
using testing::TopologyCluster;
using testing::TopologyModel;

#ifdef NDEBUG
constexpr int kSteps = 100'000;  // For each of the seeds.
#else
constexpr int kSteps = 4'000;
#endif
constexpr uint32_t kRows = 7;
const std::vector<std::string> kKeys = {"zone", "rack", "host"};
const std::vector<std::string> kNamespaces = {"n0", "n1", "n2", "n3"};

class RandomCluster {
 public:
  RandomCluster(uint64_t seed, TopologyIndexOptions options)
      : numbers_(seed), cluster_(options), model_(cluster_) {}

  void Step() {
    switch (Below(16)) {
      case 0: RelabelNamespace(); break;
      case 1: PutNode(); break;
      case 2: RemoveNode(); break;
      case 3:
      case 4: ChangePod(); break;
      case 5:
      case 6:
      case 7:
      case 8: RemovePod(); break;
      default: AddPod(); break;
    }
  }
  // Compares the counts of one query, the terms that mean one pod, and what the journal says about
  // earlier counts.
  void Check() {
    CheckCounts();
    CheckTerms();
  }
  uint64_t compared() const { return compared_; }
  uint64_t replayed() const { return replayed_; }

 private:
  // The counts of a query in an earlier state.
  struct Earlier {
    uint64_t token;
    uint32_t counter;
    std::map<std::string, uint64_t> counts;
  };
  struct Question {
    PodSpec pod;  // Its required anti-affinity terms.
    std::string key;
    bool terminating = false;
    std::deque<Earlier> earlier = {};
  };

  size_t Below(size_t n) { return static_cast<size_t>(numbers_.Next() % n); }
  template <class T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(all.size())];
  }
  std::string Number(size_t n) { return std::to_string(Below(n)); }

  RequirementSpec RandomRequirement(const std::vector<std::string>& keys) {
    RequirementSpec requirement = {Pick(keys)};
    requirement.op = static_cast<uint32_t>(BERTH_OP_IN + Below(4));
    if (Below(2) == 0) requirement.op = BERTH_OP_IN;
    if (requirement.op == BERTH_OP_IN || requirement.op == BERTH_OP_NOT_IN) {
      for (size_t i = 0; i <= Below(2); ++i) requirement.values.push_back(Number(3));
    }
    return requirement;
  }
  SelectorSpec RandomSelector(const std::vector<std::string>& keys) {
    SelectorSpec selector;
    for (size_t i = Below(3); i != 0; --i) {
      selector.requirements.push_back(RandomRequirement(keys));
    }
    return selector;
  }
  PodTermSpec RandomTerm(bool weighted) {
    PodTermSpec term;
    term.topology_key = Pick(kKeys);
    if (Below(20) != 0) term.selector = RandomSelector({"app", "tier"});
    if (Below(3) == 0) {
      for (size_t i = 0; i <= Below(2); ++i) term.namespaces.push_back(Pick(kNamespaces));
    }
    if (Below(4) == 0) term.namespace_selector = RandomSelector({"team", "env"});
    if (weighted) term.weight = static_cast<int32_t>(1 + Below(2));
    return term;
  }
  std::vector<PodTermSpec> RandomTerms(bool weighted) {
    std::vector<PodTermSpec> terms;
    if (Below(4) != 0) return terms;
    for (size_t i = 0; i <= Below(2); ++i) terms.push_back(RandomTerm(weighted));
    return terms;
  }
  PodSpec RandomPod(std::string name) {
    PodSpec pod = MakePod(std::move(name)).Namespace(Pick(kNamespaces));
    if (Below(4) != 0) pod.Label("app", Number(3));
    if (Below(2) == 0) pod.Label("tier", Number(3));
    if (Below(5) == 0) pod.Label("unique", std::to_string(numbers_.Next()));
    pod.required_pod_terms = RandomTerms(false);
    pod.required_pod_anti_terms = RandomTerms(false);
    pod.preferred_pod_terms = RandomTerms(true);
    pod.preferred_pod_anti_terms = RandomTerms(true);
    if (Below(8) == 0) pod.DeletedNs(1);
    return pod;
  }

  void AddPod() {
    constexpr size_t kMostPods = 40;
    if (cluster_.pods().size() >= kMostPods) return RemovePod();
    // Some rows never have a node.
    cluster_.PutPod(static_cast<uint32_t>(Below(kRows + 1)),
                    RandomPod("p" + std::to_string(++last_pod_)));
  }
  const TopologyCluster::PlacedPod* RandomPlaced() {
    if (cluster_.pods().empty()) return nullptr;
    auto at = cluster_.pods().begin();
    std::advance(at, static_cast<std::ptrdiff_t>(Below(cluster_.pods().size())));
    return &at->second;
  }
  void RemovePod() {
    const auto* const placed = RandomPlaced();
    if (placed == nullptr) return;
    const PodHandle pod = placed->pod;
    cluster_.RemovePod(pod.name(), pod.spec().ns);
  }
  void ChangePod() {
    const auto* const placed = RandomPlaced();
    if (placed == nullptr) return;
    PodSpec pod = placed->pod.spec();
    switch (Below(4)) {
      case 0: pod.DeletedNs(1); break;
      case 1: pod.Label("app", Number(3)); break;
      case 2: pod.labels.erase("tier"); break;
      default: pod.Annotation("a", "b"); break;
    }
    cluster_.PutPod(placed->row, pod);
  }
  void PutNode() {
    NodeSpec node = MakeNode("n");
    const auto row = static_cast<uint32_t>(Below(kRows));
    if (Below(8) != 0) node.Label("zone", Number(3));
    if (Below(3) != 0) node.Label("rack", Number(4));
    if (Below(8) != 0) node.Label("host", std::to_string(row));
    if (Below(3) == 0) node.Label("other", Number(2));
    if (Below(3) == 0) node.Taint("t");
    cluster_.PutNode(row, node);
  }
  void RemoveNode() {
    const auto row = static_cast<uint32_t>(Below(kRows));
    if (cluster_.nodes().contains(row)) cluster_.RemoveNode(row);
  }
  void RelabelNamespace() {
    const std::string& name = Pick(kNamespaces);
    if (Below(4) == 0) {
      if (cluster_.namespaces().contains(name)) cluster_.RemoveNamespace(name);
      return;
    }
    std::map<std::string, std::string> labels;
    if (Below(3) != 0) labels["team"] = Number(2);
    if (Below(3) == 0) labels["env"] = Number(2);
    cluster_.PutNamespace(name, labels);
  }

  // Returns a question that was asked before, or a new one.
  Question& RandomQuestion() {
    constexpr size_t kQuestions = 12;
    if (questions_.size() < kQuestions || Below(20) == 0) {
      Question question{MakePod("asks").Namespace(Pick(kNamespaces)), Pick(kKeys), Below(2) == 0};
      for (size_t i = 0; i <= Below(2); ++i) {
        question.pod.required_pod_anti_terms.push_back(RandomTerm(false));
      }
      if (questions_.size() == kQuestions) questions_.erase(questions_.begin());
      questions_.push_back(std::move(question));
      return questions_.back();
    }
    return questions_[Below(questions_.size())];
  }

  void CheckCounts() {
    Question& question = RandomQuestion();
    const PodHandle asks = cluster_.Pod(question.pod);
    PodQuery query(question.terminating ? PodQuery::kWithTerminating
                                        : PodQuery::kWithoutTerminating);
    for (const berth_pod_term& term :
         Span<const berth_pod_term>(asks->affinity->required_pod_anti_terms)) {
      query.Means(asks->meta->ns, term);
    }
    const berth_id key = cluster_.ids().Intern(question.key);
    const CountedDomains counted = cluster_.index().Count(query, key, ++cycle_);
    cluster_.ids().Release(key);

    const auto& terms = question.pod.required_pod_anti_terms;
    std::map<uint32_t, uint64_t> rows;
    counted.counter->rows().ForEach([&](uint32_t row, uint32_t count) { rows[row] = count; });
    EXPECT_EQ(rows, model_.CountByRow(question.pod, terms, question.terminating));
    std::map<std::string, uint64_t> counts = ByValue(counted);
    EXPECT_EQ(counts, model_.CountByValue(question.pod, terms, question.terminating, question.key));
    CheckJournal(question, counted);
    question.earlier.push_back(
        {cluster_.index().token(), counted.counter->id(), std::move(counts)});
    if (question.earlier.size() > 4) question.earlier.pop_front();
    ++compared_;
  }
  std::map<std::string, uint64_t> ByValue(const CountedDomains& counted) {
    std::map<std::string, uint64_t> counts;
    counted.counts->ForEach([&](uint32_t domain, uint32_t count) {
      counts[std::string(cluster_.ids().Text(counted.topology->Value(domain)))] = count;
    });
    return counts;
  }
  // Takes the deltas of the journal back, and expects the earlier counts.
  void CheckJournal(const Question& question, const CountedDomains& counted) {
    for (const Earlier& earlier : question.earlier) {
      std::map<std::string, int64_t> counts;
      for (const auto& [value, count] : ByValue(counted)) {
        counts[value] = static_cast<int64_t>(count);
      }
      TopologyDeltas deltas;
      if (!deltas.Read(*counted.counter).Since(earlier.token, cluster_.index(), 0)) continue;
      EXPECT_EQ(earlier.counter, counted.counter->id());
      deltas.ForEach(*counted.counter, [&](uint32_t row, int64_t delta) {
        const uint32_t domain = counted.topology->DomainOf(row);
        if (domain == Topology::kNone) return;
        counts[std::string(cluster_.ids().Text(counted.topology->Value(domain)))] -= delta;
      });
      ++replayed_;
      std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
      std::map<std::string, uint64_t> before;
      for (const auto& [value, count] : counts) before[value] = static_cast<uint64_t>(count);
      EXPECT_EQ(before, earlier.counts);
    }
  }

  void CheckTerms() {
    const PodHandle pod = cluster_.Pod(RandomPod("incoming"));
    std::vector<const TermGroup*> groups;
    cluster_.index().FindTerms(*pod, 15, groups);
    TopologyModel::TermCounts counts;
    for (const TermGroup* group : groups) {
      const Topology& topology = group->topology();
      group->counts().ForEach([&](uint32_t domain, uint32_t count) {
        counts[{group->kind(), group->weight(), std::string(cluster_.ids().Text(topology.key())),
                std::string(cluster_.ids().Text(topology.Value(domain)))}] += count;
      });
    }
    EXPECT_EQ(counts, model_.TermsOf(pod.spec()));
  }

  host::SplitMix64 numbers_;
  TopologyCluster cluster_;
  TopologyModel model_;
  std::vector<Question> questions_;
  uint64_t last_pod_ = 0;
  uint64_t cycle_ = 0;
  uint64_t compared_ = 0;
  uint64_t replayed_ = 0;
};

void RunSteps(uint64_t seed, TopologyIndexOptions options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomCluster cluster(seed, options);
  for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    cluster.Step();
    if (step % 2 == 0) cluster.Check();
  }
  // Otherwise the test compared little.
  EXPECT_GT(cluster.compared(), kSteps / 3);
  EXPECT_GT(cluster.replayed(), kSteps / 20);
}

TEST(TopologyRandomTest, EqualsANaiveRecount) { RunSteps(1, {}); }

// Counters are evicted often, and the journal is short, so that groups are dropped soon.
TEST(TopologyRandomTest, EqualsANaiveRecountWithLittleMemory) {
  RunSteps(2, {.counter_bytes = 4000, .journal = 50});
}

}  // namespace
}  // namespace berth
