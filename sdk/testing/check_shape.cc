#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/internal/kinds.h>
#include <berth/testing/check_shape.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>

namespace berth::testing {

ShapeChecker::ShapeChecker(const World& world, Instance& instance)
    : world_(world),
      instance_(instance),
      plugin_(instance.plugin()),
      reporter_(instance.reporter()) {}

void ShapeChecker::Run() {
  CheckEntry();
  CheckPoints();
  CheckColumns();
  CheckSlots();
  CheckReasons();
}

void ShapeChecker::Expect(bool holds, const std::string& text) {
  if (!holds) reporter_.Fail(Check::kShape, text);
}

void ShapeChecker::CheckEntry() {
  const berth_entry& entry = world_.library.entry();
  Expect(entry.magic == BERTH_MAGIC, "berth_entry.magic is not BERTH_MAGIC");
  Expect(entry.abi_major == BERTH_ABI_MAJOR, "berth_entry.abi_major: expected " +
                                                 std::to_string(BERTH_ABI_MAJOR) + ", found " +
                                                 std::to_string(entry.abi_major));
  Expect(entry.pointer_bits == 64,
         "berth_entry.pointer_bits: expected 64, found " + std::to_string(entry.pointer_bits));
  const bool has_draft = BERTH_HAS(&entry, berth_entry, abi_draft);
  Expect(has_draft, "berth_entry.struct_size is too small");
  Expect(!has_draft || entry.abi_draft == BERTH_ABI_DRAFT,
         "berth_entry.abi_draft is not BERTH_ABI_DRAFT of this SDK: build the plugin with it");
  Expect(BERTH_HAS(&plugin_, berth_plugin, destroy), "berth_plugin.struct_size is too small");
  Expect(plugin_.destroy != nullptr, "berth_plugin.destroy is NULL");
  const berth_plugin_info& info = *world_.info;
  Expect(BERTH_HAS(&info, berth_plugin_info, args_schema),
         "berth_plugin_info.struct_size is too small");
  Expect(info.version != nullptr && *info.version != '\0', "berth_plugin_info.version is empty");
  for (const char* const* kind = info.kinds; kind != nullptr && *kind != nullptr; ++kind) {
    const std::string expected = berth::internal::WhyNotDeclarable(*kind);
    Expect(expected.empty(),
           "berth_plugin_info.kinds: expected " + expected + ", found \"" + *kind + "\"");
  }
}

void ShapeChecker::CheckPoints() {
  for (const char* const* id = world_.info->points; id != nullptr && *id != nullptr; ++id) {
    const void* point = plugin_.get_point != nullptr ? plugin_.get_point(&plugin_, *id) : nullptr;
    Expect(point != nullptr,
           std::string("get_point returns NULL for ") + *id + ", which berth_plugin_info names");
  }
  ExpectPoint(instance_.pre_enqueue, BERTH_POINT_PRE_ENQUEUE, &berth_pre_enqueue::pre_enqueue);
  ExpectPoint(instance_.pre_filter, BERTH_POINT_PRE_FILTER, &berth_pre_filter::pre_filter);
  if (IsWholeFilter(instance_)) {
    ExpectPoint(instance_.filter, BERTH_POINT_FILTER, &berth_filter::filter_whole);
    Expect(instance_.filter->dependence == nullptr,
           "Filter has BERTH_FILTER_WHOLE and a dependence, but its answers are never reused");
  } else {
    ExpectPoint(instance_.filter, BERTH_POINT_FILTER, &berth_filter::filter);
  }
  ExpectPoint(instance_.post_filter, BERTH_POINT_POST_FILTER, &berth_post_filter::post_filter);
  ExpectPoint(instance_.pre_score, BERTH_POINT_PRE_SCORE, &berth_pre_score::pre_score);
  ExpectPoint(instance_.score, BERTH_POINT_SCORE, &berth_score::score);
  ExpectPoint(instance_.reserve, BERTH_POINT_RESERVE, &berth_reserve::reserve);
  ExpectPoint(instance_.permit, BERTH_POINT_PERMIT, &berth_permit::permit);
  ExpectPoint(instance_.pre_bind, BERTH_POINT_PRE_BIND, &berth_pre_bind::pre_bind);
  ExpectPoint(instance_.bind, BERTH_POINT_BIND, &berth_bind::bind);
  ExpectPoint(instance_.post_bind, BERTH_POINT_POST_BIND, &berth_post_bind::post_bind);
  ExpectPoint(instance_.attempt_failed, BERTH_POINT_ATTEMPT_FAILED,
              &berth_attempt_failed::attempt_failed);
  ExpectPoint(instance_.changes, BERTH_POINT_CHANGES, &berth_changes::change);
  ExpectPoint(instance_.hand_over, BERTH_POINT_HAND_OVER, &berth_hand_over::save);
  ExpectPoint(instance_.hand_over, BERTH_POINT_HAND_OVER, &berth_hand_over::restore);
  if (const auto& changes = instance_.changes) {
    Expect((changes->flags & ~uint32_t{BERTH_CHANGES_FLAG_PENDING}) == 0,
           "berth_changes.flags is " + std::to_string(changes->flags) +
               ", which is not a set of BERTH_CHANGES_* flags");
  }
  if (const auto& sort = instance_.queue_sort) {
    Expect(sort->key != nullptr || sort->less != nullptr, "QueueSort has neither key nor less");
    Expect((sort->lane == nullptr) == (sort->next == nullptr),
           "QueueSort has only one of lane and next");
  }
  if (const auto& pre = instance_.pre_filter) {
    Expect((pre->add_pod == nullptr) == (pre->remove_pod == nullptr),
           "PreFilter has only one of AddPod and RemovePod");
  }
  if (const auto& score = instance_.score) {
    Expect(score->normalize_mode <= BERTH_NORMALIZE_MIN_MAX_FLOAT,
           "Score has an unknown normalize_mode");
    Expect(score->normalize_mode != BERTH_NORMALIZE_CUSTOM || score->normalize != nullptr,
           "Score has BERTH_NORMALIZE_CUSTOM but no normalize");
    CheckDependence("Score", score->dependence);
  }
  if (instance_.filter) CheckDependence("Filter", instance_.filter->dependence);
}

void ShapeChecker::CheckDependence(const char* point, const berth_dependence* dependence) {
  if (dependence == nullptr) return;
  const uint32_t known = BERTH_DEPENDS_NODE | BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER;
  Expect(dependence->cluster != 0 && (dependence->cluster & ~known) == 0,
         std::string(point) + "'s dependence.cluster is " + std::to_string(dependence->cluster) +
             ", which is not a set of BERTH_DEPENDS_* flags");
  Expect(dependence->pod_parts >> BERTH_PART_COUNT == 0,
         std::string(point) + "'s dependence.pod_parts names unknown parts");
}

void ShapeChecker::CheckColumns() {
  for (uint32_t i = 0; i < plugin_.columns.count; ++i) {
    const auto* request = BERTH_AT(berth_column_request, plugin_.columns, i);
    const uint32_t type = ColumnType(request->name);
    const std::string column = std::string("column \"") + request->name + "\"";
    const bool is_optional = (request->flags & BERTH_COLUMN_OPTIONAL) != 0;
    Expect(type != 0 || is_optional, column + " is not in the catalogue");
    Expect(type == 0 || type == request->type, column + " has another type in the catalogue");
    Expect(is_optional || instance_.services().MayUseColumn(request->name),
           column + " is of a kind that berth_plugin_info.kinds does not name");
  }
}

void ShapeChecker::CheckSlots() {
  for (uint32_t i = 0; i < plugin_.slots.count; ++i) {
    const auto* slot = BERTH_AT(berth_slot, plugin_.slots, i);
    const std::string name = "slot " + std::to_string(i);
    Expect(slot->size != 0, name + " has no size");
    Expect(slot->align != 0 && slot->align <= 64 && (slot->align & (slot->align - 1)) == 0,
           name + " has an alignment that is not a power of two up to 64");
    Expect(slot->construct == nullptr || slot->clone != nullptr || slot->destroy == nullptr,
           name + " has construct and destroy but no clone, so its bytes would be copied");
  }
}

void ShapeChecker::CheckReasons() {
  Expect(instance_.reasons().size() <= 64, "the reason table has more than 64 entries");
  for (const std::string& reason : instance_.reasons())
    Expect(!reason.empty(), "the reason table has an empty text");
}

}  // namespace berth::testing
