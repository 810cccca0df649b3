#include "host/contract/contract_services.h"

#include <cstdint>

#include <berth/abi.h>

namespace berth::host {
namespace {

constexpr berth_api kApi = {
    sizeof(berth_api),
    0,
    [](const berth_host*, const berth_binding*, berth_done) noexcept -> berth_code {
      return BERTH_PENDING;
    },
    [](const berth_host*, const berth_status_patch*, berth_api_answer,
       void*) noexcept -> berth_code { return BERTH_UNSUPPORTED; },
    [](const berth_host*, const berth_eviction*, berth_api_answer, void*) noexcept -> berth_code {
      return BERTH_UNSUPPORTED;
    },
    [](const berth_host*, const berth_api_event*) noexcept -> berth_code { return BERTH_SUCCESS; },
    [](const berth_host*, const berth_api_request*, berth_api_answer,
       void*) noexcept -> berth_code { return BERTH_UNSUPPORTED; }};
constexpr berth_activate kNoActivate = {
    sizeof(berth_activate), 0,
    [](const berth_host*, const berth_str*, uint64_t) noexcept -> berth_code {
      return BERTH_SUCCESS;
    }};
constexpr uint32_t kAllLevels = BERTH_LOG_TRACE;
constexpr berth_log kSilentLog = {
    sizeof(berth_log), 0, &kAllLevels,
    [](const berth_host*, uint32_t, berth_str, const berth_str_pair*, uint64_t) noexcept {}};
constexpr berth_metrics kNoMetrics = {
    sizeof(berth_metrics), 0,
    [](const berth_host*, const berth_metric*, uint32_t* index) noexcept -> berth_code {
      *index = 0;
      return BERTH_SUCCESS;
    },
    [](const berth_host*, uint32_t, const berth_str*, uint64_t* series) noexcept -> berth_code {
      *series = 1;
      return BERTH_SUCCESS;
    },
    [](const berth_host*, uint64_t, double) noexcept {}};

}  // namespace

const std::map<std::string, const void*>& StubServices() {
  static const std::map<std::string, const void*> services = {{BERTH_SERVICE_API, &kApi}};
  return services;
}

const std::map<std::string, const void*>& QuietServices() {
  static const std::map<std::string, const void*> services = [] {
    std::map<std::string, const void*> all = StubServices();
    all[BERTH_SERVICE_ACTIVATE] = &kNoActivate;
    all[BERTH_SERVICE_LOG] = &kSilentLog;
    all[BERTH_SERVICE_METRICS] = &kNoMetrics;
    return all;
  }();
  return services;
}

}  // namespace berth::host
