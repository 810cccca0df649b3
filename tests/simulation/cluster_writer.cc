#include "tests/simulation/cluster_writer.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

AnyObject ClusterWriter::Decode(const std::string& json) {
  auto object = decoder_.Decode(json);
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  return *std::move(object);
}

void ClusterWriter::Create(const std::string& json) {
  if (listener_) listener_(json);
  const auto created = cluster_.Create(Decode(json));
  BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
}

void ClusterWriter::Update(const std::string& json) {
  if (listener_) listener_(json);
  const auto updated = cluster_.Update(Decode(json));
  BERTH_ASSERT_MSG(updated.ok(), "%s", updated.status().ToString().c_str());
}

void ClusterWriter::TraceAct(std::string_view act, std::string_view name,
                             std::string_view details) {
  trace_.Line("world: ", act, " ", name, details.empty() ? "" : " ", details);
}

}  // namespace berth::host
