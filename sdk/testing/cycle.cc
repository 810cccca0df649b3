#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/cycle.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

Nodes::Nodes(Instance* instance, const Table& table, const ColumnBinder& binder,
             std::vector<uint32_t> rows, uint32_t block_size)
    : instance_(*instance),
      table_(table),
      binder_(binder),
      rows_(std::move(rows)),
      block_size_(block_size) {
  instance_.services().scheduling().BeginPassing(*this);
  abi_.struct_size = sizeof abi_;
  abi_.n_nodes = rows_.size();
  abi_.n_blocks = static_cast<uint32_t>((rows_.size() + block_size - 1) / block_size);
  abi_.impl = this;
  abi_.block = [](const berth_nodes* self, uint32_t index) noexcept {
    return static_cast<Nodes*>(self->impl)->At(index);
  };
}

Nodes::~Nodes() { instance_.services().scheduling().EndPassing(*this); }

bool Nodes::Find(uint32_t number, uint32_t* block, uint32_t* index) const {
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    if (table_.rows[rows_[i]].number != number) continue;
    *block = i / block_size_;
    *index = i % block_size_;
    return true;
  }
  return false;
}

const berth_block* Nodes::At(uint32_t index) {
  if (index >= abi_.n_blocks) return nullptr;
  const size_t begin = size_t{index} * block_size_;
  const size_t end = std::min(rows_.size(), begin + block_size_);
  block_ = std::make_unique<Block>(
      table_, binder_.columns,
      std::vector<uint32_t>(rows_.begin() + static_cast<std::ptrdiff_t>(begin),
                            rows_.begin() + static_cast<std::ptrdiff_t>(end)),
      nullptr, Layout{});
  return &block_->view();
}

Cycle::Cycle(Instance* instance, const Table* table, PodHandle pod, uint32_t block_size)
    : Cycle(instance, table, std::move(pod), block_size,
            Identity{++instance->cycles, 0, std::make_shared<uint64_t>(instance->cycles)}) {
  slots_.Construct();
}

std::unique_ptr<Cycle> Cycle::CloneForWhatIf() const {
  std::unique_ptr<Cycle> clone(new Cycle(instance_, table_, pod_, block_size_,
                                         {abi_.id, BERTH_CYCLE_WHAT_IF, binder_.random}));
  clone->binder_.columns = binder_.columns;
  clone->reasons_ = reasons_;
  clone->only_nodes_ = only_nodes_;
  clone->skips_filter_ = skips_filter_;
  return clone->slots_.CloneFrom(slots_) ? std::move(clone) : nullptr;
}

Answer Cycle::PreFilter() {
  const auto& point = instance_->pre_filter;
  if (!point || point->pre_filter == nullptr) return {};
  Nodes all(instance_, *table_, binder_, AllRows(), block_size_);
  PreFilterOut out(this);
  const Answer answer = Invoke("PreFilter", kCycle, [&](berth_status* status) {
    return point->pre_filter(instance_->self(), &abi_, all.abi(), &out.abi, status);
  });
  skips_filter_ = answer.code == BERTH_SKIP;
  const bool allows_none = answer.ok() && only_nodes_ && only_nodes_->empty();
  has_ended_early_ = allows_none || answer.code == BERTH_PENDING ||
                     answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
  Expect("PreFilter", answer,
         {BERTH_SUCCESS, BERTH_SKIP, BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
          BERTH_PENDING, BERTH_ERROR, BERTH_CANCELLED, BERTH_BUG});
  if (reasons_.size() > 64) {
    instance_->reporter().Fail(Check::kCodes, "PreFilter has more than 64 reasons");
  }
  return answer;
}

Answer Cycle::PreScore() {
  const auto& point = instance_->pre_score;
  if (!point || point->pre_score == nullptr) return {};
  Nodes all(instance_, *table_, binder_, AllRows(), block_size_);
  Nodes feasible(instance_, *table_, binder_, AllowedRows(), block_size_);
  berth_pre_score_out out{};
  out.struct_size = sizeof out;
  const Answer answer = Invoke("PreScore", kCycle, [&](berth_status* status) {
    return point->pre_score(instance_->self(), &abi_, feasible.abi(), all.abi(), &out, status);
  });
  Expect("PreScore", answer,
         {BERTH_SUCCESS, BERTH_SKIP, BERTH_PENDING, BERTH_ERROR, BERTH_CANCELLED, BERTH_BUG});
  return answer;
}

void Cycle::Expect(const char* point, const Answer& answer,
                   std::initializer_list<berth_code> codes) const {
  if (std::find(codes.begin(), codes.end(), answer.code) == codes.end()) {
    instance_->reporter().Fail(Check::kCodes, std::string(point) + " returns " +
                                                  CodeName(answer.code) +
                                                  ", which is not a valid code of " + point);
  }
  // Pending needs no reason: the host names the plugin that the pod waits for.
  const bool rejection =
      answer.code == BERTH_UNSCHEDULABLE || answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
  if (rejection && answer.reasons.empty()) {
    instance_->reporter().Fail(Check::kCodes, std::string(point) + " returns " +
                                                  CodeName(answer.code) + " without a reason");
  }
}

std::vector<uint32_t> Cycle::AllRows() const {
  std::vector<uint32_t> rows(table_->rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

std::vector<uint32_t> Cycle::AllowedRows() const {
  std::vector<uint32_t> rows = AllRows();
  if (only_nodes_) {
    std::erase_if(rows, [this](uint32_t row) {
      return !std::binary_search(only_nodes_->begin(), only_nodes_->end(),
                                 table_->rows[row].node.name());
    });
  }
  return rows;
}

Cycle::Cycle(Instance* instance, const Table* table, PodHandle pod, uint32_t block_size,
             Identity identity)
    : instance_(instance),
      table_(table),
      pod_(std::move(pod)),
      block_size_(block_size),
      slots_(instance),
      reasons_(instance->reasons()) {
  binder_.columns = instance->columns();
  binder_.cycle = this;
  binder_.owner = &instance->services();
  binder_.random = std::move(identity.random);
  abi_.struct_size = sizeof abi_;
  abi_.flags = identity.flags;
  abi_.id = identity.id;
  abi_.pod = pod_.get();
  abi_.slots = slots_.data();
  abi_.cancel = &cancel_;
  abi_.host = &binder_;
}

void Cycle::SetOnlyNodes(const berth_str* names, uint64_t count) {
  only_nodes_.emplace();
  for (uint64_t i = 0; i < count; ++i) only_nodes_->emplace_back(FromAbi(names[i]));
  std::sort(only_nodes_->begin(), only_nodes_->end());
}

int32_t Cycle::AddReason(berth_str text) {
  const auto added = reasons_.begin() + static_cast<std::ptrdiff_t>(instance_->reasons().size());
  const auto known = std::find(added, reasons_.end(), FromAbi(text));
  const auto bit = static_cast<int32_t>(known - reasons_.begin());
  if (known != reasons_.end()) return bit;
  if (reasons_.size() >= 64) return -1;
  reasons_.emplace_back(FromAbi(text));
  return bit;
}

}  // namespace berth::testing
