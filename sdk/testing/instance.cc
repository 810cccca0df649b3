#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/quantity.h>
#include <berth/testing/report.h>
#include <berth/testing/slots.h>
#include <berth/testing/table.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

Status::Status() {
  abi_.struct_size = sizeof abi_;
  abi_.impl = this;
  abi_.add_reason = [](berth_status* self, berth_str text) noexcept {
    static_cast<Status*>(self->impl)->reasons_.emplace_back(FromAbi(text));
  };
  abi_.add_argument_error = [](berth_status* self, berth_str path, berth_str text) noexcept {
    static_cast<Status*>(self->impl)
        ->reasons_.push_back(std::string(FromAbi(path)) + ": " + std::string(FromAbi(text)));
  };
}

Library Library::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) Misuse(std::string("dlopen: ") + dlerror());
  const void* symbol = dlsym(handle, "berth_entry_v1");
  if (symbol == nullptr) Misuse(path + " does not export berth_entry_v1");
  return Library(*static_cast<const berth_entry*>(symbol));
}

const berth_plugin_info& Library::Find(const std::string& name) const {
  std::string names;
  for (uint64_t i = 0; i < entry_->n_plugins; ++i) {
    const berth_plugin_info& info = *entry_->plugins[i];
    if (name == info.name || (name.empty() && entry_->n_plugins == 1)) return info;
    names += std::string(" ") + info.name;
  }
  Misuse("the library has no plugin \"" + name + "\"; it has:" + names);
}

bool World::Enables(const std::string& id) const {
  // A profile does not name these points.
  if (!points || id == BERTH_POINT_ENQUEUE_EXTENSIONS || id == BERTH_POINT_ENTITY ||
      id == BERTH_POINT_ATTEMPT_FAILED || id == BERTH_POINT_CHANGES ||
      id == BERTH_POINT_HAND_OVER) {
    return true;
  }
  return std::find(points->begin(), points->end(), id) != points->end();
}

std::vector<std::string> World::EnabledPoints() const {
  std::vector<std::string> enabled;
  for (const char* const* id = info->points; id != nullptr && *id != nullptr; ++id) {
    if (Enables(*id)) enabled.emplace_back(*id);
  }
  // The host uses the newer one of two revisions.
  if (std::find(enabled.begin(), enabled.end(), BERTH_POINT_QUEUE_SORT_2) != enabled.end()) {
    std::erase(enabled, BERTH_POINT_QUEUE_SORT);
  }
  return enabled;
}

LibraryUse::LibraryUse(const Library& library, const berth_host* host, Reporter* reporter)
    : entry_(library.entry()), reporter_(*reporter) {
  const std::lock_guard lock(Registry().mutex);
  if (Registry().users[&entry_]++ != 0 || entry_.init == nullptr) return;
  Status status;
  const CallScope scope(&reporter_, "init", kLoad);
  answer_ = status.With(entry_.init(host, status.abi()));
}

LibraryUse::~LibraryUse() {
  const std::lock_guard lock(Registry().mutex);
  if (--Registry().users[&entry_] != 0 || entry_.deinit == nullptr) return;
  const CallScope scope(&reporter_, "deinit", kLoad);
  entry_.deinit();
}

LibraryUse::Users& LibraryUse::Registry() {
  static Users& users = *new Users;
  return users;
}

Instance::Instance(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns,
                   std::shared_ptr<SharedObjects> shared)
    : reporter_(*world.reporter),
      services_(world.reporter, world.ids.get()),
      is_newer_(world.library.entry().abi_minor > BERTH_ABI_MINOR),
      blocks_in_bind_((world.info->flags & BERTH_PLUGIN_BLOCKS_IN_BIND) != 0) {
  services_.set_objects(std::move(objects));
  services_.set_kinds(world.info->kinds);
  services_.set_not_served(world.not_served);
  services_.set_scripted(&world.scripted);
  services_.set_now_ns(now_ns);
  if (shared != nullptr) services_.shared().set_objects(std::move(shared));
  use_.emplace(world.library, services_.host(), world.reporter);
  created_ = use_->answer();
  if (created_.ok()) Create(world);
  if (plugin_ == nullptr) return;
  CopyPoints(world);
  if (world.handed_over && hand_over) Restore(*world.handed_over);
}

