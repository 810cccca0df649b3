#include "image_index.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <berth/testing/builders.h>

namespace images {
namespace {

// The steps of one seed. In a debug build, perhaps with a sanitizer, each takes ten times as long.
#ifdef NDEBUG
constexpr uint32_t kSteps = 2000;
#else
constexpr uint32_t kSteps = 300;
#endif

using berth::testing::Ids;
using berth::testing::MakeNode;
using berth::testing::NodeHandle;
using berth::testing::NodeSpec;

// ---- RowSet -------------------------------------------------------------------------------------

bool Has(const RowSet& rows, uint32_t row) {
  return (rows.BitsOf(RowSet::GroupOf(row)) & RowSet::BitOf(row)) != 0;
}

TEST(RowSet, InsertAndErase) {
  RowSet rows;
  EXPECT_EQ(rows.BitsOf(0), 0U);
  for (const uint32_t row : {64U, 63U, 0U, 1'000'000U, 65U, 640U}) {
    EXPECT_FALSE(Has(rows, row)) << row;
    EXPECT_TRUE(rows.Insert(row)) << row;
    EXPECT_FALSE(rows.Insert(row)) << row;
    EXPECT_TRUE(Has(rows, row)) << row;
  }
  EXPECT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows.BitsOf(0), uint64_t{1} << 63 | 1);
  EXPECT_EQ(rows.BitsOf(1), 3U);
  EXPECT_EQ(rows.BitsOf(2), 0U);
  EXPECT_FALSE(rows.Erase(66)) << "another row of a group";
  EXPECT_FALSE(rows.Erase(128)) << "a group without rows";
  EXPECT_TRUE(rows.Erase(64));
  EXPECT_FALSE(rows.Erase(64));
  EXPECT_TRUE(rows.Erase(65));
  EXPECT_EQ(rows.BitsOf(1), 0U);
  EXPECT_TRUE(rows.Erase(1'000'000)) << "the last group";
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_TRUE(Has(rows, 640));
}

// ---- ImageIndex ---------------------------------------------------------------------------------

class ImageIndexTest : public ::testing::Test {
 protected:
  void Add(uint32_t row, const NodeSpec& node) {
    const auto [place, is_new] = nodes_.emplace(row, NodeHandle(node, ids_));
    ASSERT_TRUE(is_new);
    Send(BERTH_CHANGE_NODE_ADDED, row, place->second.get(), nullptr);
  }
  void Change(uint32_t row, const NodeSpec& node) {
    const NodeHandle old = std::exchange(nodes_.at(row), NodeHandle(node, ids_));
    Send(BERTH_CHANGE_NODE_CHANGED, row, nodes_.at(row).get(), old.get());
  }
  void Remove(uint32_t row) {
    Send(BERTH_CHANGE_NODE_REMOVED, row, nodes_.at(row).get(), nullptr);
    nodes_.erase(row);
  }
  const Image* Find(const std::string& name) { return index_.Find(ids_.Intern(name)); }
  int64_t SizeOf(const std::string& name) {
    const Image* const image = Find(name);
    return image == nullptr ? -1 : image->size;
  }
  uint32_t HoldersOf(const std::string& name) {
    const Image* const image = Find(name);
    return image == nullptr ? 0 : image->holders.size();
  }

  Ids ids_;
  ImageIndex index_;
  std::map<uint32_t, NodeHandle> nodes_;

