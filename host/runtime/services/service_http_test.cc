// The service berth.http/1 over a client whose answers the test gives.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/http/http_client.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/services.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps requests until the test answers them.
struct TestClient final : HttpClient {
  struct Session final : HttpSession {
    explicit Session(TestClient& its_client) : client(its_client) { ++client.sessions; }
    ~Session() override { --client.sessions; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Status Send(HttpCall call, Done done) override {
      if (client.is_full) return Status::Unavailable("full");
      client.calls.push_back(std::move(call));
      client.done.push_back(std::move(done));
      return Status::Ok();
    }

    TestClient& client;
  };

  std::unique_ptr<HttpSession> Open() override { return std::make_unique<Session>(*this); }

  std::vector<HttpCall> calls;
  std::vector<HttpSession::Done> done;
  int sessions = 0;
  bool is_full = false;
};

class HttpServiceTest : public ServicesTest {
 protected:
  HttpServiceTest() {
    services_.http = &client_;
    host_->Begin();
  }

  static berth_http_request Get(const char* url) {
    berth_http_request request{};
    request.struct_size = sizeof request;
    request.method = AsStr("GET");
    request.url = AsStr(url);
    return request;
  }
  berth_code Send(const berth_http_request& request, berth_http_answer answer = Note) {
    return Service<berth_http>(BERTH_SERVICE_HTTP).request(abi(), &request, answer, this);
  }
  berth_code SendWith(std::vector<berth_http_header> headers) {
    berth_http_request request = Get("http://a/");
    request.headers = {headers.data(), static_cast<uint32_t>(headers.size()), sizeof headers[0]};
    return Send(request);
  }
  // Records "<end> <status> <body or error>".
  static void Note(void* to, const berth_http_result* result) noexcept {
    auto& test = *static_cast<HttpServiceTest*>(to);
    EXPECT_EQ(result->struct_size, sizeof(berth_http_result));
    EXPECT_EQ(result->error.len == 0, result->end == BERTH_HTTP_ANSWERED);
    EXPECT_TRUE(test.host_->IsCalledUnder(kEventWord));
    EXPECT_EQ(test.work_.CountByPlugin().size(), 1U) << "announced until the answer was called";
    const berth_str text = result->end == BERTH_HTTP_ANSWERED ? result->body : result->error;
    test.answers_.push_back(std::to_string(result->end) + " " +
                            std::to_string(result->http_status) + " " + std::string(Text(text)));
    for (uint32_t i = 0; i < result->headers.count; ++i) {
      const auto& header = *BERTH_AT(berth_http_header, result->headers, i);
      test.answers_.back()
          .append(" ")
          .append(Text(header.name))
          .append("=")
          .append(Text(header.value));
    }
  }
  static HttpResponse Answer(uint32_t http_status, std::string body) {
    HttpResponse response;
    response.delivery = Delivery::kAnswered;
    response.head.http_status = http_status;
    response.head.headers = {{"X-A", "1"}};
    response.body = std::move(body);
    return response;
  }
  static HttpResponse Failure(Status status, Delivery delivery, bool is_late = false) {
    HttpResponse response;
    response.status = std::move(status);
    response.delivery = delivery;
    response.is_late = is_late;
    return response;
  }

