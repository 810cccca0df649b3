// Fuzzes the requests that clients of the HTTP server send: parses arbitrary bytes, whole and as
// far as they have arrived.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/assert.h"
#include "host/serve/http_request.h"

namespace berth::host {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

void CheckRequest(const HttpParse& parse, std::string_view received, const HttpLimits& limits) {
  BERTH_ASSERT(parse.bytes > 0 && parse.bytes <= received.size());
  BERTH_ASSERT(parse.request.body.size() <= limits.body_bytes);
  BERTH_ASSERT(parse.request.path.starts_with('/'));
  BERTH_ASSERT(std::ranges::none_of(parse.request.path, IsControl));
  BERTH_ASSERT(!parse.request.method.empty());
}

// Parses the prefixes of the bytes, as a connection does. A result is the same however many bytes
// of later requests have arrived.
void CheckPrefixes(std::string_view received, const HttpParse& whole, const HttpLimits& limits,
                   bool is_loopback) {
  const size_t step = received.size() / 32 + 1;
  for (size_t size = 0; size < received.size(); size += step) {
    const HttpParse part = ParseHttpRequest(received.substr(0, size), limits, is_loopback);
    if (part.outcome == HttpParse::Outcome::kIncomplete) continue;
    BERTH_ASSERT(part.outcome == whole.outcome);
    BERTH_ASSERT(part.bytes == whole.bytes && part.refusal == whole.refusal);
    BERTH_ASSERT(part.request.path == whole.request.path);
    BERTH_ASSERT(part.request.body == whole.request.body);
  }
}

void TestOne(std::string_view received) {
  if (received.empty()) return;
  const bool is_loopback = (static_cast<unsigned char>(received[0]) & 1) != 0;
  received.remove_prefix(1);
  HttpLimits limits;
  limits.header_bytes = 1024;
  limits.body_bytes = 64;
  const HttpParse whole = ParseHttpRequest(received, limits, is_loopback);
  CheckPrefixes(received, whole, limits, is_loopback);
  switch (whole.outcome) {
    case HttpParse::Outcome::kIncomplete:
      BERTH_ASSERT(received.size() < limits.header_bytes + limits.body_bytes + 4);
      break;
    case HttpParse::Outcome::kRequest: CheckRequest(whole, received, limits); break;
    case HttpParse::Outcome::kRefused:
      BERTH_ASSERT(whole.refusal >= 400 && whole.refusal < 600 && !whole.reason.empty());
      BERTH_ASSERT(!HttpReason(whole.refusal).empty());
      break;
  }
  static_cast<void>(IsLoopbackHost(received));
  if (const auto decoded = DecodePrintable(received); decoded.has_value()) {
    BERTH_ASSERT(decoded->size() <= received.size());
    BERTH_ASSERT(std::ranges::none_of(*decoded, IsControl));
  }
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
