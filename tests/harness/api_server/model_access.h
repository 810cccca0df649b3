// The access rules of a model of an API server.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_ACCESS_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_ACCESS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "host/cluster/embedded/api_protocol.h"
#include "host/http/transport.h"

namespace berth::host {

// A request as RBAC describes it.
struct AccessAttributes {
  std::string verb;  // "get", "list", "watch", "create", "update", "patch", "delete"
  std::string group;
  std::string resource;  // With the subresource: "pods/binding".
  std::string ns;
  std::string name;
};

// Threading: one thread.
class ModelAccess {
 public:
  // Returns whether the user may send the request. An empty function allows everything.
  using Rules = std::function<bool(const AccessAttributes& attributes)>;

  ModelAccess(std::string user, Rules rules) : user_(std::move(user)), rules_(std::move(rules)) {}

  // Returns the answer to a request that the rules deny; nullopt for one that they allow.
  std::optional<HttpResponse> Refusal(const HttpRequest& request, const ApiPath& path) const;
  // Serves selfsubjectaccessreviews and selfsubjectreviews.
  HttpResponse Review(const HttpRequest& request, const ApiPath& path) const;

 private:
  bool Allows(const AccessAttributes& attributes) const { return !rules_ || rules_(attributes); }

  const std::string user_;
  const Rules rules_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_ACCESS_H_
