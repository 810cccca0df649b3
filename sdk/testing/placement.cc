#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/cycle.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/placement.h>
#include <berth/testing/promises.h>
#include <berth/testing/quantity.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {
namespace {

void NormalizeMax(std::vector<int64_t>* scores, bool reversed) {
  const int64_t max =
      scores->empty() ? 0 : std::max<int64_t>(0, *std::max_element(scores->begin(), scores->end()));
  for (int64_t& score : *scores) {
    if (max != 0) score = BERTH_SCORE_MAX * score / max;
    if (reversed) score = max != 0 ? BERTH_SCORE_MAX - score : BERTH_SCORE_MAX;
  }
}

void NormalizeMinMax(std::vector<int64_t>* scores) {
  if (scores->empty()) return;
  const auto [low, high] = std::minmax_element(scores->begin(), scores->end());
  const int64_t min = *low;
  const int64_t range = *high - min;
  for (int64_t& score : *scores) score = range == 0 ? 0 : BERTH_SCORE_MAX * (score - min) / range;
}

void NormalizeMinMaxFloat(std::vector<int64_t>* scores) {
  if (scores->empty()) return;
  const auto [low, high] = std::minmax_element(scores->begin(), scores->end());
  const int64_t min = *low;
  const int64_t range = *high - min;
  for (int64_t& score : *scores) {
    const double share = static_cast<double>(score - min) / static_cast<double>(range);
    score = range == 0 ? 0 : static_cast<int64_t>(double{BERTH_SCORE_MAX} * share);
  }
}

Answer NormalizeCustom(Cycle& cycle, const std::vector<uint32_t>& rows,
                       std::vector<int64_t>* scores) {
  std::vector<uint32_t> numbers;
  numbers.reserve(rows.size());
  for (const uint32_t row : rows) numbers.push_back(cycle.table().rows[row].number);
  berth_scores view{sizeof view, static_cast<uint32_t>(rows.size()), numbers.data(),
                    scores->data()};
  return cycle.Invoke("normalize", kCycle, [&](berth_status* status) {
    return cycle.instance().score->normalize(cycle.instance().self(), cycle.abi(), &view, status);
  });
}

}  // namespace

// The chosen node as the plugin sees it: with the pod, which is assumed there and names it.
class Placement::TargetView {
 public:
  TargetView(const Cycle& cycle, const Row& row) {
    table_.ids = cycle.table().ids;
    table_.rows.push_back(row);
    std::vector<PodHandle>& pods = table_.rows.front().pods;
    const bool is_there = std::any_of(pods.begin(), pods.end(), [&](const PodHandle& pod) {
      return pod.spec().uid == cycle.pod().spec().uid;
    });
    if (!is_there) {
      PodSpec assumed = cycle.pod().spec();
      pods.emplace_back(std::move(assumed.NodeName(row.node.name())), *table_.ids);
    }
    block_.emplace(table_, cycle.columns(), std::vector<uint32_t>{0}, nullptr, Layout{});
    abi_ = {sizeof abi_, row.number, row.node.get(), &block_->view(), 0, 0};
  }
  TargetView(const TargetView&) = delete;
  TargetView& operator=(const TargetView&) = delete;

  const berth_target* abi() const { return &abi_; }

 private:
  Table table_;
  std::optional<Block> block_;
  berth_target abi_{};
};

namespace {

using Codes = std::initializer_list<berth_code>;

constexpr Codes kReserveCodes = {
    BERTH_SUCCESS, BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
    BERTH_PENDING, BERTH_ERROR,         BERTH_CANCELLED,
    BERTH_BUG};
constexpr Codes kPermitCodes = {BERTH_SUCCESS,
                                BERTH_UNSCHEDULABLE,
                                BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                                BERTH_PENDING,
                                BERTH_WAIT,
                                BERTH_ERROR,
                                BERTH_CANCELLED,
                                BERTH_BUG};
// PreBind and Bind may pass on the codes of a service.
constexpr Codes kPreBindCodes = {
    BERTH_SUCCESS,      BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
    BERTH_ERROR,        BERTH_UNSUPPORTED,   BERTH_NOT_FOUND,
    BERTH_BAD_ARGUMENT, BERTH_CONFLICT,      BERTH_CANCELLED,
    BERTH_BUG};
constexpr Codes kBindCodes = {BERTH_SUCCESS,
                              BERTH_SKIP,
                              BERTH_UNSCHEDULABLE,
                              BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                              BERTH_ERROR,
                              BERTH_UNSUPPORTED,
                              BERTH_NOT_FOUND,
                              BERTH_BAD_ARGUMENT,
                              BERTH_CONFLICT,
                              BERTH_CANCELLED,
                              BERTH_BUG};

}  // namespace

