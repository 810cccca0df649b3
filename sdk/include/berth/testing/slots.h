// Cycle state: the memory for berth_plugin.slots, with guard bytes.
#ifndef BERTH_TESTING_SLOTS_H_
#define BERTH_TESTING_SLOTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>

namespace berth::testing {

// One slot, from construct or clone to destroy. It is surrounded by guard bytes and has exactly the
// requested alignment.
class Slot {
 public:
  explicit Slot(const berth_slot& slot);
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot();

  void Construct();
  berth_code CloneFrom(const Slot& other);

  void* data() const { return data_; }
  std::string type() const { return slot_.type_id != nullptr ? slot_.type_id : ""; }
  std::vector<std::byte> Bytes() const { return {data_, data_ + slot_.size}; }
  bool GuardsIntact() const;

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kPoison = 0xa5;

  const berth_slot& slot_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* data_ = nullptr;
  bool alive_ = false;
};

// All slots of one instance in one cycle. They are destroyed with this object, or when the instance
// ends.
class Slots {
 public:
  explicit Slots(Instance* instance);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  void Construct();
  // Destroys the slots; only the destructor may be called then. Does nothing the second time.
  void Destroy();
  // Returns false if a clone failed.
  bool CloneFrom(const Slots& other);

  void CheckGuards(const std::string& when) const;
  std::vector<std::vector<std::byte>> Bytes() const;
  void CheckUnchanged(const std::vector<std::vector<std::byte>>& before,
                      const std::string& when) const;
  void* const* data() const { return pointers_.data(); }

 private:
  Instance* instance_;  // NULL: the slots are destroyed
  Reporter& reporter_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<void*> pointers_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SLOTS_H_