  TestClient client_;
  std::vector<std::string> answers_;
};

TEST_F(HttpServiceTest, SendsRequestAndPassesItsAnswer) {
  berth_http_request request = Get("https://a:8443/x?y");
  request.method = AsStr("POST");
  request.body = AsStr("{}");
  request.ca_file = AsStr("ca.pem");
  request.server_name = AsStr("b");
  std::vector<berth_http_header> headers = {{AsStr("Authorization"), AsStr("Bearer secret")}};
  request.headers = {headers.data(), 1, sizeof headers[0]};
  EXPECT_EQ(Send(request), BERTH_SUCCESS);
  ASSERT_EQ(client_.calls.size(), 1U);
  const HttpCall& call = client_.calls[0];
  EXPECT_EQ(call.server.ToString(), "https://a:8443");
  EXPECT_EQ(call.trust.ca_file, "ca.pem");
  EXPECT_EQ(call.trust.server_name, "b");
  EXPECT_EQ(call.request.verb + " " + call.request.target, "POST /x?y");
  EXPECT_EQ(call.request.body, "{}");
  EXPECT_EQ(call.request.headers.Reveal(), "Authorization: Bearer secret\r\nUser-Agent: berth\r\n");
  EXPECT_EQ(call.request.timeout_ns, 10 * kSecond);
  EXPECT_EQ(call.request.max_body_bytes, size_t{1} << 20);

  client_.done[0](Answer(503, "busy"));
  EXPECT_THAT(answers_, IsEmpty()) << "not within the call of the client";
  RunLoop();
  EXPECT_THAT(answers_, ElementsAre("0 503 busy X-A=1"));
  EXPECT_THAT(work_.CountByPlugin(), IsEmpty());
  for (const std::string& line : lines_) EXPECT_EQ(line.find("secret"), std::string::npos) << line;
}

TEST_F(HttpServiceTest, NamesEachEnd) {
  const struct {
    const char* name;
    HttpResponse response;
    const char* answer;
  } cases[] = {
      {"late", Failure(Status::Unavailable("a"), Delivery::kUnknown, true), "1 0 a"},
      {"no connection", Failure(Status::Unavailable("b"), Delivery::kNotSent), "2 0 b"},
      {"no trust", Failure(Status::PermissionDenied("c"), Delivery::kNotSent), "3 0 c"},
      {"too large", Failure(Status::OutOfRange("d"), Delivery::kUnknown), "4 0 d"},
      {"lost", Failure(Status::Unavailable("e"), Delivery::kUnknown), "5 0 e"},
      {"no HTTP", Failure(Status::InvalidArgument("f"), Delivery::kUnknown), "6 0 f"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Send(Get("http://a")), BERTH_SUCCESS);
    client_.done.back()(c.response);
    RunLoop();
    EXPECT_EQ(answers_.back(), c.answer);
  }
}

TEST_F(HttpServiceTest, RefusesRequestsThatAreNotValid) {
  EXPECT_EQ(Send(Get("http://a"), nullptr), BERTH_BAD_ARGUMENT);
  const struct {
    const char* name;
    void (*change)(berth_http_request& request);
    berth_code code;
  } cases[] = {
      {"too small", [](auto& r) { --r.struct_size; }, BERTH_BAD_ARGUMENT},
      {"an unknown flag", [](auto& r) { r.flags = 1; }, BERTH_BAD_ARGUMENT},
      {"an unknown method", [](auto& r) { r.method = AsStr("get"); }, BERTH_BAD_ARGUMENT},
      {"another scheme", [](auto& r) { r.url = AsStr("ftp://a"); }, BERTH_BAD_ARGUMENT},
      {"a user", [](auto& r) { r.url = AsStr("http://u@a"); }, BERTH_BAD_ARGUMENT},
      {"a space", [](auto& r) { r.url = AsStr("http://a/ b"); }, BERTH_BAD_ARGUMENT},
      {"no port", [](auto& r) { r.url = AsStr("http://a:0"); }, BERTH_BAD_ARGUMENT},
      {"64 MiB", [](auto& r) { r.max_body_bytes = uint64_t{64} << 20; }, BERTH_SUCCESS},
      {"more", [](auto& r) { r.max_body_bytes = (uint64_t{64} << 20) + 1; }, BERTH_BAD_ARGUMENT},
      {"no headers", [](auto& r) { r.headers.count = 1; }, BERTH_BAD_ARGUMENT},
      {"a negative time", [](auto& r) { r.timeout_ns = -1; }, BERTH_BAD_ARGUMENT},
      {"an hour", [](auto& r) { r.timeout_ns = 3600 * kSecond; }, BERTH_SUCCESS},
      {"more than an hour", [](auto& r) { r.timeout_ns = 3600 * kSecond + 1; }, BERTH_BAD_ARGUMENT},
      {"a certificate without key", [](auto& r) { r.cert_file = AsStr("c"); }, BERTH_BAD_ARGUMENT},
      {"a key without certificate", [](auto& r) { r.key_file = AsStr("k"); }, BERTH_BAD_ARGUMENT},
      {"both", [](auto& r) { r.cert_file = r.key_file = AsStr("k"); }, BERTH_SUCCESS},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    berth_http_request request = Get("http://a");
    c.change(request);
    EXPECT_EQ(Send(request), c.code);
  }
}

TEST_F(HttpServiceTest, LimitsUrlAndHeaders) {
  for (const size_t excess : {0U, 1U}) {
    const berth_code expected = excess == 0 ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT;
    const std::string url = "http://a/" + std::string(8192 - 9 + excess, 'x');
    EXPECT_EQ(Send(Get(url.c_str())), expected) << "the URL";
    const std::string value((size_t{64} << 10) - 1 + excess, 'x');
    EXPECT_EQ(SendWith({{AsStr("A"), AsStr(value)}}), expected) << "the headers";
  }
}

TEST_F(HttpServiceTest, RefusesHeadersThatChangeTheMessage) {
  const struct {
    const char* name;
    const char* value;
    berth_code code;
  } cases[] = {
      {"X-Team", "a\tb", BERTH_SUCCESS},
      {"X-Team", "", BERTH_SUCCESS},
      {"X-Team", "a\r\nX: y", BERTH_BAD_ARGUMENT},
      {"X-Team", "a\nb", BERTH_BAD_ARGUMENT},
      {"X Team", "a", BERTH_BAD_ARGUMENT},
      {"X:", "a", BERTH_BAD_ARGUMENT},
      {"", "a", BERTH_BAD_ARGUMENT},
      {"HOST", "a", BERTH_BAD_ARGUMENT},
      {"Content-length", "1", BERTH_BAD_ARGUMENT},
      {"Transfer-Encoding", "chunked", BERTH_BAD_ARGUMENT},
      {"Connection", "close", BERTH_BAD_ARGUMENT},
      {"Upgrade", "h2c", BERTH_BAD_ARGUMENT},
      {"Expect", "100-continue", BERTH_BAD_ARGUMENT},
      {"TE", "trailers", BERTH_BAD_ARGUMENT},
      {"Trailer", "A", BERTH_BAD_ARGUMENT},
      {"User-Agent", "mine", BERTH_SUCCESS},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name) + ": " + c.value);
    EXPECT_EQ(SendWith({{AsStr(c.name), AsStr(c.value)}}), c.code);
  }
  EXPECT_EQ(client_.calls.back().request.headers.Reveal(), "User-Agent: mine\r\n");
  EXPECT_EQ(SendWith(std::vector<berth_http_header>(100, {AsStr("A"), AsStr("b")})), BERTH_SUCCESS);
  EXPECT_EQ(SendWith(std::vector<berth_http_header>(101, {AsStr("A"), AsStr("b")})),
            BERTH_BAD_ARGUMENT);
}

