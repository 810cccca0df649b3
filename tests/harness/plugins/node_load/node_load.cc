// Prefers the nodes with the lowest load. An HTTP source reports the load, such as an exporter of
// the operating system's load; no object of the cluster carries it.
//
// A thread of the plugin polls the source: a request may take long, and the scheduling thread must
// not wait for it. The thread hands each answer over to the scheduling thread, which alone reads
// and writes the loads. Each line of an answer is the name of a node and its load in percent:
//
//   node-17 42
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <berth/plugin.h>

namespace {

using std::chrono::milliseconds;

// A connection to the source, closed by the destructor.
class Connection {
 public:
  // `within` limits each step: the connection, and each read and write.
  Connection(uint16_t port, milliseconds within) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit = {.tv_sec = within.count() / 1000,
                           .tv_usec = within.count() % 1000 * 1000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends a GET request and returns the body of the answer; std::nullopt unless the status is 200.
  std::optional<std::string> Get(const std::string& path) const {
    const std::string request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
    if (!is_open_ || ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
                         static_cast<ssize_t>(request.size())) {
      return std::nullopt;
    }
    std::string answer;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = ::recv(socket_, bytes, sizeof(bytes), 0)) > 0) {
      answer.append(bytes, static_cast<size_t>(count));
    }
    const size_t end = answer.find("\r\n\r\n");
    const bool is_ok = answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200");
    if (count < 0 || !is_ok || end == std::string::npos) return std::nullopt;
    return answer.substr(end + 4);
  }

 private:
  const int socket_;
  bool is_open_ = false;
};

using Loads = std::vector<std::pair<std::string, int64_t>>;

Loads ParseLoads(const std::string& body) {
  Loads loads;
  std::istringstream lines(body);
  std::string node;
  int64_t percent = 0;
  while (lines >> node >> percent) loads.emplace_back(node, std::clamp<int64_t>(percent, 0, 100));
  return loads;
}

// Calls `work` on a thread of its own, again and again, until it is destroyed.
class Poller {
 public:
  template <class F>
  Poller(milliseconds every, F work)
      : thread_([this, every, work = std::move(work)] {
          do work();
          while (!StopsWithin(every));
        }) {}
  ~Poller() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    stop_.notify_one();
    thread_.join();
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

 private:
  bool StopsWithin(milliseconds time) {
    std::unique_lock lock(mutex_);
    return stop_.wait_for(lock, time, [this] { return stopping_; });
  }

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

class NodeLoad : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.NodeLoad";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Prefers the nodes with the lowest reported load.";
  static constexpr std::array kServices{BERTH_SERVICE_TIMER, BERTH_SERVICE_NODES,
                                        BERTH_SERVICE_STRINGS};

  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  struct Args {
    int64_t port = 0;
    std::string path = "/loads";
    int64_t every_ms = 1000;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("port", &Args::port, berth::Range{1, 65'535}, berth::kRequired,
                 "The port of the source on this machine."),
      berth::Arg("path", &Args::path, "The path of the loads."),
      berth::Arg("everyMilliseconds", &Args::every_ms, berth::Range{1, 3'600'000},
                 "The time from one answer of the source to the next request."));

  // No part of a pod has an effect, and no property of a node but what the source reports.
  static constexpr berth::Dependence kScoreDependence{.cluster = berth::kOther};

  NodeLoad(const berth::Host& host, const Args& args)
      : host_(host),
        poller_(std::in_place, milliseconds(args.every_ms),
                [this, port = static_cast<uint16_t>(args.port), path = args.path] {
                  Poll(port, path);
                }) {}

  void Quiesce() { poller_.reset(); }

  void OnChange(const berth::Change& change) {
    if (change.kind == BERTH_CHANGE_NODE_REMOVED) loads_.erase(change.node->name);
  }

  // A node of which the source reports nothing counts as fully loaded.
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& node) const {
    const auto found = loads_.find(node[berth::NodeName{}]);
    return found != loads_.end() ? 100 - found->second.percent : 0;
  }
  berth::Stale ScoreChanged(const berth::Cycle& /*cycle*/, uint64_t& token,
                            berth::RowSink& rows) const {
    const uint64_t since = std::exchange(token, version_);
    if (since == 0) return berth::Stale::kAll;
    if (since == version_) return berth::Stale::kNone;
    for (const auto& [id, load] : loads_) {
      if (load.version <= since) continue;
      if (const auto row = host_.nodes().Find(host_.Text(id))) rows.Put(*row);
    }
    return berth::Stale::kRows;
  }

 private:
  struct Load {
    berth::InternedId node;
    int64_t percent = 0;
    uint64_t version = 0;  // The version in which the percentage changed.
  };

  // Threading: the poller's thread.
  void Poll(uint16_t port, const std::string& path) {
    const std::optional<std::string> body = Connection(port, milliseconds(1000)).Get(path);
    if (!body.has_value()) {
      host_.log().Warn("the source of the loads does not answer", {{"path", path}});
      return;
    }
    // When the instance ends, the posted function is not called.
    static_cast<void>(host_.timers().Post([this, loads = ParseLoads(*body)] { Apply(loads); }));
  }
  // Keeps the last known load of a node that the source leaves out, and drops that of a name that
  // no node has: the source may report any number of them.
  // Threading: the scheduling thread, between attempts.
  void Apply(const Loads& loads) {
    ++version_;
    for (const auto& [node, percent] : loads) {
      if (!host_.nodes().Find(node)) continue;
      berth::InternedId id = host_.InternHeld(node);
      Load& load = loads_[id.get()];
      if (load.version != 0 && load.percent == percent) continue;
      load = {std::move(id), percent, version_};
    }
    host_.log().Info("applied", {{"nodes", std::to_string(loads_.size())}});
  }

  const berth::Host host_;
  std::unordered_map<berth_id, Load> loads_;
  uint64_t version_ = 1;
  std::optional<Poller> poller_;
};

}  // namespace

BERTH_PLUGIN(NodeLoad)
