// Measures the time of Filter per node when the host calls plugins in a shared object through the C
// ABI: 5,000 nodes, in blocks of 64, 256 and 1024 nodes, with warm caches. Reports it as per_node.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <berth/abi.h>

namespace {

constexpr uint32_t kNodes = 5000;
constexpr uint32_t kColumns = 5;
constexpr uint32_t kZones = 3;

berth_id InternZone(const berth_host* /*host*/, berth_str text) noexcept {
  return static_cast<berth_id>(text.ptr[text.len - 1] - '0') + 1;
}
berth_id FindNothing(const berth_host* /*host*/, berth_str /*text*/) noexcept { return 0; }
berth_str NoText(const berth_host* /*host*/, berth_id /*id*/) noexcept { return {nullptr, 0}; }
void ReleaseNothing(const berth_host* /*host*/, berth_id /*id*/) noexcept {}
constexpr berth_strings kStrings = {sizeof(berth_strings), 0,       &InternZone,
                                    &FindNothing,          &NoText, &ReleaseNothing};

berth_code GetService(const berth_host* /*host*/, const char* id, const void** service) noexcept {
  if (std::string_view(id) != BERTH_SERVICE_STRINGS) return BERTH_NOT_FOUND;
  *service = &kStrings;
  return BERTH_SUCCESS;
}

const berth_entry& Entry() {
  static const berth_entry* const entry = [] {
    void* const library = dlopen(BERTH_BENCH_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const void* symbol = library == nullptr ? nullptr : dlsym(library, "berth_entry_v1");
    if (symbol == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    return static_cast<const berth_entry*>(symbol);
  }();
  return *entry;
}

// A node table with its blocks, and one pod to filter. If `selected`, only every second node of a
// block is evaluated.
class Table {
 public:
  Table(uint32_t block_size, bool selected) : codes_(kNodes), reasons_(kNodes) {
    for (auto& column : numbers_) column.resize(kNodes);
    zones_.resize(kNodes);
    uint64_t random = 1;
    for (uint32_t i = 0; i < kNodes; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      numbers_[0][i] = 4000;
      numbers_[1][i] = static_cast<int64_t>((random >> 33U) % 4000);
      numbers_[2][i] = int64_t{16} << 30U;
      numbers_[3][i] = static_cast<int64_t>((random >> 43U) % 16) << 30U;
      zones_[i] = static_cast<berth_id>((random >> 51U) % kZones) + 1;
      if (i % 2 == 0) selected_.push_back(i);
    }
    for (uint32_t from = 0; from < kNodes; from += block_size) {
      AddBlock(from, std::min(block_size, kNodes - from), selected);
    }
    request_.milli_cpu = 1000;
    request_.memory = int64_t{2} << 30U;
    pod_.request = &request_;
    cycle_.struct_size = sizeof(cycle_);
    cycle_.pod = &pod_;
    cycle_.cancel = &cancel_;
    cycle_.slots = slots_;
  }

  // Constructs the cycle state and calls PreFilter, if the plugin has them. The plugins have at
  // most one slot, which needs no destruction.
  void Prepare(const berth_plugin& plugin) {
    if (plugin.slots.count != 0) {
      const auto& slot = *BERTH_AT(berth_slot, plugin.slots, 0);
      state_.resize(slot.size / sizeof(state_[0]) + 1);
      if (slot.construct != nullptr) slot.construct(state_.data());
      slots_[0] = state_.data();
    }
    const auto* point =
        static_cast<const berth_pre_filter*>(plugin.get_point(&plugin, BERTH_POINT_PRE_FILTER));
    if (point == nullptr) return;
    const berth_nodes all = {};
    berth_pre_filter_out out = {};
    if (point->pre_filter(plugin.self, &cycle_, &all, &out, nullptr) != BERTH_SUCCESS) std::abort();
  }
  // Returns the number of nodes that one Run evaluates.
  uint32_t evaluated() const { return evaluated_; }
  berth_cycle& cycle() { return cycle_; }
  void Run(const berth_filter& filter, void* self) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      berth_filter_out out = {sizeof(out), 0, &codes_[starts_[b]], &reasons_[starts_[b]]};
      if (filter.filter(self, &cycle_, &blocks_[b], &out, nullptr) != BERTH_SUCCESS) std::abort();
    }
  }

 private:
  void AddBlock(uint32_t from, uint32_t count, bool selected) {
    std::vector<berth_column>& columns = columns_.emplace_back();
    for (const auto& column : numbers_) columns.push_back({&column[from], BERTH_TYPE_I64, 8});
    columns.push_back({&zones_[from], BERTH_TYPE_ID, 4});
    berth_block block = {};
    block.struct_size = sizeof(block);
    block.count = count;
    block.n_selected = selected ? (count + 1) / 2 : count;
    block.selected = selected ? selected_.data() : nullptr;
    block.n_columns = kColumns;
    block.columns = columns.data();
    blocks_.push_back(block);
    starts_.push_back(from);
    evaluated_ += block.n_selected;
  }

  std::vector<int64_t> numbers_[4];
  std::vector<berth_id> zones_;
  std::vector<uint32_t> selected_;
  std::vector<std::vector<berth_column>> columns_;
  std::vector<berth_block> blocks_;
  std::vector<uint32_t> starts_;
  std::vector<uint8_t> codes_;
  std::vector<uint64_t> reasons_;
  uint32_t evaluated_ = 0;
  uint32_t cancel_ = 0;
  std::vector<int64_t> state_;
  void* slots_[1] = {nullptr};
  berth_resources request_ = {};
  berth_pod pod_ = {};
  berth_cycle cycle_ = {};
};

void BM_Filter(benchmark::State& state, const char* name) {
  const bool selected = state.range(1) != 0;
  Table table(static_cast<uint32_t>(state.range(0)), selected);
  const berth_host host = {
      sizeof(host),    BERTH_ABI_MAJOR,
      BERTH_ABI_MINOR, nullptr,
      {"bench", 5},    {"1", 1},
      &GetService,     [](const berth_host*, berth_str) noexcept { std::abort(); },
      {1, 2}};
  berth_plugin* plugin = nullptr;
  berth_instance_request request = {};
  request.struct_size = sizeof(request);
  request.name = {name, std::strlen(name)};
  request.profile = {"p", 1};
  if (Entry().create(&host, &request, &plugin, nullptr) != BERTH_SUCCESS) std::abort();
  const auto* filter =
      static_cast<const berth_filter*>(plugin->get_point(plugin, BERTH_POINT_FILTER));
  table.Prepare(*plugin);
  for (auto _ : state) {
    table.Run(*filter, plugin->self);
    benchmark::ClobberMemory();
  }
  state.counters["per_node"] =
      benchmark::Counter(table.evaluated(), benchmark::Counter::kIsIterationInvariantRate |
                                                benchmark::Counter::kInvert);
  plugin->destroy(plugin);
}

BENCHMARK_CAPTURE(BM_Filter, per_node, "bench.PerNode")
    ->ArgsProduct({{64, 256, 1024}, {0}})
    ->Args({256, 1});
BENCHMARK_CAPTURE(BM_Filter, per_node_early, "bench.PerNodeEarly")
    ->ArgsProduct({{64, 256, 1024}, {0}})
    ->Args({256, 1});
BENCHMARK_CAPTURE(BM_Filter, per_block, "bench.PerBlock")
    ->ArgsProduct({{64, 256, 1024}, {0}})
    ->Args({256, 1});

}  // namespace
