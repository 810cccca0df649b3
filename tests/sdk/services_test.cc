#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

class HostTest : public ::testing::Test {
 protected:
  testing::SmallHost small_;
  internal::Fault fault_;
  internal::Services services_{small_.abi(), &fault_};
  Host host_{services_};
  testing::SmallCycle<int> cycle_;
  testing::RecordedCompletion completion_;
};

TEST_F(HostTest, ReportsWhichServicesExist) {
  EXPECT_TRUE(host_.log());
  EXPECT_TRUE(host_.timers());
  EXPECT_FALSE(host_.what_if());
  EXPECT_FALSE(host_.nominator());
  EXPECT_FALSE(host_.waiting());
  EXPECT_EQ(host_.name(), "small");
}

TEST_F(HostTest, StringsHaveIds) {
  const berth_id id = host_.Intern("zone-a");
  EXPECT_NE(id, BERTH_ID_NONE);
  EXPECT_EQ(host_.Intern("zone-a"), id);
  EXPECT_EQ(host_.Text(id), "zone-a");
  EXPECT_EQ(host_.Find("zone-a"), id);
  EXPECT_EQ(host_.Find("zone-b"), BERTH_ID_NONE);
}

TEST_F(HostTest, LogsMessagesAtOrAboveTheLevel) {
  small_.level = BERTH_LOG_INFO;
  host_.log().Debug("not seen");
  host_.log().Info("claim bound", {{"claim", "c"}, {"node", "a"}});
  host_.log().Error("lost");
  EXPECT_EQ(small_.log, (std::vector<std::string>{"2 claim bound claim=c node=a", "4 lost"}));
}

TEST_F(HostTest, MetricsRequireTheirLabels) {
  const Metric metric = host_.metrics().Counter("n", "Number.", {"zone"});
  EXPECT_TRUE(metric);
  metric.Observe(2, {"a"});
  metric.Observe(3);
  EXPECT_EQ(small_.observed, (std::vector<double>{2})) << "the second call has no label";
  Metric().Observe(1);
}

class ObjectsTest : public HostTest {
 protected:
  ObjectsTest() {
    for (std::size_t i = 0; i < 3; ++i) {
      metas_[i].name = Str(std::string_view(names_[i]));
      objects_[i].meta = &metas_[i];
      small_.objects.push_back(&objects_[i]);
    }
  }
  std::string names_[3] = {"a", "b", "c"};
  berth_meta metas_[3] = {};
  berth_object objects_[3] = {};
};

TEST_F(ObjectsTest, AreFoundAndListed) {
  EXPECT_EQ(host_.objects().Get("v1/X", "ns", "b"), &objects_[1]);
  EXPECT_EQ(host_.objects().Get("v1/X", "ns", "z"), nullptr);
  std::string seen;
  EXPECT_TRUE(host_.objects()
                  .List("v1/X", "", [&](const berth_object& o) { seen += Str(o.meta->name); })
                  .ok());
  EXPECT_EQ(seen, "abc");
  seen.clear();
  const Status stopped = host_.objects().List("v1/X", "", [&](const berth_object& o) {
    seen += Str(o.meta->name);
    return seen != "ab";
  });
  EXPECT_TRUE(stopped.ok());
  EXPECT_EQ(seen, "ab");
  const auto nothing = [](const berth_object&) {};
  EXPECT_EQ(host_.objects().List("v1/Unknown", "", nothing).code(), BERTH_NOT_FOUND);
}

TEST_F(ObjectsTest, AnExceptionStopsTheListAndIsRethrown) {
  int seen = 0;
  const auto throws = [&](const berth_object&) {
    if (++seen == 2) throw std::runtime_error("enough");
  };
  EXPECT_THROW(static_cast<void>(host_.objects().List("v1/X", "", throws)), std::runtime_error);
  EXPECT_EQ(seen, 2);
}

TEST_F(ObjectsTest, AreRetainedUntilTheLastReference) {
  {
    ObjectRef ref = host_.objects().Retain(objects_[0]);
    EXPECT_TRUE(ref);
    EXPECT_EQ(&*ref, &objects_[0]);
    ObjectRef other = std::move(ref);
    EXPECT_EQ(Str(other->meta->name), "a");
    EXPECT_EQ(small_.retained, 1U);
  }
  EXPECT_EQ(small_.retained, 0U);
}

