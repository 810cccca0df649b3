// JSON that somebody else wrote, as the body of a request.
#ifndef BERTH_HOST_CLUSTER_JSON_BODY_H_
#define BERTH_HOST_CLUSTER_JSON_BODY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/status.h"

namespace berth::host {

// apiserver: server/config.go, MaxRequestBodyBytes.
inline constexpr size_t kMaxBodyBytes = size_t{3} << 20;
// Arrays and objects within each other. Trees are copied, merged and printed recursively: a limit
// that any thread's stack has room for.
inline constexpr size_t kMaxBodyDepth = 100;

// An object in the order of its text. Never throws, whatever the text is.
// Errors: kInvalidArgument for what is no JSON object in UTF-8, or is nested too deep; kOutOfRange
//         for what is too large.
Result<nlohmann::ordered_json> ParseBody(std::string_view text);

// On one line. Never throws: what is no UTF-8 becomes U+FFFD.
std::string DumpBody(const nlohmann::ordered_json& json);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_JSON_BODY_H_
