// berth.http/1.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/internal/http_rules.h>

#include "host/base/foreign_struct.h"
#include "host/base/text.h"
#include "host/http/http_client.h"
#include "host/plan/invoke.h"
#include "host/plan/plan.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

constexpr std::string_view kUserAgent = "berth";
// The URLs, headers and bodies of the open requests of one instance, together.
constexpr size_t kMaxOpenBytes = size_t{64} << 20;

// ---- requests and answers -----------------------------------------------------------------------

uint32_t EndOf(const HttpResponse& response) {
  if (response.is_late) return BERTH_HTTP_TIMEOUT;
  switch (response.status.code()) {
    case ErrorCode::kOk: return BERTH_HTTP_ANSWERED;
    case ErrorCode::kPermissionDenied: return BERTH_HTTP_TLS;
    case ErrorCode::kOutOfRange: return BERTH_HTTP_TOO_LARGE;
    case ErrorCode::kInvalidArgument: return BERTH_HTTP_MALFORMED;
    default: break;
  }
  const bool is_sent = response.delivery != Delivery::kNotSent;
  return is_sent ? BERTH_HTTP_LOST : BERTH_HTTP_UNREACHABLE;
}

// Returns the headers of a request as lines.
Secret HeaderLines(const berth_array& headers) {
  std::string lines;
  bool has_user_agent = false;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const auto& header = *BERTH_AT(berth_http_header, headers, i);
    has_user_agent =
        has_user_agent || berth::internal::IsSameHttpName(Text(header.name), "user-agent");
    lines.append(Text(header.name)).append(": ").append(Text(header.value)).append("\r\n");
  }
  if (!has_user_agent) lines.append("User-Agent: ").append(kUserAgent).append("\r\n");
  return Secret(std::move(lines));
}

// Returns how much memory the request takes until it is answered.
size_t SizeOf(const berth_http_request& given) {
  size_t bytes = given.url.len + given.body.len;
  for (uint32_t i = 0; i < given.headers.count; ++i) {
    const auto& header = *BERTH_AT(berth_http_header, given.headers, i);
    bytes += header.name.len + header.value.len;
  }
  return bytes;
}

// REQUIRES: IsValidHttpRequest(given).
Result<HttpCall> CallOf(const berth_http_request& given) {
  auto call = ParseHttpUrl(Text(given.url));
  if (!call.ok()) return call;
  call->trust = {.ca_file = std::string(Text(given.ca_file)),
                 .cert_file = std::string(Text(given.cert_file)),
                 .key_file = std::string(Text(given.key_file)),
                 .server_name = std::string(Text(given.server_name))};
  HttpRequest& request = call->request;
  request.verb = Text(given.method);
  request.body = Text(given.body);
  request.accept = {};
  request.timeout_ns = berth::internal::HttpTimeoutNs(given);
  request.headers = HeaderLines(given.headers);
  request.max_body_bytes = berth::internal::HttpMaxBodyBytes(given);
  return call;
}

// ---- the open requests of an instance -----------------------------------------------------------

// Each request is answered exactly once, on the scheduling thread and never within the call that
// made it: by the client, or with CANCELLED when the host is closed. Until then it counts as work
// that the instance has announced (PluginWork).
//
// Threading: any, unless a comment states otherwise.
// Lifetime:  owned by its InstanceHost; others hold it only while a task runs. The client may
//            answer after the services were destroyed; the answer is ignored then.
class HttpRequests final : public ServiceState, public std::enable_shared_from_this<HttpRequests> {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kHttp;

  explicit HttpRequests(InstanceHost& host) : host_(host) {}

  // Returns the code of the service. `bytes`: the size of the request.
  berth_code Send(HttpCall call, size_t bytes, berth_http_answer answer, void* to) {
    uint64_t id = 0;
    std::shared_ptr<HttpSession> session;
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return BERTH_CANCELLED;
      if (open_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
      if (bytes > kMaxOpenBytes - open_bytes_) return BERTH_CONFLICT;
      id = ++last_;
      open_bytes_ += bytes;
      open_.emplace(
          id, Open{.answer = answer, .to = to, .bytes = bytes, .hold = work().Hold(host_.id())});
      if (session_ == nullptr) session_ = ServicesOf(host_).http->Open();
      session = session_;
    }
    // The client may call back within the call.
    const Status sent = session->Send(std::move(call), Callback(id));
    if (sent.ok()) return BERTH_SUCCESS;
    const Open refused = Take(id);
    // Otherwise the host was closed meanwhile, and the answer was called.
    if (refused.answer == nullptr) return BERTH_SUCCESS;
    work().Release(refused.hold);
    return BERTH_CONFLICT;
  }

