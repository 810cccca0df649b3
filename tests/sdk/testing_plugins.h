// Small plugins, correct and broken, written against abi.h only, to test the test kit.
#ifndef BERTH_TESTS_SDK_TESTING_PLUGINS_H_
#define BERTH_TESTS_SDK_TESTING_PLUGINS_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/fake_host.h>

namespace berth::testing {

// The parts of one plugin. A part that is not set is absent.
struct Parts {
  uint32_t flags = 0;  // berth_plugin_info.flags
  std::vector<berth_column_request> columns;
  std::vector<berth_slot> slots;
  std::vector<std::string> reasons = {"no room"};
  berth_pre_filter pre_filter{};
  berth_filter filter{};
  berth_pre_score pre_score{};
  berth_score score{};
  berth_queue_sort queue_sort{};
  berth_queue_sort_2 queue_sort_2{};
  berth_entity entity{};
  berth_enqueue_extensions enqueue_extensions{};
  berth_permit permit{};
  berth_reserve reserve{};
  berth_pre_bind pre_bind{};
  berth_bind bind{};
  berth_post_filter post_filter{};
  berth_pre_enqueue pre_enqueue{};
  berth_code (*create)(const berth_host*, const berth_value*, berth_status*) = nullptr;
  void (*destroy)() = nullptr;  // called by destroy()
  std::vector<const char*> kinds;
  // returned by get_point, but not named in berth_plugin_info
  std::vector<std::string_view> hidden_points;
};

// A library with the plugin "Sample", which consists of `parts`. Only one may exist at a time.
class SampleLibrary {
 public:
  explicit SampleLibrary(Parts parts);
  ~SampleLibrary();
  SampleLibrary(const SampleLibrary&) = delete;
  SampleLibrary& operator=(const SampleLibrary&) = delete;

  const berth_entry& entry() const { return entry_; }
  // Returns the service struct `id`, for the plugin's functions.
  static const void* Service(const char* id);
  static const berth_host* host();

 private:
  const Parts parts_;
  std::vector<const char*> points_;
  std::vector<const char*> kinds_;
  berth_plugin_info info_{};
  const berth_plugin_info* infos_[1] = {&info_};
  berth_entry entry_{};
};

// Returns the violations that the kit reports during `use`.
std::vector<std::string> Findings(const Parts& parts, Scenario scenario,
                                  const std::function<void(PluginUnderTest&)>& use);

// Returns cell `i` of column `column`.
template <class T>
T Cell(const berth_block* block, uint32_t column, uint32_t i) {
  T value;
  const berth_column& from = block->columns[column];
  std::memcpy(&value, static_cast<const char*>(from.data) + size_t{i} * from.stride, sizeof value);
  return value;
}

// Calls `one(i)` for every selected index of the block.
template <class One>
void EachSelected(const berth_block* block, One one) {
  for (uint32_t k = 0; k < block->n_selected; ++k)
    one(block->selected != nullptr ? block->selected[k] : k);
}

inline void Reject(berth_filter_out* out, uint32_t i, bool reject) {
  out->codes[i] = reject ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
  out->reasons[i] = reject ? 1 : 0;
}

// Accepts nodes with enough free cpu for the pod. Declared, per node, correct.
Parts CorrectFilter();
// Scores a node by its free cpu.
Parts CorrectScore();
// Counts the pods with a priority above 0 over all nodes in a slot, with AddPod and RemovePod.
// Rejects every node when there are two or more.
Parts CorrectState();

// Dependence on the pod's requests, and on the node, or on the node and its pods.
inline constexpr berth_dependence kOnNode{sizeof(berth_dependence), BERTH_DEPENDS_NODE,
                                          BERTH_PART(REQUESTS), nullptr, nullptr};
inline constexpr berth_dependence kOnNodePods{sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                              BERTH_PART(REQUESTS), nullptr, nullptr};

// "a" has 600 m of cpu free, "b" 2000 m, and "c" 50 m, with the pod "old" of priority 1.
Scenario ThreeNodes();
// A pod that requests 600 m of cpu.
PodSpec SmallPod();
std::vector<std::string> FilterFindings(const Parts& parts, Scenario scenario = ThreeNodes());
std::vector<std::string> ScoreFindings(const Parts& parts);

// CorrectFilter with another Filter, and CorrectScore with another Score.
Parts WithFilter(berth_code (*filter)(void*, const berth_cycle*, const berth_block*,
                                      berth_filter_out*, berth_status*) noexcept,
                 const berth_dependence* dependence = nullptr);
Parts WithScore(berth_code (*score)(void*, const berth_cycle*, const berth_block*, berth_score_out*,
                                    berth_status*) noexcept,
                const berth_dependence* dependence = nullptr);

}  // namespace berth::testing

#endif  // BERTH_TESTS_SDK_TESTING_PLUGINS_H_
