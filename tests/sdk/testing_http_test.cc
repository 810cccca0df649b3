// Tests that the fake web services behave as the host's berth.http/1.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The ends of the requests: "end status body headers".
std::vector<std::string> ends;

void NoteEnd(void* /*to*/, const berth_http_result* result) noexcept {
  ends.push_back(std::to_string(result->end) + " " + std::to_string(result->http_status) + " " +
                 std::string(FromAbi(result->body)));
  for (const auto& header : Span<const berth_http_header>(result->headers)) {
    ends.back().append(" ").append(FromAbi(header.name)).append("=").append(FromAbi(header.value));
  }
  EXPECT_EQ(result->error.len == 0, result->end == BERTH_HTTP_ANSWERED);
}

berth_http_request Get(const char* url) {
  berth_http_request request{};
  request.struct_size = sizeof request;
  request.method = ToAbi("GET");
  request.url = ToAbi(url);
  return request;
}

berth_code Send(const berth_http_request& request, berth_http_answer answer = NoteEnd) {
  return found.http->request(found.host, &request, answer, nullptr);
}

// The calls that the plugin makes in Reserve.
void (*with_http)() = nullptr;

std::vector<std::string> FindingsWithHttp(void (*act)(),
                                          const std::function<void(PluginUnderTest&)>& prepare,
                                          const std::function<void(PluginUnderTest&)>& after) {
  ends.clear();
  with_http = act;
  Parts parts;
  parts.create = &FindServices;
  parts.reserve = {
      sizeof(berth_reserve), 0,
      [](void*, const berth_cycle*, const berth_target*, berth_status*) noexcept -> berth_code {
        with_http();
        return BERTH_SUCCESS;
      },
      [](void*, const berth_binding*) noexcept {}};
  return FindingsOf(parts, [&](PluginUnderTest& plugin) {
    prepare(plugin);
    plugin.Reserve(MakePod("p"), "a");
    after(plugin);
  });
}

TEST(Http, AnswersFromTheQueueOfEachUrl) {
  const auto act = [] {
    EXPECT_EQ(Send(Get("http://a/x")), BERTH_SUCCESS);
    EXPECT_EQ(Send(Get("http://b/x")), BERTH_SUCCESS);
    EXPECT_EQ(Send(Get("http://a/x")), BERTH_SUCCESS);
    EXPECT_EQ(Send(Get("http://a/x")), BERTH_SUCCESS);
    EXPECT_THAT(ends, IsEmpty()) << "not within the call";
  };
  const auto findings = FindingsWithHttp(
      act,
      [](PluginUnderTest& plugin) {
        plugin.http().Reply("http://a/x", {.body = "1", .headers = {{"X", "y"}}});
        plugin.http().Reply("http://a/x", {.http_status = 500, .body = "2"});
        plugin.http().Reply("http://b/x", {.end = BERTH_HTTP_TIMEOUT});
      },
      [](PluginUnderTest& plugin) {
        plugin.Advance(0);
        ASSERT_EQ(plugin.http().calls().size(), 4U);
        EXPECT_EQ(plugin.http().calls()[1].url, "http://b/x");
        EXPECT_EQ(plugin.http().calls()[0].timeout_ns, 10'000'000'000);
        EXPECT_EQ(plugin.http().calls()[0].max_body_bytes, uint64_t{1} << 20);
      });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(ends, ElementsAre("0 200 1 X=y", "1 0 ", "0 500 2", "2 0 "));
}

TEST(Http, LimitsTheBodyOfAnAnswer) {
  const auto act = [] {
    for (const uint64_t limit : {4U, 5U}) {
      berth_http_request request = Get("http://a");
      request.max_body_bytes = limit;
      EXPECT_EQ(Send(request), BERTH_SUCCESS);
    }
  };
  FindingsWithHttp(
      act,
      [](PluginUnderTest& plugin) {
        for (int i = 0; i < 2; ++i) plugin.http().Reply("http://a", {.body = "12345"});
      },
      [](PluginUnderTest& plugin) { plugin.Advance(0); });
  EXPECT_THAT(ends, ElementsAre("4 0 ", "0 200 12345"));
}

TEST(Http, RefusesWhatTheHostRefuses) {
  const auto act = [] {
    EXPECT_EQ(Send(Get("http://a"), nullptr), BERTH_BAD_ARGUMENT);
    for (const char* url : {"", "a", "ftp://a", "http://", "http://u@a/", "http://a#b"}) {
      EXPECT_EQ(Send(Get(url)), BERTH_BAD_ARGUMENT) << url;
    }
    berth_http_request request = Get("http://a");
    const berth_http_header header{ToAbi("Host"), ToAbi("b")};
    request.headers = {&header, 1, sizeof header};
    EXPECT_EQ(Send(request), BERTH_BAD_ARGUMENT);
  };
  const auto findings = FindingsWithHttp(
      act, [](PluginUnderTest&) {},
      [](PluginUnderTest& plugin) { EXPECT_THAT(plugin.http().calls(), IsEmpty()); });
  EXPECT_THAT(findings, IsEmpty());
}

TEST(Http, TheEndOfTheInstanceCancels) {
  const auto act = [] { EXPECT_EQ(Send(Get("http://a")), BERTH_SUCCESS); };
  FindingsWithHttp(
      act, [](PluginUnderTest& plugin) { plugin.http().Reply("http://a", {}); },
      [](PluginUnderTest& plugin) { plugin.End(); });
  EXPECT_THAT(ends, ElementsAre("7 0 "));
}

}  // namespace
}  // namespace berth::testing
