#include "host/http/http_client.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/http/credential_source.h"
#include "host/http/http_transport.h"
#include "host/http/io_thread.h"
#include "host/http/tls_context.h"

namespace berth::host {
namespace {

HttpResponse FailureOf(Status status) {
  HttpResponse response;
  response.status = std::move(status);
  return response;
}

// The server and the trust in it: requests of one key may share connections.
using ServerKey = std::pair<std::string, HttpTrust>;

ServerKey KeyOf(const HttpCall& call) { return {call.server.ToString(), call.trust}; }

// The TLS settings of one server with the newest content of its files, and no other credential.
// Threading: the thread of the client.
class FileTrust final : public CredentialSource {
 public:
  FileTrust(ServerUrl server, HttpTrust trust)
      : server_(std::move(server)), trust_(std::move(trust)) {
    settings_.ca_file = trust_.ca_file;
    settings_.server_name = trust_.server_name;
    settings_.terms = {.own_ca = "the CA of " + trust_.ca_file,
                       .set_ca = "name its CA file in the request",
                       .set_name = "name the server in the request",
                       .server_name = "the server's name in the request",
                       .certificate = trust_.cert_file,
                       .key = trust_.key_file};
  }

  // Reads the files if that is due. Files that cannot be read, or are not valid, are an error only
  // if no earlier content was good.
  Status Refresh(const SocketHttpClient::Options& options) {
    const bool has_tls = server_.scheme == ServerUrl::Scheme::kHttps;
    const bool has_files = !trust_.ca_file.empty() || !trust_.cert_file.empty();
    if (current_ != nullptr && (!has_tls || !has_files)) return Status::Ok();
    const int64_t now_ns = options.steady_ns();
    if (current_ != nullptr && now_ns - read_at_ns_ < options.reread_ns) return Status::Ok();
    read_at_ns_ = now_ns;
    const Status status = has_tls ? ReadTls(options) : Use(nullptr);
    return current_ != nullptr ? Status::Ok() : status;
  }

  std::shared_ptr<const Credential> Current() const override { return current_; }
  void Renew(uint64_t /*generation*/, std::function<void(Status status)> done) override {
    done(Status::Unavailable("the request has no credential that could be renewed"));
  }

 private:
  Status ReadTls(const SocketHttpClient::Options& options) {
    auto ca = Read(options, trust_.ca_file);
    auto chain = Read(options, trust_.cert_file);
    auto key = Read(options, trust_.key_file);
    for (const auto* read : {&ca, &chain, &key}) {
      if (!read->ok()) return read->status();
    }
    ClientCertificate certificate = {.chain_pem = *std::move(chain),
                                     .key_pem = Secret(*std::move(key))};
    const bool is_same = *ca == settings_.ca_pem && certificate == certificate_;
    if (current_ != nullptr && is_same) return Status::Ok();
    TlsSettings settings = settings_;
    settings.ca_pem = *ca;
    auto tls = TlsContext::Create(settings, server_.host, certificate);
    if (!tls.ok()) return Status::PermissionDenied(std::string(tls.status().message()));
    settings_.ca_pem = *std::move(ca);
    certificate_ = std::move(certificate);
    return Use(*std::move(tls));
  }
  // Returns the content of a file, which is not empty; nothing if no file is named.
  static Result<std::string> Read(const SocketHttpClient::Options& options,
                                  const std::string& path) {
    if (path.empty()) return std::string();
    Result<std::string> read = options.read_file(path);
    if (read.ok() && !read->empty()) return read;
    return Status::PermissionDenied(
        path + ": " + std::string(read.ok() ? "the file is empty" : read.status().message()));
  }
  Status Use(std::shared_ptr<const TlsContext> tls) {
    auto credential = std::make_shared<Credential>();
    credential->generation = current_ != nullptr ? current_->generation + 1 : 1;
    credential->tls = std::move(tls);
    current_ = std::move(credential);
    return Status::Ok();
  }

