// An API server on a loopback socket, whose cluster is a model.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/real_clock.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/kubernetes/transport.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/api_server/loopback_server.h"

namespace berth::host {

// Serves an ApiModel over plain HTTP in real time, for tests that start `berth` as a process.
//
// Threading: any, except Stop() and the destructor, which no handler may call.
class ModelServer {
 public:
  explicit ModelServer(ApiModel::Options options = {});
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  // Returns the text of a kubeconfig for this server, with a token.
  std::string Kubeconfig() const;

  // Executes a request as another client of the server.
  HttpResponse Send(const std::string& verb, const std::string& target,
                    const std::string& body = "", std::string_view type = kJson);
  // Returns the object at `target`; a discarded value if the server refuses the request.
  nlohmann::json Get(const std::string& target);
  // Returns "<verb> <target>" of each request whose target contains `part`, with its HTTP status
  // behind it: "POST /api/v1/.../binding 201".
  std::vector<std::string> Served(std::string_view part);

  // Ends all connections and refuses others until Start().
  void Stop();
  void Start();

 private:
  void Serve(LoopbackServer::Peer& peer);
  // Returns false if the connection has ended.
  bool ServeOne(LoopbackServer::Peer& peer, const HttpRequest& request);
  bool ServeWatch(LoopbackServer::Peer& peer, const HttpRequest& request);

  RealClock clock_;
  Interner interner_;
  Decoder decoder_{interner_};
  std::mutex mutex_;  // Guards the cluster and the model.
  EmbeddedCluster cluster_;
  ApiModel model_;
  std::atomic<bool> is_stopping_ = false;
  LoopbackServer server_;  // Last: its threads use the others.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_
