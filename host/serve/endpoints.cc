#include "host/serve/endpoints.h"

#include <utility>

#include "host/base/text.h"
#include "host/serve/metrics_page.h"

namespace berth::host {
namespace {

constexpr std::string_view kLevelPath = "/debug/flags/v";

ServedResponse NotAllowed(std::string allow) {
  std::string body = "expected one of the methods " + allow + '\n';
  return {.status = 405, .body = std::move(body), .allow = std::move(allow)};
}

// Returns whether `path` is `prefix` or is below it.
bool IsAtOrBelow(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

std::string_view TrimLineEnds(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

Endpoints::Endpoints(Sources sources) : sources_(std::move(sources)) {}

ServedResponse Endpoints::Answer(const ServedRequest& request) const {
  const std::string& path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path == kLevelPath && sources_.set_log_level) return SetLogLevel(request);
  const bool is_health =
      IsAtOrBelow(path, "/livez") || IsAtOrBelow(path, "/readyz") || IsAtOrBelow(path, "/healthz");
  if (!is_health && path != "/metrics" && path != "/") {
    return {.status = 404, .body = "there is no " + Quoted(path) + "; GET / lists the paths\n"};
  }
  if (!reads) return NotAllowed("GET, HEAD");
  if (is_health) return sources_.health->Answer(request);
  if (path == "/") return {.body = Paths()};
  return {.content_type = std::string(kMetricsContentType),
          .body = MetricsPage(*sources_.metrics, sources_.plugin_metrics)};
}

ServedResponse Endpoints::SetLogLevel(const ServedRequest& request) const {
  if (request.method != "PUT") return NotAllowed("PUT");
  const std::string level(TrimLineEnds(request.body));
  const Status status = sources_.set_log_level(level);
  if (!status.ok()) return {.status = 400, .body = std::string(status.message()) + '\n'};
  return {.body = "the log level is " + level + '\n'};
}

std::string Endpoints::Paths() const {
  std::string paths = "/healthz\n/livez\n/metrics\n/readyz\n";
  if (sources_.set_log_level) paths.insert(0, std::string(kLevelPath) + '\n');
  return paths;
}

}  // namespace berth::host
