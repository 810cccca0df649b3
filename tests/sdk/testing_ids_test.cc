// Tests that the fake host drops ids whose last use ends, and reports the use of a dropped id.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Ids, AreCountedAndNeverAssignedAgain) {
  Ids ids;
  const berth_id first = ids.Intern("rack");
  EXPECT_EQ(ids.Intern("rack"), first);
  ids.Release(first);
  EXPECT_EQ(ids.Find("rack"), first);
  EXPECT_EQ(ids.Text(first), "rack");
  EXPECT_FALSE(ids.DroppedText(first));
  ids.Release(first);
  EXPECT_FALSE(ids.Knows(first));
  EXPECT_EQ(ids.Find("rack"), 0U);
  EXPECT_EQ(ids.Text(first), "");
  EXPECT_EQ(ids.DroppedText(first), "rack");
  ids.Release(first);
  ids.Release(BERTH_ID_NONE);
  const berth_id other = ids.Intern("zone");
  const berth_id again = ids.Intern("rack");
  EXPECT_NE(other, first);
  EXPECT_NE(again, first);
  EXPECT_EQ(ids.DroppedText(first), "rack");
  EXPECT_EQ(ids.size(), 2U);
  ids.set_keeps_dropped(false);
  ids.Release(other);
  EXPECT_FALSE(ids.DroppedText(other));
}

TEST(Ids, OfViewLiveAsLongAsTheView) {
  Ids ids;
  berth_id label = 0;
  {
    const PodHandle pod(MakePod("p").Label("app", "web"), ids);
    const PodHandle copy = pod;
    label = BERTH_AT(berth_id_pair, pod->meta->labels, 0)->value;
    EXPECT_EQ(ids.Text(label), "web");
    const NodeHandle node(MakeNode("n").Label("app", "web"), ids);
    EXPECT_EQ(BERTH_AT(berth_id_pair, node->meta->labels, 0)->value, label);
  }
  EXPECT_EQ(ids.size(), 0U);
  EXPECT_EQ(ids.DroppedText(label), "web");
}

// The calls that the plugin makes in Reserve.
void (*in_reserve)(const berth_cycle& cycle, const berth_target& target) = nullptr;

std::vector<std::string> FindingsOfActs(
    const std::vector<void (*)(const berth_cycle&, const berth_target&)>& acts,
    const std::function<void(PluginUnderTest&)>& after = nullptr) {
  Parts parts;
  parts.create = &FindServices;
  parts.reserve = {sizeof(berth_reserve), 0,
                   [](void*, const berth_cycle* cycle, const berth_target* target,
                      berth_status*) noexcept -> berth_code {
                     in_reserve(*cycle, *target);
                     return BERTH_SUCCESS;
                   },
                   [](void*, const berth_binding*) noexcept {}};
  return Findings(parts, {.nodes = {MakeNode("a").Label("rack", "r1")}},
                  [&](PluginUnderTest& plugin) {
                    for (const auto one : acts) {
                      in_reserve = one;
                      plugin.Reserve(MakePod("p").Label("app", "web"), "a");
                    }
                    if (after) after(plugin);
                  });
}

berth_id kept_id = 0;

// The host may drop a text while another thread uses its id.
TEST(Ids, AreFoundOnTheSchedulingThreadOnly) {
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding*, berth_done, berth_status*) noexcept -> berth_code {
                  kept_id = found.strings->find(found.host, ToAbi("web"));
                  return BERTH_SUCCESS;
                }};
  const auto bind = [](PluginUnderTest& plugin) {
    plugin.Bind(MakePod("p").Label("app", "web"), "a");
  };
  EXPECT_THAT(FindingsOf(parts, bind), IsEmpty());
  EXPECT_NE(kept_id, BERTH_ID_NONE);
  parts.flags = BERTH_PLUGIN_BLOCKS_IN_BIND;
  EXPECT_THAT(FindingsOf(parts, bind),
              ElementsAre(HasSubstr("calls strings.find from Bind [bind] on a pool thread")));
  EXPECT_EQ(kept_id, BERTH_ID_NONE);
}

TEST(Ids, OfThePluginLiveUntilTheyAreReleased) {
  const auto intern = [](const berth_cycle&, const berth_target&) {
    kept_id = found.strings->intern(found.host, ToAbi("mine"));
    EXPECT_EQ(found.strings->intern(found.host, ToAbi("mine")), kept_id);
    found.strings->release(found.host, kept_id);
  };
  const auto use = [](const berth_cycle&, const berth_target&) {
    EXPECT_EQ(FromAbi(found.strings->text(found.host, kept_id)), "mine");
    EXPECT_EQ(found.strings->find(found.host, ToAbi("mine")), kept_id);
  };
  const auto release = [](const berth_cycle&, const berth_target&) {
    found.strings->release(found.host, kept_id);
    EXPECT_EQ(found.strings->find(found.host, ToAbi("mine")), BERTH_ID_NONE);
    EXPECT_EQ(found.strings->text(found.host, BERTH_ID_NONE).len, 0U);
  };
  EXPECT_THAT(FindingsOfActs({intern, use, release}), IsEmpty());
  EXPECT_THAT(FindingsOfActs({intern, use, release, release}),
              ElementsAre(AllOf(HasSubstr("releases id "), HasSubstr(" of \"mine\", which it"))));
  const auto use_late = [](const berth_cycle&, const berth_target&) {
    EXPECT_EQ(found.strings->text(found.host, kept_id).len, 0U);
  };
  EXPECT_THAT(FindingsOfActs({intern, release, use_late}),
              ElementsAre(AllOf(HasSubstr("asks for the text of id " + std::to_string(kept_id)),
                                HasSubstr(", which was dropped; its text was \"mine\" [kShape]"))));
}

