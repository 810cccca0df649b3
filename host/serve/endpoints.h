// Routes the requests to the process, and answers those for its health checks: /livez, /readyz and
// /healthz.
#ifndef BERTH_HOST_SERVE_ENDPOINTS_H_
#define BERTH_HOST_SERVE_ENDPOINTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/metrics.h"
#include "host/base/status.h"
#include "host/serve/http_message.h"

namespace berth::host {

// The paths that include a check.
struct HealthPaths {
  bool livez = false;
  bool readyz = false;
  bool healthz = false;
};

// Answers as an API server does (apiserver: pkg/server/healthz): "ok" with 200, or with 500 the
// list of checks, in which a check that fails is "[-]name failed: reason withheld". With ?verbose
// the list is also the answer of success, and it shows the reasons:
//   [+]ping ok
//   [-]sched-handler-sync failed: v1/Pod: the first list is under way (120,000 objects so far)
//   readyz check failed
// A check that passes may have notes, which tell an operator what is wrong without a failure; with
// ?verbose they follow its line:
//   [+]plugins ok
//      note: acme.RackPower of the profile acme is in quarantine for 30s: 10 faults within 1m0s
// ?exclude=NAME leaves a check out; an unknown name is reported. /readyz/NAME is one check, and
// shows its reason. A check may have another status than 500 for its failure; if several fail, the
// answer has the highest. A reason is one line, whatever a server or a plugin wrote. An API server
// never shows reasons, because anybody may ask it; this server listens on a loopback address.
//
// The checks of `berth run` on a cluster:
//   ping                 all       always ok; the constructor adds it
//   leaderElection       readyz    fails if this process leads and has not renewed its lease for
//                        healthz   leaseDuration + 20 s
//   lease                readyz    fails if this process could not acquire the lease, unless
//                                  another process holds it; names the rules that are missing
//   sched-handler-sync   readyz    fails until every watch has delivered its first state, and while
//                                  a watch fails; names the kind, the reason, and the missing rule
//   shutdown             readyz    fails when the process ends
//   schedulingLoop       livez     fails if the loop has made no progress for two minutes
//   bindings             readyz    fails, with 503, if the API server has forbidden every binding
//                                  for a minute
//   objects              readyz    notes objects that cannot be read as a whole
//   plugins              readyz    notes a plugin in quarantine, a call that has not ended after
//                                  twice its deadline, and pods that made a plugin miss it
//
// A user who may create pods can cause notes, but no failure: the pods of others are scheduled.
//
// Threading: Add() before the first Answer(); Answer() on one thread. The checks are called on that
//            thread and must not block.
class Health {
 public:
  struct Finding {
    Status status = {};                   // Why the check fails.
    std::vector<std::string> notes = {};  // Each is one line, whatever it consists of.
  };
  using Check = std::function<Finding()>;

  // `table` receives kubernetes_healthcheck{name,type} and
  // kubernetes_healthchecks_total{name,type,status}; the type is the path without "/".
  explicit Health(MetricTable& table);
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  // REQUIRES: the name is new and consists of letters, digits and "-".
  // `failure`: the HTTP status of an answer in which the check fails.
  void Add(std::string name, HealthPaths paths, Check check, uint32_t failure = 500);
  // Returns status 404 for a check that the path does not have.
  // REQUIRES: the path is "/livez", "/readyz" or "/healthz", or begins with one of them and "/".
  ServedResponse Answer(const ServedRequest& request) const;

 private:
  struct Named {
    std::string name;
    HealthPaths paths;
    Check check;
    uint32_t failure;
  };

  // Calls a check and counts its result.
  Finding Run(const Named& named, const std::string& type) const;
  // Answers for all checks of a path.
  ServedResponse AnswerAll(const std::string& type, std::string_view query) const;

  std::vector<Named> checks_;
  GaugeFamily& last_;
  CounterFamily& total_;
};

//   GET /livez /readyz /healthz, with /<check>   see Health
//   GET /metrics                                  see MetricsPage()
//   GET /configz                                  the configuration: Sources::config
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
  // All must be set.
  struct Sources {
    const Health* health = nullptr;
    const MetricTable* metrics = nullptr;
    std::function<std::string()> plugin_metrics;
    std::function<std::string()> config;  // JSON.
    std::function<Status(std::string_view level)> set_log_level;
  };

  explicit Endpoints(Sources sources);
  ServedResponse Answer(const ServedRequest& request) const;

 private:
  ServedResponse SetLogLevel(const ServedRequest& request) const;

  const Sources sources_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_ENDPOINTS_H_