 private:
  void Send(uint32_t kind, uint32_t row, const berth_node* node, const berth_node* old) {
    berth_change change = {};
    change.struct_size = sizeof(change);
    change.kind = kind;
    change.row = row;
    change.node = node;
    change.old_node = old;
    index_.OnChange(change);
  }
};

TEST_F(ImageIndexTest, FollowsTheNodes) {
  Add(1, MakeNode("a").Image("x", 10).Image("y", 20));
  Add(70, MakeNode("b").Image("x", 10));
  EXPECT_EQ(HoldersOf("x"), 2U);
  EXPECT_EQ(HoldersOf("y"), 1U);
  EXPECT_EQ(Find("z"), nullptr);
  EXPECT_EQ(index_.Find(BERTH_ID_NONE), nullptr);
  EXPECT_TRUE(Has(Find("x")->holders, 70));
  EXPECT_FALSE(Has(Find("y")->holders, 70));

  Change(1, MakeNode("a").Image("y", 20).Image("z", 30));
  EXPECT_EQ(HoldersOf("x"), 1U);
  EXPECT_EQ(HoldersOf("y"), 1U);
  EXPECT_EQ(SizeOf("z"), 30);

  Remove(1);
  EXPECT_EQ(Find("y"), nullptr);
  EXPECT_EQ(HoldersOf("x"), 1U);
  Add(1, MakeNode("c"));
  EXPECT_FALSE(Has(Find("x")->holders, 1)) << "a reused row";
  Remove(70);
  EXPECT_EQ(index_.size(), 0U);
}

TEST_F(ImageIndexTest, EveryNameOfAnImageIsKnown) {
  NodeSpec node = MakeNode("a");
  node.images.push_back({{"x@sha256:0", "x:1", "x:latest"}, 10});
  Add(0, node);
  for (const char* name : {"x@sha256:0", "x:1", "x:latest"}) EXPECT_EQ(SizeOf(name), 10) << name;
  EXPECT_EQ(index_.size(), 3U);
}

TEST_F(ImageIndexTest, NameThatANodeReportsTwiceCountsOnce) {
  Add(0, MakeNode("a").Image("x", 10).Image("x", 20));
  EXPECT_EQ(HoldersOf("x"), 1U);
  EXPECT_EQ(SizeOf("x"), 10);
  Add(1, MakeNode("b").Image("x", 30));
  Remove(0);
  EXPECT_EQ(HoldersOf("x"), 1U);
  Remove(1);
  EXPECT_EQ(index_.size(), 0U);
}

// As in kube-scheduler's cache.
TEST_F(ImageIndexTest, TheSizeIsThatOfTheFirstReport) {
  Add(5, MakeNode("a").Image("x", 10));
  Add(3, MakeNode("b").Image("x", 20));
  EXPECT_EQ(SizeOf("x"), 10) << "the order of time counts, not the order of rows";
  Change(5, MakeNode("a").Image("x", 11));
  EXPECT_EQ(SizeOf("x"), 10);
  Remove(5);
  EXPECT_EQ(SizeOf("x"), 10) << "the first reporter is gone, but another node holds the image";
  Change(3, MakeNode("b").Image("x", 20));
  EXPECT_EQ(SizeOf("x"), 20) << "an update of the only holder reports the size anew";
}

// ---- Comparison with a direct computation -------------------------------------------------------

// What kube-scheduler's cache records for a name, in its own data structure.
struct ModelImage {
  int64_t size = 0;
  std::set<uint32_t> nodes;
};

class RandomImagesTest : public ImageIndexTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }

  NodeSpec RandomNode() {
    NodeSpec node = MakeNode("n" + std::to_string(made_++));
    const uint32_t count = Below(6);
    for (uint32_t i = 0; i < count; ++i) {
      // Sizes and names of one image may differ between nodes, and names may repeat.
      std::vector<std::string> names;
      for (uint32_t k = Below(3); k < 3; ++k) names.push_back("image-" + std::to_string(Below(20)));
      node.images.push_back({names, static_cast<int64_t>(Below(1000))});
    }
    return node;
  }
  void AddToModel(uint32_t row, const NodeSpec& node) {
    for (const auto& image : node.images) {
      for (const std::string& name : image.names) {
        const auto [place, is_new] = model_.try_emplace(name);
        if (is_new) place->second.size = image.size;
        place->second.nodes.insert(row);
      }
    }
  }
  void RemoveFromModel(uint32_t row) {
    for (auto image = model_.begin(); image != model_.end();) {
      image->second.nodes.erase(row);
      image = image->second.nodes.empty() ? model_.erase(image) : std::next(image);
    }
  }

  void Step() {
    // Rows are sparse, neighbours, and reused.
    constexpr std::array<uint32_t, 3> kRanges{8, 130, 100'000};
    const uint32_t row = Below(kRanges[Below(kRanges.size())]);
    const auto there = nodes_.find(row);
    if (there == nodes_.end()) {
      const NodeSpec node = RandomNode();
      Add(row, node);
      AddToModel(row, node);
    } else if (Below(2) == 0) {
      Remove(row);
      RemoveFromModel(row);
    } else {
      const NodeSpec node = Below(3) == 0 ? there->second.spec() : RandomNode();
      Change(row, node);
      RemoveFromModel(row);
      AddToModel(row, node);
    }
  }
  void Compare() {
    ASSERT_EQ(index_.size(), model_.size());
    for (const auto& [name, want] : model_) {
      const Image* const image = Find(name);
      ASSERT_NE(image, nullptr) << name;
      ASSERT_EQ(image->size, want.size) << name;
      ASSERT_EQ(image->holders.size(), want.nodes.size()) << name;
      for (const auto& [row, node] : nodes_) {
        ASSERT_EQ(Has(image->holders, row), want.nodes.contains(row)) << name << " on row " << row;
      }
    }
  }

  std::mt19937 random_{GetParam()};
  std::map<std::string, ModelImage> model_;
  uint32_t made_ = 0;
};

TEST_P(RandomImagesTest, AgreesWithADirectComputation) {
  for (uint32_t step = 0; step < kSteps; ++step) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", step " + std::to_string(step));
    Step();
    if (step % 7 == 0) Compare();
    if (HasFatalFailure()) return;
  }
  while (!nodes_.empty()) {
    RemoveFromModel(nodes_.begin()->first);
    Remove(nodes_.begin()->first);
  }
  Compare();
  EXPECT_EQ(index_.size(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomImagesTest, ::testing::Range(1U, 6U));

}  // namespace
}  // namespace images
