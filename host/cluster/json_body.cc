#include "host/cluster/json_body.h"

#include "host/api/json_syntax.h"
#include "host/base/json_text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// Returns a discarded value if the text is not JSON.
Result<Json> ParseValue(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Status::OutOfRange("Request entity too large: limit is " + std::to_string(max_bytes));
  }
  if (IsNestedDeeper(text, kMaxBodyDepth)) {
    return Status::InvalidArgument("the body has more than " + std::to_string(kMaxBodyDepth) +
                                   " levels of nested arrays and objects");
  }
  return ParseOrderedJson(text);
}

}  // namespace

Result<Json> ParseBody(std::string_view text, size_t max_bytes) {
  Result<Json> json = ParseValue(text, max_bytes);
  if (!json.ok() || json->is_object()) return json;
  return Status::InvalidArgument("the body is not a JSON object");
}

Result<Json> ParseArrayBody(std::string_view text, size_t max_bytes) {
  Result<Json> json = ParseValue(text, max_bytes);
  if (!json.ok() || json->is_array()) return json;
  return Status::InvalidArgument("the body is not a JSON array");
}

bool AreEqual(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::string TextMember(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace berth::host
