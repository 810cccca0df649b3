#include "host/loader/plugin_instance.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/api/event_resource.h"
#include "host/api/objects.h"
#include "host/base/foreign_struct.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr uint32_t kMaxColumns = 4096;
constexpr uint32_t kMaxSlots = 4096;

std::string_view TypeName(uint32_t type) {
  switch (type) {
    case BERTH_TYPE_I64: return "I64";
    case BERTH_TYPE_U32: return "U32";
    case BERTH_TYPE_ID: return "ID";
    case BERTH_TYPE_U8: return "U8";
    case BERTH_TYPE_ARRAY: return "ARRAY";
    case BERTH_TYPE_OBJECT: return "OBJECT";
    case BERTH_TYPE_STR: return "STR";
    default: return "an unknown column type";
  }
}

std::optional<LoadError> CheckServices(const InstanceOptions& options, const PluginInfo& info) {
  for (const std::string& id : info.services) {
    const void* service = nullptr;
    const berth_code code = options.host->get_service(options.host, id.c_str(), &service);
    if (code == BERTH_SUCCESS && service != nullptr) continue;
    return MakeLoadError(LoadErrorCode::kMissingService, "a host with the service " + id,
                         std::string(CodeName(code)));
  }
  return std::nullopt;
}

berth_code CallCreate(const InstanceOptions& options, berth_plugin** out, berth_status* status) {
  std::vector<berth_str> points;
  points.reserve(options.points.size());
  for (const std::string& point : options.points) points.push_back(AsStr(point));
  const berth_instance_request request{.struct_size = sizeof(request),
                                       .flags = 0,
                                       .name = AsStr(options.plugin),
                                       .profile = AsStr(options.profile),
                                       .args = options.args,
                                       .points = AsArray(std::span<const berth_str>(points)),
                                       .deadline_ns = options.deadline_ns,
                                       .emulated_version = options.emulated_version.ToAbi(),
                                       .reserved = 0};
  return options.library->entry().create(options.host, &request, out, status);
}

// Returns the error for a create() that returned no usable instance.
LoadError CreateError(berth_code code, const StatusSink& sink) {
  if (!sink.argument_errors().empty()) {
    LoadError error = MakeLoadError(LoadErrorCode::kBadArguments, "valid arguments",
                                    std::to_string(sink.argument_errors().size()) + " errors");
    error.argument_errors.assign(sink.argument_errors().begin(), sink.argument_errors().end());
    return error;
  }
  const std::string reasons = sink.JoinReasons();
  std::string found(CodeName(code));
  if (code == BERTH_SUCCESS) found.append(" without an instance");
  if (!reasons.empty()) found.append(": ").append(reasons);
  const LoadErrorCode kind =
      code == BERTH_BAD_ARGUMENT ? LoadErrorCode::kBadArguments : LoadErrorCode::kCreateFailed;
  return MakeLoadError(kind, "create() to return an instance", std::move(found));
}

}  // namespace

LoadResult<std::unique_ptr<PluginInstance>> PluginInstance::Create(const InstanceOptions& options) {
  BERTH_ASSERT(options.library != nullptr && options.host != nullptr && options.column_type_of);
  const auto reject = [&options](LoadError error) {
    error.path = options.library->path();
    error.plugin = options.plugin;
    return error;
  };
  const PluginInfo* info = options.library->Find(options.plugin);
  if (info == nullptr) {
    return reject(MakeLoadError(LoadErrorCode::kUnknownPlugin, "a plugin of this library", "none"));
  }
  if (auto error = CheckServices(options, *info)) return reject(*std::move(error));
  if (auto error = options.library->Init(options.host)) return reject(*std::move(error));
  StatusSink sink;
  berth_plugin* raw = nullptr;
  const berth_code code = CallCreate(options, &raw, sink.raw());
  if (code != BERTH_SUCCESS || raw == nullptr) return reject(CreateError(code, sink));
  std::unique_ptr<PluginInstance> instance(new PluginInstance(options, info, raw));
  std::optional<LoadError> error = sink.argument_errors().empty()
                                       ? instance->Read(options.column_type_of)
                                       : CreateError(code, sink);
  if (!error.has_value()) return instance;
  if (options.before_end) options.before_end();
  return reject(*std::move(error));
}

