#include "host/process/assemble/scheduler_host.h"

#include <utility>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/text.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

std::set<std::string> FieldsOf(const PluginCatalog& catalog) {
  std::set<std::string> fields;
  for (const auto& [name, plugin] : catalog.plugins()) {
    fields.insert(plugin.info->fields.begin(), plugin.info->fields.end());
  }
  return fields;
}

// Asserts that the options have what SchedulerOptions requires, and returns them.
SchedulerOptions Checked(SchedulerOptions options) {
  BERTH_ASSERT(options.plugins != nullptr && options.loop.clock != nullptr);
  BERTH_ASSERT(!options.profiles.empty());
  return options;
}

// Reads a file of certificates or a key, which must not be cut.
Result<std::string> ReadTrustFile(const std::string& path) {
  Result<std::string> text = ReadConfigFile(path);
  if (!text.ok() || text->size() <= kMaxConfigBytes) return text;
  return Status::InvalidArgument("the file has more than " + WithCommas(kMaxConfigBytes) +
                                 " bytes");
}

std::unique_ptr<HttpClient> MakeHttpClient(const std::function<int64_t()>& steady_ns) {
  if (!steady_ns) return std::make_unique<NoHttpClient>();
  return std::make_unique<SocketHttpClient>(
      SocketHttpClient::Options{.steady_ns = steady_ns, .read_file = ReadTrustFile});
}

}  // namespace

DecodeOptions DecodeOptionsFor(const PluginSet& plugins, KubeVersion emulated_version) {
  return DecodeOptionsFor(FieldsOf(plugins.catalog()), emulated_version);
}

DecodeOptions LocalDecodeOptionsFor(const PluginSet& plugins, KubeVersion emulated_version) {
  return LocalDecodeOptionsFor(FieldsOf(plugins.catalog()), emulated_version);
}

SchedulerHost::Watchdog::Watchdog(CallMonitor& monitor, PluginFaults& faults,
                                  const CallDeadlines& deadlines,
                                  std::function<int64_t()> steady_ns)
    : clock(0, std::move(steady_ns)), calls(monitor, faults, deadlines), thread(calls, clock) {
  clock.Begin();
}

SchedulerHost::SchedulerHost(Interner& interner, Client client, SchedulerOptions options)
    : interner_(interner),
      client_(client),
      options_(Checked(std::move(options))),
      monitor_(interner),
      decoded_fields_(FieldsOf(options_.plugins->catalog())),
      http_(MakeHttpClient(options_.steady_ns)) {
  if (options_.report_crashes) options_.report_crashes(&monitor_);
}

// The pool waits for the plugins that it runs. CancelBindings() comes first, so that a plugin that
// checks BERTH_IS_CANCELLED returns early. The crash report must cover all of these steps.
SchedulerHost::~SchedulerHost() {
  StopWatchdog();
  if (loop_ != nullptr) loop_->CancelBindings();
  pool_.reset();
  loop_.reset();
  if (options_.report_crashes) options_.report_crashes(nullptr);
}

Status SchedulerHost::Start() {
  BERTH_ASSERT(loop_ == nullptr);
  SchedulingLoop::Options options = options_.loop;
  options.monitor = &monitor_;
  options.http = http_.get();
  if (options_.bind_threads > 0) {
    pool_ = std::make_unique<BindPool>(options_.bind_threads);
    options.pool = pool_.get();
  }
  auto loop = SchedulingLoop::Create(interner_, client_, options_.plugins->catalog(),
                                     options_.profiles, std::move(options));
  if (!loop.ok()) return std::move(loop).status();
  loop_ = std::move(loop).value();
  return {};
}

Status SchedulerHost::Reload(std::shared_ptr<const PluginSet> plugins,
                             std::span<const PlanSpec> profiles) {
  for (const auto& [name, plugin] : plugins->catalog().plugins()) {
    for (const std::string& field : plugin.info->fields) {
      if (decoded_fields_.contains(field)) continue;
      std::string text(plugin.library->path());
      text.append(": plugin \"").append(name).append("\" needs ").append(field);
      return Status::InvalidArgument(
          text.append(" of objects, but the objects were read without it; restart berth to use "
                      "this plugin"));
    }
  }
  Status status = loop_->Reload(plugins->catalog(), profiles);
  if (status.ok()) options_.plugins = std::move(plugins);
  return status;
}

void SchedulerHost::StartWatchdog(const CallDeadlines& deadlines,
                                  std::function<int64_t()> steady_ns) {
  BERTH_ASSERT(!watchdog_.has_value());
  watchdog_.emplace(monitor_, loop_->faults(), deadlines, std::move(steady_ns));
}

// ---- TryCreatePlugins ---------------------------------------------------------------------------

Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        KubeVersion emulated_version, const ReportCrashes& report_crashes) {
  const VirtualClock clock(0);
  Interner interner(Interner::kFixedKey);
  EmbeddedCluster cluster({.clock = clock, .max_events = 0, .serve = nullptr});
  SchedulerOptions options;
  options.plugins = std::move(plugins);
  options.profiles.assign(specs.begin(), specs.end());
  options.loop.clock = &clock;
  options.loop.emulated_version = emulated_version;
  options.report_crashes = report_crashes;
  SchedulerHost host(interner, cluster, std::move(options));
  Status status = host.Start();
  if (status.ok()) cluster.Deliver();
  return status;
}

}  // namespace berth::host
