// The fixture of the tests of the index over pods and domains.
#ifndef BERTH_TESTS_SDK_TOPOLOGY_FIXTURE_H_
#define BERTH_TESTS_SDK_TOPOLOGY_FIXTURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <berth/topology_index.h>

#include "tests/sdk/topology_cluster.h"

namespace berth {

inline testing::NodeSpec Node(const std::string& zone) {
  return testing::MakeNode("n").Label("zone", zone);
}
inline testing::PodSpec Web(const std::string& name) {
  return testing::MakePod(name).Label("app", "web");
}

// A pod of which the tests take one term.
inline testing::PodSpec Asks(const testing::Requirements& selector,
                             const std::string& key = "zone") {
  return testing::MakePod("asks").PodAntiAffinity(key, selector);
}

class TopologyIndexTest : public ::testing::Test {
 protected:
  // Returns the counts of the pods that the first required anti-affinity term of `pod` means.
  CountedDomains Count(const testing::PodHandle& pod, const std::string& key = "zone",
                       uint64_t cycle = 1) {
    return cluster_.index().Count(Query(pod), cluster_.ids().Intern(key), cycle);
  }
  static PodQuery Query(const testing::PodHandle& pod) {
    const auto terms = Span<const berth_pod_term>(pod->affinity->required_pod_anti_terms);
    return PodQuery(PodQuery::kWithTerminating).Means(pod->meta->ns, terms[0]);
  }
  std::map<std::string, uint64_t> ByValue(const CountedDomains& counted) {
    std::map<std::string, uint64_t> counts;
    counted.counts->ForEach([&](uint32_t domain, uint32_t count) {
      counts[std::string(cluster_.ids().Text(counted.topology->Value(domain)))] = count;
    });
    return counts;
  }
  std::map<std::string, uint64_t> CountByZone(const testing::PodSpec& asks) {
    const testing::PodHandle pod = cluster_.Pod(asks);
    return ByValue(Count(pod));
  }
  // Returns the terms that mean the pod, as "kind weight value=count ...".
  std::vector<std::string> Terms(const testing::PodSpec& spec, uint32_t kinds = 15) {
    const testing::PodHandle pod = cluster_.Pod(spec);
    std::vector<const TermGroup*> groups;
    cluster_.index().FindTerms(*pod, kinds, groups);
    std::vector<std::string> texts;
    for (const TermGroup* group : groups) {
      std::string text = std::to_string(group->kind()) + " " + std::to_string(group->weight());
      group->counts().ForEach([&](uint32_t domain, uint32_t count) {
        text += " " + std::string(cluster_.ids().Text(group->topology().Value(domain))) + "=" +
                std::to_string(count);
      });
      texts.push_back(text);
    }
    return texts;
  }
  std::vector<TopologyChange> ChangesSince(uint64_t token) {
    std::vector<TopologyChange> changes;
    EXPECT_TRUE(cluster_.index().ForEachChangeSince(
        token, [&](const TopologyChange& change) { changes.push_back(change); }));
    return changes;
  }

  testing::TopologyCluster cluster_;
};

}  // namespace berth

#endif  // BERTH_TESTS_SDK_TOPOLOGY_FIXTURE_H_
