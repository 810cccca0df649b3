#include "host/process/embedded_scheduler.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "host/base/assert.h"
#include "host/process/cluster_files.h"

namespace berth::host {
namespace {

constexpr int64_t kPatienceNs = 1'000'000'000;

constexpr std::string_view kPodFieldPrefix = "Pod:";
constexpr std::string_view kNodeFieldPrefix = "Node:";

// The parts of pods and nodes that a plugin wants kept as JSON.
std::set<std::string> FieldsToKeep(const PluginCatalog& catalog) {
  std::set<std::string> fields;
  for (const auto& [name, plugin] : catalog.plugins()) {
    fields.insert(plugin.info->fields.begin(), plugin.info->fields.end());
  }
  return fields;
}

DecodeOptions DecodeOptionsFor(const std::set<std::string>& fields) {
  DecodeOptions options;
  for (const std::string& field : fields) {
    if (field.starts_with(kPodFieldPrefix)) {
      options.pod_fields.push_back(field.substr(kPodFieldPrefix.size()));
    } else if (field.starts_with(kNodeFieldPrefix)) {
      options.node_fields.push_back(field.substr(kNodeFieldPrefix.size()));
    }
  }
  return options;
}

}  // namespace

std::unique_ptr<EmbeddedScheduler> EmbeddedScheduler::Create(Options options) {
  BERTH_ASSERT(options.plugins != nullptr && options.clock != nullptr);
  BERTH_ASSERT(!options.profiles.empty());
  return std::unique_ptr<EmbeddedScheduler>(new EmbeddedScheduler(std::move(options)));
}

EmbeddedScheduler::EmbeddedScheduler(Options options)
    : options_(std::move(options)),
      monitor_(interner_),
      cluster_({.now_ns = [this] { return options_.clock->NowNs(); },
                .max_events = 0,
                .serve = [this](const ApiRequest& request) { return api_.Serve(request); }}),
      kept_fields_(FieldsToKeep(options_.plugins->catalog())),
      decoder_(interner_, DecodeOptionsFor(kept_fields_)) {
  if (options_.follows_stream) stream_.emplace(cluster_);
  if (options_.report_crashes) options_.report_crashes(&monitor_);
}

// Plugins run until both are gone, and may crash until then. The pool waits for those that it runs:
// they hear first that nobody waits for what they do.
EmbeddedScheduler::~EmbeddedScheduler() {
  if (loop_ != nullptr) loop_->CancelBindings();
  pool_.reset();
  loop_.reset();
  if (options_.report_crashes) options_.report_crashes(nullptr);
}

Status EmbeddedScheduler::AddText(std::string_view name, std::string text) {
  const auto note = [this](const AnyObject& object) {
    if (stream_.has_value()) stream_->NoteLoaded(object);
  };
  Status status = LoadManifest(std::move(text), name, decoder_, cluster_, note);
  if (loop_ != nullptr) cluster_.Deliver();
  return status;
}

Status EmbeddedScheduler::AddFile(const std::string& path, std::istream& in) {
  Result<std::string> text = ReadInput(path, in);
  if (!text.ok()) return std::move(text).status();
  return AddText(InputName(path), std::move(text).value());
}

Status EmbeddedScheduler::Start() {
  BERTH_ASSERT(loop_ == nullptr);
  SchedulingLoop::Options options;
  options.seed = options_.seed;
  options.clock = options_.clock;
  options.sink = options_.sink;
  options.waker = options_.waker;
  options.log = options_.log;
  options.log_level = options_.log_level;
  options.bind_deadline_ns = options_.bind_deadline_ns;
  options.quarantine = options_.quarantine;
  options.queue = options_.queue;
  options.monitor = &monitor_;
  if (options_.bind_threads > 0) {
    pool_ = std::make_unique<BindPool>(options_.bind_threads);
    options.on_pool = [this](std::function<void()> task) { return pool_->Run(std::move(task)); };
    options.give_up = [this](uint64_t task) { pool_->GiveUp(task); };
  }
  auto loop = SchedulingLoop::Create(interner_, cluster_, options_.plugins->catalog(),
                                     options_.profiles, std::move(options));
  if (!loop.ok()) return std::move(loop).status();
  loop_ = std::move(loop).value();
  kubelet_.emplace(cluster_, [this] { return options_.clock->NowNs(); });
  cluster_.Deliver();
  return {};
}

Status EmbeddedScheduler::Reload(std::shared_ptr<const PluginSet> plugins,
                                 std::span<const PlanSpec> profiles) {
  for (const auto& [name, plugin] : plugins->catalog().plugins()) {
    for (const std::string& field : plugin.info->fields) {
      if (kept_fields_.contains(field)) continue;
      std::string text(plugin.library->path());
      text.append(": plugin \"").append(name).append("\" needs ").append(field);
      return Status::InvalidArgument(
          text.append(" of objects, and those that are here were read without it: it takes a "
                      "restart"));
    }
  }
  Status status = loop_->Reload(plugins->catalog(), profiles);
  if (!status.ok()) return status;
  options_.plugins = std::move(plugins);
  cluster_.Deliver();
  return {};
}

bool EmbeddedScheduler::Step() {
  bool did = kubelet_->RunDue() > 0;
  did |= cluster_.Deliver() > 0;
  did |= loop_->Step();
  did |= cluster_.Deliver() > 0;
  return did;
}

std::optional<int64_t> EmbeddedScheduler::NextStepNs() const {
  const std::optional<int64_t> deletion = kubelet_->NextNs();
  const std::optional<int64_t> step = loop_->NextStepNs();
  if (!deletion.has_value() || !step.has_value()) return deletion.has_value() ? deletion : step;
  return std::min(*deletion, *step);
}

bool EmbeddedScheduler::AtRest() const {
  return loop_->AtRest() && cluster_.waiting() == 0 && !kubelet_->NextNs().has_value();
}

bool EmbeddedScheduler::WaitForThreads(ThreadWaker& waker) const {
  const bool binds = std::ranges::any_of(
      loop_->bindings(), [](const auto& binding) { return !binding.second->is_waiting(); });
  return binds && waker.Wait(kPatienceNs);
}

}  // namespace berth::host
