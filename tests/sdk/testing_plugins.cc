#include "testing_plugins.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::testing {
namespace {

const Parts* current_parts = nullptr;
const berth_host* current_host = nullptr;

struct Sample {
  berth_plugin abi{};
  std::vector<berth_str> reasons;
};

const void* GetPoint(const berth_plugin*, const char* id) noexcept {
  const Parts& parts = *current_parts;
  const std::string_view name = id;
  const auto given = [](const auto& point) { return point.struct_size != 0 ? &point : nullptr; };
  if (name == BERTH_POINT_PRE_FILTER) return given(parts.pre_filter);
  if (name == BERTH_POINT_FILTER) return given(parts.filter);
  if (name == BERTH_POINT_PRE_SCORE) return given(parts.pre_score);
  if (name == BERTH_POINT_SCORE) return given(parts.score);
  if (name == BERTH_POINT_QUEUE_SORT) return given(parts.queue_sort);
  if (name == BERTH_POINT_QUEUE_SORT_2) return given(parts.queue_sort_2);
  if (name == BERTH_POINT_ENTITY) return given(parts.entity);
  if (name == BERTH_POINT_ENQUEUE_EXTENSIONS) return given(parts.enqueue_extensions);
  if (name == BERTH_POINT_PERMIT) return given(parts.permit);
  if (name == BERTH_POINT_RESERVE) return given(parts.reserve);
  if (name == BERTH_POINT_PRE_BIND) return given(parts.pre_bind);
  if (name == BERTH_POINT_BIND) return given(parts.bind);
  if (name == BERTH_POINT_POST_FILTER) return given(parts.post_filter);
  if (name == BERTH_POINT_PRE_ENQUEUE) return given(parts.pre_enqueue);
  return nullptr;
}

void Destroy(berth_plugin* plugin) noexcept {
  if (current_parts != nullptr && current_parts->destroy != nullptr) current_parts->destroy();
  delete static_cast<Sample*>(plugin->self);
}

template <class T>
berth_array ArrayOf(const std::vector<T>& items) {
  return {items.data(), static_cast<uint32_t>(items.size()), sizeof(T)};
}

berth_code Create(const berth_host* host, const berth_instance_request* request, berth_plugin** out,
                  berth_status* status) noexcept {
  current_host = host;
  if (current_parts->create != nullptr) {
    const berth_code code = current_parts->create(host, request->args, status);
    if (code != BERTH_SUCCESS) return code;
  }
  auto* sample = new Sample;
  for (const std::string& reason : current_parts->reasons) sample->reasons.push_back(ToAbi(reason));
  sample->abi.struct_size = sizeof sample->abi;
  sample->abi.self = sample;
  sample->abi.columns = ArrayOf(current_parts->columns);
  sample->abi.slots = ArrayOf(current_parts->slots);
  sample->abi.reasons = ArrayOf(sample->reasons);
  sample->abi.get_point = &GetPoint;
  sample->abi.destroy = &Destroy;
  *out = &sample->abi;
  return BERTH_SUCCESS;
}

berth_code FilterByCpu(void*, const berth_cycle* cycle, const berth_block* block,
                       berth_filter_out* out, berth_status*) noexcept {
  EachSelected(block, [&](uint32_t i) {
    const int64_t free = Cell<int64_t>(block, 0, i) - Cell<int64_t>(block, 1, i);
    Reject(out, i, cycle->pod->request->milli_cpu > free);
  });
  return BERTH_SUCCESS;
}

berth_code ScoreByCpu(void*, const berth_cycle* cycle, const berth_block* block,
                      berth_score_out* out, berth_status*) noexcept {
  EachSelected(block, [&](uint32_t i) {
    out->scores[i] =
        Cell<int64_t>(block, 0, i) - Cell<int64_t>(block, 1, i) - cycle->pod->request->milli_cpu;
  });
  return BERTH_SUCCESS;
}

// The slot of CorrectState: the number of pods with a priority above 0, over all nodes.
struct Count {
  int64_t* pods;
};

int64_t Matches(const berth_pod& pod) { return pod.priority > 0 ? 1 : 0; }

berth_code CountPods(void*, const berth_cycle* cycle, const berth_nodes* all, berth_pre_filter_out*,
                     berth_status*) noexcept {
  auto& count = *static_cast<Count*>(cycle->slots[0]);
  for (uint32_t b = 0; b < all->n_blocks; ++b) {
    const berth_block* block = all->block(all, b);
    for (uint32_t i = 0; i < block->count; ++i) {
      for (uint64_t p = 0; p < block->pods[i].count; ++p)
        *count.pods += Matches(*block->pods[i].data[p]);
    }
  }
  return BERTH_SUCCESS;
}

template <int kSign>
berth_code ChangeCount(void*, const berth_cycle* cycle, const berth_pod* pod, const berth_block*,
                       uint32_t, berth_status*) noexcept {
  *static_cast<Count*>(cycle->slots[0])->pods += kSign * Matches(*pod);
  return BERTH_SUCCESS;
}

berth_code FilterByCount(void*, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status*) noexcept {
  const int64_t pods = *static_cast<const Count*>(cycle->slots[0])->pods;
  EachSelected(block, [&](uint32_t i) { Reject(out, i, pods >= 2); });
  return BERTH_SUCCESS;
}

constexpr berth_dependence kOnRequests{sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                       BERTH_PART(REQUESTS), nullptr, nullptr};
constexpr berth_dependence kOnOthers{sizeof(berth_dependence), BERTH_DEPENDS_OTHER, 0, nullptr,
                                     nullptr};

}  // namespace

