#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

using TestColumns =
    Columns<AllocCpu, Label<"zone">, NodeUnschedulable, Taints, Optional<Req<"example.com/gpu">>>;

// A newer host may have larger values than this header, and so a larger stride.
struct WideCpu {
  int64_t value;
  int64_t more;
};

// Five nodes; node i has i times 100 milli-cpu.
class Nodes5 {
 public:
  explicit Nodes5(bool wide) {
    for (uint32_t i = 0; i < kCount; ++i) {
      cpu_[i] = 100 * i;
      wide_cpu_[i] = {100 * i, -1};
      zone_[i] = i % 2;
      unschedulable_[i] = i == 3;
      taints_[i] = {taint_, i, sizeof(berth_taint)};
      rows_[i] = 10 + i;
      views_[i].name = i;
      pointers_[i] = &views_[i];
    }
    if (wide) {
      columns_[0] = {wide_cpu_, BERTH_TYPE_I64, sizeof(WideCpu)};
    } else {
      columns_[0] = {cpu_, BERTH_TYPE_I64, sizeof(int64_t)};
    }
    columns_[1] = {zone_, BERTH_TYPE_ID, sizeof(berth_id)};
    columns_[2] = {unschedulable_, BERTH_TYPE_U8, 1};
    columns_[3] = {taints_, BERTH_TYPE_ARRAY, sizeof(berth_array)};
    columns_[4] = {nullptr, BERTH_TYPE_I64, 0};
    columns_[5] = {cpu_, BERTH_TYPE_I64, sizeof(int64_t)};
    block_ = {sizeof(block_), kCount,   kCount,    6,     nullptr,
              rows_,          columns_, pointers_, pods_, nullptr};
    pods_[2] = {on_node_, 2};
  }
  void Select(const std::vector<uint32_t>& indices) {
    block_.selected = indices.data();
    block_.n_selected = static_cast<uint32_t>(indices.size());
  }
  void RemoveNode(uint32_t index) { pointers_[index] = nullptr; }
  const berth_block& block() const { return block_; }

 private:
  static constexpr uint32_t kCount = 5;
  int64_t cpu_[kCount];
  WideCpu wide_cpu_[kCount];
  berth_id zone_[kCount];
  uint8_t unschedulable_[kCount];
  berth_taint taint_[kCount] = {{1, 2, BERTH_EFFECT_NO_SCHEDULE, 0}};
  berth_array taints_[kCount];
  uint32_t rows_[kCount];
  berth_node views_[kCount] = {};
  const berth_node* pointers_[kCount];
  berth_pod pod_ = {};
  const berth_pod* on_node_[2] = {&pod_, &pod_};
  berth_pod_list pods_[kCount] = {};
  berth_column columns_[6];
  berth_block block_ = {};
};

