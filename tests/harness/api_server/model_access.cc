#include "tests/harness/api_server/model_access.h"

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"
#include "tests/harness/api_server/model_answers.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// Returns the verb of RBAC.
std::string VerbOf(const HttpRequest& request, const ApiPath& path) {
  if (request.verb == "POST") return "create";
  if (request.verb == "PUT") return "update";
  if (request.verb == "PATCH") return "patch";
  if (request.verb == "DELETE") return "delete";
  if (!path.name.empty()) return "get";
  return ModelQuery(path.query).IsTrue("watch") ? "watch" : "list";
}

AccessAttributes AttributesOf(const HttpRequest& request, const ApiPath& path) {
  const size_t slash = path.group_version.find('/');
  std::string resource = path.resource;
  if (!path.subresource.empty()) resource.append("/").append(path.subresource);
  return {VerbOf(request, path),
          slash == std::string::npos ? "" : path.group_version.substr(0, slash),
          std::move(resource), path.ns, path.name};
}

}  // namespace

std::optional<HttpResponse> ModelAccess::Refusal(const HttpRequest& request,
                                                 const ApiPath& path) const {
  const AccessAttributes attributes = AttributesOf(request, path);
  if (Allows(attributes)) return std::nullopt;
  std::string message = attributes.resource;
  if (!attributes.name.empty()) message.append(" \"").append(attributes.name).append("\"");
  message.append(" is forbidden: User \"").append(user_).append("\" cannot ");
  message.append(attributes.verb).append(" resource \"").append(attributes.resource);
  message.append("\" in API group \"").append(attributes.group).append("\"");
  if (attributes.ns.empty()) {
    message.append(" at the cluster scope");
  } else {
    message.append(" in the namespace \"").append(attributes.ns).append("\"");
  }
  return StatusAnswer(403, "Forbidden", message);
}

HttpResponse ModelAccess::Review(const HttpRequest& request, const ApiPath& path) const {
  Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return ErrorAnswer(body.status(), path);
  if (request.verb != "POST") return ErrorAnswer(NoResourceError(), path);
  if (path.resource == "selfsubjectreviews") {
    (*body)["status"]["userInfo"]["username"] = user_;
    return JsonAnswer(201, DumpJson(*body));
  }
  if (path.resource != "selfsubjectaccessreviews") return ErrorAnswer(NoResourceError(), path);
  const Json::json_pointer place("/spec/resourceAttributes");
  if (!body->contains(place) || !body->at(place).is_object()) {
    return StatusAnswer(422, "Invalid", "spec.resourceAttributes: Required value");
  }
  const Json& wanted = body->at(place);
  std::string resource = wanted.value("resource", "");
  const std::string subresource = wanted.value("subresource", "");
  if (!subresource.empty()) resource.append("/").append(subresource);
  const AccessAttributes attributes = {wanted.value("verb", ""), wanted.value("group", ""),
                                       std::move(resource), wanted.value("namespace", ""),
                                       wanted.value("name", "")};
  const bool allowed = Allows(attributes);
  (*body)["status"] = {{"allowed", allowed}};
  if (!allowed) (*body)["status"]["reason"] = "no RBAC policy matched";
  return JsonAnswer(201, DumpJson(*body));
}

}  // namespace berth::host
