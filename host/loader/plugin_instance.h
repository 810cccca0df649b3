// An instance of one plugin, created for one profile.
#ifndef BERTH_HOST_LOADER_PLUGIN_INSTANCE_H_
#define BERTH_HOST_LOADER_PLUGIN_INSTANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>

#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"
#include "host/loader/plugin_points.h"

namespace berth::host {

inline constexpr uint32_t kMaxReasons = 64;         // The number of bits of a reason mask.
inline constexpr uint32_t kMaxSlotAlign = 64;       // In bytes.
inline constexpr uint32_t kMaxSlotSize = 1u << 24;  // In bytes.

struct ColumnRequest {
  std::string name;
  uint32_t type = 0;      // BERTH_TYPE_*
  bool optional = false;  // The plugin also works without the column.
};

// Returns the type of the column of this name, BERTH_TYPE_*; 0 if there is no such column.
using ColumnTypeOf = std::function<uint32_t(std::string_view name)>;

struct InstanceOptions {
  std::shared_ptr<PluginLibrary> library;
  std::string plugin;                 // The plugin's name: "NodeResourcesFit".
  std::string profile;                // The profile that the instance belongs to.
  const berth_host* host = nullptr;   // Must outlive the instance.
  const berth_value* args = nullptr;  // Must live until Create() returns.
  std::vector<std::string> points;    // See berth_instance_request.points.
  int64_t deadline_ns = 0;            // See berth_instance_request.deadline_ns.
  KubeVersion emulated_version = kNewestKubeVersion;
  ColumnTypeOf column_type_of;
  // Called before an instance that create() returned is quiesced and destroyed because Create()
  // rejects it. May be empty.
  std::function<void()> before_end = {};
};

// Owns a berth_plugin, which is created and checked once, then only read, then quiesced and
// destroyed. All data from the plugin is copied, so that callers need not check sizes or lifetimes.
// Threading: Create(), Quiesce() and the destructor are [load]; every other method may be called by
// any thread.
class PluginInstance {
 public:
  // Creates the instance. After an error, whatever was created is quiesced and destroyed; see
  // InstanceOptions::before_end.
  // Errors: kUnknownPlugin, and kMissingService to kTooManyReasons.
  static LoadResult<std::unique_ptr<PluginInstance>> Create(const InstanceOptions& options);

  PluginInstance(const PluginInstance&) = delete;
  PluginInstance& operator=(const PluginInstance&) = delete;
  ~PluginInstance();

  // Stops the plugin's threads and timers; after it returns, the plugin makes no more calls.
  // Idempotent.
  void Quiesce();

  const std::string& name() const { return info_->name; }
  const std::string& profile() const { return profile_; }
  const PluginInfo& info() const { return *info_; }
  const PluginLibrary& library() const { return *library_; }
  // Returns the first argument of every function of the instance's extension points.
  void* self() const { return raw_->self; }

  // Returns the requested columns, in the order in which blocks carry them.
  std::span<const ColumnRequest> columns() const { return columns_; }
  // Returns the slots in the order of berth_cycle.slots. Their size and alignment are valid;
  // `construct`, `clone` and `destroy` may be NULL, with the meaning of berth_slot.
  std::span<const berth_slot> slots() const { return slots_; }
  // Returns the constant part of the reason table: entry i is bit i.
  std::span<const std::string> reasons() const { return reasons_; }

  // Returns which values of the plugin this host does not use.
  std::span<const LoadNote> notes() const { return points_.notes; }

  // Return the extension points; null if the plugin does not implement the point. Lifetime: that of
  // this object.
  const berth_pre_enqueue* pre_enqueue() const { return Get(points_.pre_enqueue); }
  const berth_enqueue_extensions* enqueue_extensions() const {
    return Get(points_.enqueue_extensions);
  }
  const berth_queue_sort_2* queue_sort() const { return Get(points_.queue_sort); }
  const berth_entity* entity() const { return Get(points_.entity); }
  const berth_pre_filter* pre_filter() const { return Get(points_.pre_filter); }
  const berth_filter* filter() const { return Get(points_.filter); }
  const berth_post_filter* post_filter() const { return Get(points_.post_filter); }
  const berth_pre_score* pre_score() const { return Get(points_.pre_score); }
  const berth_score* score() const { return Get(points_.score); }
  const berth_reserve* reserve() const { return Get(points_.reserve); }
  const berth_permit* permit() const { return Get(points_.permit); }
  const berth_pre_bind* pre_bind() const { return Get(points_.pre_bind); }
  const berth_bind* bind() const { return Get(points_.bind); }
  const berth_post_bind* post_bind() const { return Get(points_.post_bind); }
  const berth_attempt_failed* attempt_failed() const { return Get(points_.attempt_failed); }
  const berth_changes* changes() const { return Get(points_.changes); }
  const berth_hand_over* hand_over() const { return Get(points_.hand_over); }

 private:
  PluginInstance(const InstanceOptions& options, const PluginInfo* info, berth_plugin* raw);

  template <class T>
  static const T* Get(const std::optional<T>& point) {
    return point.has_value() ? &*point : nullptr;
  }

  // Check and copy what the plugin returned. They return why the host rejects the instance, without
  // the library and the plugin.
  std::optional<LoadError> Read(const ColumnTypeOf& column_type_of);
  std::optional<LoadError> CheckShape() const;
  std::optional<LoadError> CopyPoints();
  std::optional<LoadError> CheckInterests() const;
  std::optional<LoadError> CopyColumns(const ColumnTypeOf& column_type_of);
  std::optional<LoadError> CopySlots();
  std::optional<LoadError> CopyReasons();

  std::shared_ptr<PluginLibrary> library_;
  const PluginInfo* info_;
  std::string profile_;
  berth_plugin* raw_;
  bool quiesced_ = false;
  PluginPoints points_;
  std::vector<ColumnRequest> columns_;
  std::vector<berth_slot> slots_;
  std::vector<std::unique_ptr<std::string>>
      slot_types_;  // The strings that slots_[i].type_id points to.
  std::vector<std::string> reasons_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_INSTANCE_H_
