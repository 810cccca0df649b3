// The service berth.api/1 of the fake host: an API server that answers from a table.
#ifndef BERTH_TESTING_FAKE_API_H_
#define BERTH_TESTING_FAKE_API_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

class Services;

// The response to a request.
struct ApiReply {
  uint32_t http_status = 200;  // 0: the server does not respond
  std::string body = {};       // decoded if it is JSON
  int64_t retry_after_ns = 0;
  std::string content_type =
      {};  // empty: not stated; a body of a type that is not JSON is not decoded
};

// A request that the plugin made.
struct ApiCall {
  std::string verb = {};
  std::string path = {};
  std::string content_type = {};
  std::string body = {};
  int64_t timeout_ns = 0;

  friend bool operator==(const ApiCall&, const ApiCall&) = default;
};

// An event that the plugin wrote.
struct ApiEvent {
  std::string regarding = {};  // the object's name
  std::string related = {};    // empty: none
  std::string type = {};
  std::string reason = {};
  std::string action = {};
  std::string note = {};

  friend bool operator==(const ApiEvent&, const ApiEvent&) = default;
};

// The requests of the service are POST <pod>/binding for bind, PATCH <pod>/status for patch_status,
// PATCH <pod>/status and DELETE <pod> for evict, where <pod> is
// "/api/v1/namespaces/default/pods/web"; and those of `request` as they are. The body of
// patch_status has the pod's uid, as the host adds it. A request without a
// reply in the table gets 404 if it is from `request`, and else 200 or 201.
//
// PluginUnderTest::Advance() performs evictions, and delivers the answers in the order of the
// requests; an eviction is performed after the answers that were due before. A pod of
// PluginUnderTest::AddWaiting() is not deleted: it no longer waits, see
// SchedulingServices::preempted().
//
// Threading: any; a test reads calls() and events() while no call is in progress.
class FakeApi {
 public:
  explicit FakeApi(Services& services) : services_(services) {}
  FakeApi(const FakeApi&) = delete;
  FakeApi& operator=(const FakeApi&) = delete;

  // Sets the response to all later requests with this verb and path.
  void Reply(std::string verb, std::string path, ApiReply reply);

  const std::vector<ApiCall>& calls() const { return calls_; }
  const std::vector<ApiEvent>& events() const { return events_; }
  // Drops the requests and events that were recorded.
  void ForgetRecords();

  static const berth_api kService;

 private:
  static FakeApi& Of(const berth_host* host);

  static berth_code Bind(const berth_host* host, const berth_binding* binding,
                         berth_done done) noexcept;
  static berth_code PatchStatus(const berth_host* host, const berth_status_patch* patch,
                                berth_api_answer answer, void* to) noexcept;
  static berth_code Evict(const berth_host* host, const berth_eviction* eviction,
                          berth_api_answer answer, void* to) noexcept;
  static berth_code Event(const berth_host* host, const berth_api_event* event) noexcept;
  static berth_code Request(const berth_host* host, const berth_api_request* request,
                            berth_api_answer answer, void* to) noexcept;

  // Returns "/api/v1/namespaces/default/pods/web".
  std::string PathOf(const berth_pod& pod) const;
  // Returns std::nullopt if it refers to nothing, or is of an unknown kind.
  static std::optional<std::string> NameOf(const berth_tagged* object);
  // Records a request and returns its response. `missing`: the HTTP status if the table has none.
  ApiReply Serve(ApiCall call, uint32_t missing);
  // Serves a request, and calls `answer` with the response later.
  berth_code Send(ApiCall call, uint32_t missing, berth_api_answer answer, void* to);
  struct Victim {
    std::string uid;
    std::string path;
    std::string message;
    bool waited;  // on Permit, when the eviction was requested
  };
  // The answer to an eviction.
  struct Eviction {
    berth_code code = BERTH_SUCCESS;
    std::string error = {};
    bool in_memory = false;  // The pod waited on Permit, so that nothing was sent.
  };
  // Performs an eviction.
  Eviction EvictNow(const Victim& victim);
  // Returns the code and the error text of a response.
  static std::pair<berth_code, std::string> ResultOf(const ApiReply& reply);
  // Calls `answer` with the response, or with CANCELLED.
  void Deliver(const ApiReply& reply, bool cancelled, berth_api_answer answer, void* to);
  // Calls `answer` with a result that has no response.
  void DeliverCode(const Eviction& eviction, berth_api_answer answer, void* to);

  Services& services_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, ApiReply> table_;
  std::vector<ApiCall> calls_;
  std::vector<ApiEvent> events_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_FAKE_API_H_