  const ServerUrl server_;
  const HttpTrust trust_;
  TlsSettings settings_;
  ClientCertificate certificate_;
  std::shared_ptr<const Credential> current_;  // Null: no content was good yet.
  int64_t read_at_ns_ = 0;
};

HttpOptions OptionsOfTransport() {
  HttpOptions options;
  options.pool.connections = kMaxHttpConnections;
  options.pauses_after_429 = false;
  options.limits.warnings = 0;
  options.limits.keeps_headers = true;
  return options;
}

}  // namespace

// ---- URL ----------------------------------------------------------------------------------------

Result<HttpCall> ParseHttpUrl(std::string_view url) {
  const std::string scheme = ToLower(url.substr(0, url.find("://")));
  if (scheme.size() == url.size() || (scheme != "http" && scheme != "https")) {
    return Status::InvalidArgument("expected a URL that begins with http:// or https://");
  }
  if (url.find('#') != std::string_view::npos) {
    return Status::InvalidArgument("expected a URL without a fragment");
  }
  const size_t path = std::min(url.find_first_of("/?", scheme.size() + 3), url.size());
  auto server = ServerUrl::Parse(url.substr(0, path), "the URL");
  if (!server.ok()) return server.status();
  if (Status status = CheckEndpoint({.server = *server, .tls = {}, .proxy = {}}, true);
      !status.ok()) {
    return status;
  }
  HttpCall call;
  call.server = *std::move(server);
  call.request.target = url.substr(path);
  if (!call.request.target.starts_with('/')) call.request.target.insert(0, "/");
  return call;
}

// ---- thread -------------------------------------------------------------------------------------

// The thread of the client, which starts with the first request.
class SocketHttpClient::Thread {
 public:
  explicit Thread(Options options) : options_(std::move(options)) {}

  // Returns the thread, which runs. Threading: any.
  IoThread& Run() {
    const std::lock_guard lock(mutex_);
    if (io_ == nullptr) io_ = std::make_unique<IoThread>("berth-http", options_.steady_ns);
    return *io_;
  }
  // Runs `task` on the thread if it has started. Threading: any.
  void PostIfRunning(Executor::Task task) {
    const std::lock_guard lock(mutex_);
    if (io_ != nullptr) io_->Post(std::move(task));
  }
  // REQUIRES: the sessions were destroyed.
  void Stop() {
    if (io_ == nullptr) return;
    io_->RunAndWait([] {});  // The connections of all sessions are closed when this has run.
    io_->Stop();
  }
  const Options& options() const { return options_; }

 private:
  const Options options_;
  std::mutex mutex_;
  std::unique_ptr<IoThread> io_;  // Guarded by mutex_. Null: no request was sent.
};

// ---- connections --------------------------------------------------------------------------------

// The transports of one session.
// Threading: the thread of the client, except for the constructor.
class SocketHttpClient::Connections final : public TransportObserver {
 public:
  using Done = HttpSession::Done;

  explicit Connections(std::shared_ptr<Thread> thread) : thread_(std::move(thread)) {}
  ~Connections() override { BERTH_ASSERT(servers_.empty()); }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void Send(HttpCall call, Done done) {
    if (is_closed_) return done(FailureOf(Status::Unavailable("the connections were closed")));
    Server& server = ServerOf(call);
    if (const Status trusted = server.trust.Refresh(thread_->options()); !trusted.ok()) {
      return done(FailureOf(trusted));
    }
    if (!server.transport.has_value()) {
      server.transport.emplace(thread_->Run(),
                               Endpoint{.server = call.server, .tls = {}, .proxy = {}},
                               server.trust, OptionsOfTransport(), *this, Log());
    }
    ++server.open;
    server.transport->Send(std::move(call.request),
                           [&server, done = std::move(done)](HttpResponse response) {
                             --server.open;
                             done(std::move(response));
                           });
  }
  // Ends what is under way, and closes the connections.
  void Close() {
    is_closed_ = true;
    for (auto& [key, server] : servers_) server.Close();
    servers_.clear();
  }

