#include <string>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

// A fake berth.api service. It records the last Bind call and returns `answer`.
struct Server {
  static inline berth_code answer = BERTH_SUCCESS;
  static inline int calls = 0;
  static inline std::string pod;
  static inline std::string node;
  static inline berth_done done = {};

  static berth_code Bind(const berth_host*, const berth_binding* binding,
                         berth_done promise) noexcept {
    ++calls;
    pod = FromAbi(binding->pod->meta->name);
    node = FromAbi(binding->node_name);
    done = promise;
    return answer;
  }
};
constexpr berth_api kApi = {sizeof(berth_api), 0,       &Server::Bind, nullptr,
                            nullptr,           nullptr, nullptr};

class DefaultBinderTest : public ::testing::Test {
 protected:
  DefaultBinderTest()
      : plugin_(
            {.nodes = {MakeNode("a"), MakeNode("b")}, .services = {{BERTH_SERVICE_API, &kApi}}}) {
    Server::answer = BERTH_SUCCESS;
    Server::calls = 0;
    Server::done = {};
  }

  PluginUnderTest plugin_;
};

TEST_F(DefaultBinderTest, BindSendsOneRequestAndStaysPending) {
  Placement placement = plugin_.Place(MakePod("web"));
  EXPECT_EQ(placement.Bind("b").code, BERTH_PENDING);
  EXPECT_EQ(Server::calls, 1);
  EXPECT_EQ(Server::pod, "web");
  EXPECT_EQ(Server::node, "b");
  EXPECT_NE(Server::done.host, nullptr);
  EXPECT_FALSE(placement.completion().completed) << "only the server's answer completes it";
}

TEST_F(DefaultBinderTest, ARejectedRequestFailsTheBinding) {
  Server::answer = BERTH_ERROR;
  Placement placement = plugin_.Place(MakePod("web"));
  EXPECT_EQ(placement.Bind("a"), Error("the host rejected the binding"));
  EXPECT_FALSE(placement.completion().completed);
}

TEST(DefaultBinderResult, IsThatOfTheServer) {
  struct Case {
    const char* name;
    uint32_t http_status;
    Answer want;
  };
  const Case kTable[] = {
      {"bound", 201, Success()},
      {"another scheduler was faster", 409, Error("HTTP status 409")},
      {"the pod is gone", 404, Error("HTTP status 404")},
  };
  for (const Case& c : kTable) {
    PluginUnderTest plugin(Scenario{.nodes = {MakeNode("a")}});
    plugin.api().Reply("POST", "/api/v1/namespaces/default/pods/web/binding",
                       {.http_status = c.http_status});
    Placement placement = plugin.Place(MakePod("web"));
    EXPECT_EQ(placement.Bind("a").code, BERTH_PENDING) << c.name;
    plugin.Advance(0);
    EXPECT_TRUE(placement.completion().completed) << c.name;
    EXPECT_EQ(placement.completion().answer, c.want) << c.name;
  }
}

TEST(DefaultBinderSetup, FailsToLoadWithoutTheApiService) {
  const Answer answer =
      PluginUnderTest::Create({.nodes = {}, .services = {{BERTH_SERVICE_API, nullptr}}});
  EXPECT_EQ(answer.code, BERTH_UNSUPPORTED);
  ASSERT_EQ(answer.reasons.size(), 1U);
  EXPECT_EQ(answer.reasons[0], "needs the service berth.api/1, which this host does not serve");
}

}  // namespace
}  // namespace berth::testing
