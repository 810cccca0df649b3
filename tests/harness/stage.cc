#include "tests/harness/stage.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/cache/object_store.h"
#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/private_copy.h"
#include "host/plan/instance_host.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

// Live slots of all stages. Only the scheduling thread may touch slots.
int64_t live_slots = 0;

void ConstructSlot(void* at) noexcept {
  *static_cast<int64_t*>(at) = 7;
  ++live_slots;
}

berth_code CloneSlot(void* to, const void* from) noexcept {
  const int64_t value = *static_cast<const int64_t*>(from);
  if (value == Stage::kDeadlySlot) std::abort();
  if (value < 0) return static_cast<berth_code>(-value);
  *static_cast<int64_t*>(to) = value;
  ++live_slots;
  return BERTH_SUCCESS;
}

void DestroySlot(void* at) noexcept {
  *static_cast<int64_t*>(at) = 0;
  --live_slots;
}

constexpr berth_slot kSlot{sizeof(berth_slot), sizeof(int64_t), 8,         0,
                           "test.puppet/1",    ConstructSlot,   CloneSlot, DestroySlot};

}  // namespace

berth_code Report(const ScriptedAnswer& given, berth_status* status) {
  for (const std::string& reason : given.reasons) status->add_reason(status, AsStr(reason));
  return given.code;
}

std::string TextOf(const PluginStatus& status) {
  std::string text(CodeName(status.code));
  if (!status.reasons.empty()) text += ": " + status.Message();
  return text;
}

// --- puppets -------------------------------------------------------------------------------------

struct Stage::Actor {
  explicit Actor(std::string the_name) : name(std::move(the_name)) {}

  static Puppet& Of(void* self) { return static_cast<Actor*>(self)->puppet; }
  static const void* GetPoint(const berth_plugin* plugin, const char* id) noexcept;

  std::string name;
  Puppet puppet;
  berth_plugin plugin{};
  berth_pre_enqueue pre_enqueue{};
  berth_enqueue_extensions enqueue_extensions{};
  berth_queue_sort queue_sort{};
  berth_queue_sort_2 queue_sort_2{};
  berth_pre_filter pre_filter{};
  berth_filter filter{};
  berth_dependence filter_dependence{};
  berth_dependence score_dependence{};
  berth_changes changes{};
  berth_hand_over hand_over{};
  std::vector<berth_column_request> columns;
  berth_post_filter post_filter{};
  berth_pre_score pre_score{};
  berth_score score{};
  berth_reserve reserve{};
  berth_permit permit{};
  berth_pre_bind pre_bind{};
  berth_bind bind{};
  berth_post_bind post_bind{};
  berth_attempt_failed attempt_failed{};

  void FillIn();

 private:
  void FillInQueuePoints();
  void FillInFilterPoints();
  void FillInDependences();
  void FillInScorePoints();
  void FillInHandOver();
  void FillInBindingPoints();
};

const void* Stage::Actor::GetPoint(const berth_plugin* plugin, const char* id) noexcept {
  const Actor& actor = *static_cast<const Actor*>(plugin->self);
  if (std::string_view(id) == BERTH_POINT_QUEUE_SORT_2) return &actor.queue_sort_2;
  switch (FindPoint(id)->point) {
    case Point::kPreEnqueue: return &actor.pre_enqueue;
    case Point::kEnqueueExtensions: return &actor.enqueue_extensions;
    case Point::kQueueSort: return &actor.queue_sort;
    case Point::kPreFilter: return &actor.pre_filter;
    case Point::kFilter: return &actor.filter;
    case Point::kChanges: return &actor.changes;
    case Point::kHandOver: return &actor.hand_over;
    case Point::kPostFilter: return &actor.post_filter;
    case Point::kPreScore: return &actor.pre_score;
    case Point::kScore: return &actor.score;
    case Point::kReserve: return &actor.reserve;
    case Point::kPermit: return &actor.permit;
    case Point::kPreBind: return &actor.pre_bind;
    case Point::kBind: return &actor.bind;
    case Point::kPostBind: return &actor.post_bind;
    case Point::kAttemptFailed: return &actor.attempt_failed;
    default: return nullptr;
  }
}

