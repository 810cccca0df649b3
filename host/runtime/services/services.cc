#include "host/runtime/services/services.h"

#include <array>
namespace berth::host {
namespace {

bool HasScheduler(const HostServices& services) { return services.scheduler != nullptr; }
bool HasTimers(const HostServices& services) {
  return services.timers != nullptr && services.clock != nullptr && services.inbox != nullptr;
}
bool HasApi(const HostServices& services) { return services.client != nullptr; }
bool HasMetrics(const HostServices& services) { return services.metrics != nullptr; }

// Has no functions: every instance has its own berth_log.
constexpr berth_log kNoLog{};

const std::array<ServiceInfo, 17> kServices{{
    {BERTH_SERVICE_LOG, &kNoLog, nullptr},
    {BERTH_SERVICE_STRINGS, StringsService(), nullptr},
    {BERTH_SERVICE_REFS, RefsService(), nullptr},
    {BERTH_SERVICE_COLUMNS, ColumnsService(), nullptr},
    {BERTH_SERVICE_VALUES, InstanceValuesService(), nullptr},
    {BERTH_SERVICE_SELECTORS, SelectorsService(), nullptr},
    {BERTH_SERVICE_METRICS, MetricsService(), HasMetrics},
    {BERTH_SERVICE_OBJECTS, ObjectsService(), nullptr},
    {BERTH_SERVICE_NODES, NodesService(), HasScheduler},
    {BERTH_SERVICE_WHATIF, WhatIfService(), nullptr},
    {BERTH_SERVICE_NOMINATOR, NominatorService(), HasScheduler},
    {BERTH_SERVICE_ACTIVATE, ActivateService(), HasScheduler},
    {BERTH_SERVICE_WAITING, WaitingService(), HasScheduler},
    {BERTH_SERVICE_TIMER, TimerService(), HasTimers},
    {BERTH_SERVICE_RANDOM, RandomService(), nullptr},
    {BERTH_SERVICE_API, ApiService(), HasApi},
    {BERTH_SERVICE_COMPLETION, CompletionService(), nullptr},
}};

}  // namespace

std::span<const ServiceInfo> Services() { return kServices; }

}  // namespace berth::host