 private:
  struct Server {
    explicit Server(const HttpCall& call) : trust(call.server, call.trust) {}
    void Close() {
      if (transport.has_value()) transport->Close();
    }

    FileTrust trust;
    std::optional<HttpTransport> transport;  // Destroyed before `trust`, which it uses.
    size_t open = 0;                         // Requests under way.
    uint64_t used = 0;                       // Grows with each request of the session.
  };

  Server& ServerOf(const HttpCall& call) {
    const ServerKey key = KeyOf(call);
    if (!servers_.contains(key) && servers_.size() >= kMaxHttpServers) ForgetOldest();
    Server& server = servers_.try_emplace(key, call).first->second;
    server.used = ++last_use_;
    return server;
  }
  // Closes the connections to the server that was used longest ago, of those without a request.
  void ForgetOldest() {
    auto oldest = servers_.end();
    for (auto at = servers_.begin(); at != servers_.end(); ++at) {
      const bool is_older = oldest == servers_.end() || at->second.used < oldest->second.used;
      if (at->second.open == 0 && is_older) oldest = at;
    }
    // Session::Send() has counted this request: one of the others is idle.
    BERTH_ASSERT(oldest != servers_.end());
    oldest->second.Close();
    servers_.erase(oldest);
  }

  const std::shared_ptr<Thread> thread_;
  std::map<ServerKey, Server> servers_;
  uint64_t last_use_ = 0;
  bool is_closed_ = false;
};

// ---- session ------------------------------------------------------------------------------------

class SocketHttpClient::Session final : public HttpSession {
 public:
  explicit Session(std::shared_ptr<Thread> thread)
      : thread_(std::move(thread)), connections_(std::make_shared<Connections>(thread_)) {}
  ~Session() override {
    thread_->PostIfRunning([connections = connections_] { connections->Close(); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Status Send(HttpCall call, Done done) override {
    const ServerKey key = KeyOf(call);
    if (!open_->Add(key)) {
      return Status::Unavailable("requests to " + std::to_string(kMaxHttpServers) +
                                 " other servers are under way");
    }
    thread_->Run().Post([connections = connections_, open = open_, key, call = std::move(call),
                         done = std::move(done)]() mutable {
      connections->Send(std::move(call), [open, key, done = std::move(done)](HttpResponse answer) {
        open->Remove(key);
        done(std::move(answer));
      });
    });
    return Status::Ok();
  }

 private:
  // The requests under way, by server. Threading: any.
  class OpenRequests {
   public:
    // Returns false for one server too many.
    bool Add(const ServerKey& key) {
      const std::lock_guard lock(mutex_);
      if (!counts_.contains(key) && counts_.size() >= kMaxHttpServers) return false;
      ++counts_[key];
      return true;
    }
    void Remove(const ServerKey& key) {
      const std::lock_guard lock(mutex_);
      const auto count = counts_.find(key);
      if (--count->second == 0) counts_.erase(count);
    }

   private:
    std::mutex mutex_;
    std::map<ServerKey, size_t> counts_;
  };

  const std::shared_ptr<Thread> thread_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<OpenRequests> open_ = std::make_shared<OpenRequests>();
};

// ---- clients ------------------------------------------------------------------------------------

SocketHttpClient::SocketHttpClient(Options options)
    : thread_(std::make_shared<Thread>(std::move(options))) {}

SocketHttpClient::~SocketHttpClient() { thread_->Stop(); }

std::unique_ptr<HttpSession> SocketHttpClient::Open() { return std::make_unique<Session>(thread_); }

std::unique_ptr<HttpSession> NoHttpClient::Open() {
  class NoSession final : public HttpSession {
   public:
    Status Send(HttpCall /*call*/, Done done) override {
      done(FailureOf(Status::Unavailable("this host sends no requests")));
      return Status::Ok();
    }
  };
  return std::make_unique<NoSession>();
}

}  // namespace berth::host
