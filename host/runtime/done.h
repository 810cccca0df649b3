// The host's side of berth_done: the promises that plugins get in PreBind and Bind.
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

// The promises of one plugin instance; later instances may reuse the table: see PromiseTables.
//
// A plugin may complete a promise twice, or after its answer has come, or after the host has
// stopped waiting, and none of this may do harm. A berth_done is therefore a handle
// (host/runtime/handle.h): completing an earlier generation of an entry has no effect. An entry
// rests while others are used, so that a handle is not reused before kRestingEntries * kGenerations
// calls.
//
// Threading: any.
// Lifetime:  that of the InstanceHosts that use it, which is that of the library: a thread of a
//            plugin may complete a call long after the instance was destroyed.
class Promises : public std::enable_shared_from_this<Promises> {
  struct Key {};

 public:
  static constexpr size_t kGenerations = 256;
  static constexpr size_t kRestingEntries = 64;

  // Called at most once, on the thread that completes the promise.
  using Answer = std::function<void(berth_code code, std::string_view reason)>;

  static std::shared_ptr<Promises> Make() { return std::make_shared<Promises>(Key{}); }
  explicit Promises(Key) {}
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;

  enum class Kind : uint8_t { kOther, kBind };

  // Returns a new promise, which is open until it is completed or closed. `answer` and what it
  // holds live as long. `kind`: kBind if the promise is for Bind.
  berth_done* Open(Answer answer, Kind kind = Kind::kOther);
  // Closes the promise: completing it has no effect any more. Returns false if it was completed or
  // closed before.
  bool Close(berth_done* done);
  // Closes all promises, and waits for answers that are being called; none is called afterwards.
  // Returns the answers of the open promises, with what they keep alive.
  // Called: when the instance has been quiesced.
  std::vector<Answer> CloseAll();
  // Makes IsOpenForBind() false: the host has stopped waiting, so that the plugin must not bind the
  // pod any more. The promise stays open, so that what its answer holds lives until the plugin
  // completes it. Does nothing if it is over.
  void DisallowBind(berth_done* done);

  // Completes an open promise; otherwise does nothing. `done` may be null.
  // REQUIRES: its table exists.
  static void Complete(berth_done* done, berth_code code, std::string_view reason);
  // Returns whether it is an open promise of Bind for which binding is allowed. `done` may be null.
  // REQUIRES: its table exists.
  static bool IsOpenForBind(berth_done* done);
  // Returns a function that calls Complete(), and does nothing once the table is destroyed.
  // REQUIRES: the table exists now.
  static Answer CompletionFor(berth_done* done);

  size_t open_count() const;

 private:
  // See host/runtime/handle.h.
  struct alignas(kGenerations) Entry {
    static constexpr size_t kGenerations = Promises::kGenerations;

    Promises* table;
    uint64_t generation = 0;
    bool is_open = false;
    Kind kind = Kind::kOther;
    Answer answer;
    Entry* next_free = nullptr;
  };

  // REQUIRES for PushFree(), PopFree() and Take(): mutex_ is held.
  void PushFree(Entry& entry);
  Entry& PopFree();
  // Ends this generation of the entry and returns its answer; empty if it is over already.
  Answer Take(berth_done* done);

  std::shared_mutex answering_;  // Held shared while an answer is called.
  mutable std::mutex mutex_;     // Guards the entries too.
  std::vector<std::unique_ptr<Entry>> entries_;
  Entry* first_free_ = nullptr;  // The entry that has rested longest.
  Entry* last_free_ = nullptr;
  size_t free_count_ = 0;
};

// Keeps the tables of destroyed instances for later instances. A table cannot be destroyed, because
// a plugin may still complete its promises, but a later instance can continue with it. Otherwise
// each reload would leave about 16 KB for every plugin that binds.
//
// Threading: the scheduling thread.
class PromiseTables {
 public:
  // Returns a table that `owner` gave back, or a new one. Different owners never share a table: a
  // plugin must not be able to complete the promises of another plugin.
  std::shared_ptr<Promises> Take(const std::string& owner);
  // REQUIRES: all promises are closed (CloseAll), and no more are opened.
  void GiveBack(const std::string& owner, std::shared_ptr<Promises> table);

 private:
  std::map<std::string, std::vector<std::shared_ptr<Promises>>> tables_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_DONE_H_