template <class Call>
Answer Placement::Checked(const char* point, Word word, std::initializer_list<berth_code> codes,
                          Call call) {
  const Answer answer = cycle_->Invoke(point, word, call);
  // Pending from a [bind] call is not a rejection: the call completes later.
  const bool completes_later = word == instance_.bind_word() && answer.code == BERTH_PENDING;
  if (!completes_later) cycle_->Expect(point, answer, codes);
  instance_.reporter().Flush();
  return answer;
}

template <class Call>
Answer Placement::CheckedWithDone(const char* point, Promises::Call of, Call call) {
  Completion& completion = *dones_.emplace_back(std::make_shared<Completion>());
  const berth_done done = instance_.services().promises().New(of, dones_.back());
  const Codes& codes = of == Promises::Call::kBind ? kBindCodes : kPreBindCodes;
  const Answer answer = Checked(point, instance_.bind_word(), codes,
                                [&](berth_status* status) { return call(done, status); });
  const std::lock_guard lock(completion.mutex);
  completion.closed = answer.code != BERTH_PENDING;
  return answer;
}

Answer Normalize(Cycle& cycle, const std::vector<uint32_t>& rows, std::vector<int64_t>* scores) {
  Answer answer;
  switch (cycle.instance().score->normalize_mode) {
    case BERTH_NORMALIZE_MAX: NormalizeMax(scores, false); break;
    case BERTH_NORMALIZE_MAX_REVERSED: NormalizeMax(scores, true); break;
    case BERTH_NORMALIZE_MIN_MAX: NormalizeMinMax(scores); break;
    case BERTH_NORMALIZE_MIN_MAX_FLOAT: NormalizeMinMaxFloat(scores); break;
    case BERTH_NORMALIZE_CUSTOM: answer = NormalizeCustom(cycle, rows, scores); break;
    default: break;
  }
  for (size_t i = 0; answer.ok() && i < rows.size(); ++i) {
    if ((*scores)[i] >= 0 && (*scores)[i] <= BERTH_SCORE_MAX) continue;
    cycle.instance().reporter().Fail(
        Check::kCodes, "Score of pod " + cycle.pod().spec().ns + "/" + cycle.pod().name() +
                           ": node \"" + cycle.table().rows[rows[i]].node.name() + "\" has " +
                           std::to_string((*scores)[i]) +
                           " after normalisation, but only 0..100 is allowed");
    break;
  }
  return answer;
}

Placement::Placement(Instance* instance, const Table* table, PodHandle pod)
    : instance_(*instance), cycle_(std::make_unique<Cycle>(instance, table, std::move(pod))) {
  pre_filter_ = cycle_->PreFilter();
  instance_.reporter().Flush();
}

PostFilterResult Placement::PostFilter(const std::map<std::string, berth_code>& verdicts) {
  Need(instance_.post_filter.has_value(), "PostFilter");
  const Table& table = cycle_->table();
  const uint32_t count = table.rows.empty() ? 0 : table.rows.back().number + 1;
  std::vector<uint8_t> codes(count, BERTH_SUCCESS);
  std::vector<uint8_t> absent(count, 1);
  for (const Row& row : table.rows) {
    const auto found = verdicts.find(row.node.name());
    codes[row.number] =
        static_cast<uint8_t>(found != verdicts.end() ? found->second : BERTH_UNSCHEDULABLE);
    absent[row.number] = 0;
  }
  const berth_verdicts abi{sizeof abi, count, codes.data(), absent.data()};
  Nodes all(&instance_, table, cycle_->binder(), cycle_->AllRows(), Cycle::kBlockSize);
  PostFilterResult result;
  berth_post_filter_out out{};
  out.struct_size = sizeof out;
  out.impl = &result.nominated;
  out.nominate = [](berth_post_filter_out* self, berth_str node) noexcept {
    self->mode = BERTH_NOMINATE_OVERRIDE;
    *static_cast<std::string*>(self->impl) = FromAbi(node);
  };
  result.answer = cycle_->Invoke("PostFilter", kCycle, [&](berth_status* status) {
    return instance_.post_filter->post_filter(instance_.self(), cycle_->abi(), all.abi(), &abi,
                                              &out, status);
  });
  instance_.services().scheduling().EndQuestions();
  result.mode = out.mode;
  instance_.reporter().Flush();
  return result;
}

