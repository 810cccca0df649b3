#include "host/loader/plugin_points.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "host/base/foreign_struct.h"

namespace berth::host {
namespace {

using Fault = std::optional<LoadError>;

constexpr uint32_t kMaxInterests = 4096;

// The bits of berth_dependence and the single actions of an event that this host has.
constexpr uint32_t kKnownDepends =
    BERTH_DEPENDS_NODE | BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER;
constexpr uint64_t kKnownParts = (uint64_t{1} << BERTH_PART_COUNT) - 1;
constexpr uint32_t kKnownActions = BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM * 2 - 1;

LoadError Bad(std::string expected, std::string found) {
  return MakeLoadError(LoadErrorCode::kBadPoint, std::move(expected), std::move(found));
}

Fault Require(bool fulfilled, const char* expected) {
  if (fulfilled) return std::nullopt;
  return Bad(expected, "NULL");
}

// Copies the struct at `from`, which must have at least `first_size` bytes.
template <class T>
Fault CopyStructAt(const void* from, uint32_t first_size, std::optional<T>* to) {
  const uint32_t size = StructSize(from);
  if (size < first_size) {
    return Bad("a struct of at least " + std::to_string(first_size) + " bytes",
               std::to_string(size));
  }
  *to = CopyStruct<T>(from, size);
  (*to)->struct_size = sizeof(T);
  return std::nullopt;
}

// Copies the struct of an extension point, whose `flags` may have the bits in `known_flags` only.
template <class T>
Fault CopyPointAt(const void* from, uint32_t first_size, std::optional<T>* to,
                  uint32_t known_flags = 0) {
  if (auto fault = CopyStructAt(from, first_size, to)) return fault;
  return UnknownFlags(LoadErrorCode::kBadPoint, "", (*to)->flags, known_flags);
}

Fault RequireKeyOrLess(const auto& queue_sort) {
  return Require(queue_sort.key != nullptr || queue_sort.less != nullptr, "key or less to be set");
}

// Copies the struct that `*dependence` points to, and makes `*dependence` point to the copy. There,
// BERTH_DEPENDS_NODE_PODS never stands without BERTH_DEPENDS_NODE, which it implies. If the plugin
// names something that is unknown to this host, makes `*dependence` NULL: the answers are not
// reused.
Fault CopyDependence(const berth_dependence** dependence, std::optional<berth_dependence>* to,
                     std::string_view point, PluginPoints* points) {
  if (*dependence == nullptr) return std::nullopt;
  if (auto fault = CopyStructAt(*dependence, BERTH_FIRST_SIZE(berth_dependence, changed), to))
    return fault;
  berth_dependence& copy = **to;
  const bool has_cluster = (copy.cluster & ~kKnownDepends) == 0;
  if (!has_cluster || (copy.pod_parts & ~kKnownParts) != 0) {
    points->notes.push_back({BERTH_LOG_DEBUG, "the answers of " + std::string(point) +
                                                  " are never reused, because they depend on " +
                                                  (has_cluster ? "parts of the pod" : "something") +
                                                  " that this host does not have"});
    to->reset();
    *dependence = nullptr;
    return std::nullopt;
  }
  if ((copy.cluster & BERTH_DEPENDS_NODE_PODS) != 0) copy.cluster |= BERTH_DEPENDS_NODE;
  *dependence = &copy;
  return std::nullopt;
}

// Copies the struct of a point of which all `kFunctions` must be set, as `expected` states.
template <auto kPoint, uint32_t kFirstSize, uint32_t kFlags, auto... kFunctions>
Fault CopyFunctions(const void* from, PluginPoints* points, const char* expected) {
  auto& point = points->*kPoint;
  if (auto fault = CopyPointAt(from, kFirstSize, &point, kFlags)) return fault;
  return Require((((*point).*kFunctions != nullptr) && ...), expected);
}

// Returns the actions without those that are unknown to this host. UPDATE includes the updates of
// later versions, so that it stays whole.
uint32_t KnownActions(uint32_t actions) {
  const uint32_t kept = kKnownActions | BERTH_ACTION_UPDATE;
  const bool has_update = (actions & BERTH_ACTION_UPDATE) == BERTH_ACTION_UPDATE;
  return actions & (has_update ? kept : kKnownActions);
}

Fault CopyEnqueueExtensions(const void* from, PluginPoints* points, const char* /*expected*/) {
  auto& point = points->enqueue_extensions;
  if (auto fault = CopyPointAt(from, BERTH_FIRST_SIZE(berth_enqueue_extensions, hint), &point))
    return fault;
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_event_interest, reserved);
  const berth_array given = point->interests;
  if (const auto found = ArrayFault(given, kFirstSize, kMaxInterests)) {
    return Bad("a valid array of interests", *found);
  }
  points->interests.clear();
  for (uint32_t i = 0; i < given.count; ++i) {
    const void* element = BERTH_AT(char, given, i);
    auto interest = CopyStruct<berth_event_interest>(element, given.stride);
    if (interest.has_hint != 0 && point->hint == nullptr) {
      return Bad("hint to be set, for interest " + std::to_string(i), "NULL");
    }
    if (interest.resource == BERTH_RESOURCE_CUSTOM && interest.kind == nullptr) {
      return Bad("a kind in interest " + std::to_string(i), "NULL");
    }
    if (interest.kind != nullptr) {
      points->interest_kinds.push_back(std::make_unique<std::string>(interest.kind));
      interest.kind = points->interest_kinds.back()->c_str();
    }
    if (interest.resource == 0 || interest.resource > BERTH_RESOURCE_TARGET_POD) {
      points->notes.push_back({BERTH_LOG_WARN, "no event occurs for interest " + std::to_string(i) +
                                                   ", because this host does not have resource " +
                                                   std::to_string(interest.resource)});
    }
    interest.actions = KnownActions(interest.actions);
    points->interests.push_back(interest);
  }
  point->interests = {points->interests.data(), given.count, sizeof(berth_event_interest)};
  return std::nullopt;
}

Fault CopyQueueSort(const void* from, PluginPoints* points, const char* /*expected*/) {
  std::optional<berth_queue_sort> point;
  if (auto fault = CopyPointAt(from, BERTH_FIRST_SIZE(berth_queue_sort, less), &point))
    return fault;
  if (!points->queue_sort.has_value()) {
    points->queue_sort = berth_queue_sort_2{.struct_size = sizeof(berth_queue_sort_2),
                                            .flags = point->flags,
                                            .key = point->key,
                                            .less = point->less,
                                            .lane = nullptr,
                                            .next = nullptr};
  }
  return RequireKeyOrLess(*point);
}

// Replaces revision 1, if the plugin offers both.
Fault CopyQueueSort2(const void* from, PluginPoints* points, const char* /*expected*/) {
  auto& point = points->queue_sort;
  if (auto fault = CopyPointAt(from, BERTH_FIRST_SIZE(berth_queue_sort_2, next), &point))
    return fault;
  if (auto fault = RequireKeyOrLess(*point)) return fault;
  return Require(point->lane != nullptr && point->next != nullptr, "lane and next to be set");
}

Fault CopyPreFilter(const void* from, PluginPoints* points, const char* /*expected*/) {
  auto& point = points->pre_filter;
  if (auto fault = CopyPointAt(from, BERTH_FIRST_SIZE(berth_pre_filter, remove_pod), &point))
    return fault;
  if (auto fault = Require(point->pre_filter != nullptr, "pre_filter to be set")) return fault;
  return Require((point->add_pod == nullptr) == (point->remove_pod == nullptr),
                 "add_pod and remove_pod both to be set, or neither");
}

Fault CopyFilter(const void* from, PluginPoints* points, const char* /*expected*/) {
  auto& point = points->filter;
  if (auto fault = CopyPointAt(from, BERTH_FIRST_SIZE(berth_filter, filter_whole), &point,
                               BERTH_FILTER_SERIAL | BERTH_FILTER_WHOLE))
    return fault;
  if ((point->flags & BERTH_FILTER_WHOLE) != 0) {
    if (auto fault = Require(point->filter_whole != nullptr, "filter_whole to be set"))
      return fault;
    if (point->dependence == nullptr) return std::nullopt;
    return Bad("dependence to be NULL, because the answers of a whole Filter are never reused",
               "a pointer");
  }
  if (auto fault = Require(point->filter != nullptr, "filter to be set")) return fault;
  return CopyDependence(&point->dependence, &points->filter_dependence, "Filter", points);
}

Fault CopyScore(const void* from, PluginPoints* points, const char* /*expected*/) {
  auto& point = points->score;
  if (auto fault =
          CopyPointAt(from, BERTH_FIRST_SIZE(berth_score, normalize), &point, BERTH_SCORE_SERIAL))
    return fault;
  if (auto fault = Require(point->score != nullptr, "score to be set")) return fault;
  if (point->normalize_mode > BERTH_NORMALIZE_MIN_MAX_FLOAT) {
    return Bad("a normalize_mode of at most " + std::to_string(BERTH_NORMALIZE_MIN_MAX_FLOAT),
               std::to_string(point->normalize_mode));
  }
  if (point->normalize_mode == BERTH_NORMALIZE_CUSTOM) {
    if (auto fault = Require(point->normalize != nullptr, "normalize to be set")) return fault;
  }
  return CopyDependence(&point->dependence, &points->score_dependence, "Score", points);
}

struct Point {
  std::string_view id;
  Fault (*copy)(const void* from, PluginPoints* points, const char* expected);
  const char* expected = nullptr;  // For CopyFunctions().
};

constexpr Point kPoints[] = {
    {BERTH_POINT_PRE_ENQUEUE,
     CopyFunctions<&PluginPoints::pre_enqueue, BERTH_FIRST_SIZE(berth_pre_enqueue, pre_enqueue), 0,
                   &berth_pre_enqueue::pre_enqueue>,
     "pre_enqueue to be set"},
    {BERTH_POINT_ENQUEUE_EXTENSIONS, CopyEnqueueExtensions},
    {BERTH_POINT_QUEUE_SORT, CopyQueueSort},
    {BERTH_POINT_QUEUE_SORT_2, CopyQueueSort2},
    {BERTH_POINT_ENTITY,
     CopyFunctions<&PluginPoints::entity, BERTH_FIRST_SIZE(berth_entity, entity), 0,
                   &berth_entity::entity>,
     "entity to be set"},
    {BERTH_POINT_PRE_FILTER, CopyPreFilter},
    {BERTH_POINT_FILTER, CopyFilter},
    {BERTH_POINT_POST_FILTER,
     CopyFunctions<&PluginPoints::post_filter, BERTH_FIRST_SIZE(berth_post_filter, post_filter), 0,
                   &berth_post_filter::post_filter>,
     "post_filter to be set"},
    {BERTH_POINT_PRE_SCORE,
     CopyFunctions<&PluginPoints::pre_score, BERTH_FIRST_SIZE(berth_pre_score, pre_score), 0,
                   &berth_pre_score::pre_score>,
     "pre_score to be set"},
    {BERTH_POINT_SCORE, CopyScore},
    {BERTH_POINT_RESERVE,
     CopyFunctions<&PluginPoints::reserve, BERTH_FIRST_SIZE(berth_reserve, unreserve), 0,
                   &berth_reserve::reserve, &berth_reserve::unreserve>,
     "reserve and unreserve to be set"},
    {BERTH_POINT_PERMIT,
     CopyFunctions<&PluginPoints::permit, BERTH_FIRST_SIZE(berth_permit, permit), 0,
                   &berth_permit::permit>,
     "permit to be set"},
    {BERTH_POINT_PRE_BIND,
     CopyFunctions<&PluginPoints::pre_bind, BERTH_FIRST_SIZE(berth_pre_bind, pre_bind),
                   BERTH_PRE_BIND_PARALLEL, &berth_pre_bind::pre_bind>,
     "pre_bind to be set"},
    {BERTH_POINT_BIND,
     CopyFunctions<&PluginPoints::bind, BERTH_FIRST_SIZE(berth_bind, bind), 0, &berth_bind::bind>,
     "bind to be set"},
    {BERTH_POINT_POST_BIND,
     CopyFunctions<&PluginPoints::post_bind, BERTH_FIRST_SIZE(berth_post_bind, post_bind), 0,
                   &berth_post_bind::post_bind>,
     "post_bind to be set"},
    {BERTH_POINT_ATTEMPT_FAILED,
     CopyFunctions<&PluginPoints::attempt_failed,
                   BERTH_FIRST_SIZE(berth_attempt_failed, attempt_failed), 0,
                   &berth_attempt_failed::attempt_failed>,
     "attempt_failed to be set"},
    {BERTH_POINT_CHANGES,
     CopyFunctions<&PluginPoints::changes, BERTH_FIRST_SIZE(berth_changes, change),
                   BERTH_CHANGES_FLAG_PENDING, &berth_changes::change>,
     "change to be set"},
    {BERTH_POINT_HAND_OVER,
     CopyFunctions<&PluginPoints::hand_over, BERTH_FIRST_SIZE(berth_hand_over, restore), 0,
                   &berth_hand_over::save, &berth_hand_over::restore>,
     "save and restore to be set"},
};

const Point* FindPoint(std::string_view id) {
  const auto* found = std::find_if(std::begin(kPoints), std::end(kPoints),
                                   [&](const Point& point) { return point.id == id; });
  return found == std::end(kPoints) ? nullptr : found;
}

}  // namespace

bool IsKnownPoint(std::string_view id) { return FindPoint(id) != nullptr; }

std::optional<LoadError> CopyPoint(const berth_plugin& plugin, const std::string& id,
                                   PluginPoints* points) {
  const Point* point = FindPoint(id);
  if (point == nullptr) return std::nullopt;
  const void* from = plugin.get_point(&plugin, id.c_str());
  if (from == nullptr) {
    return MakeLoadError(LoadErrorCode::kMissingPoint, "the declared point " + id, "NULL");
  }
  Fault fault = point->copy(from, points, point->expected);
  if (fault.has_value()) fault->expected.insert(0, "in " + id + " ");
  return fault;
}

}  // namespace berth::host
