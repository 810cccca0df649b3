#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/http_rules.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_http.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>

namespace berth::testing {
namespace {

const char* ErrorOf(uint32_t end) {
  switch (end) {
    case BERTH_HTTP_ANSWERED: return "";
    case BERTH_HTTP_TIMEOUT: return "no complete answer within the timeout";
    case BERTH_HTTP_UNREACHABLE: return "connect: connection refused";
    case BERTH_HTTP_TLS: return "the certificate cannot be verified";
    case BERTH_HTTP_TOO_LARGE: return "the body of the answer is too large";
    case BERTH_HTTP_LOST: return "the server closed the connection";
    case BERTH_HTTP_MALFORMED: return "expected an HTTP/1.1 answer";
    default: return "the plugin's instance ends";
  }
}

}  // namespace

void FakeHttp::Reply(const std::string& url, HttpReply reply) {
  const std::lock_guard lock(mutex_);
  replies_[url].push_back(std::move(reply));
}

void FakeHttp::ForgetRecords() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

HttpReply FakeHttp::Take(const HttpCallRecord& call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
  const auto found = replies_.find(call.url);
  if (found == replies_.end()) return {.end = BERTH_HTTP_UNREACHABLE};
  HttpReply reply = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) replies_.erase(found);
  if (reply.body.size() > call.max_body_bytes) return {.end = BERTH_HTTP_TOO_LARGE};
  return reply;
}

berth_code FakeHttp::Send(HttpCallRecord call, berth_http_answer answer, void* to) {
  if (services_.is_closed()) return BERTH_CANCELLED;
  return services_.DoLater(
      Services::LaterKind::kAnswer, [this, reply = Take(call), answer, to](bool cancelled) {
        Deliver(cancelled ? HttpReply{.end = BERTH_HTTP_CANCELLED} : reply, answer, to);
      });
}

berth_code FakeHttp::Request(const berth_host* host, const berth_http_request* request,
                             berth_http_answer answer, void* to) noexcept {
  FakeHttp& self = Services::Of(host).http();
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_http_request, max_body_bytes);
  if (!ExpectReadable(self.services_.reporter(), "http.request", *request, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  if (answer == nullptr || !berth::internal::IsValidHttpRequest(*request))
    return BERTH_BAD_ARGUMENT;
  HttpCallRecord call{.method = std::string(FromAbi(request->method)),
                      .url = std::string(FromAbi(request->url)),
                      .headers = {},
                      .body = std::string(FromAbi(request->body)),
                      .ca_file = std::string(FromAbi(request->ca_file)),
                      .cert_file = std::string(FromAbi(request->cert_file)),
                      .key_file = std::string(FromAbi(request->key_file)),
                      .server_name = std::string(FromAbi(request->server_name)),
                      .timeout_ns = berth::internal::HttpTimeoutNs(*request),
                      .max_body_bytes = berth::internal::HttpMaxBodyBytes(*request)};
  for (const berth_http_header& header : Span<const berth_http_header>(request->headers)) {
    call.headers.emplace_back(FromAbi(header.name), FromAbi(header.value));
  }
  return self.Send(std::move(call), answer, to);
}

const berth_http FakeHttp::kService{sizeof(berth_http), 0, &Request};

void FakeHttp::Deliver(const HttpReply& reply, berth_http_answer answer, void* to) {
  std::vector<berth_http_header> headers;
  const bool is_answered = reply.end == BERTH_HTTP_ANSWERED;
  if (is_answered) {
    for (const auto& [name, value] : reply.headers) headers.push_back({ToAbi(name), ToAbi(value)});
  }
  berth_http_result result{};
  result.struct_size = sizeof result;
  result.end = reply.end;
  result.http_status = is_answered ? reply.http_status : 0;
  result.headers = {headers.data(), static_cast<uint32_t>(headers.size()), sizeof headers[0]};
  result.body = is_answered ? ToAbi(reply.body) : berth_str{};
  result.error = ToAbi(std::string_view(ErrorOf(reply.end)));
  const CallScope scope(&services_.reporter(), "the end of an HTTP request", kEvent);
  answer(to, &result);
}

}  // namespace berth::testing
