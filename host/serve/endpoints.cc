#include "host/serve/endpoints.h"

#include <algorithm>
#include <set>
#include <utility>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/serve/http_request.h"
#include "host/serve/metrics_page.h"

namespace berth::host {
namespace {

// The query of a health check. Unknown keys are ignored, as an API server does.
struct HealthQuery {
  bool is_verbose = false;
  std::set<std::string> excluded;
};

HealthQuery ParseHealthQuery(std::string_view query) {
  HealthQuery parsed;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const auto key = DecodePrintable(part.substr(0, equals));
    const auto value = DecodePrintable(part.substr(std::min(equals + 1, part.size())));
    if (key == "verbose") parsed.is_verbose = true;
    if (key == "exclude" && value.has_value()) parsed.excluded.insert(*value);
  }
  return parsed;
}

bool IsOnPath(const HealthPaths& paths, std::string_view type) {
  if (type == "livez") return paths.livez;
  if (type == "readyz") return paths.readyz;
  return type == "healthz" && paths.healthz;
}

bool IsCheckName(std::string_view name) {
  const auto is_allowed = [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; };
  return !name.empty() && std::ranges::all_of(name, is_allowed);
}

constexpr std::string_view kLevelPath = "/debug/flags/v";
// The list of paths, one per line.
constexpr std::string_view kPaths =
    "/configz\n/debug/flags/v\n/healthz\n/livez\n/metrics\n/readyz\n";

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

Health::Health(MetricTable& table)
    : last_(table.AddGauge("kubernetes_healthcheck",
                           "The last result of a health check: 1 for success, 0 for a failure.",
                           {"name", "type"})),
      total_(table.AddCounter("kubernetes_healthchecks_total",
                              "The number of results of a health check.",
                              {"name", "type", "status"})) {
  Add("ping", {.livez = true, .readyz = true, .healthz = true}, [] { return Finding(); });
}

void Health::Add(std::string name, HealthPaths paths, Check check, uint32_t failure) {
  BERTH_ASSERT_MSG(IsCheckName(name), "%s", name.c_str());
  for (const Named& named : checks_) BERTH_ASSERT_MSG(named.name != name, "%s", name.c_str());
  checks_.push_back(
      {.name = std::move(name), .paths = paths, .check = std::move(check), .failure = failure});
}

ServedResponse Health::Answer(const ServedRequest& request) const {
  BERTH_ASSERT(request.path.starts_with('/'));
  const size_t slash = request.path.find('/', 1);
  const std::string type = request.path.substr(1, slash - 1);
  BERTH_ASSERT_MSG(type == "livez" || type == "readyz" || type == "healthz", "%s", type.c_str());
  const std::string name = slash == std::string::npos ? "" : request.path.substr(slash + 1);
  if (name.empty()) return AnswerAll(type, request.query);
  for (const Named& named : checks_) {
    if (named.name != name || !IsOnPath(named.paths, type)) continue;
    const Status status = Run(named, type).status;
    if (status.ok()) return {.body = "ok"};
    return {.status = named.failure,
            .body = "internal server error: " + OneLine(status.message()) + '\n'};
  }
  return {.status = 404, .body = "there is no check " + Quoted(name) + " in /" + type + '\n'};
}

ServedResponse Health::AnswerAll(const std::string& type, std::string_view query) const {
  HealthQuery parsed = ParseHealthQuery(query);
  std::string list;
  uint32_t failure = 0;
  for (const Named& named : checks_) {
    if (!IsOnPath(named.paths, type)) continue;
    if (parsed.excluded.erase(named.name) > 0) {
      list.append("[+]").append(named.name).append(" excluded: ok\n");
      continue;
    }
    const Finding result = Run(named, type);
    if (result.status.ok()) {
      list.append("[+]").append(named.name).append(" ok\n");
    } else {
      failure = std::max(failure, named.failure);
      list.append("[-]").append(named.name).append(" failed: ");
      list.append(parsed.is_verbose ? OneLine(result.status.message()) : "reason withheld");
      list.append("\n");
    }
    if (!parsed.is_verbose) continue;
    for (const std::string& note : result.notes) {
      list.append("   note: ").append(OneLine(note)).append("\n");
    }
  }
  if (!parsed.excluded.empty()) {
    std::vector<std::string> unknown;
    for (const std::string& name : parsed.excluded) unknown.push_back(Quoted(name));
    list.append("warn: some health checks cannot be excluded: no matches for ");
    list.append(Join(unknown, ",")).append("\n");
  }
  if (failure != 0) return {.status = failure, .body = list + type + " check failed\n"};
  if (!parsed.is_verbose) return {.body = "ok"};
  return {.body = list + type + " check passed\n"};
}

Health::Finding Health::Run(const Named& named, const std::string& type) const {
  Finding result = named.check();
  const bool ok = result.status.ok();
  last_.With({named.name, type}).Set(ok ? 1 : 0);
  total_.With({named.name, type, ok ? "success" : "error"}).Add();
  return result;
}

Endpoints::Endpoints(Sources sources) : sources_(std::move(sources)) {
  BERTH_ASSERT(sources_.health != nullptr && sources_.metrics != nullptr &&
               sources_.plugin_metrics && sources_.config && sources_.set_log_level);
}

ServedResponse Endpoints::Answer(const ServedRequest& request) const {
  const std::string& path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path == kLevelPath) return SetLogLevel(request);
  const bool is_health =
      IsAtOrBelow(path, "/livez") || IsAtOrBelow(path, "/readyz") || IsAtOrBelow(path, "/healthz");
  if (!is_health && path != "/metrics" && path != "/configz" && path != "/") {
    return {.status = 404, .body = "there is no " + Quoted(path) + "; GET / lists the paths\n"};
  }
  if (!reads) return NotAllowed("GET, HEAD");
  if (is_health) return sources_.health->Answer(request);
  if (path == "/") return {.body = std::string(kPaths)};
  if (path == "/configz") return {.content_type = "application/json", .body = sources_.config()};
  return {.content_type = std::string(kMetricsContentType),
          .body = MetricsPage(*sources_.metrics, sources_.plugin_metrics)};
}

ServedResponse Endpoints::SetLogLevel(const ServedRequest& request) const {
  if (request.method != "PUT") return NotAllowed("PUT");
  const std::string level(TrimLineEnds(request.body));
  const Status status = sources_.set_log_level(level);
  if (!status.ok()) return {.status = 400, .body = OneLine(status.message()) + '\n'};
  return {.body = "the log level is " + level + '\n'};
}

}  // namespace berth::host