struct Watcher {
  void OnClaim(const ObjectChange& change) {
    if (change.now == nullptr) throw std::runtime_error("gone");
    seen.emplace_back(change.old, change.now);
  }
  std::vector<std::pair<const berth_object*, const berth_object*>> seen;
};

TEST_F(ObjectsTest, ChangesCallTheWatchMethod) {
  Watcher watcher;
  ASSERT_TRUE(host_.objects().Watch<&Watcher::OnClaim>("v1/X", &watcher).ok());
  small_.Change(nullptr, &objects_[0]);
  ASSERT_EQ(watcher.seen.size(), 1U);
  EXPECT_EQ(watcher.seen[0].first, nullptr);
  EXPECT_EQ(watcher.seen[0].second, &objects_[0]);
  EXPECT_FALSE(fault_.set());
  small_.Change(&objects_[0], nullptr);
  EXPECT_TRUE(fault_.set());
  EXPECT_EQ(fault_.text(), "a watch: gone");
}

TEST_F(HostTest, TimersFireOncePerStartAndAreCanceledOnDestruction) {
  int fired = 0;
  {
    Timer timer(host_.timers(), [&] { ++fired; });
    EXPECT_FALSE(timer.running());
    EXPECT_TRUE(timer.Start(5s).ok());
    EXPECT_TRUE(timer.running());
    small_.fire(small_.fire_to);
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(timer.running());
    EXPECT_EQ(small_.timers_canceled, 0U);
    EXPECT_TRUE(timer.Start(5s).ok());
  }
  EXPECT_EQ(small_.timers_canceled, 1U);
  EXPECT_EQ(host_.timers().Now(), 42ns);
  EXPECT_EQ(host_.timers().WallNow(), 43ns);
}

TEST_F(HostTest, RequestsAreAnsweredOnce) {
  std::vector<std::string> answers;
  const auto answer = [&](berth_code code, std::string_view body) {
    answers.push_back(std::to_string(code) + " " + std::string(body));
  };
  EXPECT_TRUE(host_.api().Request("GET", "/version", "", 2ns, answer).ok());
  small_.answer(small_.answer_to, BERTH_SUCCESS, Str(std::string_view("v1")));
  EXPECT_TRUE(host_.api().PatchStatus(cycle_.pod, "[]", answer).ok());
  small_.answer(small_.answer_to, BERTH_CONFLICT, Str(std::string_view("older")));
  EXPECT_TRUE(host_.api().Evict(cycle_.pod, "preempted", answer).ok());
  small_.answer(small_.answer_to, BERTH_SUCCESS, Str(std::string_view("")));
  EXPECT_EQ(answers, (std::vector<std::string>{"0 v1", "36 older", "0 "}));
  const Api::EventText text = {"Normal", "Scheduled", "Binding", "note"};
  EXPECT_TRUE(host_.api().Event(cycle_.pod, text).ok());
  EXPECT_TRUE(host_.api().Event(cycle_.pod, cycle_.pod, text).ok());
  EXPECT_EQ(small_.requests,
            (std::vector<std::string>{"GET /version  2", "patch []", "evict preempted",
                                      "event 1 Normal Scheduled Binding note",
                                      "event 1 1 Normal Scheduled Binding note"}));
  small_.api_code = BERTH_UNSUPPORTED;
  EXPECT_EQ(host_.api().Evict(cycle_.pod, "", answer).code(), BERTH_UNSUPPORTED);
}

TEST_F(HostTest, ARejectedBindKeepsTheDone) {
  const Binding binding(cycle_.binding, nullptr);
  small_.api_code = BERTH_UNSUPPORTED;
  Done done(services_, completion_.abi());
  EXPECT_EQ(host_.api().Bind(binding, done).code(), BERTH_UNSUPPORTED);
  EXPECT_TRUE(done);
  small_.api_code = BERTH_SUCCESS;
  EXPECT_EQ(host_.api().Bind(binding, done).code(), BERTH_PENDING);
  EXPECT_FALSE(done);
  EXPECT_TRUE(completion_.answers.empty());
}

}  // namespace
}  // namespace berth
