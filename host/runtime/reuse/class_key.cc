#include "host/runtime/reuse/class_key.h"

#include <algorithm>
#include <bit>

#include "host/base/hash.h"
#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/plugin_error.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/points/score_call.h"

namespace berth::host {
namespace {

bool TakesPart(const Attempt& attempt, Point point, const PlannedUse& use) {
  return point == Point::kFilter ? !attempt.cycle(use.plugin).skip_filter : IsScored(attempt, use);
}

Reuse ReuseOf(const PlannedPlugin& plugin, Point point) {
  const berth_dependence* const dependence = DependenceAt(plugin, point);
  if (dependence == nullptr) return Reuse::kNever;
  const bool depends_on_row = (dependence->cluster & BERTH_DEPENDS_OTHER) == 0;
  if (point == Point::kScore) {
    // A function of the plugin normalizes the scores of all nodes together.
    return depends_on_row && !NormalizesItself(plugin) ? Reuse::kRow : Reuse::kNever;
  }
  if (depends_on_row) return Reuse::kRow;
  return dependence->changed != nullptr ? Reuse::kToken : Reuse::kNever;
}

}  // namespace

const berth_dependence* DependenceAt(const PlannedPlugin& plugin, Point point) {
  return point == Point::kFilter ? plugin.instance->filter()->dependence
                                 : plugin.instance->score()->dependence;
}

ClassKey::ClassKey(Attempt& attempt, Point point) {
  uint64_t parts = 0;
  for (const PlannedUse& use : attempt.plan().At(point)) {
    if (!TakesPart(attempt, point, use)) continue;
    PluginCycle& cycle = attempt.cycle(use.plugin);
    Reuse reuse = ReuseOf(cycle.plugin(), point);
    if (reuse != Reuse::kNever && !AddSignature(cycle, point)) reuse = Reuse::kNever;
    if (reuse != Reuse::kNever) {
      parts |= DependenceAt(cycle.plugin(), point)->pod_parts;
      // A verdict names reasons by their numbers.
      for (const std::string& reason : cycle.added_reasons()) words_.push_back(HashBytes(reason));
    }
    uses_.push_back({use, reuse});
  }
  for (uint64_t left = parts; left != 0; left &= left - 1) {
    words_.push_back(attempt.pod->part_hash(static_cast<uint32_t>(std::countr_zero(left))));
  }
  uint64_t hash = 0;
  for (const ClassUse& use : uses_) {
    hash = HashCombine(hash, uint64_t{use.use.plugin} << 8 | static_cast<uint64_t>(use.reuse));
  }
  for (const uint64_t word : words_) hash = HashCombine(hash, word);
  hash_ = static_cast<size_t>(hash);
}

bool ClassKey::AddSignature(PluginCycle& cycle, Point point) {
  const berth_dependence& dependence = *DependenceAt(cycle.plugin(), point);
  if (dependence.sign == nullptr) return true;
  berth_signature signature{};
  const PluginAnswer answer = Invoke(
      cycle, point,
      [&](auto& instance, auto* abi, berth_status*) {
        return dependence.sign(instance.self(), abi, &signature);
      },
      kCycleWord);
  if (!answer.ok()) {
    if (answer.code != BERTH_SKIP) NoteBadCode(cycle.plugin(), point, answer.code, "sign");
    return false;
  }
  words_.push_back(signature.low);
  words_.push_back(signature.high);
  return true;
}

bool ClassKey::CanReuse() const {
  return std::ranges::any_of(uses_, [](const ClassUse& use) { return use.reuse != Reuse::kNever; });
}

}  // namespace berth::host