PluginInstance::PluginInstance(const InstanceOptions& options, const PluginInfo* info,
                               berth_plugin* raw)
    : library_(options.library), info_(info), profile_(options.profile), raw_(raw) {}

PluginInstance::~PluginInstance() {
  Quiesce();
  const bool can_destroy = BERTH_HAS(raw_, berth_plugin, destroy) && raw_->destroy != nullptr;
  if (can_destroy) raw_->destroy(raw_);
}

void PluginInstance::Quiesce() {
  if (std::exchange(quiesced_, true)) return;
  if (BERTH_HAS(raw_, berth_plugin, quiesce) && raw_->quiesce != nullptr) raw_->quiesce(raw_);
}

std::optional<LoadError> PluginInstance::Read(const ColumnTypeOf& column_type_of) {
  if (auto error = CheckShape()) return error;
  if (auto error = CopyPoints()) return error;
  if (auto error = CopyColumns(column_type_of)) return error;
  if (auto error = CopySlots()) return error;
  return CopyReasons();
}

std::optional<LoadError> PluginInstance::CheckShape() const {
  constexpr uint32_t kSize = BERTH_FIRST_SIZE(berth_plugin, destroy);
  if (raw_->struct_size < kSize) {
    return MakeLoadError(LoadErrorCode::kBadInstance,
                         "a berth_plugin of at least " + std::to_string(kSize) + " bytes",
                         std::to_string(raw_->struct_size));
  }
  if (raw_->get_point == nullptr || raw_->destroy == nullptr) {
    return MakeLoadError(LoadErrorCode::kBadInstance, "get_point and destroy to be set", "NULL");
  }
  return UnknownFlags(LoadErrorCode::kBadInstance, "a berth_plugin", raw_->flags, 0);
}

std::optional<LoadError> PluginInstance::CopyPoints() {
  for (const std::string& id : info_->points) {
    if (auto error = CopyPoint(*raw_, id, &points_)) return error;
  }
  return CheckInterests();
}

// Without the kind in berth_plugin_info.kinds, the host watches the kind only as long as another
// plugin names it: otherwise the event never occurs.
std::optional<LoadError> PluginInstance::CheckInterests() const {
  for (size_t i = 0; i < points_.interests.size(); ++i) {
    const berth_event_interest& interest = points_.interests[i];
    const bool is_custom = interest.resource == BERTH_RESOURCE_CUSTOM;
    const std::string_view kind = is_custom ? interest.kind : KindOfResource(interest.resource);
    const auto is_named = [&](const std::string& named) {
      return is_custom ? named == kind : EventResourceOf(named) == interest.resource;
    };
    const bool is_watched = kind.empty() || interest.resource == BERTH_RESOURCE_NODE ||
                            kind == "v1/Pod" || kind == "v1/Node";
    if (is_watched || std::ranges::any_of(info_->kinds, is_named)) continue;
    return MakeLoadError(LoadErrorCode::kBadPoint,
                         std::string("in ") + BERTH_POINT_ENQUEUE_EXTENSIONS + " interest " +
                             std::to_string(i) + " in a kind that berth_plugin_info.kinds names",
                         Quoted(kind));
  }
  return std::nullopt;
}