Answer Placement::Reserve(const std::string& node) {
  Need(instance_.reserve.has_value(), "Reserve");
  const TargetView target(*cycle_, RowOf(node));
  return Checked("Reserve", kCycle, kReserveCodes, [&](berth_status* status) {
    return instance_.reserve->reserve(instance_.self(), cycle_->abi(), target.abi(), status);
  });
}

void Placement::Unreserve(const std::string& node) {
  Need(instance_.reserve && instance_.reserve->unreserve != nullptr, "Unreserve");
  const berth_binding binding = Binding(node);
  const CallScope scope(&instance_.reporter(), "Unreserve", kEvent);
  instance_.reserve->unreserve(instance_.self(), &binding);
  instance_.reporter().Flush();
}

PermitResult Placement::Permit(const std::string& node) {
  Need(instance_.permit.has_value(), "Permit");
  const TargetView target(*cycle_, RowOf(node));
  PermitResult result;
  berth_permit_out out{sizeof out, 0, 0};
  result.answer = Checked("Permit", kCycle, kPermitCodes, [&](berth_status* status) {
    return instance_.permit->permit(instance_.self(), cycle_->abi(), target.abi(), &out, status);
  });
  result.timeout_ns = out.timeout_ns;
  constexpr int64_t kLongest = int64_t{15} * 60 * 1'000'000'000;
  if (result.answer.code == BERTH_WAIT) {
    result.timeout_ns = std::clamp<int64_t>(result.timeout_ns, 0, kLongest);
  }
  instance_.reporter().Flush();
  return result;
}

Answer Placement::PreFlight(const std::string& node) {
  Need(instance_.pre_bind.has_value(), "PreBind");
  if (instance_.pre_bind->pre_flight == nullptr) return {};
  const berth_binding binding = Binding(node);
  // It runs on the scheduling thread, also for a plugin whose other [bind] calls run on the pool.
  const Answer answer = cycle_->Invoke("PreBindPreFlight", kBind, [&](berth_status* status) {
    return instance_.pre_bind->pre_flight(instance_.self(), &binding, status);
  });
  cycle_->Expect("PreBindPreFlight", answer,
                 {BERTH_SUCCESS, BERTH_SKIP, BERTH_ERROR, BERTH_CANCELLED, BERTH_BUG});
  instance_.reporter().Flush();
  return answer;
}

Answer Placement::PreBind(const std::string& node) {
  Need(instance_.pre_bind.has_value(), "PreBind");
  const berth_binding binding = Binding(node);
  return CheckedWithDone(
      "PreBind", Promises::Call::kPreBind, [&](berth_done done, berth_status* status) {
        return instance_.pre_bind->pre_bind(instance_.self(), &binding, done, status);
      });
}

Answer Placement::Bind(const std::string& node) {
  Need(instance_.bind.has_value(), "Bind");
  const berth_binding binding = Binding(node);
  return CheckedWithDone("Bind", Promises::Call::kBind, [&](berth_done done, berth_status* status) {
    return instance_.bind->bind(instance_.self(), &binding, done, status);
  });
}

void Placement::PostBind(const std::string& node) {
  Need(instance_.post_bind.has_value(), "PostBind");
  const berth_binding binding = Binding(node);
  const CallScope scope(&instance_.reporter(), "PostBind", kEvent);
  instance_.post_bind->post_bind(instance_.self(), &binding);
  instance_.reporter().Flush();
}

void Placement::Need(bool has, const char* what) const {
  if (!has) Misuse(std::string("the plugin has no ") + what);
}

const Row& Placement::RowOf(const std::string& node) const {
  for (const Row& row : cycle_->table().rows) {
    if (row.node.name() == node) return row;
  }
  Misuse("the test has no node \"" + node + "\"");
}

berth_binding Placement::Binding(const std::string& node) const {
  const berth_meta& meta = *RowOf(node).node->meta;
  berth_binding binding{};
  binding.struct_size = sizeof binding;
  binding.pod = cycle_->pod().get();
  binding.node_name = meta.name;
  binding.node_uid = meta.uid;
  binding.slots = cycle_->abi()->slots;
  binding.cancel = cycle_->abi()->cancel;
  return binding;
}

}  // namespace berth::testing
