// The service berth.selectors/1.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SelectorsServiceTest : public ServicesTest {
 protected:
  const berth_selectors& service() { return Service<berth_selectors>(BERTH_SERVICE_SELECTORS); }
  const berth_value* Parse(const char* json) {
    return Service<berth_values>(BERTH_SERVICE_VALUES).parse(abi(), AsStr(json), nullptr);
  }
  PodRef Labelled(const std::string& labels) {
    return test_objects_.Pod({.name = "p", .meta = R"("labels":{)" + labels + "}"});
  }
  bool Matches(const berth_selector* selector, const std::string& labels) {
    const PodRef pod = Labelled(labels);
    return service().matches(abi(), selector, pod->meta().labels) == 1;
  }
  berth_status* status() { return &status_; }
  size_t open() { return ParsedSelectorCount(*host_); }

  std::vector<std::string> reasons_;

 private:
  berth_status status_{
      sizeof(berth_status), 0, &reasons_,
      [](berth_status* self, berth_str text) noexcept {
        static_cast<std::vector<std::string>*>(self->impl)->emplace_back(Text(text));
      },
      nullptr};
};

constexpr const char* kWeb = R"("app":"web")";
constexpr const char* kOld = R"("app":"web","old":"")";
constexpr const char* kDb = R"("app":"db")";

TEST_F(SelectorsServiceTest, ReadsAndMatchesLabelSelectors) {
  const auto read = [&](auto function, auto from) {
    const berth_selector* selector = nullptr;
    EXPECT_EQ(function(abi(), from, &selector, status()), BERTH_SUCCESS);
    EXPECT_THAT(reasons_, IsEmpty());
    return selector;
  };
  const berth_selector* by_value = read(service().from_value, Parse(R"({"matchLabels":{"app":"web"},
                     "matchExpressions":[{"key":"old","operator":"DoesNotExist"}]})"));
  const berth_selector* by_map = read(service().from_map, Parse(R"({"app":"web"})"));
  const berth_selector* by_text = read(service().from_text, AsStr("app in (web,db),!old"));
  EXPECT_TRUE(Matches(by_value, kWeb));
  EXPECT_FALSE(Matches(by_value, kOld));
  EXPECT_FALSE(Matches(by_value, kDb));
  EXPECT_TRUE(Matches(by_map, kOld));
  EXPECT_FALSE(Matches(by_map, kDb));
  EXPECT_TRUE(Matches(by_text, kDb));
  EXPECT_FALSE(Matches(by_text, kOld));
  EXPECT_FALSE(Matches(by_text, ""));
  const berth_selector* all = read(service().from_text, AsStr(""));
  EXPECT_TRUE(Matches(all, ""));
  const berth_selector* many = read(service().from_text, AsStr("size>5"));
  EXPECT_TRUE(Matches(many, R"("size":"6")"));
  EXPECT_FALSE(Matches(many, R"("size":"5")"));
  EXPECT_FALSE(Matches(nullptr, kWeb));
  EXPECT_EQ(open(), 5U);
  for (const berth_selector* selector : {by_value, by_map, by_text, all, many}) {
    service().release(abi(), selector);
  }
  EXPECT_EQ(open(), 0U);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(SelectorsServiceTest, ReadsAndMatchesNodeSelectors) {
  const berth_node_selector* selector = nullptr;
  const berth_value* value = Parse(
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]},
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n9"]}]}]})");
  ASSERT_EQ(service().node_selector(abi(), value, &selector, status()), BERTH_SUCCESS);
  const auto matches = [&](const char* name, const char* labels) {
    const NodeRef node = test_objects_.Node({.name = name, .labels = labels});
    return service().matches_node(abi(), selector, &node->view()) == 1;
  };
  EXPECT_TRUE(matches("n1", R"("zone":"a")"));
  EXPECT_FALSE(matches("n1", R"("zone":"b")"));
  EXPECT_TRUE(matches("n9", ""));
  EXPECT_EQ(service().matches_node(abi(), selector, nullptr), 0);
  const NodeRef node = test_objects_.Node({.name = "n9"});
  EXPECT_EQ(service().matches_node(abi(), nullptr, &node->view()), 0);
  service().release_node(abi(), selector);
  EXPECT_EQ(open(), 0U);
}

