#include "host/cluster/kubernetes/kubernetes_connection.h"

#include <atomic>
#include <future>
#include <utility>

#include "host/base/time_units.h"
#include "host/cluster/kubernetes/answers/foreign_answer.h"
#include "host/http/http_transport.h"
#include "host/http/io_thread.h"

namespace berth::host {
namespace {

// A try to renew the lease does not wait for the answer to the try before it.
constexpr size_t kLeaseConnections = 2;

// The lease's thread gathers nothing. A request that is one of many waits many times longer than
// the longer time, for the server or for a connection.
constexpr int64_t kGatherNs = kMillisecond;
constexpr int64_t kLoadedGatherNs = 4 * kMillisecond;
constexpr size_t kLoadedRequests = 8;

}  // namespace

struct KubernetesConnection::Impl {
  // A transport that lives on the thread of its executor.
  struct Line {
    IoThread& io;
    std::unique_ptr<HttpTransport> transport = nullptr;
  };

  Impl(std::unique_ptr<Credentials> its_credentials, const std::function<int64_t()>& steady_ns)
      : read_io("berth-read", steady_ns, [this] { return GatherNs(); }),
        write_io("berth-write", steady_ns, [this] { return GatherNs(); }),
        lease_io("berth-lease", steady_ns),
        credentials(std::move(its_credentials)) {}

  int64_t GatherNs() const {
    const size_t open = open_requests.load(std::memory_order_relaxed);
    return open < kLoadedRequests ? kGatherNs : kLoadedGatherNs;
  }

  void Open(Line& line, const Endpoint& endpoint, HttpTransport::Options options,
            TransportObserver& observer, Log log) {
    line.transport = std::make_unique<HttpTransport>(line.io, endpoint, *credentials,
                                                     std::move(options), observer, log);
  }
  static void Close(Line& line) {
    line.io.RunAndWait([&line] {
      line.transport->Close();
      line.transport.reset();
    });
  }

  std::atomic<size_t> open_requests = 0;  // Of `writes` and `events`, those of plugins included.
  IoThread read_io;
  IoThread write_io;
  IoThread lease_io;
  // Destroyed before the threads: it may still answer requests for a newer credential.
  std::unique_ptr<Credentials> credentials;
  Line reads{read_io};
  Line writes{write_io};
  Line events{write_io};
  Line leases{lease_io};
};

Result<std::unique_ptr<KubernetesConnection>> KubernetesConnection::Open(
    const ClusterAccess& access, const ConnectionOptions& options,
    Credentials::Environment environment, TransportObserver& observer, LogSink& log) {
  const std::function<int64_t()> steady_ns = environment.steady_ns;
  Result<std::unique_ptr<Credentials>> credentials = Credentials::Load(
      access, std::move(environment), Log(log, "credentials"), options.wait_after_failure);
  if (!credentials.ok()) return std::move(credentials).status();
  auto impl = std::make_unique<Impl>(std::move(credentials).value(), steady_ns);

  const auto open = [&](Impl::Line& line, size_t connections, HttpTransport::Options its) {
    its.pool.connections = connections;
    its.user_agent = options.user_agent;
    impl->Open(line, access.endpoint, std::move(its), observer, Log(log, "transport"));
  };
  HttpTransport::Options common;
  common.check_answer = [server = access.endpoint.server.ToString()](const HttpHead& head,
                                                                     std::string_view body) {
    return CheckAnswer(head, body).Annotate(server);
  };
  common.timeout_ns = options.request_timeout_ns;
  HttpTransport::Options writing = common;
  writing.dial.user_timeout_ms = options.write_user_timeout_ms;
  writing.open_requests = &impl->open_requests;
  HttpTransport::Options limited = writing;
  limited.qps = options.qps;
  limited.burst = options.burst;
  HttpTransport::Options urgent = common;
  urgent.timeout_ns = options.lease_timeout_ns;
  open(impl->reads, options.read_connections, common);
  open(impl->writes, options.write_connections, std::move(limited));
  open(impl->events, options.event_connections, std::move(writing));
  open(impl->leases, kLeaseConnections, std::move(urgent));
  return std::unique_ptr<KubernetesConnection>(new KubernetesConnection(std::move(impl)));
}

KubernetesConnection::KubernetesConnection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

KubernetesConnection::~KubernetesConnection() {
  for (Impl::Line* line : {&impl_->reads, &impl_->writes, &impl_->events, &impl_->leases}) {
    Impl::Close(*line);
  }
  for (IoThread* io : {&impl_->read_io, &impl_->write_io, &impl_->lease_io}) io->Stop();
}

Channel KubernetesConnection::reads() { return {impl_->reads.transport.get(), &impl_->read_io}; }
Channel KubernetesConnection::writes() { return {impl_->writes.transport.get(), &impl_->write_io}; }
Channel KubernetesConnection::events() { return {impl_->events.transport.get(), &impl_->write_io}; }
Channel KubernetesConnection::leases() { return {impl_->leases.transport.get(), &impl_->lease_io}; }

int64_t KubernetesConnection::GatherNs() const { return impl_->GatherNs(); }

std::shared_ptr<const Credential> KubernetesConnection::credential() const {
  return impl_->credentials->Current();
}

HttpResponse KubernetesConnection::SendAndWait(HttpRequest request) {
  // Shared, because the other thread may still use it when the future is ready.
  const auto answer = std::make_shared<std::promise<HttpResponse>>();
  const Channel channel = writes();
  channel.executor->Post([channel, answer, request = std::move(request)] {
    channel.transport->Send(
        request, [answer](HttpResponse response) { answer->set_value(std::move(response)); });
  });
  return answer->get_future().get();
}

}  // namespace berth::host
