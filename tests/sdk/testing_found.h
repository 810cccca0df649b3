// The services that create() of a sample plugin found, for its functions.
#ifndef BERTH_TESTS_SDK_TESTING_FOUND_H_
#define BERTH_TESTS_SDK_TESTING_FOUND_H_

#include <functional>
#include <string>
#include <vector>

#include <berth/testing/fake_host.h>

#include "testing_plugins.h"

namespace berth::testing {

struct Found {
  const berth_host* host = nullptr;
  const berth_log* log = nullptr;
  const berth_values* values = nullptr;
  const berth_metrics* metrics = nullptr;
  const berth_objects* objects = nullptr;
  const berth_strings* strings = nullptr;
  const berth_refs* refs = nullptr;
  const berth_random* random = nullptr;
  const berth_api* api = nullptr;
  const berth_timer* timer = nullptr;
  const berth_completion* completion = nullptr;
  const berth_http* http = nullptr;
  const berth_columns* columns = nullptr;
  const berth_node_lookup* nodes = nullptr;
  const berth_whatif* whatif = nullptr;
  const berth_nominator* nominator = nullptr;
  const berth_activate* activate = nullptr;
  const berth_waiting* waiting = nullptr;
  uint32_t metric = 0;
};
inline Found found;

template <class T>
void FindService(const char* id, const T** service) {
  const void* given = nullptr;
  found.host->get_service(found.host, id, &given);
  *service = static_cast<const T*>(given);
}

inline berth_code FindServices(const berth_host* host, const berth_value*, berth_status*) {
  found.host = host;
  FindService(BERTH_SERVICE_LOG, &found.log);
  FindService(BERTH_SERVICE_VALUES, &found.values);
  FindService(BERTH_SERVICE_METRICS, &found.metrics);
  FindService(BERTH_SERVICE_OBJECTS, &found.objects);
  FindService(BERTH_SERVICE_STRINGS, &found.strings);
  FindService(BERTH_SERVICE_REFS, &found.refs);
  FindService(BERTH_SERVICE_RANDOM, &found.random);
  FindService(BERTH_SERVICE_API, &found.api);
  FindService(BERTH_SERVICE_TIMER, &found.timer);
  FindService(BERTH_SERVICE_COMPLETION, &found.completion);
  FindService(BERTH_SERVICE_HTTP, &found.http);
  FindService(BERTH_SERVICE_COLUMNS, &found.columns);
  FindService(BERTH_SERVICE_NODES, &found.nodes);
  FindService(BERTH_SERVICE_WHATIF, &found.whatif);
  FindService(BERTH_SERVICE_NOMINATOR, &found.nominator);
  FindService(BERTH_SERVICE_ACTIVATE, &found.activate);
  FindService(BERTH_SERVICE_WAITING, &found.waiting);
  const berth_str label = ToAbi("result");
  const berth_metric metric = {sizeof metric,
                               BERTH_METRIC_COUNTER,
                               ToAbi("sample_total"),
                               ToAbi("Samples."),
                               &label,
                               1,
                               nullptr,
                               0};
  return found.metrics->define(host, &metric, &found.metric);
}

// Returns the violations that a use of the plugin on node "a" causes.
inline std::vector<std::string> FindingsOf(const Parts& parts,
                                           const std::function<void(PluginUnderTest&)>& use) {
  return Findings(parts, {.nodes = {MakeNode("a")}}, use);
}

}  // namespace berth::testing

#endif  // BERTH_TESTS_SDK_TESTING_FOUND_H_
