#include "host/cluster/json_body.h"

#include "host/api/json_syntax.h"
#include "host/base/json_text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<Json> ParseBody(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Status::OutOfRange("Request entity too large: limit is " + std::to_string(max_bytes));
  }
  if (IsNestedDeeper(text, kMaxBodyDepth)) {
    return Status::InvalidArgument("the body has more than " + std::to_string(kMaxBodyDepth) +
                                   " levels of nested arrays and objects");
  }
  Json json = ParseOrderedJson(text);
  if (!json.is_object()) return Status::InvalidArgument("the body is not a JSON object");
  return json;
}

std::string TextMember(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace berth::host
