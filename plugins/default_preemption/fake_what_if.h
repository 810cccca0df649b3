// For tests: the service berth.whatif/1 in a cluster where the cpu of a node decides, or the test.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_FAKE_WHAT_IF_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_FAKE_WHAT_IF_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>

namespace preemption {

// Answers the questions of one plugin. The pods of a row fit beside the pod of the cycle if their
// cpu does.
//
// Lifetime: one at a time; it must outlive the calls of the plugin.
class FakeWhatIf {
 public:
  using PodViews = std::vector<const berth_pod*>;
  struct Row {
    const berth_node* node = nullptr;
    PodViews pods;
    std::string refusal = {};  // The answer of the last run.
  };
  using ReadRow = std::function<Row(uint32_t row)>;
  // Returns why the pod does not fit on a node beside these pods; empty if it fits.
  using Refuse = std::function<std::string(const berth_node& node, const PodViews& pods,
                                           const berth_pod& pod)>;

  FakeWhatIf() { current_ = this; }
  ~FakeWhatIf() { current_ = nullptr; }
  FakeWhatIf(const FakeWhatIf&) = delete;
  FakeWhatIf& operator=(const FakeWhatIf&) = delete;

  // The service, for Scenario::services.
  static const void* service() { return &kService; }
  // Returns a function that reads rows of the nodes of this PluginUnderTest, which must outlive it.
  template <class Plugin>
  static ReadRow RowsOf(const Plugin& plugin) {
    return [&plugin](uint32_t number) {
      Row row;
      for (const auto& known : plugin.table().rows) {
        if (known.number != number) continue;
        row.node = known.node.get();
        for (const auto& pod : known.pods) row.pods.push_back(pod.get());
      }
      return row;
    };
  }
  // Sets how a row of the test's nodes is read, which each question does.
  void SetReadRow(ReadRow read_row) { read_row_ = std::move(read_row); }
  // Replaces the rule.
  void SetRefuse(Refuse refuse) { refuse_ = std::move(refuse); }

  // Sets the plugins whose Filter reads the pods of nodes.
  void SetPodFilters(std::vector<std::string> plugins) { pod_filters_ = std::move(plugins); }

  // The verdict of a row for which the rule returns this text is an error.
  static constexpr const char* kError = "broken";

  std::size_t questions() const { return asked_.size(); }
  std::size_t runs() const { return runs_; }
  // The names of the nodes that were asked about, in order.
  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  struct Question {
    const berth_pod* pod = nullptr;
    std::vector<Row> rows;
  };

  static std::string RefuseByCpu(const berth_node& node, const PodViews& pods,
                                 const berth_pod& pod) {
    int64_t cpu = pod.request->milli_cpu;
    for (const berth_pod* other : pods) cpu += other->request->milli_cpu;
    return cpu > node.allocatable->milli_cpu ? "Insufficient cpu" : "";
  }

  static berth_code Begin(const berth_host*, const berth_cycle* cycle, const uint32_t* rows,
                          uint32_t count, uint32_t, uint64_t* question) noexcept {
    Question& asked = current_->asked_.emplace_back();
    asked.pod = cycle->pod;
    for (uint32_t i = 0; i < count; ++i) {
      asked.rows.push_back(current_->read_row_(rows[i]));
      current_->nodes_.emplace_back(berth::Str(asked.rows.back().node->meta->name));
    }
    *question = current_->asked_.size();
    return BERTH_SUCCESS;
  }
  static berth_code RemovePod(const berth_host*, uint64_t question, uint32_t i,
                              const berth_pod* pod, berth_status*) noexcept {
    return std::erase(RowOf(question, i).pods, pod) == 1 ? BERTH_SUCCESS : BERTH_NOT_FOUND;
  }
  static berth_code AddPod(const berth_host*, uint64_t question, uint32_t i, const berth_pod* pod,
                           berth_status*) noexcept {
    RowOf(question, i).pods.push_back(pod);
    return BERTH_SUCCESS;
  }
  static berth_code RunFilters(const berth_host*, uint64_t question, const berth_whatif_run* run,
                               berth_status*) noexcept {
    ++current_->runs_;
    Question& asked = current_->asked_[question - 1];
    const uint64_t count = run->selected != nullptr ? run->n_selected : asked.rows.size();
    for (uint64_t k = 0; k < count; ++k) {
      const auto i = run->selected != nullptr ? run->selected[k] : static_cast<uint32_t>(k);
      Row& row = asked.rows[i];
      row.refusal = current_->refuse_(*row.node, row.pods, *asked.pod);
      const bool failed = row.refusal == kError;
      run->codes[i] = static_cast<uint8_t>(row.refusal.empty() ? BERTH_SUCCESS
                                           : failed            ? BERTH_ERROR
                                                               : BERTH_UNSCHEDULABLE);
    }
    return BERTH_SUCCESS;
  }
  static void End(const berth_host*, uint64_t) noexcept {}
  static berth_code Reasons(const berth_host*, uint64_t question, uint32_t i,
                            berth_status* status) noexcept {
    const std::string& refusal = RowOf(question, i).refusal;
    if (!refusal.empty()) status->add_reason(status, berth::Str(std::string_view(refusal)));
    return BERTH_SUCCESS;
  }

  static berth_code PodFilters(const berth_host*, const berth_cycle*,
                               int32_t (*each)(void* to, berth_str plugin) noexcept,
                               void* to) noexcept {
    for (const std::string& plugin : current_->pod_filters_) {
      if (each(to, berth::Str(std::string_view(plugin))) == 0) break;
    }
    return BERTH_SUCCESS;
  }

  static Row& RowOf(uint64_t question, uint32_t i) {
    return current_->asked_[question - 1].rows[i];
  }

  static constexpr berth_whatif kService{sizeof(berth_whatif), 0,    &Begin,   &RemovePod, &AddPod,
                                         &RunFilters,          &End, &Reasons, &PodFilters};
  inline static FakeWhatIf* current_ = nullptr;

  ReadRow read_row_;
  Refuse refuse_ = RefuseByCpu;
  std::vector<std::string> pod_filters_;
  std::vector<Question> asked_;
  std::size_t runs_ = 0;
  std::vector<std::string> nodes_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_FAKE_WHAT_IF_H_
