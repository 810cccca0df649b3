#include "host/process/replay/live_cluster.h"

#include <memory>
#include <utility>

#include "host/base/kind_name.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"

namespace berth::host {

LiveRequest LiveRequestFor(const KindUsers& users) {
  LiveRequest request;
  request.kinds.assign(users.declared().begin(), users.declared().end());
  request.needed_by = [&users](std::string_view kind) {
    return users.Of(KindsOf(std::string(kind)).front());
  };
  return request;
}

std::vector<std::string> AddLiveObjects(LiveObjects live, LocalCluster& cluster) {
  std::vector<std::string> warnings = std::move(live.warnings);
  for (AnyObject& object : live.objects) {
    const Status status = cluster.Add(std::move(object));
    if (!status.ok()) warnings.emplace_back(status.message());
  }
  return warnings;
}

Result<std::vector<std::string>> LoadLiveCluster(const LiveClusterRequest& request,
                                                 const KindUsers& users, LocalCluster& cluster) {
  const Result<ClusterAccess> access = FindClusterAccess(request.target, {});
  if (!access.ok()) return access.status();
  TransportObserver observer;
  const auto connection = OpenConnection(request.target, *access, {}, observer, *request.log);
  if (!connection.ok()) return connection.status();
  const Channel reads = (*connection)->reads();
  LiveRequest lists = LiveRequestFor(users);
  lists.progress = request.progress;
  const Decoder& decoder = cluster.decoder();
  Result<LiveObjects> live = ReadLiveObjects(decoder.interner(), decoder.options(),
                                             *reads.transport, *reads.executor, std::move(lists));
  if (!live.ok()) return live.status().Annotate(access->endpoint.server.ToString());
  std::vector<std::string> warnings = access->warnings;
  for (std::string& warning : AddLiveObjects(std::move(live).value(), cluster)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace berth::host