// Returns the text of the std::logic_error that the call throws; empty if it throws none.
template <class F>
std::string ErrorOf(F&& call) {
  try {
    static_cast<void>(call());
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Block, ReadsColumnsAtAnyStride) {
  for (const bool wide : {false, true}) {
    SCOPED_TRACE(wide ? "wide" : "packed");
    const Nodes5 nodes(wide);
    const Block<TestColumns> block(nodes.block());
    EXPECT_EQ(block.size(), 5U);
    std::vector<int64_t> cpu;
    block.ForEach([&](const NodeRow<TestColumns>& node) { cpu.push_back(node[AllocCpu{}]); });
    EXPECT_EQ(cpu, (std::vector<int64_t>{0, 100, 200, 300, 400}));
    EXPECT_EQ(block[3][AllocCpu{}], 300);
    EXPECT_EQ(block[3][Label<"zone">{}], 1U);
    EXPECT_EQ(block[3][NodeUnschedulable{}], 1U);
    EXPECT_EQ(block[2][NodeUnschedulable{}], 0U);
    EXPECT_EQ(block[4][Taints{}].size(), 4U);
    EXPECT_EQ(block[1][Taints{}].front().value, 2U);
    EXPECT_EQ(block.Column<AllocCpu>()[4], 400);
    EXPECT_EQ(block.Column<AllocCpu>().size(), 5U);
  }
}

TEST(Block, ReadsZeroForAnAbsentOptionalColumn) {
  const Nodes5 nodes(false);
  const Block<TestColumns> block(nodes.block());
  EXPECT_FALSE((block.Has<Req<"example.com/gpu">>()));
  EXPECT_TRUE(block.Has<AllocCpu>());
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ((block[i][Req<"example.com/gpu">{}]), 0);
}

TEST(Block, VisitsOnlyTheSelectedNodes) {
  for (const bool wide : {false, true}) {
    Nodes5 nodes(wide);
    const std::vector<uint32_t> selected = {1, 4};
    nodes.Select(selected);
    std::vector<std::pair<uint32_t, int64_t>> seen;
    Block<TestColumns>(nodes.block()).ForEach([&](const NodeRow<TestColumns>& node) {
      seen.emplace_back(node.index(), node[AllocCpu{}]);
    });
    EXPECT_EQ(seen, (std::vector<std::pair<uint32_t, int64_t>>{{1, 100}, {4, 400}}));
    nodes.Select({});
    Block<TestColumns>(nodes.block()).ForEach([&](const NodeRow<TestColumns>&) { FAIL(); });
  }
}

TEST(Block, RefusesAnIndexWithoutANode) {
  Nodes5 nodes(false);
  nodes.RemoveNode(3);
  const Block<TestColumns> block(nodes.block());
  const struct {
    uint32_t index;
    std::string error;  // "": there is a node.
  } cases[] = {
      {2, ""},
      {3, "index 3 of a block of 5 nodes has no node; only a selected index always has one"},
      {4, ""},
      {5, "index 5 of a block of 5 nodes is out of range"},
      {~uint32_t{0}, "index 4294967295 of a block of 5 nodes is out of range"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(block.HasNode(c.index), c.error.empty()) << c.index;
    EXPECT_EQ(ErrorOf([&] { return block[c.index].view()->name; }), c.error);
    EXPECT_EQ(ErrorOf([&] { return block.View(c.index)->name; }), c.error);
    EXPECT_EQ(ErrorOf([&] { return block.Pods(c.index).size(); }), c.error);
    EXPECT_EQ(ErrorOf([&] { return block.Row(c.index); }), c.error);
  }
}

TEST(Nodes, VersionDependsOnSelectedNodesAndTheirOrder) {
  uint64_t versions[] = {11, 12, 13};
  uint32_t selected[] = {0, 2};
  berth_block block = {};
  block.struct_size = sizeof(block);
  block.count = 3;
  block.n_selected = 2;
  block.selected = selected;
  block.versions = versions;
  const berth_nodes list = {sizeof(list), 1, 2, &block,
                            [](const berth_nodes* self, uint32_t) noexcept {
                              return static_cast<const berth_block*>(self->impl);
                            }};
  const uint64_t before = Nodes(list).Version();
  versions[1] = 22;  // It is not selected.
  EXPECT_EQ(Nodes(list).Version(), before);
  versions[2] = 23;
  EXPECT_NE(Nodes(list).Version(), before);
  versions[2] = 13;
  EXPECT_EQ(Nodes(list).Version(), before);
  std::swap(versions[0], versions[2]);
  EXPECT_NE(Nodes(list).Version(), before);
}

TEST(Nodes, RefuseABlockThatIsOutOfRange) {
  const Nodes5 nodes(false);
  const berth_nodes all = {sizeof(all), 1, 5, const_cast<berth_block*>(&nodes.block()),
                           [](const berth_nodes* self, uint32_t index) noexcept {
                             return index == 0 ? static_cast<const berth_block*>(self->impl)
                                               : nullptr;
                           }};
  EXPECT_EQ(Nodes(all).BlockAt<TestColumns>(0).size(), 5U);
  EXPECT_EQ(ErrorOf([&] { return Nodes(all).BlockAt<TestColumns>(1).size(); }),
            "block 1 of 1 is out of range");
}

// A row may outlive the block that it was taken from.
TEST(NodeRow, DoesNotDependOnTheBlock) {
  const Nodes5 nodes(true);
  const NodeRow<TestColumns> node = Block<TestColumns>(nodes.block())[3];
  EXPECT_EQ(node[AllocCpu{}], 300);
  EXPECT_EQ(node.view()->name, 3U);
}

TEST(NodeRow, ReturnsTheNodeItsPodsAndItsRow) {
  const Nodes5 nodes(false);
  const Block<TestColumns> block(nodes.block());
  EXPECT_EQ(block[2].view()->name, 2U);
  EXPECT_EQ(block[2].pods().size(), 2U);
  EXPECT_EQ(block[1].pods().size(), 0U);
  EXPECT_EQ(block[4].row(), 14U);
}

TEST(Cycle, BindsColumnsThatDependOnThePod) {
  testing::SmallHost host;
  host.own_columns = 5;
  internal::Fault fault;
  const internal::Services services(host.abi(), &fault);
  testing::SmallCycle<int> pod;
  testing::RecordedStatus recorded;
  Cycle cycle(pod.cycle, services, recorded.abi(), {nullptr, "PreFilter"});
  const Nodes5 nodes(false);
  const Block<TestColumns> block(nodes.block());

  const ColumnRef<int64_t> bound = cycle.Bind<int64_t>("alloc:example.com/gpu");
  EXPECT_TRUE(bound);
  EXPECT_EQ(block[3].Get(bound), 300);
  EXPECT_EQ(block[3].Get(cycle.Bind<int64_t>("alloc:example.com/gpu")), 300)
      << "binding a column twice";
  EXPECT_EQ(block[3].Get(ColumnRef<int64_t>()), 0) << "an unbound column";
  EXPECT_FALSE(cycle.failed());

  EXPECT_FALSE(cycle.TryBind<int64_t>("unknown"));
  EXPECT_FALSE(cycle.failed()) << "TryBind does not fail the method";
  EXPECT_FALSE(cycle.Bind<int64_t>("unknown"));
  EXPECT_TRUE(cycle.failed());
  EXPECT_EQ(recorded.texts,
            (std::vector<std::string>{"the host has no column \"unknown\" of this type"}));
  EXPECT_FALSE(cycle.Bind<int64_t>("label:zone"));
  EXPECT_EQ(recorded.texts.size(), 2U) << "every column is reported";
}

TEST(Cycle, RejectsAColumnOfAnotherType) {
  testing::SmallHost host;
  internal::Fault fault;
  const internal::Services services(host.abi(), &fault);
  testing::SmallCycle<int> pod;
  testing::RecordedStatus recorded;
  Cycle cycle(pod.cycle, services, recorded.abi(), {nullptr, "PreFilter"});
  EXPECT_FALSE(cycle.TryBind<int64_t>("label:zone"));
  EXPECT_TRUE(cycle.TryBind<berth_id>("label:zone"));
  EXPECT_FALSE(cycle.TryBind<uint32_t>("req:cpu"));
  EXPECT_FALSE(cycle.TryBind<int64_t>("taints"));
  EXPECT_TRUE(cycle.TryBind<berth_array>("taints"));
  EXPECT_TRUE(cycle.TryBind<uint8_t>("unschedulable"));
  EXPECT_TRUE(cycle.TryBind<uint32_t>("taints.hard"));
  EXPECT_TRUE(cycle.TryBind<berth_str>("annotation:tier"));
  EXPECT_TRUE(cycle.TryBind<const berth_object*>("object:v1/Rack"));
  EXPECT_FALSE(cycle.TryBind<berth_str>("label:zone"));
  EXPECT_TRUE(cycle.TryBind<int64_t>("a column of a later catalogue"));
  EXPECT_FALSE(cycle.TryBind<berth_id>(std::string_view("label:zone\0b", 12)))
      << "a zero byte does not end the name";
  EXPECT_FALSE(cycle.failed());
  EXPECT_FALSE(cycle.Bind<int64_t>("label:zone"));
  EXPECT_TRUE(cycle.failed());
  EXPECT_EQ(recorded.texts,
            (std::vector<std::string>{"the host has no column \"label:zone\" of this type"}));
}

TEST(Columns, AddAmountsIsLimited) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    int64_t a;
    int64_t b;
    int64_t want;
  } cases[] = {{0, 0, 0},         {1, 2, 3},       {kMax - 1, 1, kMax},
               {kMax, 0, kMax},   {kMax, 1, kMax}, {kMax / 2 + 1, kMax / 2 + 1, kMax},
               {kMax, kMax, kMax}};
  for (const auto& c : cases) {
    EXPECT_EQ(AddAmounts(c.a, c.b), c.want) << c.a << " + " << c.b;
    EXPECT_EQ(AddAmounts(c.b, c.a), c.want) << c.b << " + " << c.a;
  }
}