void Stage::Actor::FillInQueuePoints() {
  pre_enqueue = {
      sizeof(berth_pre_enqueue), 0,
      [](void* self, const berth_queued* queued, berth_status* status) noexcept -> berth_code {
        const auto& f = Of(self).pre_enqueue;
        return f ? f(*queued, status) : BERTH_SUCCESS;
      }};
  enqueue_extensions = {
      sizeof(berth_enqueue_extensions), 0, AsArray(std::span(puppet.interests)),
      [](void* self, const berth_queued* queued, const berth_event* event) noexcept -> uint32_t {
        const auto& f = Of(self).hint;
        return f ? f(*queued, *event) : uint32_t{BERTH_HINT_QUEUE};
      }};
  queue_sort = {sizeof(berth_queue_sort), 0, nullptr,
                [](void* self, const berth_queued* a, const berth_queued* b) noexcept -> int32_t {
                  const auto& f = Of(self).less;
                  return f && f(*a, *b) ? 1 : 0;
                }};
  queue_sort_2 = {sizeof(berth_queue_sort_2),
                  0,
                  nullptr,
                  queue_sort.less,
                  [](void* self, const berth_queued* queued) noexcept -> uint64_t {
                    const auto& f = Of(self).lane;
                    return f ? f(*queued) : 0;
                  },
                  [](void* self, berth_array lanes) noexcept -> uint32_t {
                    const auto& f = Of(self).next;
                    return f ? f(Elements<berth_lane>(lanes)) : 0;
                  }};
  changes = {sizeof(berth_changes),
             puppet.pending_changes ? uint32_t{BERTH_CHANGES_FLAG_PENDING} : 0,
             [](void* self, const berth_change* change) noexcept {
               if (const auto& f = Of(self).change) f(*change);
             }};
}

void Stage::Actor::FillInFilterPoints() {
  pre_filter = {sizeof(berth_pre_filter), 0,
                [](void* self, const berth_cycle* cycle, const berth_nodes* all,
                   berth_pre_filter_out* out, berth_status* status) noexcept -> berth_code {
                  const auto& f = Of(self).pre_filter;
                  return f ? f(*cycle, *all, *out, status) : BERTH_SUCCESS;
                },
                nullptr, nullptr};
  if (puppet.add_pod) {
    pre_filter.add_pod = [](void* self, const berth_cycle* cycle, const berth_pod* pod,
                            const berth_block* block, uint32_t index,
                            berth_status* status) noexcept -> berth_code {
      return Of(self).add_pod(*cycle, *pod, *block, index, status);
    };
    pre_filter.remove_pod = [](void* self, const berth_cycle* cycle, const berth_pod* pod,
                               const berth_block* block, uint32_t index,
                               berth_status* status) noexcept -> berth_code {
      const auto& f = Of(self).remove_pod;
      return f ? f(*cycle, *pod, *block, index, status) : BERTH_SUCCESS;
    };
  }
  filter = {sizeof(berth_filter), 0, nullptr,
            [](void* self, const berth_cycle* cycle, const berth_block* block,
               berth_filter_out* out, berth_status* status) noexcept -> berth_code {
              if (const auto& f = Of(self).filter) return f(*cycle, *block, *out, status);
              std::fill_n(out->codes, block->count, uint8_t{BERTH_SUCCESS});
              return BERTH_SUCCESS;
            },
            nullptr};
  if (puppet.is_serial) filter.flags = BERTH_FILTER_SERIAL;
  if (puppet.filter_whole) {
    filter.flags = BERTH_FILTER_WHOLE;
    filter.filter = nullptr;
    filter.filter_whole = [](void* self, const berth_cycle* cycle, const berth_nodes* survivors,
                             berth_filter_whole_out* out,
                             berth_status* status) noexcept -> berth_code {
      return Of(self).filter_whole(*cycle, *survivors, *out, status);
    };
  }
}