TEST(Ids, NotInternedByPluginEndWithTheirObject) {
  const auto of_pod = [](const berth_cycle& cycle, const berth_target&) {
    kept_id = BERTH_AT(berth_id_pair, cycle.pod->meta->labels, 0)->value;
  };
  const auto of_node = [](const berth_cycle&, const berth_target& target) {
    kept_id = BERTH_AT(berth_id_pair, target.node->meta->labels, 0)->value;
  };
  const auto intern = [](const berth_cycle&, const berth_target&) {
    found.strings->intern(found.host, found.strings->text(found.host, kept_id));
  };
  const auto use = [](const berth_cycle&, const berth_target&) {
    found.strings->text(found.host, kept_id);
  };
  EXPECT_THAT(FindingsOfActs({of_pod, use}), ElementsAre(HasSubstr("its text was \"web\"")))
      << "the pod of the first call is gone";
  EXPECT_THAT(FindingsOfActs({of_node, use}), IsEmpty()) << "the node exists";
  EXPECT_THAT(FindingsOfActs({of_node, intern, use},
                             [](PluginUnderTest& plugin) {
                               plugin.RemoveNode("a");
                               EXPECT_EQ(FromAbi(found.strings->text(found.host, kept_id)), "r1");
                             }),
              IsEmpty());
  EXPECT_THAT(FindingsOfActs({of_node},
                             [](PluginUnderTest& plugin) {
                               plugin.RemoveNode("a");
                               found.strings->text(found.host, kept_id);
                             }),
              ElementsAre(HasSubstr("its text was \"r1\"")));
}

TEST(Ids, OfAPodAreDroppedAfterItsFilter) {
  Parts parts = CorrectFilter();
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle* cycle, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code {
                        // The kit also calls it with pods that have other labels.
                        const berth_id web = found.strings->find(found.host, ToAbi("web"));
                        const berth_array& labels = cycle->pod->meta->labels;
                        if (labels.count == 1 && web != BERTH_ID_NONE &&
                            BERTH_AT(berth_id_pair, labels, 0)->value == web) {
                          kept_id = web;
                        }
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  EXPECT_THAT(FindingsOf(parts,
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p").Label("app", "web"));
                           EXPECT_EQ(plugin.ids().Text(kept_id), "web");
                           plugin.Filter(MakePod("p").Label("app", "web"));
                           EXPECT_EQ(plugin.ids().Text(kept_id), "web") << "the placement exists";
                         }),
              IsEmpty());
  EXPECT_THAT(FindingsOf(parts,
                         [](PluginUnderTest& plugin) {
                           plugin.Filter(MakePod("p").Label("app", "web"));
                           EXPECT_FALSE(plugin.ids().Knows(kept_id));
                         }),
              IsEmpty());
}

TEST(Ids, AnUnknownIdIsReported) {
  EXPECT_THAT(FindingsOfActs({[](const berth_cycle&, const berth_target&) {
                found.strings->text(found.host, 1'000'000);
              }}),
              ElementsAre(HasSubstr("the text of id 1000000, which means no text")));
}

TEST(Ids, TestSeesHowManyPluginLeavesToHost) {
  const auto intern = [](const berth_cycle&, const berth_target&) {
    for (const char* text : {"one", "two", "two"}) found.strings->intern(found.host, ToAbi(text));
  };
  const auto release = [](const berth_cycle&, const berth_target&) {
    found.strings->release(found.host, found.strings->find(found.host, ToAbi("one")));
    found.strings->release(found.host, found.strings->find(found.host, ToAbi("two")));
  };
  const auto expect = [](size_t held) {
    return [held](PluginUnderTest& plugin) {
      EXPECT_EQ(plugin.held_ids(), held);
      plugin.End();
      EXPECT_EQ(plugin.held_ids(), held);
      plugin.End();
    };
  };
  EXPECT_THAT(FindingsOfActs({intern}, expect(2)), IsEmpty());
  EXPECT_THAT(FindingsOfActs({intern, release}, expect(1)), IsEmpty());
  EXPECT_THAT(FindingsOfActs({intern, release, intern, release}, expect(1)), IsEmpty());
}

}  // namespace
}  // namespace berth::testing