Instance::~Instance() { End(); }

void Instance::End() {
  if (plugin_ == nullptr) return;
  services_.Close();
  if (plugin_->quiesce != nullptr) {
    const CallScope scope(&reporter_, "quiesce", kLoad);
    plugin_->quiesce(plugin_);
  }
  services_.promises().Close();
  while (!live_slots_.empty()) live_slots_.back()->Destroy();
  const CallScope scope(&reporter_, "destroy", kLoad);
  plugin_->destroy(plugin_);
  plugin_ = nullptr;
  services_.shared().Release();
  const auto drop = [](auto&... points) { (points.reset(), ...); };
  drop(pre_enqueue, enqueue_extensions, queue_sort, entity, pre_filter, filter, post_filter,
       pre_score, score, reserve, permit, pre_bind, bind, post_bind, attempt_failed, changes,
       hand_over);
}

void Instance::AddSlots(Slots* slots) { live_slots_.push_back(slots); }

void Instance::RemoveSlots(const Slots* slots) { std::erase(live_slots_, slots); }

void Instance::Replay(const Table& table) {
  services_.scheduling().set_table(&table);
  services_.ReplayObjects();
  if (!changes) return;
  for (const Row& row : table.rows) {
    Change(BERTH_CHANGE_NODE_ADDED, BERTH_CHANGE_FLAG_REPLAY, row, nullptr);
    for (const PodHandle& pod : row.pods)
      Change(BERTH_CHANGE_POD_ADDED, BERTH_CHANGE_FLAG_REPLAY, row, pod.get());
  }
  for (const PodHandle& pod : table.pending) {
    ChangePending(BERTH_CHANGE_PENDING_ADDED, BERTH_CHANGE_FLAG_REPLAY, pod.get());
  }
  berth_change synced{};
  synced.kind = BERTH_CHANGE_SYNCED;
  Deliver(synced);
}

void Instance::Change(uint32_t kind, uint32_t flags, const Row& row, const berth_pod* pod,
                      const berth_node* old_node) {
  berth_change change{};
  change.kind = kind;
  change.flags = flags;
  change.row = row.number;
  change.pod = pod;
  change.node = row.node.get();
  change.old_node = old_node;
  Deliver(change);
}

void Instance::ChangePod(const Row& row, const berth_pod* pod, const berth_pod* old_pod) {
  berth_change change{};
  change.kind = BERTH_CHANGE_POD_CHANGED;
  change.row = row.number;
  change.pod = pod;
  change.old_pod = old_pod;
  change.node = row.node.get();
  Deliver(change);
}

void Instance::ChangePending(uint32_t kind, uint32_t flags, const berth_pod* pod,
                             const berth_pod* old_pod) {
  if (!changes) return;
  if ((changes->flags & BERTH_CHANGES_FLAG_PENDING) == 0) {
    if ((flags & BERTH_CHANGE_FLAG_REPLAY) == 0) ++sequence_;
    return;
  }
  berth_change change{};
  change.kind = kind;
  change.flags = flags;
  change.pod = pod;
  change.old_pod = old_pod;
  Deliver(change);
}

void Instance::Create(const World& world) {
  // Arguments live until create() returns, and so does this copy. A sanitizer detects later
  // reads.
  const auto args =
      world.args.value() != nullptr ? std::make_unique<ValueSpec>(*world.args.value()) : nullptr;
  Status status;
  const CallScope scope(&reporter_, "create", kLoad);
  const std::vector<std::string> points = world.EnabledPoints();
  std::vector<berth_str> ids;
  ids.reserve(points.size());
  for (const std::string& point : points) ids.push_back(ToAbi(point));
  berth_instance_request request{};
  request.struct_size = sizeof request;
  request.name = ToAbi(world.info->name);
  request.profile = ToAbi(world.profile);
  request.args = args.get();
  request.points = {ids.data(), static_cast<uint32_t>(ids.size()), sizeof(berth_str)};
  request.deadline_ns = world.deadline_ns;
  request.emulated_version = world.emulated_version.ToAbi();
  const berth_code code =
      world.library.entry().create(services_.host(), &request, &plugin_, status.abi());
  created_ = status.With(code);
  if (created_.ok() && plugin_ == nullptr) {
    reporter_.Fail(Check::kShape, "create returns Success but sets no plugin");
    created_ = Error("create set no plugin");
  }
  if (!created_.ok()) plugin_ = nullptr;
}