SampleLibrary::SampleLibrary(Parts given) : parts_(std::move(given)) {
  const Parts& parts = parts_;
  current_parts = &parts_;
  const auto add = [this](const auto& point, const char* id) {
    if (point.struct_size != 0) points_.push_back(id);
  };
  add(parts.pre_filter, BERTH_POINT_PRE_FILTER);
  add(parts.filter, BERTH_POINT_FILTER);
  add(parts.pre_score, BERTH_POINT_PRE_SCORE);
  add(parts.score, BERTH_POINT_SCORE);
  add(parts.queue_sort, BERTH_POINT_QUEUE_SORT);
  add(parts.queue_sort_2, BERTH_POINT_QUEUE_SORT_2);
  add(parts.entity, BERTH_POINT_ENTITY);
  add(parts.enqueue_extensions, BERTH_POINT_ENQUEUE_EXTENSIONS);
  add(parts.permit, BERTH_POINT_PERMIT);
  add(parts.reserve, BERTH_POINT_RESERVE);
  add(parts.pre_bind, BERTH_POINT_PRE_BIND);
  add(parts.bind, BERTH_POINT_BIND);
  add(parts.post_filter, BERTH_POINT_POST_FILTER);
  add(parts.pre_enqueue, BERTH_POINT_PRE_ENQUEUE);
  std::erase_if(points_, [&](std::string_view id) {
    return std::find(parts.hidden_points.begin(), parts.hidden_points.end(), id) !=
           parts.hidden_points.end();
  });
  points_.push_back(nullptr);
  kinds_ = parts.kinds;
  kinds_.push_back(nullptr);
  info_.struct_size = sizeof info_;
  info_.flags = parts.flags;
  info_.name = "Sample";
  info_.version = "1.0.0";
  info_.points = points_.data();
  info_.kinds = kinds_.data();
  entry_ = {BERTH_MAGIC,
            sizeof(berth_entry),
            BERTH_ABI_MAJOR,
            BERTH_ABI_MINOR,
            0,
            64,
            0,
            1,
            infos_,
            nullptr,
            nullptr,
            &Create,
            BERTH_ABI_DRAFT};
}

SampleLibrary::~SampleLibrary() { current_parts = nullptr; }

const berth_host* SampleLibrary::host() { return current_host; }

const void* SampleLibrary::Service(const char* id) {
  const void* service = nullptr;
  current_host->get_service(current_host, id, &service);
  return service;
}

std::vector<std::string> Findings(const Parts& parts, Scenario scenario,
                                  const std::function<void(PluginUnderTest&)>& use) {
  std::vector<std::string> findings;
  scenario.on_failure = [&](const std::string& text) { findings.push_back(text); };
  const SampleLibrary library(parts);
  {
    PluginUnderTest plugin(library.entry(), std::move(scenario));
    use(plugin);
  }
  return findings;
}

Parts CorrectFilter() {
  Parts parts;
  parts.columns = {{sizeof(berth_column_request), 0, "alloc.cpu", BERTH_TYPE_I64, 0},
                   {sizeof(berth_column_request), 0, "req.cpu", BERTH_TYPE_I64, 0}};
  parts.filter = {sizeof(berth_filter), 0, &kOnRequests, &FilterByCpu, nullptr};
  return parts;
}

Parts CorrectScore() {
  Parts parts = CorrectFilter();
  parts.filter = {};
  parts.score = {sizeof(berth_score), 0,      BERTH_NORMALIZE_MIN_MAX, 0, &kOnRequests,
                 &ScoreByCpu,         nullptr};
  return parts;
}

Parts CorrectState() {
  Parts parts;
  parts.slots = {{sizeof(berth_slot), sizeof(Count), alignof(Count), 0, "sample.count/1",
                  [](void* at) noexcept { static_cast<Count*>(at)->pods = new int64_t(0); },
                  [](void* to, const void* from) noexcept -> berth_code {
                    static_cast<Count*>(to)->pods =
                        new int64_t(*static_cast<const Count*>(from)->pods);
                    return BERTH_SUCCESS;
                  },
                  [](void* at) noexcept { delete static_cast<Count*>(at)->pods; }}};
  parts.pre_filter = {sizeof(berth_pre_filter), 0, &CountPods, &ChangeCount<1>, &ChangeCount<-1>};
  parts.filter = {sizeof(berth_filter), 0, &kOnOthers, &FilterByCount, nullptr};
  return parts;
}

Scenario ThreeNodes() {
  return {.nodes = {MakeNode("a").CpuMilli(1000).UsedCpuMilli(400),
                    MakeNode("b").CpuMilli(2000).Label("zone", "z1"),
                    MakeNode("c").CpuMilli(100).Pod(MakePod("old").CpuMilli(50).Priority(1))}};
}

PodSpec SmallPod() { return MakePod("web").CpuMilli(600).Label("app", "web"); }

std::vector<std::string> FilterFindings(const Parts& parts, Scenario scenario) {
  return Findings(parts, std::move(scenario),
                  [](PluginUnderTest& plugin) { plugin.Filter(SmallPod()); });
}

std::vector<std::string> ScoreFindings(const Parts& parts) {
  return Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Score(SmallPod()); });
}

Parts WithFilter(berth_code (*filter)(void*, const berth_cycle*, const berth_block*,
                                      berth_filter_out*, berth_status*) noexcept,
                 const berth_dependence* dependence) {
  Parts parts = CorrectFilter();
  parts.filter.filter = filter;
  parts.filter.dependence = dependence;
  return parts;
}

Parts WithScore(berth_code (*score)(void*, const berth_cycle*, const berth_block*, berth_score_out*,
                                    berth_status*) noexcept,
                const berth_dependence* dependence) {
  Parts parts = CorrectScore();
  parts.score.score = score;
  parts.score.dependence = dependence;
  return parts;
}

}  // namespace berth::testing
