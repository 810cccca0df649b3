#include "tests/harness/api_server/model_server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "host/base/assert.h"
#include "host/base/base64.h"
#include "host/base/json_text.h"
#include "host/serve/http_request.h"
#include "tests/harness/api_server/model_answers.h"
#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

// A watch looks for the end of the server at least this often.
constexpr std::chrono::milliseconds kLongestWait(200);
constexpr size_t kMostBytes = size_t{4} << 20;

template <class SomeClock>
int64_t TimeOf() {
  const auto since = SomeClock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

std::string ChunkOf(std::string_view bytes) {
  char size[24];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  return std::string(size).append(bytes).append("\r\n");
}

// Returns the value of the header Content-Type as one of the constants that HttpRequest needs.
std::string_view TypeOf(std::string_view text) {
  for (const std::string_view type : {kMergePatch, kStrategicMergePatch}) {
    if (text.find(type) != text.npos) return type;
  }
  return kJson;
}

}  // namespace

ModelServer::ModelServer(Options options)
    : clock_(TimeOf<std::chrono::system_clock>(), TimeOf<std::chrono::steady_clock>),
      cluster_({.clock = clock_, .serve = nullptr}),
      model_(cluster_, decoder_, std::move(options.model)),
      is_tls_(options.socket.tls) {
  clock_.Begin();
  static_cast<void>(model_.Listen([this] {
    ++changes_;
    changed_.notify_all();
  }));
  server_ = std::make_unique<LoopbackServer>(
      options.socket, [this](LoopbackServer::Peer& peer, size_t) { ServeConnection(peer); });
}

ModelServer::~ModelServer() { Stop(); }

std::string ModelServer::Kubeconfig() const {
  const TestCertificates& certificates = Certificates();
  const std::string url =
      std::string(is_tls_ ? "https" : "http") + "://127.0.0.1:" + std::to_string(server_->port());
  nlohmann::ordered_json cluster = {{"server", url}};
  if (is_tls_) cluster["certificate-authority-data"] = EncodeBase64(certificates.ca_pem);
  nlohmann::ordered_json user = {{"client-certificate-data", EncodeBase64(certificates.client_pem)},
                                 {"client-key-data", EncodeBase64(certificates.client_key_pem)}};
  if (!is_tls_) user = {{"token", "text"}};
  nlohmann::ordered_json config = {{"kind", "Config"}, {"apiVersion", "v1"}};
  config["clusters"].push_back({{"name", "model"}, {"cluster", std::move(cluster)}});
  config["users"].push_back({{"name", "client"}, {"user", std::move(user)}});
  config["contexts"].push_back(
      {{"name", "test"}, {"context", {{"cluster", "model"}, {"user", "client"}}}});
  config["current-context"] = "test";
  return DumpJson(config);
}

// ---- Tests --------------------------------------------------------------------------------------

void ModelServer::Do(const std::function<void(EmbeddedCluster&, ApiModel&)>& act) {
  const Lock lock(mutex_);
  act(cluster_, model_);
  model_.Sync();
}

void ModelServer::Create(std::string_view json) {
  Do([&](EmbeddedCluster& cluster, ApiModel& model) {
    auto object = decoder_.Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
    model.Note(ParseOrderedJson(json));
    const auto created = cluster.Create(*std::move(object));
    BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
  });
}

bool ModelServer::WaitFor(const std::function<bool(EmbeddedCluster&, ApiModel&)>& is_true,
                          int64_t limit_ns) {
  Lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                           [&] { return is_true(cluster_, model_); });
}

void ModelServer::Stop() {
  {
    const Lock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  server_->Stop();
}

void ModelServer::Start() {
  {
    const Lock lock(mutex_);
    is_stopping_ = false;
  }
  server_->Start();
}

// ---- Connections --------------------------------------------------------------------------------

void ModelServer::ServeConnection(LoopbackServer::Peer& peer) {
  std::string text;
  while (peer.ReadRequest(text)) {
    const HttpParse parse = ParseHttpRequest(
        text, {.header_bytes = kMostBytes, .body_bytes = kMostBytes}, /*is_loopback=*/true);
    if (parse.outcome != HttpParse::Outcome::kRequest) return;
    const std::string_view line = std::string_view(text).substr(0, text.find("\r\n"));
    const size_t begin = line.find(' ') + 1;
    const std::string_view head = std::string_view(text).substr(0, text.find("\r\n\r\n"));
    HttpRequest request = {.verb = parse.request.method,
                           .target = std::string(line.substr(begin, line.rfind(' ') - begin)),
                           .body = parse.request.body};
    if (!request.body.empty()) request.content_type = TypeOf(head);
    if (!ServeOne(peer, request)) return;
  }
}

bool ModelServer::ServeOne(LoopbackServer::Peer& peer, const HttpRequest& request) {
  HttpResponse answer;
  if (ApiModel::IsWatch(request)) {
    std::unique_ptr<ApiModel::OpenWatch> watch;
    {
      const Lock lock(mutex_);
      watch = model_.StartWatch(request, ApiModel::kCurrent, answer);
    }
    if (watch != nullptr) return ServeWatch(peer, *watch);
  } else {
    const Lock lock(mutex_);
    answer = model_.Serve(request);
  }
  return peer.Write(HttpAnswer(static_cast<int>(answer.head.http_status), answer.body));
}

bool ModelServer::ServeWatch(LoopbackServer::Peer& peer, ApiModel::OpenWatch& watch) {
  if (!peer.Write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n")) {
    return false;
  }
  while (!watch.has_ended()) {
    const std::optional<std::string> lines = NextLines(watch);
    if (!lines || (!lines->empty() && !peer.Write(ChunkOf(*lines)))) return false;
  }
  return peer.Write("0\r\n\r\n");
}

std::optional<std::string> ModelServer::NextLines(ApiModel::OpenWatch& watch) {
  Lock lock(mutex_);
  while (!is_stopping_) {
    std::string lines = model_.TakeLines(watch);
    if (!lines.empty() || watch.has_ended()) return lines;
    changed_.wait_for(lock, kLongestWait,
                      [this, before = changes_] { return is_stopping_ || changes_ != before; });
  }
  return std::nullopt;
}

}  // namespace berth::host
