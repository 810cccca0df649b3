// One attempt to place one pod, for one plugin instance.
#ifndef BERTH_TESTING_CYCLE_H_
#define BERTH_TESTING_CYCLE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/instance.h>
#include <berth/testing/services.h>
#include <berth/testing/slots.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Nodes block by block, for PreFilter, PostFilter, PreScore and whole Filters. A block is destroyed
// when the next one is requested.
class Nodes {
 public:
  Nodes(Instance* instance, const Table& table, const ColumnBinder& binder,
        std::vector<uint32_t> rows, uint32_t block_size);
  ~Nodes();
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  const berth_nodes* abi() const { return &abi_; }
  // Finds where a row stands, by its number. Returns false if it is not one of the nodes.
  bool Find(uint32_t number, uint32_t* block, uint32_t* index) const;

 private:
  const berth_block* At(uint32_t index);

  Instance& instance_;
  const Table& table_;
  const ColumnBinder& binder_;
  const std::vector<uint32_t> rows_;
  const uint32_t block_size_;
  std::unique_ptr<Block> block_;
  berth_nodes abi_{};
};

// The cycle of one instance: its slots, the columns that it bound, the reasons that it added.
class Cycle {
 public:
  static constexpr uint32_t kBlockSize = 256;

  Cycle(Instance* instance, const Table* table, PodHandle pod, uint32_t block_size = kBlockSize);
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  // Returns the same attempt with cloned state; NULL if a clone failed.
  std::unique_ptr<Cycle> CloneForWhatIf() const;

  // Returns Success if the plugin has no PreFilter.
  Answer PreFilter();

  Answer PreScore();

  // Calls the plugin: `call` receives a status and returns a code.
  template <class Call>
  Answer Invoke(const char* point, Word word, Call call) const {
    Status status;
    const CallScope scope(&instance_->reporter(), point, word, &abi_);
    const berth_code code = CallOrTerminate(call, status.abi());
    return status.With(code);
  }

  // Checks that the code of `answer` is one of `codes`, and that a rejection has a reason.
  void Expect(const char* point, const Answer& answer,
              std::initializer_list<berth_code> codes) const;

  std::vector<uint32_t> AllRows() const;
  // Returns the rows that PreFilter did not exclude.
  std::vector<uint32_t> AllowedRows() const;

  Instance& instance() const { return *instance_; }
  const Table& table() const { return *table_; }
  const PodHandle& pod() const { return pod_; }
  const berth_cycle* abi() const { return &abi_; }
  Slots& slots() { return slots_; }
  const std::vector<ColumnName>& columns() const { return binder_.columns; }
  const std::vector<std::string>& reasons() const { return reasons_; }
  const std::optional<std::vector<std::string>>& only_nodes() const { return only_nodes_; }
  const ColumnBinder& binder() const { return binder_; }
  uint32_t block_size() const { return block_size_; }
  // Returns whether PreFilter returned SKIP, so that the plugin has no Filter in this attempt.
  bool skips_filter() const { return skips_filter_; }
  // Returns whether PreFilter rejected the pod on every node, so that the host would not have
  // called the PreFilters after it. No what-if question is answered then.
  bool has_ended_early() const { return has_ended_early_; }
  // Lets the plugin see that nominated pods are added to the nodes (BERTH_CYCLE_NOMINATED).
  void SetNominated() { abi_.flags |= BERTH_CYCLE_NOMINATED; }
  // Adds a text to the reason table, unless it was added before. Returns its bit, or -1 if the
  // table is full.
  int32_t AddReason(berth_str text);

 private:
  struct PreFilterOut {
    explicit PreFilterOut(Cycle* cycle) {
      abi.struct_size = sizeof abi;
      abi.impl = cycle;
      abi.only_nodes = [](berth_pre_filter_out* self, const berth_str* names,
                          uint64_t count) noexcept {
        static_cast<Cycle*>(self->impl)->SetOnlyNodes(names, count);
      };
      abi.add_reason = [](berth_pre_filter_out* self, berth_str text) noexcept {
        return static_cast<Cycle*>(self->impl)->AddReason(text);
      };
    }
    berth_pre_filter_out abi{};
  };

  struct Identity {
    uint64_t id;
    uint32_t flags;
    std::shared_ptr<uint64_t> random;
  };
  Cycle(Instance* instance, const Table* table, PodHandle pod, uint32_t block_size,
        Identity identity);

  void SetOnlyNodes(const berth_str* names, uint64_t count);

  Instance* const instance_;
  const Table* const table_;
  const PodHandle pod_;
  const uint32_t block_size_;
  ColumnBinder binder_;
  Slots slots_;
  std::vector<std::string> reasons_;
  std::optional<std::vector<std::string>> only_nodes_;
  bool skips_filter_ = false;
  bool has_ended_early_ = false;
  uint32_t cancel_ = 0;
  berth_cycle abi_{};
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CYCLE_H_
