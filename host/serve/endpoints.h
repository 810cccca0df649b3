// Routes the requests to the process.
#ifndef BERTH_HOST_SERVE_ENDPOINTS_H_
#define BERTH_HOST_SERVE_ENDPOINTS_H_

#include <functional>
#include <string>
#include <string_view>

#include "host/base/metrics.h"
#include "host/base/status.h"
#include "host/serve/health.h"
#include "host/serve/http_message.h"

namespace berth::host {

//   GET /livez /readyz /healthz, with /<check>   see Health
//   GET /metrics                                  see MetricsPage()
//   PUT /debug/flags/v                            the log level: a name of the host file's
//                                                 logLevel, or a number as kube-scheduler's -v
//                                                 takes it
//   GET /                                         the list of these paths
// HEAD is allowed where GET is. Anything else is 404, another method 405.
//
// Threading: the thread of HttpServer.
// Lifetime:  what the constructor receives must outlive it.
class Endpoints {
 public:
  struct Sources {
    const Health* health = nullptr;
    const MetricTable* metrics = nullptr;
    std::function<std::string()> plugin_metrics;                  // May be empty.
    std::function<Status(std::string_view level)> set_log_level;  // May be empty.
  };

  explicit Endpoints(Sources sources);
  ServedResponse Answer(const ServedRequest& request) const;

 private:
  ServedResponse SetLogLevel(const ServedRequest& request) const;
  // Returns the list of paths, one per line.
  std::string Paths() const;

  const Sources sources_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_ENDPOINTS_H_
