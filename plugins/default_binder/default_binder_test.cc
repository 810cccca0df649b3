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
  static inline berth_done* done = nullptr;

  static berth_code Bind(const berth_host*, const berth_binding* binding,
                         berth_done* promise) noexcept {
    ++calls;
    pod = FromAbi(binding->pod->meta->name);
    node = FromAbi(binding->node_name);
    done = promise;
    return answer;
  }
};
constexpr berth_api kApi = {sizeof(berth_api), 0,       &Server::Bind, nullptr,
                            nullptr,           nullptr, nullptr};

class DefaultBinder : public ::testing::Test {
 protected:
  DefaultBinder()
      : plugin_(
            {.nodes = {MakeNode("a"), MakeNode("b")}, .services = {{BERTH_SERVICE_API, &kApi}}}) {
    Server::answer = BERTH_SUCCESS;
    Server::calls = 0;
    Server::done = nullptr;
  }

  PluginUnderTest plugin_;
};

TEST_F(DefaultBinder, BindSendsOneRequestAndStaysPending) {
  Placement placement = plugin_.Place(MakePod("web"));
  EXPECT_EQ(placement.Bind("b").code, BERTH_PENDING);
  EXPECT_EQ(Server::calls, 1);
  EXPECT_EQ(Server::pod, "web");
  EXPECT_EQ(Server::node, "b");
  EXPECT_EQ(Server::done, placement.completion().handle());
  EXPECT_FALSE(placement.completion().completed) << "only the server's answer completes it";
}

TEST_F(DefaultBinder, ARejectedRequestFailsTheBinding) {
  Server::answer = BERTH_ERROR;
  Placement placement = plugin_.Place(MakePod("web"));
  EXPECT_EQ(placement.Bind("a"), Error("the host rejected the binding"));
  EXPECT_FALSE(placement.completion().completed);
}

TEST(DefaultBinderSetup, FailsToLoadWithoutTheApiService) {
  const Answer answer = PluginUnderTest::Create({.nodes = {}});
  EXPECT_EQ(answer.code, BERTH_UNSUPPORTED);
  ASSERT_EQ(answer.reasons.size(), 1U);
  EXPECT_EQ(answer.reasons[0], "needs the service berth.api/1, which this host does not serve");
}

}  // namespace
}  // namespace berth::testing
