// Reads the queries of requests, and makes the answers of a model of an API server.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_ANSWERS_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/status.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/http/transport.h"

namespace berth::host {

// The parameters of a query such as "limit=500&watch=true".
class ModelQuery {
 public:
  explicit ModelQuery(std::string_view query);

  // Returns the value; empty if there is no such parameter.
  const std::string& Get(std::string_view name) const;
  bool Has(std::string_view name) const { return !Get(name).empty(); }
  bool IsTrue(std::string_view name) const { return Get(name) == "true"; }
  // Returns nullopt for a value that is no number, and for a parameter that is absent.
  std::optional<uint64_t> Number(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

HttpResponse JsonAnswer(uint32_t http_status, std::string body);
// Returns the answer to a resourceVersion that was compacted.
HttpResponse GoneAnswer();
// Returns the head of a stream that was accepted, and its end.
HttpResponse EmptyAnswer();
// Returns what a transport reports for a request without an answer.
HttpResponse NoAnswer(Delivery delivery, const char* message);
// Returns the answer with the Status object of an error.
HttpResponse ErrorAnswer(const Status& error, const ApiPath& about);
// Returns the Status object of an error that has no ErrorCode of its own. `cause`: the reason of
// details.causes; empty: none.
std::string StatusText(uint32_t code, std::string_view reason, std::string_view message,
                       std::string_view cause = {});
HttpResponse StatusAnswer(uint32_t code, std::string_view reason, std::string_view message,
                          std::string_view cause = {});

// Returns what an asynchronous request of the cluster answers. `call` receives the callback.
template <class R, class Call>
R AnswerNow(EmbeddedCluster& cluster, const Call& call) {
  std::optional<R> answer;
  call([&answer](R result) { answer = std::move(result); });
  cluster.Deliver();
  return *std::move(answer);
}

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_ANSWERS_H_
