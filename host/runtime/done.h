// The host's side of berth_done: the promises that PreBind and Bind hand to plugins.
#ifndef BERTH_HOST_RUNTIME_DONE_H_
#define BERTH_HOST_RUNTIME_DONE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

// The promises of one plugin instance at a time: see PromiseTables.
//
// A plugin may complete twice, or when its answer is long there, or when nobody waits any more, and
// none of this may do harm. A berth_done therefore points at no object: it names a place in this
// table and, by the last byte of the address, which use of the place is meant. Nothing is done for
// a use that is over. A place rests while others are used, so that its numbers come around after
// kRestingPlaces * kUses calls at the earliest.
//
// Threading: any.
// Lifetime:  that of the InstanceHosts that had it, which is the library's: a thread that a plugin
//            forgot may complete a call when the instance is long gone.
class Promises : public std::enable_shared_from_this<Promises> {
  struct Key {};

 public:
  static constexpr size_t kUses = 256;
  static constexpr size_t kRestingPlaces = 64;

  // Called once at most, on the thread that completes.
  using Answer = std::function<void(berth_code code, std::string_view reason)>;

  static std::shared_ptr<Promises> Make() { return std::make_shared<Promises>(Key{}); }
  explicit Promises(Key) {}
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;

  enum class Of : uint8_t { kAny, kBind };

  // Open until it is completed or closed; `answer` and what it holds live as long. `of`: at which
  // point it is given out.
  berth_done* Open(Answer answer, Of of = Of::kAny);
  // Whoever completes it from now on is not heard. False: it was completed before, or closed.
  bool Close(berth_done* done);
  // The same for all, when the instance has been quiesced. Waits for answers that are being given;
  // none is given afterwards. Returns the answers, with what they keep alive.
  std::vector<Answer> CloseAll();
  // Who asked has given up waiting: nobody may bind for it any more. It stays open, so that what
  // its answer holds lives until whoever has it is done. `done` may be over.
  void Withdraw(berth_done* done);

  // Completes an open promise; otherwise does nothing. `done` may be null.
  // REQUIRES: the table that gave it out is there.
  static void Complete(berth_done* done, berth_code code, std::string_view reason);
  // Whether it is an open promise of Bind that was not withdrawn. `done` may be null.
  // REQUIRES: as Complete().
  static bool IsOpenForBind(berth_done* done);
  // Complete() for those who may still want to when the instance is gone.
  // REQUIRES: as Complete(), when it is made.
  static Answer Hold(berth_done* done);

  size_t open_count() const;

 private:
  // Aligned so that every address in it leads to it and says which use is meant.
  struct alignas(kUses) Place {
    Promises* table;
    uint64_t uses = 0;
    bool is_open = false;
    Of of = Of::kAny;
    Answer answer;
    Place* next_free = nullptr;
  };

  static Place& PlaceOf(berth_done* done);
  static berth_done* HandleOf(Place& place);
  // REQUIRES, of all below: mutex_ is held.
  void PushFree(Place& place);
  Place& PopFree();
  // Ends this use of the place. Empty: it is over already.
  Answer Take(berth_done* done);

  std::shared_mutex answering_;  // Shared while an answer is given.
  mutable std::mutex mutex_;     // Guards the places too.
  std::vector<std::unique_ptr<Place>> places_;
  Place* first_free_ = nullptr;  // The one that has rested longest.
  Place* last_free_ = nullptr;
  size_t free_count_ = 0;
};

// Tables whose instances are gone, for those that come after them: a table cannot go, for somebody
// may still complete what it gave out, but its numbers may go on. Without it each reload would
// leave some 16 KB for every plugin that binds.
//
// Threading: the scheduling thread.
class PromiseTables {
 public:
  // `owner`: whose it was, or a new one. Two owners trust each other as little as two plugins do.
  std::shared_ptr<Promises> Take(const std::string& owner);
  // REQUIRES: it has been closed (CloseAll), and nobody opens any more.
  void GiveBack(const std::string& owner, std::shared_ptr<Promises> table);

 private:
  std::map<std::string, std::vector<std::shared_ptr<Promises>>> tables_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_DONE_H_
