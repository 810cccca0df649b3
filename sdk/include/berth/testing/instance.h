// A plugin's library, and one instance of the plugin with its own host.
#ifndef BERTH_TESTING_INSTANCE_H_
#define BERTH_TESTING_INSTANCE_H_

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/args.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>

namespace berth::testing {

// A berth_status that records what is added to it.
class Status {
 public:
  Status() {
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
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  berth_status* abi() { return &abi_; }
  Answer With(berth_code code) const { return MakeAnswer(code, reasons_); }

 private:
  berth_status abi_{};
  std::vector<std::string> reasons_;
};

// The source of plugins: the test binary, or a shared object.
class Library {
 public:
  explicit Library(const berth_entry& entry) : entry_(&entry) {}

  // Loads a library as the host does. It is never unloaded.
  static Library Open(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) Misuse(std::string("dlopen: ") + dlerror());
    const void* symbol = dlsym(handle, "berth_entry_v1");
    if (symbol == nullptr) Misuse(path + " does not export berth_entry_v1");
    return Library(*static_cast<const berth_entry*>(symbol));
  }

  const berth_entry& entry() const { return *entry_; }

  // Returns the plugin of that name; for an empty name, the only plugin.
  const berth_plugin_info& Find(const std::string& name) const {
    std::string names;
    for (uint64_t i = 0; i < entry_->n_plugins; ++i) {
      const berth_plugin_info& info = *entry_->plugins[i];
      if (name == info.name || (name.empty() && entry_->n_plugins == 1)) return info;
      names += std::string(" ") + info.name;
    }
    Misuse("the library has no plugin \"" + name + "\"; it has:" + names);
  }

 private:
  const berth_entry* entry_;
};

// Calls init() and deinit() of a library: once, before the first create() and after the last
// destroy().
class LibraryUse {
 public:
  // If `code` is not SUCCESS, the library is not in use.
  LibraryUse(const Library& library, const berth_host* host, Reporter* reporter)
      : entry_(library.entry()), reporter_(*reporter) {
    const std::lock_guard lock(Registry().mutex);
    if (Registry().users[&entry_]++ != 0 || entry_.init == nullptr) return;
    Status status;
    const CallScope scope(&reporter_, "init", kLoad);
    answer_ = status.With(entry_.init(host, status.abi()));
  }
  ~LibraryUse() {
    const std::lock_guard lock(Registry().mutex);
    if (--Registry().users[&entry_] != 0 || entry_.deinit == nullptr) return;
    const CallScope scope(&reporter_, "deinit", kLoad);
    entry_.deinit();
  }
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

  const Answer& answer() const { return answer_; }

 private:
  struct Users {
    std::mutex mutex;
    std::map<const berth_entry*, int> users;
  };
  // It is never destroyed, because a PluginUnderTest may be static.
  static Users& Registry() {
    static Users& users = *new Users;
    return users;
  }

  const berth_entry& entry_;
  Reporter& reporter_;
  Answer answer_;
};

// Everything that an instance is created from.
struct World {
  explicit World(Library from) : library(from) {}