std::optional<LoadError> PluginInstance::CopyColumns(const ColumnTypeOf& column_type_of) {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_column_request, reserved);
  if (const auto fault = ArrayFault(raw_->columns, kFirstSize, kMaxColumns)) {
    return MakeLoadError(LoadErrorCode::kBadInstance, "a valid array of columns", *fault);
  }
  for (uint32_t i = 0; i < raw_->columns.count; ++i) {
    const auto* from = BERTH_AT(berth_column_request, raw_->columns, i);
    const std::string which = "column " + std::to_string(i);
    if (from->struct_size < kFirstSize || from->name == nullptr) {
      return MakeLoadError(LoadErrorCode::kBadInstance, which + " with a name",
                           from->struct_size < kFirstSize ? "a struct that is too small" : "NULL");
    }
    if (auto error =
            UnknownFlags(LoadErrorCode::kBadInstance, which, from->flags, BERTH_COLUMN_OPTIONAL)) {
      return error;
    }
    ColumnRequest column{from->name, from->type, (from->flags & BERTH_COLUMN_OPTIONAL) != 0};
    const uint32_t type = column_type_of(column.name);
    if (type == 0 && !column.optional) {
      const bool is_object = column.name.starts_with("object:");
      return MakeLoadError(LoadErrorCode::kUnknownColumn,
                           is_object ? "a column of a kind that berth_plugin_info.kinds names"
                                     : "a column that this host has",
                           column.name);
    }
    if (type != 0 && type != column.type) {
      return MakeLoadError(LoadErrorCode::kColumnType,
                           column.name + " as " + std::string(TypeName(type)),
                           std::string(TypeName(column.type)));
    }
    columns_.push_back(std::move(column));
  }
  return std::nullopt;
}

std::optional<LoadError> PluginInstance::CopySlots() {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_slot, destroy);
  if (const auto fault = ArrayFault(raw_->slots, kFirstSize, kMaxSlots)) {
    return MakeLoadError(LoadErrorCode::kBadSlot, "a valid array of slots", *fault);
  }
  for (uint32_t i = 0; i < raw_->slots.count; ++i) {
    const void* from = BERTH_AT(char, raw_->slots, i);
    const std::string which = "slot " + std::to_string(i);
    if (StructSize(from) < kFirstSize) {
      return MakeLoadError(LoadErrorCode::kBadSlot,
                           which + " of at least " + std::to_string(kFirstSize) + " bytes",
                           std::to_string(StructSize(from)));
    }
    auto slot = CopyStruct<berth_slot>(from, std::min(StructSize(from), raw_->slots.stride));
    slot.struct_size = sizeof(berth_slot);
    if (slot.size == 0 || slot.size > kMaxSlotSize) {
      return MakeLoadError(LoadErrorCode::kBadSlot,
                           which + " with a size from 1 to " + std::to_string(kMaxSlotSize),
                           std::to_string(slot.size));
    }
    if (!std::has_single_bit(slot.align) || slot.align > kMaxSlotAlign) {
      return MakeLoadError(LoadErrorCode::kBadSlot,
                           which + " with an alignment that is a power of two and at most " +
                               std::to_string(kMaxSlotAlign),
                           std::to_string(slot.align));
    }
    // A later version may have flags in this member.
    if (slot.reserved != 0) {
      return MakeLoadError(LoadErrorCode::kBadSlot, which + " with 0 in `reserved`",
                           std::to_string(slot.reserved));
    }
    slot_types_.push_back(
        std::make_unique<std::string>(slot.type_id == nullptr ? "" : slot.type_id));
    slot.type_id = slot_types_.back()->c_str();
    slots_.push_back(slot);
  }
  return std::nullopt;
}

std::optional<LoadError> PluginInstance::CopyReasons() {
  if (raw_->reasons.count > kMaxReasons) {
    return MakeLoadError(LoadErrorCode::kTooManyReasons,
                         "at most " + std::to_string(kMaxReasons) + " reasons",
                         std::to_string(raw_->reasons.count));
  }
  if (const auto fault = ArrayFault(raw_->reasons, sizeof(berth_str), kMaxReasons)) {
    return MakeLoadError(LoadErrorCode::kBadInstance, "a valid array of reasons", *fault);
  }
  for (uint32_t i = 0; i < raw_->reasons.count; ++i) {
    const berth_str reason = *BERTH_AT(berth_str, raw_->reasons, i);
    if (IsNull(reason)) {
      return MakeLoadError(LoadErrorCode::kBadInstance,
                           "reason " + std::to_string(i) + " with a text",
                           "NULL with length " + std::to_string(reason.len));
    }
    reasons_.push_back(KeptReason(Text(reason)));
  }
  return std::nullopt;
}

}  // namespace berth::host