TEST_F(HttpServiceTest, LimitsWhatIsUnderWay) {
  // The URLs count too.
  const std::string half((size_t{32} << 20) - std::string_view("http://a").size(), 'x');
  berth_http_request request = Get("http://a");
  request.body = AsStr(half);
  EXPECT_EQ(Send(request), BERTH_SUCCESS);
  EXPECT_EQ(Send(request), BERTH_SUCCESS);
  EXPECT_EQ(Send(Get("http://a")), BERTH_CONFLICT);
  client_.done[0](Answer(200, ""));
  RunLoop();
  EXPECT_EQ(Send(request), BERTH_SUCCESS);
  client_.is_full = true;
  EXPECT_EQ(Send(Get("http://b")), BERTH_CONFLICT);
  EXPECT_EQ(work_.CountByPlugin().begin()->second.holds, 2U);
}

TEST_F(HttpServiceTest, CloseCancelsEveryRequest) {
  EXPECT_EQ(Send(Get("http://a")), BERTH_SUCCESS);
  EXPECT_EQ(Send(Get("http://b")), BERTH_SUCCESS);
  EXPECT_EQ(Send(Get("http://c")), BERTH_SUCCESS);
  EXPECT_EQ(client_.sessions, 1);
  client_.done[1](Answer(200, "in the inbox"));
  host_->Close();
  EXPECT_THAT(answers_,
              ElementsAre("7 0 the plugin's instance ends", "7 0 the plugin's instance ends",
                          "7 0 the plugin's instance ends"));
  EXPECT_EQ(client_.sessions, 0) << "the connections are closed";
  EXPECT_THAT(work_.CountByPlugin(), IsEmpty());
  EXPECT_EQ(Send(Get("http://a")), BERTH_CANCELLED);
  client_.done[0](Answer(200, "late"));
  RunLoop();
  EXPECT_EQ(answers_.size(), 3U);
}

TEST_F(HttpServiceTest, RetireDropsRequestsWithoutACall) {
  EXPECT_EQ(Send(Get("http://a")), BERTH_SUCCESS);
  host_->Retire();
  EXPECT_THAT(work_.CountByPlugin(), IsEmpty());
  EXPECT_EQ(client_.sessions, 0);
  client_.done[0](Answer(200, "late"));
  RunLoop();
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(HttpServiceTest, ServesThreadsOfThePlugin) {
  std::thread([&] {
    EXPECT_EQ(Send(Get("http://a")), BERTH_SUCCESS);
    client_.done[0](Answer(200, "ok"));
  }).join();
  EXPECT_THAT(answers_, IsEmpty());
  RunLoop();
  EXPECT_THAT(answers_, ElementsAre("0 200 ok X-A=1"));
}

TEST_F(HttpServiceTest, IsServedOnlyWithAClient) {
  services_.http = nullptr;
  const auto host = Host("test.Other");
  const void* functions = nullptr;
  EXPECT_EQ(host->FindService(BERTH_SERVICE_HTTP, &functions), BERTH_UNSUPPORTED);
}

}  // namespace
}  // namespace berth::host
