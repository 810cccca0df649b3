// The pods and nodes of the tests of InterPodAffinity.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_TEST_PODS_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_TEST_PODS_H_

#include <string>
#include <vector>

#include <berth/testing/fake_host.h>

namespace affinity {

inline const berth::testing::Requirements kWeb = {berth::testing::In("app", {"web"})};
inline const berth::testing::Requirements kDb = {berth::testing::In("app", {"db"})};

inline berth::testing::PodSpec Web(const std::string& name = "web") {
  return berth::testing::MakePod(name).Label("app", "web");
}
inline berth::testing::PodSpec Db(const std::string& name = "db") {
  return berth::testing::MakePod(name).Label("app", "db");
}

// Returns two nodes in zone a, one in zone b, and one without a zone.
inline std::vector<berth::testing::NodeSpec> Nodes() {
  using berth::testing::MakeNode;
  return {MakeNode("a1").Label("zone", "a").Label("host", "a1"),
          MakeNode("a2").Label("zone", "a").Label("host", "a2"),
          MakeNode("b1").Label("zone", "b").Label("host", "b1"),
          MakeNode("c1").Label("host", "c1")};
}

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_TEST_PODS_H_
