#include "host/runtime/points/run_hand_over.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <berth/abi.h>

#include "host/base/text.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

// What `save` writes.
class SavedState {
 public:
  SavedState() = default;
  SavedState(const SavedState&) = delete;
  SavedState& operator=(const SavedState&) = delete;

  berth_hand_over_out* raw() { return &out_; }
  uint32_t version() const { return out_.version; }
  const std::string& bytes() const { return bytes_; }
  bool is_too_large() const { return is_too_large_; }

 private:
  static berth_code Write(berth_hand_over_out* out, berth_str bytes) noexcept {
    auto& state = *static_cast<SavedState*>(out->impl);
    state.is_too_large_ |= bytes.len > BERTH_HAND_OVER_MAX_BYTES - state.bytes_.size();
    if (state.is_too_large_) return BERTH_BAD_ARGUMENT;
    state.bytes_.append(Text(bytes));
    return BERTH_SUCCESS;
  }

  std::string bytes_;
  bool is_too_large_ = false;
  berth_hand_over_out out_ = {
      .struct_size = sizeof(berth_hand_over_out), .version = 0, .impl = this, .write = Write};
};

// Returns "from version 1.0.0 to version 1.1.0".
std::string VersionsText(const PlannedPlugin& from, const PlannedPlugin& to) {
  return "from version " + from.instance->info().version + " to version " +
         to.instance->info().version;
}

// Returns "the state (version 2, 40 bytes)".
std::string StateText(const SavedState& state) {
  return "the state (version " + std::to_string(state.version()) + ", " +
         std::to_string(state.bytes().size()) + " bytes)";
}

// Counts the fault that lies in a failure, and returns its reasons. `save` and `restore` have one
// code for a failure, ERROR, and every other one is a fault.
std::string FailureOf(const PlannedPlugin& plugin, const PluginAnswer& answer) {
  const std::string reasons = answer.Message();
  NoteBadCode(plugin, Point::kHandOver, answer.code, reasons);
  return FailureText(answer.code, reasons);
}

// Returns whether there is a state to hand over.
bool Save(const PlannedPlugin& from, const PlannedPlugin& to, SavedState& state) {
  const PluginAnswer answer =
      Invoke(from, Point::kHandOver, [&state](auto& instance, berth_status* status) {
        return instance.hand_over()->save(instance.self(), state.raw(), status);
      });
  if (answer.code == BERTH_SKIP) return false;
  std::string why;
  if (!answer.ok()) {
    why = FailureOf(from, answer);
  } else if (state.is_too_large()) {
    why = "it has more than " + std::to_string(BERTH_HAND_OVER_MAX_BYTES) + " bytes";
  } else {
    return true;
  }
  from.host->Log(BERTH_LOG_ERROR,
                 "saved no state to hand over " + VersionsText(from, to) + ": " + why);
  return false;
}

void Restore(const PlannedPlugin& from, const PlannedPlugin& to, const SavedState& state) {
  const PluginAnswer answer =
      Invoke(to, Point::kHandOver, [&state](auto& instance, berth_status* status) {
        return instance.hand_over()->restore(instance.self(), state.version(), AsStr(state.bytes()),
                                             status);
      });
  if (answer.ok()) {
    to.host->Log(BERTH_LOG_INFO, "handed over " + StateText(state) + " " + VersionsText(from, to));
    return;
  }
  to.host->Log(BERTH_LOG_ERROR, "refused " + StateText(state) + ", handed over " +
                                    VersionsText(from, to) + ": " + FailureOf(to, answer));
}

}  // namespace

void RunHandOver(const Plan& from, const Plan& to) {
  for (const PlannedPlugin& old : from.plugins()) {
    const auto successor = std::ranges::find(to.plugins(), old.name, &PlannedPlugin::name);
    if (successor == to.plugins().end() || &*successor == &old) continue;
    if (old.instance->hand_over() == nullptr || successor->instance->hand_over() == nullptr) {
      continue;
    }
    SavedState state;
    if (Save(old, *successor, state)) Restore(old, *successor, state);
  }
}

}  // namespace berth::host