void Stage::Actor::FillInScorePoints() {
  pre_score = {
      sizeof(berth_pre_score), 0,
      [](void* self, const berth_cycle* cycle, const berth_nodes* feasible, const berth_nodes* all,
         berth_pre_score_out*, berth_status* status) noexcept -> berth_code {
        const auto& f = Of(self).pre_score;
        return f ? f(*cycle, *feasible, *all, status) : BERTH_SUCCESS;
      }};
  score = {sizeof(berth_score),
           0,
           puppet.normalize_mode,
           0,
           nullptr,
           [](void* self, const berth_cycle* cycle, const berth_block* block, berth_score_out* out,
              berth_status* status) noexcept -> berth_code {
             if (const auto& f = Of(self).score) return f(*cycle, *block, out->scores, status);
             std::fill_n(out->scores, block->count, int64_t{0});
             return BERTH_SUCCESS;
           },
           nullptr};
}

void Stage::Actor::FillInDependences() {
  if (const auto& declared = puppet.filter_dependence) {
    filter_dependence = {sizeof(berth_dependence), declared->cluster, declared->pod_parts, nullptr,
                         nullptr};
    filter.dependence = &filter_dependence;
  }
  if (const auto& declared = puppet.score_dependence) {
    score_dependence = {sizeof(berth_dependence), declared->cluster, declared->pod_parts, nullptr,
                        nullptr};
    score.dependence = &score_dependence;
  }
  if (puppet.sign) {
    filter_dependence.sign = [](void* self, const berth_cycle* cycle,
                                berth_signature* signature) noexcept -> berth_code {
      return Of(self).sign(*cycle, *signature);
    };
  }
  if (puppet.changed) {
    filter_dependence.changed = [](void* self, const berth_cycle*, uint64_t* token,
                                   berth_put_rows put_rows, void* to) noexcept -> uint32_t {
      return Of(self).changed(*token, [=](uint32_t row) { put_rows(to, &row, 1); });
    };
  }
}

void Stage::Actor::FillInHandOver() {
  hand_over = {
      sizeof(berth_hand_over), 0,
      [](void* self, berth_hand_over_out* out, berth_status* status) noexcept -> berth_code {
        const auto& f = Of(self).save;
        return f ? f(*out, status) : BERTH_SKIP;
      },
      [](void* self, uint32_t version, berth_str bytes,
         berth_status* status) noexcept -> berth_code {
        const auto& f = Of(self).restore;
        return f ? f(version, Text(bytes), status) : BERTH_SUCCESS;
      }};
}

void Stage::Actor::FillInBindingPoints() {
  pre_bind = {sizeof(berth_pre_bind), puppet.is_parallel ? uint32_t{BERTH_PRE_BIND_PARALLEL} : 0U,
              nullptr,
              [](void* self, const berth_binding* binding, berth_done done,
                 berth_status* status) noexcept -> berth_code {
                const auto& f = Of(self).pre_bind;
                return f ? f(*binding, done, status) : BERTH_SUCCESS;
              }};
  if (puppet.pre_flight) {
    pre_bind.pre_flight = [](void* self, const berth_binding* binding,
                             berth_status* status) noexcept -> berth_code {
      return Of(self).pre_flight(*binding, status);
    };
  }
  bind = {sizeof(berth_bind), 0,
          [](void* self, const berth_binding* binding, berth_done done,
             berth_status* status) noexcept -> berth_code {
            const auto& f = Of(self).bind;
            return f ? f(*binding, done, status) : BERTH_SUCCESS;
          }};
  post_bind = {sizeof(berth_post_bind), 0, [](void* self, const berth_binding* binding) noexcept {
                 if (const auto& f = Of(self).post_bind) f(*binding);
               }};
}

