// Parses the JSON bodies of requests and of answers, whose text is not trusted.
#ifndef BERTH_HOST_CLUSTER_JSON_BODY_H_
#define BERTH_HOST_CLUSTER_JSON_BODY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/status.h"

namespace berth::host {

// The maximum size of a body. apiserver: server/config.go, MaxRequestBodyBytes.
inline constexpr size_t kMaxBodyBytes = size_t{3} << 20;
// The maximum nesting of arrays and objects. Trees are copied, merged and printed recursively; at
// this depth the recursion fits in the stack of any thread.
inline constexpr size_t kMaxBodyDepth = 100;

// The maximum size of an answer that is read as a whole; see HttpTransport.
inline constexpr size_t kMaxAnswerBytes = size_t{64} << 20;

// Parses an object and keeps the order of its members. Never throws.
// Errors: kInvalidArgument if the text is not a JSON object in UTF-8, or is nested too deeply;
//         kOutOfRange if it is too large.
Result<nlohmann::ordered_json> ParseBody(std::string_view text, size_t max_bytes = kMaxBodyBytes);
// Parses an array, as ParseBody() parses an object.
Result<nlohmann::ordered_json> ParseArrayBody(std::string_view text,
                                              size_t max_bytes = kMaxBodyBytes);

// Returns whether two values are equal. Unlike operator==, it ignores the order of the members of
// objects.
bool AreEqual(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

// Returns a member of an object that is a text; "" if there is no such member, or it is no text.
std::string TextMember(const nlohmann::ordered_json& object, const char* key);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_JSON_BODY_H_
