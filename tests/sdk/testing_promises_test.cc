// Tests that the kit treats promises and slots as the host does.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

berth_done last_promise{};

void CompleteLast(berth_code code, berth_str reason = {}) {
  const berth_outcome outcome{sizeof outcome, code, {&reason, 1, sizeof reason}};
  found.completion->complete(last_promise, &outcome);
}

Parts BindsLater(berth_code code = BERTH_PENDING) {
  static berth_code answer;
  answer = code;
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {
      sizeof(berth_bind), 0,
      [](void*, const berth_binding*, berth_done done, berth_status*) noexcept -> berth_code {
        last_promise = done;
        return answer;
      }};
  return parts;
}

TEST(PromisesAsInTheHost, ALateCompletionIsIgnored) {
  EXPECT_THAT(FindingsOf(BindsLater(),
                         [](PluginUnderTest& plugin) {
                           plugin.Bind(MakePod("p"), "a");
                           CompleteLast(BERTH_SUCCESS);
                           CompleteLast(BERTH_ERROR);
                         }),
              IsEmpty())
      << "the attempt is over";
  EXPECT_THAT(FindingsOf(BindsLater(BERTH_SUCCESS),
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           placement.Bind("a");
                           CompleteLast(BERTH_SUCCESS);
                           EXPECT_FALSE(placement.completion().completed);
                         }),
              IsEmpty())
      << "Bind returned its outcome";
  EXPECT_THAT(FindingsOf(BindsLater(),
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           placement.Bind("a");
                           CompleteLast(BERTH_SUCCESS);
                           CompleteLast(BERTH_SUCCESS);
                         }),
              ElementsAre(HasSubstr("completes a call twice [kShape]")))
      << "the host still waits";
}

TEST(PromisesAsInTheHost, AReasonThatIsNullIsABug) {
  const struct {
    berth_code code;
    berth_str reason;
    berth_code recorded;
    bool is_reported;
  } cases[] = {
      {BERTH_ERROR, {nullptr, 3}, BERTH_BUG, true},
      {BERTH_ERROR, {nullptr, 0}, BERTH_ERROR, false},
      {BERTH_ERROR, ToAbi("why"), BERTH_ERROR, false},
      {BERTH_SUCCESS, {nullptr, 3}, BERTH_SUCCESS, false},
  };
  for (const auto& c : cases) {
    const auto findings = FindingsOf(BindsLater(), [&](PluginUnderTest& plugin) {
      Placement placement = plugin.Place(MakePod("p"));
      placement.Bind("a");
      CompleteLast(c.code, c.reason);
      EXPECT_EQ(placement.completion().answer.code, c.recorded);
    });
    EXPECT_EQ(findings.size(), c.is_reported ? 1U : 0U);
  }
}

TEST(PromisesAsInTheHost, AnOutcomeIsNoIntermediateAnswer) {
  const struct {
    berth_code code;
    bool is_reported;
  } cases[] = {{BERTH_SKIP, false},
               {BERTH_CONFLICT, false},
               {BERTH_UNSCHEDULABLE, false},
               {BERTH_PENDING, true},
               {BERTH_WAIT, true}};
  for (const auto& c : cases) {
    const auto findings = FindingsOf(BindsLater(), [&](PluginUnderTest& plugin) {
      Placement placement = plugin.Place(MakePod("p"));
      placement.Bind("a");
      CompleteLast(c.code, ToAbi("why"));
      EXPECT_EQ(placement.completion().answer.code, c.is_reported ? BERTH_BUG : c.code);
    });
    EXPECT_EQ(findings.size(), c.is_reported ? 1U : 0U) << c.code;
  }
}

TEST(PromisesAsInTheHost, InvalidArrayOfReasonsIsABug) {
  static const berth_str reason = ToAbi("why");
  const berth_array arrays[] = {{nullptr, 1, sizeof(berth_str)}, {&reason, 1, 8}, {&reason, 1, 20}};
  for (const berth_array& reasons : arrays) {
    const auto findings = FindingsOf(BindsLater(), [&](PluginUnderTest& plugin) {
      Placement placement = plugin.Place(MakePod("p"));
      placement.Bind("a");
      const berth_outcome outcome{sizeof outcome, BERTH_ERROR, reasons};
      found.completion->complete(last_promise, &outcome);
      EXPECT_EQ(placement.completion().answer.code, BERTH_BUG);
    });
    EXPECT_THAT(findings, ElementsAre(HasSubstr("an array of reasons that is not valid")));
  }
}

// The plugin's state in an attempt that lasts when the instance ends.
TEST(PromisesAsInTheHost, EndBeforeTheInstanceIsDestroyed) {
  static std::vector<std::string> order;
  order.clear();
  Parts parts = BindsLater();
  parts.slots = {{sizeof(berth_slot), 8, 8, 0, "sample.ends/1", nullptr, nullptr,
                  [](void*) noexcept { order.push_back("slot"); }}};
  parts.destroy = [] {
    order.push_back("destroy");
    CompleteLast(BERTH_SUCCESS);
  };
  const SampleLibrary library(parts);
  {
    PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
    Placement placement = plugin.Place(MakePod("p"));
    EXPECT_EQ(placement.Bind("a").code, BERTH_PENDING);
    plugin.End();
    EXPECT_THAT(order, ElementsAre("slot", "destroy"));
    EXPECT_FALSE(placement.completion().completed);
  }
  EXPECT_THAT(order, ElementsAre("slot", "destroy")) << "each once";
}

}  // namespace
}  // namespace berth::testing