void Stage::Actor::FillIn() {
  FillInQueuePoints();
  FillInFilterPoints();
  FillInScorePoints();
  FillInDependences();
  FillInBindingPoints();
  post_filter = {sizeof(berth_post_filter), 0,
                 [](void* self, const berth_cycle* cycle, const berth_nodes* all,
                    const berth_verdicts* verdicts, berth_post_filter_out* out,
                    berth_status* status) noexcept -> berth_code {
                   const auto& f = Of(self).post_filter;
                   return f ? f(*cycle, *all, *verdicts, *out, status) : BERTH_SUCCESS;
                 }};
  reserve = {sizeof(berth_reserve), 0,
             [](void* self, const berth_cycle* cycle, const berth_target* target,
                berth_status* status) noexcept -> berth_code {
               const auto& f = Of(self).reserve;
               return f ? f(*cycle, *target, status) : BERTH_SUCCESS;
             },
             [](void* self, const berth_binding* binding) noexcept {
               if (const auto& f = Of(self).unreserve) f(*binding);
             }};
  permit = {sizeof(berth_permit), 0,
            [](void* self, const berth_cycle* cycle, const berth_target* target,
               berth_permit_out* out, berth_status* status) noexcept -> berth_code {
              const auto& f = Of(self).permit;
              return f ? f(*cycle, *target, &out->timeout_ns, status) : BERTH_SUCCESS;
            }};
  attempt_failed = {sizeof(berth_attempt_failed), 0,
                    [](void* self, const berth_failed_attempt* attempt) noexcept {
                      if (const auto& f = Of(self).attempt_failed) f(*attempt);
                    }};
  FillInHandOver();
  plugin.struct_size = sizeof(berth_plugin);
  plugin.self = this;
  if (puppet.has_slot) plugin.slots = {&kSlot, 1, sizeof(kSlot)};
  columns.clear();
  for (const char* column : puppet.columns) {
    columns.push_back({sizeof(berth_column_request), 0, column, BERTH_TYPE_I64, 0});
  }
  plugin.columns = AsArray(std::span(columns));
  plugin.reasons = AsArray(std::span(puppet.reasons));
  plugin.get_point = GetPoint;
  plugin.quiesce = [](berth_plugin* of) noexcept {
    if (const auto& f = Of(of->self).quiesce) f();
  };
  plugin.destroy = [](berth_plugin* of) noexcept {
    if (const auto& f = Of(of->self).destroy) f();
  };
}

// --- Stage ---------------------------------------------------------------------------------------

// Loads the library once per process; libraries are never unloaded.
const PluginCatalog& Stage::catalog() {
  static const PluginCatalog& catalog = *[] {
    auto* store = new LibraryStore(CopyToMemory());
    auto* made = new PluginCatalog(*store);
    LoadOptions options;
    options.trust.check_owner = false;  // The owner of the build tree may be any user.
    const auto added = made->AddLibrary(PuppetLibrary(), options);
    BERTH_ASSERT_MSG(added.ok(), "%s", added.error().ToString().c_str());
    return made;
  }();
  return catalog;
}

Stage::Stage()
    : faults_({.quarantine = {.faults = 100}, .clock = &clock_}),
      services_(objects_.interner(), store_),
      calls_{.inbox = &inbox_, .timers = &timers_, .clock = &clock_},
      functions_{this, &Stage::Create} {
  services_.log = &plugin_log_;
  services_.monitor = &monitor_;
  services_.faults = &faults_;
  services_.clock = &clock_;
  services_.work = &work_;
  live_slots = 0;
  for (const char* name : {"n0", "n1", "n2"}) cache_.SetNode(objects_.Node({.name = name}));
}

Stage::~Stage() = default;

berth_plugin* Stage::Create(void* self, const berth_instance_request* request,
                            const berth_host* host) noexcept {
  Actor& actor = *static_cast<Stage*>(self)->actors_.find(Text(request->name))->second;
  actor.puppet.host = host;
  actor.puppet.enabled_points.clear();
  for (const berth_str point : Elements<berth_str>(request->points)) {
    actor.puppet.enabled_points.emplace_back(Text(point));
  }
  actor.puppet.deadline_ns = request->deadline_ns;
  const auto find = [host](const char* id) -> const void* {
    const void* service = nullptr;
    return host->get_service(host, id, &service) == BERTH_SUCCESS ? service : nullptr;
  };
  actor.puppet.activate = static_cast<const berth_activate*>(find(BERTH_SERVICE_ACTIVATE));
  actor.puppet.waiting = static_cast<const berth_waiting*>(find(BERTH_SERVICE_WAITING));
  actor.puppet.api = static_cast<const berth_api*>(find(BERTH_SERVICE_API));
  if (actor.puppet.create) actor.puppet.create();
  if (actor.puppet.fails_in_create) return nullptr;
  actor.FillIn();
  return &actor.plugin;
}