TEST(Columns, ListsRequestsInOrder) {
  const auto& requests = TestColumns::kRequests;
  ASSERT_EQ(requests.size(), 5U);
  const struct {
    const char* name;
    uint32_t type;
    uint32_t flags;
  } want[] = {{"alloc.cpu", BERTH_TYPE_I64, 0},
              {"label:zone", BERTH_TYPE_ID, 0},
              {"unschedulable", BERTH_TYPE_U8, 0},
              {"taints", BERTH_TYPE_ARRAY, 0},
              {"req:example.com/gpu", BERTH_TYPE_I64, BERTH_COLUMN_OPTIONAL}};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_STREQ(requests[i].name, want[i].name);
    EXPECT_EQ(requests[i].type, want[i].type);
    EXPECT_EQ(requests[i].flags, want[i].flags);
  }
}

// The catalogue as abi.h has it.
TEST(Columns, MatchTheCatalogue) {
  using All =
      Columns<NodeName, NodeUnschedulable, AllocCpu, AllocMemory, AllocEphemeralStorage, AllocPods,
              Alloc<"x">, ReqCpu, ReqMemory, ReqEphemeralStorage, Req<"x">, NonzeroCpu,
              NonzeroMemory, PodsCount, Taints, TaintsHard, TaintsSoft, Label<"x">, Images,
              Features, HostPort<"TCP/80">, Annotation<"x">, NodeObject<"v1/X">>;
  const std::vector<std::pair<std::string, uint32_t>> want = {
      {"name", BERTH_TYPE_ID},
      {"unschedulable", BERTH_TYPE_U8},
      {"alloc.cpu", BERTH_TYPE_I64},
      {"alloc.memory", BERTH_TYPE_I64},
      {"alloc.ephemeral-storage", BERTH_TYPE_I64},
      {"alloc.pods", BERTH_TYPE_I64},
      {"alloc:x", BERTH_TYPE_I64},
      {"req.cpu", BERTH_TYPE_I64},
      {"req.memory", BERTH_TYPE_I64},
      {"req.ephemeral-storage", BERTH_TYPE_I64},
      {"req:x", BERTH_TYPE_I64},
      {"nonzero.cpu", BERTH_TYPE_I64},
      {"nonzero.memory", BERTH_TYPE_I64},
      {"pods.count", BERTH_TYPE_I64},
      {"taints", BERTH_TYPE_ARRAY},
      {"taints.hard", BERTH_TYPE_U32},
      {"taints.soft", BERTH_TYPE_U32},
      {"label:x", BERTH_TYPE_ID},
      {"images", BERTH_TYPE_ARRAY},
      {"features", BERTH_TYPE_ARRAY},
      {"hostport:TCP/80", BERTH_TYPE_I64},
      {"annotation:x", BERTH_TYPE_STR},
      {"object:v1/X", BERTH_TYPE_OBJECT}};
  ASSERT_EQ(All::kRequests.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(All::kRequests[i].name, want[i].first);
    EXPECT_EQ(All::kRequests[i].type, want[i].second) << want[i].first;
  }
}

}  // namespace
}  // namespace berth
