// Fuzzes the reader of HTTP answers: arbitrary bytes, as a whole and in pieces. The first byte
// selects the verb of the request.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/assert.h"
#include "host/http/response_reader.h"

namespace berth::host {
namespace {

// The events and the result of a reader.
struct Found {
  Status status;
  bool is_complete = false;
  bool keeps_alive = false;
  size_t used = 0;
  int heads = 0;
  HttpHead head;
  std::string body;
};

Found ReadAnswer(std::string_view bytes, std::string_view verb,
                 const ResponseReader::Limits& limits, size_t piece) {
  Found found;
  ResponseReader reader(limits, verb,
                        {.on_head =
                             [&](const HttpHead& head) {
                               ++found.heads;
                               found.head = head;
                             },
                         .on_body =
                             [&](std::string_view part) {
                               BERTH_ASSERT(found.heads == 1 && !part.empty());
                               found.body.append(part);
                             }});
  while (found.used < bytes.size() && found.status.ok() && !reader.is_complete()) {
    // A copy of exactly this size, so that the sanitizer finds a read behind its end.
    const std::string_view part = bytes.substr(found.used, piece);
    const std::vector<char> copy(part.begin(), part.end());
    const Result<size_t> used = reader.Feed({copy.data(), copy.size()});
    found.status = used.status();
    if (!used.ok()) break;
    BERTH_ASSERT(*used == copy.size() || reader.is_complete());
    found.used += *used;
  }
  if (found.status.ok() && !reader.is_complete()) found.status = reader.FeedEnd();
  BERTH_ASSERT(reader.is_complete() == found.status.ok());
  BERTH_ASSERT(found.heads == (reader.has_head() ? 1 : 0) || !found.status.ok());
  found.is_complete = reader.is_complete();
  found.keeps_alive = found.is_complete && reader.keeps_alive();
  return found;
}

void CheckFound(const Found& found, const ResponseReader::Limits& limits) {
  BERTH_ASSERT(found.heads <= 1);
  BERTH_ASSERT(found.head.warnings.size() <= limits.warnings);
  BERTH_ASSERT(found.head.retry_after_ns >= 0);
  if (found.heads == 0) return;
  BERTH_ASSERT(found.head.http_status >= 200 && found.head.http_status <= 999);
  const bool is_success = found.head.http_status / 100 == 2;
  BERTH_ASSERT(found.body.size() <= (is_success ? limits.body_bytes : limits.error_body_bytes));
}

void RunAnswer(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view verb = bytes.front() == 'h' ? "HEAD" : "GET";
  bytes.remove_prefix(1);
  const ResponseReader::Limits wide = {.body_bytes = 1 << 20, .error_body_bytes = 1 << 20};
  const Found whole = ReadAnswer(bytes, verb, wide, bytes.size());
  CheckFound(whole, wide);
  for (const size_t piece : {size_t{1}, 2 + bytes.size() % 13}) {
    const Found cut = ReadAnswer(bytes, verb, wide, piece);
    BERTH_ASSERT(cut.status.ok() == whole.status.ok());
    if (!cut.status.ok()) continue;
    BERTH_ASSERT(cut.used == whole.used && cut.body == whole.body);
    BERTH_ASSERT(cut.keeps_alive == whole.keeps_alive);
    BERTH_ASSERT(cut.head.http_status == whole.head.http_status);
    BERTH_ASSERT(cut.head.warnings == whole.head.warnings);
    BERTH_ASSERT(cut.head.date_ns == whole.head.date_ns);
    BERTH_ASSERT(cut.head.retry_after_ns == whole.head.retry_after_ns);
  }
  const ResponseReader::Limits narrow = {
      .head_bytes = 100, .headers = 3, .body_bytes = 20, .error_body_bytes = 10, .warnings = 1};
  CheckFound(ReadAnswer(bytes, verb, narrow, 1 + bytes.size() % 29), narrow);
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::RunAnswer({reinterpret_cast<const char*>(data), size});
  return 0;
}