  Library library;
  const berth_plugin_info* info = nullptr;
  std::string profile;
  Args args;
  std::map<std::string, const void*> scripted;
  std::shared_ptr<Ids> ids = std::make_shared<Ids>();
  Reporter* reporter = nullptr;
};

// Copies the struct of an extension point, up to the size that the plugin filled in.
template <class T>
std::optional<T> CopyPoint(const berth_plugin& plugin, const char* id) {
  const void* given = plugin.get_point != nullptr ? plugin.get_point(&plugin, id) : nullptr;
  if (given == nullptr) return std::nullopt;
  T point{};
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  std::memcpy(static_cast<void*>(&point), given, std::min<size_t>(size, sizeof point));
  return point;
}

// One instance of the plugin, from create() to destroy().
class Instance {
 public:
  Instance(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns)
      : reporter_(*world.reporter),
        services_(world.reporter, world.ids.get()),
        blocks_in_bind_((world.info->flags & BERTH_PLUGIN_BLOCKS_IN_BIND) != 0) {
    services_.set_objects(std::move(objects));
    services_.set_kinds(world.info->kinds);
    services_.set_scripted(&world.scripted);
    services_.set_now_ns(now_ns);
    use_.emplace(world.library, services_.host(), world.reporter);
    created_ = use_->answer();
    if (created_.ok()) Create(world);
    if (plugin_ != nullptr) CopyPoints();
  }
  ~Instance() {
    if (plugin_ == nullptr) return;
    if (plugin_->quiesce != nullptr) {
      const CallScope scope(&reporter_, "quiesce", kLoad);
      plugin_->quiesce(plugin_);
    }
    const CallScope scope(&reporter_, "destroy", kLoad);
    plugin_->destroy(plugin_);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const Answer& created() const { return created_; }
  bool ok() const { return plugin_ != nullptr; }
  Reporter& reporter() { return reporter_; }
  Services& services() { return services_; }
  berth_plugin& plugin() { return *plugin_; }
  void* self() const { return plugin_->self; }
  // The word under which [bind] calls run.
  Word bind_word() const { return blocks_in_bind_ ? kBindOnPool : kBind; }
  const std::vector<ColumnName>& columns() const { return columns_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

  std::optional<berth_pre_enqueue> pre_enqueue;
  std::optional<berth_enqueue_extensions> enqueue_extensions;
  std::optional<berth_queue_sort> queue_sort;
  std::optional<berth_pre_filter> pre_filter;
  std::optional<berth_filter> filter;
  std::optional<berth_post_filter> post_filter;
  std::optional<berth_pre_score> pre_score;
  std::optional<berth_score> score;
  std::optional<berth_reserve> reserve;
  std::optional<berth_permit> permit;
  std::optional<berth_pre_bind> pre_bind;
  std::optional<berth_bind> bind;
  std::optional<berth_post_bind> post_bind;
  std::optional<berth_changes> changes;

  uint64_t cycles = 0;  // the number of cycles so far

  // Reports everything that exists to the plugin, as the host does before the first cycle.
  void Replay(const Table& table) {
    services_.ReplayObjects();
    if (!changes) return;
    for (const Row& row : table.rows) {
      Change(BERTH_CHANGE_NODE_ADDED, BERTH_CHANGE_REPLAY, row, nullptr);
      for (const PodHandle& pod : row.pods)
        Change(BERTH_CHANGE_POD_ADDED, BERTH_CHANGE_REPLAY, row, pod.get());
    }
    berth_change synced{};
    synced.kind = BERTH_CHANGE_SYNCED;
    Deliver(synced);
  }

  // `old_node`: the previous object of a node that changed.
  void Change(uint32_t kind, uint32_t flags, const Row& row, const berth_pod* pod,
              const berth_node* old_node = nullptr) {
    berth_change change{};
    change.kind = kind;
    change.flags = flags;
    change.row = row.number;
    change.pod = pod;
    change.node = row.node.get();
    change.old_node = old_node;
    Deliver(change);
  }

 private:
  void Create(const World& world) {
    // Arguments live until create() returns, and so does this copy. A sanitizer detects later
    // reads.
    const auto args =
        world.args.value() != nullptr ? std::make_unique<ValueSpec>(*world.args.value()) : nullptr;
    Status status;
    const CallScope scope(&reporter_, "create", kLoad);
    const berth_code code =
        world.library.entry().create(services_.host(), ToAbi(world.info->name),
                                     ToAbi(world.profile), args.get(), &plugin_, status.abi());
    created_ = status.With(code);
    if (created_.ok() && plugin_ == nullptr) {
      reporter_.Fail(Check::kShape, "create returns Success but sets no plugin");
      created_ = Error("create set no plugin");
    }
    if (!created_.ok()) plugin_ = nullptr;
  }

  void CopyPoints() {
    const CallScope scope(&reporter_, "get_point", kLoad);
    pre_enqueue = CopyPoint<berth_pre_enqueue>(*plugin_, BERTH_POINT_PRE_ENQUEUE);
    enqueue_extensions =
        CopyPoint<berth_enqueue_extensions>(*plugin_, BERTH_POINT_ENQUEUE_EXTENSIONS);
    queue_sort = CopyPoint<berth_queue_sort>(*plugin_, BERTH_POINT_QUEUE_SORT);
    pre_filter = CopyPoint<berth_pre_filter>(*plugin_, BERTH_POINT_PRE_FILTER);
    filter = CopyPoint<berth_filter>(*plugin_, BERTH_POINT_FILTER);
    post_filter = CopyPoint<berth_post_filter>(*plugin_, BERTH_POINT_POST_FILTER);
    pre_score = CopyPoint<berth_pre_score>(*plugin_, BERTH_POINT_PRE_SCORE);
    score = CopyPoint<berth_score>(*plugin_, BERTH_POINT_SCORE);
    reserve = CopyPoint<berth_reserve>(*plugin_, BERTH_POINT_RESERVE);
    permit = CopyPoint<berth_permit>(*plugin_, BERTH_POINT_PERMIT);
    pre_bind = CopyPoint<berth_pre_bind>(*plugin_, BERTH_POINT_PRE_BIND);
    bind = CopyPoint<berth_bind>(*plugin_, BERTH_POINT_BIND);
    post_bind = CopyPoint<berth_post_bind>(*plugin_, BERTH_POINT_POST_BIND);
    changes = CopyPoint<berth_changes>(*plugin_, BERTH_POINT_CHANGES);
    for (uint32_t i = 0; i < plugin_->columns.count; ++i) {
      const auto* request = BERTH_AT(berth_column_request, plugin_->columns, i);
      columns_.push_back({request->name, (request->flags & BERTH_COLUMN_OPTIONAL) != 0});
    }
    for (uint32_t i = 0; i < plugin_->reasons.count; ++i) {
      reasons_.emplace_back(FromAbi(*BERTH_AT(berth_str, plugin_->reasons, i)));
    }
  }

  void Deliver(berth_change change) {
    if (!changes) return;
    change.struct_size = sizeof change;
    const bool is_change =
        (change.flags & BERTH_CHANGE_REPLAY) == 0 && change.kind != BERTH_CHANGE_SYNCED;
    if (is_change) ++sequence_;
    change.sequence = sequence_;
    const CallScope scope(&reporter_, "change", kEvent);
    changes->change(self(), &change);
  }

  Reporter& reporter_;
  Services services_;
  std::optional<LibraryUse> use_;
  berth_plugin* plugin_ = nullptr;
  Answer created_;
  std::vector<ColumnName> columns_;
  std::vector<std::string> reasons_;
  uint64_t sequence_ = 0;
  const bool blocks_in_bind_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_INSTANCE_H_
