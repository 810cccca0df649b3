#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// Returns whether the nesting of a JSON text exceeds kMaxBodyDepth. For other texts the result is
// arbitrary; the parser rejects them, and it does not recurse.
bool IsTooDeep(std::string_view text) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else {
        in_string = c != '"';
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxBodyDepth) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> ParseBody(std::string_view text) {
  if (text.size() > kMaxBodyBytes) {
    return Status::OutOfRange("Request entity too large: limit is " +
                              std::to_string(kMaxBodyBytes));
  }
  if (IsTooDeep(text)) {
    return Status::InvalidArgument("the body has more than " + std::to_string(kMaxBodyDepth) +
                                   " levels of nested arrays and objects");
  }
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Status::InvalidArgument("the body is not a JSON object");
  return json;
}

std::string DumpBody(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace berth::host
