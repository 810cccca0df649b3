#include "tests/simulation/namespace_acts.h"

#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "tests/simulation/sketch.h"

namespace berth::host {
namespace {

constexpr const char* kKind = "v1/Namespace";
constexpr std::array kNames{"default", "default", "tenant"};

}  // namespace

void NamespaceActs::Change() {
  const std::string name = random_.Pick(kNames);
  const bool exists = writer_.cluster().Find(kKind, "", name).has_value();
  if (exists && random_.OneIn(4)) {
    writer_.TraceAct("delete namespace", name);
    BERTH_ASSERT(writer_.cluster().Delete(kKind, "", name).ok());
    return;
  }
  nlohmann::json labels = nlohmann::json::object();
  if (!random_.OneIn(3)) labels[kTeamLabel] = random_.Pick(kTeams);
  const nlohmann::json ns = {{"kind", "Namespace"},
                             {"apiVersion", "v1"},
                             {"metadata", {{"name", name}, {"labels", labels}}}};
  const std::string text = ns.dump();
  writer_.TraceAct(exists ? "relabel namespace" : "create namespace", name, text);
  if (exists) {
    writer_.Update(text);
  } else {
    writer_.Create(text);
  }
}

}  // namespace berth::host
