// Save and Restore: pass the state of an instance to its successor, which replaces it at a reload.
//
//   void Save(berth::HandOver& out) const;
//   berth::Status Restore(uint32_t version, std::string_view bytes);
//
// The successor is the instance of the plugin of the same name in the profile of the same name. A
// state is bytes and a version of their format. The library of the successor may be another build,
// also an older one, so a state contains no pointers; an interned id belongs to one instance, so it
// names nodes and objects by their names and uids.
//
// Called:    at a reload, between attempts: Save of the old instance, then Restore of the new one,
//            if both have these methods. Restore precedes every other call of the new instance but
//            its constructor: OnChange and watches receive what exists afterwards. If Save writes
//            nothing, Restore is not called.
// Attempts:  those that began before the reload end with the old instance, which alone gets the
//            rest of their calls (PreBind, Bind, and Unreserve or PostBind), also long after Save.
//            Its changes of the state since Save are lost. OnChange of the successor reports how
//            they ended: see berth_hand_over in abi.h.
// Threading: [load]. With kBlocksInBind, PreBind and Bind may run on other threads during Save.
// Returns:   Restore: Success; any other status refuses the state. After a refusal, and after an
//            exception in Save or Restore, the reload succeeds, the successor begins without the
//            state, and the host logs the reason.
// Must not:  restore a part of the state and then refuse it: the instance is used as it is; refuse
//            a state that the same library saved with the same arguments.
#ifndef BERTH_HAND_OVER_H_
#define BERTH_HAND_OVER_H_

#include <concepts>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/span.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Save);
BERTH_INTERNAL_DETECT(Restore);

namespace berth {

// Receives the state of an instance. Lifetime: until Save returns.
class HandOver {
 public:
  static constexpr uint64_t kMaxBytes = BERTH_HAND_OVER_MAX_BYTES;

  explicit HandOver(berth_hand_over_out& out) : out_(out) {}
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

  // Sets the version of the format, which Restore receives. 0 if it is not set.
  void SetVersion(uint32_t version) { out_.version = version; }
  // Appends bytes to the state. If the state would be larger than kMaxBytes, nothing is handed
  // over, and the host logs it.
  void Write(std::string_view bytes) {
    is_written_ = true;
    out_.write(&out_, Str(bytes));
  }
  // Returns whether Write() was called.
  bool is_written() const { return is_written_; }

 private:
  berth_hand_over_out& out_;
  bool is_written_ = false;
};

namespace internal {

struct HandOverPoint {
  static constexpr const char* kId = BERTH_POINT_HAND_OVER;
  template <class P>
  static constexpr bool kNamed = kHasSave<P>&& kHasRestore<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kSaves = requires(const P& plugin, HandOver& out) {
      { plugin.Save(out) } -> std::same_as<void>;
    };
    constexpr bool kRestores = requires(P & plugin, uint32_t version, std::string_view bytes) {
      { plugin.Restore(version, bytes) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(Save, P, (kSaves),
                                "expected\n"
                                "  void Save(berth::HandOver& out) const");
    BERTH_INTERNAL_CHECK_METHOD(
        Restore, P, (kRestores),
        "expected\n"
        "  berth::Status Restore(uint32_t version, std::string_view bytes)");
    static_assert(kHasSave<P> == kHasRestore<P>,
                  "Save and Restore belong together: implement both, or rename the one that the "
                  "host must not call");
  }

  template <class I>
  struct Table {
    berth_hand_over abi = {sizeof(berth_hand_over), 0, &Save, &Restore};

    explicit Table(const I& /*instance*/) {}
    static berth_code Save(void* self, berth_hand_over_out* out, berth_status* status) noexcept {
      const I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&]() -> berth_code {
        HandOver state(*out);
        instance.plugin().Save(state);
        return state.is_written() ? BERTH_SUCCESS : BERTH_SKIP;
      });
    }
    static berth_code Restore(void* self, uint32_t version, berth_str bytes,
                              berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status,
                   [&] { return Answer(instance.plugin().Restore(version, Str(bytes)), status); });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_HAND_OVER_H_