TEST_F(SelectorsServiceTest, ExplainsWhatIsNoSelector) {
  const auto* const unset = reinterpret_cast<const berth_selector*>(1);
  const berth_selector* selector = unset;
  const auto rejects = [&](berth_code code, const char* why) {
    EXPECT_EQ(code, BERTH_BAD_ARGUMENT);
    EXPECT_THAT(reasons_, ElementsAre(HasSubstr(why)));
    EXPECT_EQ(selector, unset) << "nothing is written";
    reasons_.clear();
  };
  rejects(service().from_value(abi(), nullptr, &selector, status()), "expected an object");
  rejects(service().from_value(abi(), Parse("[]"), &selector, status()), "expected an object");
  rejects(service().from_value(abi(), Parse(R"({"matchLabels":{"-":""}})"), &selector, status()),
          "\"-\" is not a label key");
  rejects(service().from_map(abi(), Parse("1"), &selector, status()), "expected a map of labels");
  rejects(service().from_map(abi(), nullptr, &selector, status()), "expected a map of labels");
  rejects(service().from_map(abi(), Parse(R"({"a":1})"), &selector, status()), "expected a string");
  rejects(service().from_text(abi(), AsStr("a in b"), &selector, status()), "expected '('");
  EXPECT_EQ(service().from_text(abi(), AsStr("!"), &selector, nullptr), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(service().from_text(abi(), AsStr("a"), nullptr, nullptr), BERTH_BAD_ARGUMENT);
  const berth_node_selector* nodes = nullptr;
  EXPECT_EQ(service().node_selector(abi(), Parse("{}"), &nodes, status()), BERTH_BAD_ARGUMENT);
  EXPECT_THAT(reasons_, ElementsAre(HasSubstr("nodeSelectorTerms")));
  EXPECT_EQ(open(), 0U);
}

TEST_F(SelectorsServiceTest, WrongReleaseIsAFaultAndChangesNothing) {
  const berth_selector* selector = nullptr;
  ASSERT_EQ(service().from_text(abi(), AsStr("app=web"), &selector, nullptr), BERTH_SUCCESS);
  const PodRef pod = Labelled(kWeb);
  const berth_selector foreign = {sizeof(foreign), 0, {}};
  service().release(abi(), &foreign);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("releases a selector that berth.selectors/1 did not")));
  EXPECT_TRUE(Matches(selector, kWeb));
  service().release(abi(), selector);
  service().release(abi(), selector);
  EXPECT_EQ(lines_.size(), 2U);
  service().release(abi(), nullptr);
  service().release_node(abi(), nullptr);
  EXPECT_EQ(lines_.size(), 2U);
}

// The ids of the selector live as long as it, also when no object has them.
TEST_F(SelectorsServiceTest, KeepsItsIds) {
  const berth_selector* selector = nullptr;
  ASSERT_EQ(service().from_text(abi(), AsStr("only-here=x"), &selector, nullptr), BERTH_SUCCESS);
  test_objects_.interner().Sweep();
  EXPECT_TRUE(Matches(selector, R"("only-here":"x")"));
}

TEST_F(SelectorsServiceTest, ServesNothingAfterTheInstance) {
  const berth_selectors& selectors = service();
  const berth_selector* selector = nullptr;
  ASSERT_EQ(selectors.from_text(abi(), AsStr("a"), &selector, nullptr), BERTH_SUCCESS);
  host_->Retire();
  EXPECT_EQ(selectors.from_text(abi(), AsStr("a"), &selector, nullptr), BERTH_CANCELLED);
  EXPECT_EQ(selectors.matches(abi(), nullptr, {}), 0);
}

}  // namespace
}  // namespace berth::host
