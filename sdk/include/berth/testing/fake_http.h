// The service berth.http/1 of the fake host: web services that answer from queues.
#ifndef BERTH_TESTING_FAKE_HTTP_H_
#define BERTH_TESTING_FAKE_HTTP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

class Services;

// The end of a request.
struct HttpReply {
  uint32_t http_status = 200;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  uint32_t end = BERTH_HTTP_ANSWERED;  // otherwise there is no status, body and header
};

// A request that the plugin made.
struct HttpCallRecord {
  std::string method = {};
  std::string url = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  std::string server_name = {};
  int64_t timeout_ns = 0;
  uint64_t max_body_bytes = 0;
};

// Each request takes the oldest reply that waits for its URL. Without one, nothing listens there:
// BERTH_HTTP_UNREACHABLE. A body that exceeds the limit of the request is BERTH_HTTP_TOO_LARGE.
// PluginUnderTest::Advance() delivers the answers, in the order of the requests and without waiting
// for time; PluginUnderTest::End() cancels those that are left.
//
// Threading: any; a test reads calls() while no call is in progress.
class FakeHttp {
 public:
  explicit FakeHttp(Services& services) : services_(services) {}
  FakeHttp(const FakeHttp&) = delete;
  FakeHttp& operator=(const FakeHttp&) = delete;

  // Adds the reply to one later request of this URL.
  void Reply(const std::string& url, HttpReply reply);

  const std::vector<HttpCallRecord>& calls() const { return calls_; }
  // Drops the requests that were recorded.
  void ForgetRecords();

  static const berth_http kService;

 private:
  static berth_code Request(const berth_host* host, const berth_http_request* request,
                            berth_http_answer answer, void* to) noexcept;
  berth_code Send(HttpCallRecord call, berth_http_answer answer, void* to);
  // Takes the reply to a request.
  HttpReply Take(const HttpCallRecord& call);
  void Deliver(const HttpReply& reply, berth_http_answer answer, void* to);

  Services& services_;
  std::mutex mutex_;
  std::map<std::string, std::deque<HttpReply>> replies_;
  std::vector<HttpCallRecord> calls_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_FAKE_HTTP_H_
