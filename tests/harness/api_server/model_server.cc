#include "tests/harness/api_server/model_server.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::chrono::milliseconds kWatchPause(5);

int64_t ModelSteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t ModelWallNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Returns the value of a header; empty if the head does not have it.
std::string HeaderOf(std::string_view head, const std::string& name) {
  const std::string lower = ToLower(head);
  const size_t at = lower.find("\r\n" + name + ":");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 3;
  return std::string(TrimSpace(head.substr(begin, lower.find("\r\n", begin) - begin)));
}

// The media types of a request are constants.
std::string_view MediaType(const std::string& text) {
  for (const std::string_view known : {kJson, kMergePatch, kStrategicMergePatch}) {
    if (text == known) return known;
  }
  return "";
}

HttpRequest ParseRequestText(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  const std::string head = text.substr(0, end);
  const size_t verb_end = head.find(' ');
  const size_t target_end = head.find(' ', verb_end + 1);
  return {.verb = head.substr(0, verb_end),
          .target = head.substr(verb_end + 1, target_end - verb_end - 1),
          .body = end == std::string::npos ? "" : text.substr(end + 4),
          .content_type = MediaType(HeaderOf(head, "content-type"))};
}

std::string Chunk(std::string_view bytes) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return std::string(size.data()).append(bytes).append("\r\n");
}

}  // namespace

ModelServer::ModelServer(ApiModel::Options options)
    : clock_(ModelWallNs(), ModelSteadyNs),
      cluster_({.clock = clock_, .max_events = 1000, .serve = nullptr}),
      model_(cluster_, decoder_, std::move(options)),
      server_({.tls = false}, [this](LoopbackServer::Peer& peer, size_t) { Serve(peer); }) {
  clock_.Begin();
}

ModelServer::~ModelServer() { Stop(); }

std::string ModelServer::Kubeconfig() const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: model\n"
         "contexts:\n- name: model\n  context: {cluster: model, user: berth}\n"
         "clusters:\n- name: model\n  cluster: {server: \"http://127.0.0.1:" +
         std::to_string(server_.port()) +
         "\"}\n"
         "users:\n- name: berth\n  user: {token: canary-token}\n";
}

HttpResponse ModelServer::Send(const std::string& verb, const std::string& target,
                               const std::string& body, std::string_view type) {
  const std::lock_guard lock(mutex_);
  return model_.Serve({.verb = verb,
                       .target = target,
                       .body = body,
                       .content_type = body.empty() ? std::string_view() : type});
}

nlohmann::json ModelServer::Get(const std::string& target) {
  const HttpResponse response = Send("GET", target);
  return nlohmann::json::parse(response.is_success() ? response.body : "", nullptr, false);
}

std::vector<std::string> ModelServer::Served(std::string_view part) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> requests;
  for (const ApiModel::Served& served : model_.served()) {
    if (served.target.find(part) == std::string::npos) continue;
    requests.push_back(served.verb + " " + served.target + " " +
                       std::to_string(served.http_status));
  }
  return requests;
}

void ModelServer::Stop() {
  is_stopping_ = true;
  server_.Stop();
}

void ModelServer::Start() {
  is_stopping_ = false;
  server_.Start();
}

void ModelServer::Serve(LoopbackServer::Peer& peer) {
  std::string text;
  while (!is_stopping_ && peer.ReadRequest(text)) {
    if (!ServeOne(peer, ParseRequestText(std::exchange(text, {})))) return;
  }
}

bool ModelServer::ServeOne(LoopbackServer::Peer& peer, const HttpRequest& request) {
  if (ApiModel::IsWatch(request)) return ServeWatch(peer, request);
  HttpResponse response;
  {
    const std::lock_guard lock(mutex_);
    response = model_.Serve(request);
  }
  return peer.Write(HttpAnswer(static_cast<int>(response.head.http_status), response.body));
}

bool ModelServer::ServeWatch(LoopbackServer::Peer& peer, const HttpRequest& request) {
  HttpResponse refusal;
  std::unique_ptr<ApiModel::OpenWatch> watch;
  {
    const std::lock_guard lock(mutex_);
    watch = model_.StartWatch(request, ApiModel::kCurrent, refusal);
  }
  if (watch == nullptr) {
    return peer.Write(HttpAnswer(static_cast<int>(refusal.head.http_status), refusal.body));
  }
  bool is_open = peer.Write(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (is_open && !is_stopping_) {
    std::string lines;
    bool has_ended = false;
    {
      const std::lock_guard lock(mutex_);
      lines = model_.TakeLines(*watch);
      has_ended = watch->has_ended();
    }
    if (!lines.empty()) is_open = peer.Write(Chunk(lines));
    if (has_ended) return is_open && peer.Write("0\r\n\r\n");
    std::this_thread::sleep_for(kWatchPause);
  }
  return false;
}

}  // namespace berth::host