void Instance::CopyPoints(const World& world) {
  const CallScope scope(&reporter_, "get_point", kLoad);
  const auto copy = [&]<class T>(std::optional<T>& point, const char* id) {
    if (world.Enables(id)) point = CopyPoint<T>(*plugin_, id);
  };
  copy(pre_enqueue, BERTH_POINT_PRE_ENQUEUE);
  copy(enqueue_extensions, BERTH_POINT_ENQUEUE_EXTENSIONS);
  copy(queue_sort, BERTH_POINT_QUEUE_SORT_2);
  // Revision 1 is the beginning of revision 2.
  if (!queue_sort) copy(queue_sort, BERTH_POINT_QUEUE_SORT);
  copy(entity, BERTH_POINT_ENTITY);
  copy(pre_filter, BERTH_POINT_PRE_FILTER);
  copy(filter, BERTH_POINT_FILTER);
  copy(post_filter, BERTH_POINT_POST_FILTER);
  copy(pre_score, BERTH_POINT_PRE_SCORE);
  copy(score, BERTH_POINT_SCORE);
  copy(reserve, BERTH_POINT_RESERVE);
  copy(permit, BERTH_POINT_PERMIT);
  copy(pre_bind, BERTH_POINT_PRE_BIND);
  copy(bind, BERTH_POINT_BIND);
  copy(post_bind, BERTH_POINT_POST_BIND);
  copy(attempt_failed, BERTH_POINT_ATTEMPT_FAILED);
  copy(changes, BERTH_POINT_CHANGES);
  copy(hand_over, BERTH_POINT_HAND_OVER);
  for (uint32_t i = 0; i < plugin_->columns.count; ++i) {
    const auto* request = BERTH_AT(berth_column_request, plugin_->columns, i);
    columns_.push_back({request->name, (request->flags & BERTH_COLUMN_OPTIONAL) != 0,
                        services_.MayUseColumn(request->name)});
  }
  for (uint32_t i = 0; i < plugin_->reasons.count; ++i) {
    reasons_.emplace_back(FromAbi(*BERTH_AT(berth_str, plugin_->reasons, i)));
  }
}

SavedState Instance::Save() {
  struct Saving {
    SavedState state = {};
    bool is_too_large = false;
  } saving;
  berth_hand_over_out out{};
  out.struct_size = sizeof out;
  out.impl = &saving;
  out.write = [](berth_hand_over_out* self, berth_str bytes) noexcept -> berth_code {
    Saving& to = *static_cast<Saving*>(self->impl);
    to.is_too_large |= bytes.len > BERTH_HAND_OVER_MAX_BYTES - to.state.bytes.size();
    if (to.is_too_large) return BERTH_BAD_ARGUMENT;
    to.state.bytes.append(FromAbi(bytes));
    return BERTH_SUCCESS;
  };
  Status status;
  const CallScope scope(&reporter_, "save", kLoad);
  const berth_code code = hand_over->save(self(), &out, status.abi());
  saving.state.answer = status.With(code);
  saving.state.version = out.version;
  if (saving.is_too_large) {
    saving.state.answer =
        Error("the state has more than " + std::to_string(BERTH_HAND_OVER_MAX_BYTES) + " bytes");
  }
  return std::move(saving.state);
}

void Instance::Restore(const SavedState& state) {
  Status status;
  const CallScope scope(&reporter_, "restore", kLoad);
  const berth_code code =
      hand_over->restore(self(), state.version, ToAbi(state.bytes), status.abi());
  restored_ = status.With(code);
}

void Instance::Deliver(berth_change change) {
  if (!changes) return;
  change.struct_size = sizeof change;
  const bool is_change =
      (change.flags & BERTH_CHANGE_FLAG_REPLAY) == 0 && change.kind != BERTH_CHANGE_SYNCED;
  if (is_change) ++sequence_;
  change.sequence = sequence_;
  const CallScope scope(&reporter_, "change", kEvent);
  changes->change(self(), &change);
}

}  // namespace berth::testing
