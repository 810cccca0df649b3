// An embedded cluster for tests of the rules of its control plane.
#ifndef BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROL_PLANE_TESTING_H_
#define BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROL_PLANE_TESTING_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/api/yaml.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

class ControlPlaneTest : public ::testing::Test {
 protected:
  using Json = nlohmann::ordered_json;

  // Parses one document of YAML.
  static Json Yaml(std::string_view text) {
    const auto documents = YamlToJson(text);
    BERTH_ASSERT_MSG(documents.ok() && documents->size() == 1, "%s", std::string(text).c_str());
    return ParseOrderedJson(documents->front().json);
  }

  // Adds an object to the cluster. Returns its uid.
  std::string Add(const Json& object) {
    Result<AnyObject> decoded = decoder_.Decode(DumpJson(object));
    BERTH_ASSERT_MSG(decoded.ok(), "%s", decoded.status().ToString().c_str());
    const Result<AnyObject> stored = cluster_.Create(*std::move(decoded));
    BERTH_ASSERT_MSG(stored.ok(), "%s", stored.status().ToString().c_str());
    return std::string(Base(*stored).uid());
  }

  // Calls `each(json, place)` for each copy of `json` in which one value, at the JSON pointer
  // `place`, is of another type or missing.
  template <class Each>
  static void ForEachMutation(const Json& json, const Each& each) {
    const Json others[] = {nullptr,
                           true,
                           1,
                           -1,
                           1e30,
                           "x",
                           "",
                           Json::array(),
                           Json::array({1}),
                           Json::array({nullptr}),
                           Json::object(),
                           Json{{"x", 1}}};
    const Json flat = json.flatten();
    std::set<std::string> places;
    for (const auto& [leaf, value] : flat.items()) {
      for (size_t end = leaf.size(); end > 0; end = leaf.rfind('/', end - 1)) {
        places.insert(leaf.substr(0, end));
      }
    }
    for (const std::string& place : places) {
      const Json::json_pointer pointer(place);
      for (const Json& other : others) {
        Json changed = json;
        changed[pointer] = other;
        each(changed, place + " = " + other.dump());
      }
      Json changed = json;
      Json& parent = changed[pointer.parent_pointer()];
      if (!parent.is_object()) continue;
      parent.erase(pointer.back());
      each(changed, place + " is missing");
    }
  }

  // Removes an object if it exists.
  void Remove(const std::string& kind, const char* ns, const char* name) {
    if (!cluster_.Find(kind, ns, name).has_value()) return;
    EXPECT_TRUE(cluster_.Remove(kind, ns, name).ok());
  }

  Interner interner_;
  Decoder decoder_{interner_};
  VirtualClock clock_{600 * kMinute};
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = {}}};
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROL_PLANE_TESTING_H_