  // --- the scheduling thread ---

  void Stop() override {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  void Cancel() override {
    std::vector<uint64_t> ids;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [id, open] : open_) ids.push_back(id);
    }
    std::ranges::sort(ids);
    HttpResponse none;
    none.status = Status::Unavailable("the plugin's instance ends");
    for (const uint64_t id : ids) Answer(id, BERTH_HTTP_CANCELLED, none);
    const std::scoped_lock lock(mutex_);
    session_ = nullptr;
  }
  void Drop() override {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const auto& [id, open] : open_) work().Release(open.hold);
    open_.clear();
    session_ = nullptr;
  }

 private:
  struct Open {
    berth_http_answer answer = nullptr;
    void* to = nullptr;
    size_t bytes = 0;   // The size of the request.
    uint64_t hold = 0;  // See PluginWork.
  };

  PluginWork& work() const { return *ServicesOf(host_).work; }

  // Returns the callback for the client.
  HttpSession::Done Callback(uint64_t id) {
    return [weak = weak_from_this(), id](HttpResponse response) {
      const auto requests = weak.lock();
      if (requests == nullptr) return;
      auto kept = std::make_shared<const HttpResponse>(std::move(response));
      // Drop() waits for this lock before the host and its services go.
      const std::scoped_lock lock(requests->mutex_);
      if (requests->stopped_) return;
      ServicesOf(requests->host_).inbox->Push([weak, id, kept = std::move(kept)] {
        const auto open = weak.lock();
        if (open != nullptr) open->Answer(id, EndOf(*kept), *kept);
      });
    };
  }
  // Answers the request, unless it has been answered. Threading: the scheduling thread.
  void Answer(uint64_t id, uint32_t end, const HttpResponse& response) {
    const Open open = Take(id);
    if (open.answer == nullptr) return;
    const bool is_answered = end == BERTH_HTTP_ANSWERED;
    std::vector<berth_http_header> headers;
    for (const auto& [name, value] : response.head.headers) {
      if (is_answered) headers.push_back({AsStr(name), AsStr(value)});
    }
    const berth_http_result result{
        .struct_size = sizeof(result),
        .end = end,
        .http_status = is_answered ? response.head.http_status : 0,
        .reserved = 0,
        .headers = {headers.data(), static_cast<uint32_t>(headers.size()), sizeof(headers[0])},
        .body = is_answered ? AsStr(response.body) : berth_str{},
        .error = AsStr(response.status.message())};
    work().OnCalledByThread();
    Invoke(host_, kCallback, [&] { open.answer(open.to, &result); });
    // After the call, which may activate a pod: the run must not end in between.
    work().Release(open.hold);
  }
  // Removes and returns an open request; empty if it has been answered.
  Open Take(uint64_t id) {
    const std::scoped_lock lock(mutex_);
    auto node = open_.extract(id);
    if (node.empty()) return {};
    open_bytes_ -= node.mapped().bytes;
    return node.mapped();
  }

  InstanceHost& host_;
  std::mutex mutex_;                      // Guards what follows.
  std::shared_ptr<HttpSession> session_;  // Null: no request was made, or the host is closed.
  std::unordered_map<uint64_t, Open> open_;
  size_t open_bytes_ = 0;
  uint64_t last_ = 0;
  bool stopped_ = false;
};

// ---- berth.http/1 -------------------------------------------------------------------------------

berth_code Request(const berth_host* host, const berth_http_request* given,
                   berth_http_answer answer, void* to) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  if (!IsReadable(*given, BERTH_FIRST_SIZE(berth_http_request, max_body_bytes))) {
    return BERTH_BAD_ARGUMENT;
  }
  if (answer == nullptr || !berth::internal::IsValidHttpRequest(*given)) return BERTH_BAD_ARGUMENT;
  auto call = CallOf(*given);
  if (!call.ok()) return BERTH_BAD_ARGUMENT;
  return StateOf<HttpRequests>(*use).Send(*std::move(call), SizeOf(*given), answer, to);
}

constexpr berth_http kHttp{sizeof(berth_http), 0, Request};

bool HasHttp(const InstanceHost& host) {
  const HostServices& services = ServicesOf(host);
  return services.http != nullptr && services.inbox != nullptr && services.work != nullptr;
}

}  // namespace

std::span<const ServiceInfo> HttpServices() {
  static const std::array services{ServiceInfo{.id = BERTH_SERVICE_HTTP,
                                               .functions = &kHttp,
                                               .is_served = HasHttp,
                                               .create_state = CreateState<HttpRequests>}};
  return services;
}

}  // namespace berth::host
