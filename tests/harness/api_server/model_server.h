// Serves a model of an API server on a loopback socket, for tests of whole processes.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/api_server/loopback_server.h"

namespace berth::host {

// Owns the cluster, its model and the socket. Each connection is served by a thread of its own, one
// request after the other; a watch is chunked and takes its connection to the end.
//
// Threading: any, except for Stop() and the destructor, which one thread calls.
class ModelServer {
 public:
  struct Options {
    ApiModel::Options model = {};
    // With TLS, a client needs a client certificate only if this asks for one. Tokens are not
    // checked.
    LoopbackServer::Options socket = {};
  };

  explicit ModelServer(Options options);
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  uint16_t port() const { return server_->port(); }
  // Returns a kubeconfig with the address, the CA, and the client certificate of Certificates().
  std::string Kubeconfig() const;

  // Calls `act` while no request is served. Watches deliver what it changes. It notes the texts of
  // pods and nodes that it writes; see ApiModel::Note().
  void Do(const std::function<void(EmbeddedCluster& cluster, ApiModel& model)>& act);
  // Creates an object as a POST to its collection does. The text is JSON with kind and apiVersion.
  void Create(std::string_view json);
  // Calls `is_true` after each change until it returns true, for at most `limit_ns`. Returns
  // whether it did.
  bool WaitFor(const std::function<bool(EmbeddedCluster& cluster, ApiModel& model)>& is_true,
               int64_t limit_ns);

  // Ends all connections and accepts no more; Start() begins again on the same port.
  void Stop();
  void Start();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void ServeConnection(LoopbackServer::Peer& peer);
  // Returns false when the connection has ended.
  bool ServeOne(LoopbackServer::Peer& peer, const HttpRequest& request);
  bool ServeWatch(LoopbackServer::Peer& peer, ApiModel::OpenWatch& watch);
  // Waits for the next lines of the watch. Returns nullopt if the server stops.
  std::optional<std::string> NextLines(ApiModel::OpenWatch& watch);

  RealClock clock_;
  Interner interner_;
  Decoder decoder_{interner_};
  EmbeddedCluster cluster_;
  std::mutex mutex_;  // Guards everything below, the cluster and the decoder.
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  bool is_stopping_ = false;
  ApiModel model_;
  const bool is_tls_;
  std::unique_ptr<LoopbackServer> server_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_SERVER_H_
