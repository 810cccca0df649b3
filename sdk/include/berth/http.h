// Http: requests to web services. They do not block.
//
//   host_.http().Send({.method = "POST", .url = url_, .body = json},
//                     [this](const berth::HttpResult& result) {
//                       if (result.ok()) Use(result.body());
//                     });
#ifndef BERTH_HTTP_H_
#define BERTH_HTTP_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/done.h>
#include <berth/http_result.h>
#include <berth/internal/callback.h>
#include <berth/internal/services.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// A request. Lifetime: its texts are copied by Send().
struct HttpRequest {
  struct Header {
    std::string_view name;
    std::string_view value;
  };

  std::string_view method = "GET";  // GET, HEAD, POST, PUT, PATCH or DELETE
  std::string_view url;             // http://... or https://...
  std::vector<Header> headers = {};
  std::string_view body = {};
  std::string_view ca_file = {};          // empty: the CAs of the system
  std::string_view cert_file = {};        // the client certificate; empty: none
  std::string_view key_file = {};         // its key
  std::string_view server_name = {};      // in the certificate; empty: the host of the URL
  std::chrono::nanoseconds timeout = {};  // 0: ten seconds; at most one hour
  uint64_t max_body_bytes = 0;            // of the answer; 0: 1 MiB
};

// The service berth.http/1. Its comment in abi.h has the limits, and what the host does with
// connections, certificates and redirects.
//
// Called:    the answer is called once, on the scheduling thread, under [event]: with the answer of
//            the server, or with the reason why there is none. It may activate pods.
// Threading: Send() [any]. It does not block; the host's threads do the work.
// Returns:   Send(): Success; or BadArgument, Conflict or Cancelled, and never calls the answer.
// Must not:  throw in an answer. Count on an order: the answers to two requests may arrive in any.
// Lifetime:  when the instance ends, its requests are cancelled; each answer has been called before
//            Quiesce().
// In a simulation with virtual time, requests are sent too. Time stands still until the answer.
class Http {
 public:
  explicit Http(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->http); }

  // Sends a request. `answer` is a callable `void(const berth::HttpResult& result)`.
  template <class F>
  Status Send(const HttpRequest& request, F answer) const {
    using Answer = internal::OnceCall<F>;
    static_cast<void>(*services_->http);  // Throws if the host does not serve it.
    std::vector<berth_http_header> headers;
    headers.reserve(request.headers.size());
    for (const auto& [name, value] : request.headers) headers.push_back({Str(name), Str(value)});
    const berth_http_request abi = {
        sizeof(abi),
        0,
        Str(request.method),
        Str(request.url),
        {headers.data(), static_cast<uint32_t>(headers.size()), sizeof(berth_http_header)},
        Str(request.body),
        Str(request.ca_file),
        Str(request.cert_file),
        Str(request.key_file),
        Str(request.server_name),
        request.timeout.count(),
        request.max_body_bytes};
    return Answer::Pass(*services_, std::move(answer), [&](void* to) {
      return services_->http->request(services_->host, &abi, &Answer::HttpAnswer, to);
    });
  }
  // Sends a request whose answer completes `done`, the promise of PreBind or Bind: Success for 2xx,
  // else Error. Returns Pending; or returns an error, and leaves `done` unchanged.
  Status Send(const HttpRequest& request, Done& done) const {
    auto promise = std::make_shared<Done>(std::move(done));
    const Status sent = Send(request, [promise](const HttpResult& result) {
      promise->Complete(result.ok() ? Status::Success() : Status::Error(result.error()));
    });
    if (sent.ok()) return Status::Pending();
    done = std::move(*promise);
    return sent;
  }

 private:
  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_HTTP_H_
