// A plugin's library, and one instance of the plugin with its own host.
#ifndef BERTH_TESTING_INSTANCE_H_
#define BERTH_TESTING_INSTANCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>
#include <berth/testing/answer.h>
#include <berth/testing/args.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

class Slots;

// A berth_status that records what is added to it.
class Status {
 public:
  Status();
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
  static Library Open(const std::string& path);

  const berth_entry& entry() const { return *entry_; }

  // Returns the plugin of that name; for an empty name, the only plugin.
  const berth_plugin_info& Find(const std::string& name) const;

 private:
  const berth_entry* entry_;
};

// Calls init() and deinit() of a library: once, before the first create() and after the last
// destroy().
class LibraryUse {
 public:
  // If `code` is not SUCCESS, the library is not in use.
  LibraryUse(const Library& library, const berth_host* host, Reporter* reporter);
  ~LibraryUse();
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

  const Answer& answer() const { return answer_; }

 private:
  struct Users {
    std::mutex mutex;
    std::map<const berth_entry*, int> users;
  };
  // It is never destroyed, because a PluginUnderTest may be static.
  static Users& Registry();

  const berth_entry& entry_;
  Reporter& reporter_;
  Answer answer_;
};

// The state that an instance hands over to its successor at a reload: see berth_hand_over.
struct SavedState {
  // That of `save`. If it is not Success, the host hands nothing over.
  Answer answer = {};
  uint32_t version = 0;
  std::string bytes = {};
};

// Everything that an instance is created from.
struct World {
  explicit World(Library from) : library(from) {}

  Library library;
  const berth_plugin_info* info = nullptr;
  std::string profile;
  std::optional<std::vector<std::string>> points;  // nothing: all
  int64_t deadline_ns = 0;
  KubeVersion emulated_version = kNewestKubeVersion;
  Args args;

  // `enabled`: ids of extension points; nothing: all. `deadline`: of calls; 0: none.
  void SetProfile(std::string name, std::optional<std::vector<std::string>> enabled,
                  int64_t deadline) {
    profile = std::move(name);
    points = std::move(enabled);
    deadline_ns = deadline;
  }
  // Returns whether the profile enables the extension point. EnqueueExtensions, Changes and
  // HandOver are always enabled.
  bool Enables(const std::string& id) const;
  // Returns berth_instance_request.points.
  std::vector<std::string> EnabledPoints() const;
  std::map<std::string, const void*> scripted;
  std::set<std::string> not_served;       // kinds, each with one version
  std::optional<SavedState> handed_over;  // the state that each instance restores
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
  // `shared`: the objects that it shares with other instances; null: it shares none.
  Instance(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns,
           std::shared_ptr<SharedObjects> shared = nullptr);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Ends the instance as the host does: closes its services, quiesces it, closes its promises,
  // destroys the slots that are left, and destroys it. Afterwards it has no points, and only
  // services() may be used. Does nothing the second time.
  void End();

  const Answer& created() const { return created_; }
  bool ok() const { return plugin_ != nullptr; }
  Reporter& reporter() { return reporter_; }
  Services& services() { return services_; }
  berth_plugin& plugin() { return *plugin_; }
  void* self() const { return plugin_->self; }
  // Returns whether the plugin was built with a later version of abi.h, whose values may be unknown
  // here.
  bool is_newer() const { return is_newer_; }
  // The word under which [bind] calls run.
  Word bind_word() const { return blocks_in_bind_ ? kBindOnPool : kBind; }
  const std::vector<ColumnName>& columns() const { return columns_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

  std::optional<berth_pre_enqueue> pre_enqueue;
  std::optional<berth_enqueue_extensions> enqueue_extensions;
  // Of revision 2; lane and next are null if the plugin has only revision 1.
  std::optional<berth_queue_sort_2> queue_sort;
  std::optional<berth_entity> entity;
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
  std::optional<berth_attempt_failed> attempt_failed;
  std::optional<berth_changes> changes;
  std::optional<berth_hand_over> hand_over;

  uint64_t cycles = 0;  // the number of cycles so far

  // Calls `save`. REQUIRES: the plugin has the point.
  SavedState Save();
  // The answer of `restore`, which was called with World::handed_over; Success if it was not.
  const Answer& restored() const { return restored_; }

  // Reports a change of a pod without a node, if the plugin asks for these changes.
  void ChangePending(uint32_t kind, uint32_t flags, const berth_pod* pod,
                     const berth_pod* old_pod = nullptr);

  // Reports everything that exists to the plugin, as the host does before the first cycle.
  void Replay(const Table& table);

  // `old_node`: the previous object of a node that changed.
  void Change(uint32_t kind, uint32_t flags, const Row& row, const berth_pod* pod,
              const berth_node* old_node = nullptr);

  // Reports that a pod on the node of a row changed.
  void ChangePod(const Row& row, const berth_pod* pod, const berth_pod* old_pod);

  // Between these calls, the slots are destroyed if the instance ends.
  void AddSlots(Slots* slots);
  void RemoveSlots(const Slots* slots);

 private:
  void Create(const World& world);

  void CopyPoints(const World& world);

  void Restore(const SavedState& state);

  void Deliver(berth_change change);

  Reporter& reporter_;
  Services services_;
  std::optional<LibraryUse> use_;
  berth_plugin* plugin_ = nullptr;
  Answer created_;
  Answer restored_;
  std::vector<ColumnName> columns_;
  std::vector<std::string> reasons_;
  uint64_t sequence_ = 0;
  std::vector<Slots*> live_slots_;
  const bool is_newer_;
  const bool blocks_in_bind_;
};

// Returns whether Filter is called once for all nodes: BERTH_FILTER_WHOLE.
inline bool IsWholeFilter(const Instance& instance) {
  return instance.filter && (instance.filter->flags & BERTH_FILTER_WHOLE) != 0;
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_INSTANCE_H_
