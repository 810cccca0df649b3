#include "host/cli/simulation.h"

#include <set>
#include <utility>

#include "host/api/assert.h"
#include "host/cli/cluster_files.h"

namespace berth::host {
namespace {

constexpr std::string_view kPodFieldPrefix = "Pod:";
constexpr std::string_view kNodeFieldPrefix = "Node:";

// The parts of pods and nodes that a plugin wants kept as JSON.
DecodeOptions FieldsToKeep(const PluginCatalog& catalog) {
  std::set<std::string> pod_fields;
  std::set<std::string> node_fields;
  for (const auto& [name, plugin] : catalog.plugins()) {
    for (const std::string& field : plugin.info->fields) {
      if (field.starts_with(kPodFieldPrefix)) {
        pod_fields.insert(field.substr(kPodFieldPrefix.size()));
      } else if (field.starts_with(kNodeFieldPrefix)) {
        node_fields.insert(field.substr(kNodeFieldPrefix.size()));
      }
    }
  }
  DecodeOptions options;
  options.pod_fields.assign(pod_fields.begin(), pod_fields.end());
  options.node_fields.assign(node_fields.begin(), node_fields.end());
  return options;
}

}  // namespace

Result<std::unique_ptr<Simulation>> Simulation::Create(Options options) {
  BERTH_ASSERT(options.plugins != nullptr);
  const PluginCatalog& catalog = options.plugins->catalog();
  if (!options.plan) {
    return std::unique_ptr<Simulation>(
        new Simulation(std::move(options), DefaultPlanSpec(catalog)));
  }
  Result<PlanSpec> spec = options.plan(catalog);
  if (!spec.ok()) return std::move(spec).status();
  return std::unique_ptr<Simulation>(new Simulation(std::move(options), std::move(spec).value()));
}

Simulation::Simulation(Options options, PlanSpec spec)
    : options_(std::move(options)),
      spec_(std::move(spec)),
      cluster_({.now_ns = options_.now_ns, .max_events = 0, .serve = {}}),
      decoder_(interner_, FieldsToKeep(options_.plugins->catalog())) {}

Status Simulation::AddText(std::string_view name, std::string text) {
  Status status = LoadManifest(std::move(text), name, decoder_, cluster_);
  if (loop_ != nullptr) cluster_.Deliver();
  return status;
}

Status Simulation::AddFile(const std::string& path, std::istream& in) {
  Result<std::string> text = ReadInput(path, in);
  if (!text.ok()) return std::move(text).status();
  return AddText(InputName(path), std::move(text).value());
}

Status Simulation::Start() {
  BERTH_ASSERT(loop_ == nullptr);
  SchedulingLoop::Options loop_options;
  loop_options.seed = options_.seed;
  loop_options.now_ns = options_.now_ns;
  loop_options.deliver = [this] { cluster_.Deliver(); };
  loop_options.log = options_.log;
  loop_options.log_level = options_.log_level;
  auto loop = SchedulingLoop::Create(interner_, cluster_, options_.plugins->catalog(), spec_,
                                     std::move(loop_options));
  if (!loop.ok()) return std::move(loop).status();
  loop_ = std::move(loop).value();
  cluster_.Deliver();
  return {};
}

std::optional<AttemptResult> Simulation::ScheduleNext() {
  std::optional<AttemptResult> result = loop_->ScheduleNext();
  cluster_.Deliver();
  return result;
}

}  // namespace berth::host