Puppet& Stage::Add(const std::string& name, std::initializer_list<Point> points) {
  auto& actor = actors_[name];
  if (actor == nullptr) {
    actor = std::make_unique<Actor>(name);
    spec_.plugins.push_back({name, nullptr, ""});
  }
  for (const Point point : points) {
    spec_.points[static_cast<size_t>(point)].push_back({name, 1});
  }
  return actor->puppet;
}

void Stage::SetDeadline(const std::string& name, int64_t deadline_ns) {
  const auto plugin = std::ranges::find(spec_.plugins, name, &PlanSpec::Plugin::name);
  ASSERT_NE(plugin, spec_.plugins.end());
  plugin->deadline_ns = deadline_ns;
}

void Stage::CompleteProfile() {
  if (spec_.points[static_cast<size_t>(Point::kQueueSort)].empty()) {
    Add("puppet.D", {Point::kQueueSort});
  }
  if (spec_.points[static_cast<size_t>(Point::kBind)].empty()) Add("puppet.D", {Point::kBind});
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "stage-%" PRIxPTR,
                reinterpret_cast<uintptr_t>(&functions_));
  spec_.scheduler_name = name.data();
}

void Stage::Build() {
  CompleteProfile();
  auto plan = Plan::Build(spec_, catalog(), services_, table());
  if (plan.ok()) (*plan)->Begin();
  BERTH_ASSERT_MSG(plan.ok(), "%s", plan.status().ToString().c_str());
  plan_ = *std::move(plan);
  attempt_ = std::make_unique<Attempt>(*plan_, table());
}

Attempt& Stage::Begin() { return Begin(objects_.Pod({.name = "p"})); }

Attempt& Stage::Begin(PodRef pod) {
  attempt_->Begin(std::move(pod), 1);
  return *attempt_;
}

std::unique_ptr<Binding> Stage::MakeBinding() {
  Attempt& attempt = Begin();
  const NodeRef& node = table().node(table().FindNode("n1"));
  auto binding = std::make_unique<Binding>(*plan_, attempt.pod(), node, attempt.TakeState());
  attempt.End();
  return binding;
}

void Stage::AdvanceTime(int64_t ns) {
  const int64_t end = clock_.NowNs() + ns;
  Drain();
  for (auto next = timers_.NextNs(); next.has_value() && *next <= end; next = timers_.NextNs()) {
    clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
    timers_.RunDue(clock_.NowNs());
    Drain();
  }
  clock_.AdvanceTo(end);
}

void Stage::Complete(berth_done done, const ScriptedAnswer& given) {
  InstanceHost::FromAbi(done.host).promises()->Complete(done.id, given.code, given.reasons);
}

const InstanceHost& Stage::HostOf(const std::string& name) const {
  const auto plugin = std::ranges::find(plan_->plugins(), name, &PlannedPlugin::name);
  BERTH_ASSERT_MSG(plugin != plan_->plugins().end(), "%s is not on the stage", name.c_str());
  return *plugin->host;
}

std::vector<std::string> Stage::Faults() const {
  std::vector<std::string> faults;
  for (const PluginFaults::Count& count : faults_.Counts()) {
    const std::string fault = count.plugin + " " + std::string(NameOf(count.point)) + " " +
                              std::string(FaultName(count.kind));
    for (uint64_t i = 0; i < count.count; ++i) faults.push_back(fault);
  }
  return faults;
}

void Stage::Quarantine(const std::string& name) {
  PluginFaults::Account& account = *HostOf(name).faults();
  while (!account.quarantined()) {
    faults_.Note(account, Point::kReserve, FaultKind::kException, "it was bad");
  }
}

int64_t Stage::slots() { return live_slots; }

}  // namespace berth::host
