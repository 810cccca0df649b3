// Tests of the thread of Credentials. credential_loader_test.cc tests the files and the plugin.
#include "host/cluster/kubernetes/access/credentials.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

// A token file that a test writes while the thread of Credentials reads it.
class TokenFile {
 public:
  void Write(std::string token) {
    const std::lock_guard lock(mutex_);
    token_ = std::move(token);
  }
  Credentials::Environment Environment() {
    Credentials::Environment environment;
    environment.steady_ns = [] {
      return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    environment.wall_ns = [] { return int64_t{0}; };
    environment.read_file = [this](const std::string&) -> Result<std::string> {
      const std::lock_guard lock(mutex_);
      if (token_.empty()) return Status::NotFound("No such file or directory");
      return token_;
    };
    environment.run = [](const Subprocess&) -> Result<SubprocessResult> {
      return Status::Internal("there is no plugin");
    };
    return environment;
  }

 private:
  std::mutex mutex_;
  std::string token_;
};

ClusterAccess PlainAccess() {
  ClusterAccess access;
  access.endpoint.server = *ServerUrl::Parse("http://127.0.0.1:8080", "server");
  access.auth.token_file = "/token";
  return access;
}

// Calls Renew() and waits for its answer.
Status Renew(Credentials& credentials, uint64_t generation) {
  std::promise<Status> answer;
  credentials.Renew(generation, [&](Status status) { answer.set_value(std::move(status)); });
  return answer.get_future().get();
}

TEST(Credentials, ReadsAtTheStart) {
  TokenFile file;
  EXPECT_EQ(Credentials::Load(PlainAccess(), file.Environment(), Log()).status(),
            Status::NotFound("the token file /token: No such file or directory"));
  file.Write("one");
  const auto credentials = Credentials::Load(PlainAccess(), file.Environment(), Log());
  ASSERT_TRUE(credentials.ok()) << credentials.status().message();
  EXPECT_EQ((*credentials)->Current()->generation, 1U);
  EXPECT_EQ((*credentials)->Current()->headers.Reveal(), "Authorization: Bearer one\r\n");
}

class PluginStartTest : public ::testing::Test {
 protected:
  PluginStartTest() {
    access_.endpoint.server = *ServerUrl::Parse("http://127.0.0.1:8080", "server");
    access_.auth.exec.emplace();
    access_.auth.exec->api_version = "client.authentication.k8s.io/v1";
    access_.auth.exec->command = "login";
  }

  // Loads the credentials from a plugin that has these results, one after the other.
  Result<std::unique_ptr<Credentials>> Load(std::vector<Result<SubprocessResult>> results) {
    runs_ = 0;
    delays_ns_.clear();
    reported_.clear();
    Credentials::Environment environment;
    environment.steady_ns = [this] { return now_ns_.load(); };
    environment.wall_ns = [] { return int64_t{0}; };
    environment.run = [this, results](const Subprocess&) { return results.at(runs_++); };
    return Credentials::Load(access_, std::move(environment), Log(),
                             [this](const Status& status, int64_t delay_ns) {
                               reported_ = status.message();
                               delays_ns_.push_back(delay_ns);
                               now_ns_ += delay_ns;
                             });
  }
  static SubprocessResult Ended(int exit_status, const std::string& output) {
    SubprocessResult result;
    result.status = exit_status << 8;
    result.output = output;
    return result;
  }

  const SubprocessResult token_ =
      Ended(0, R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
               R"("status":{"token":"one"}})");
  ClusterAccess access_;
  std::atomic<int64_t> now_ns_ = kHour;
  size_t runs_ = 0;
  std::vector<int64_t> delays_ns_;
  std::string reported_;
};

TEST_F(PluginStartTest, RunsAPluginThatFailsAgain) {
  const struct {
    const char* name;
    Result<SubprocessResult> failure;
    const char* reported;
  } cases[] = {
      {"exit status", Ended(1, ""), "login: the program ended with status 1"},
      {"other output", Ended(0, "x"),
       "login: expected an ExecCredential as JSON, found other text"},
      {"too much", Status::OutOfRange("more than 1 MiB"), "login: more than 1 MiB"},
      {"too long", Status::Unavailable("the program did not end within 30s"),
       "login: the program did not end within 30s"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Result<SubprocessResult>> results(7, c.failure);
    results.emplace_back(token_);
    const auto credentials = Load(results);
    ASSERT_TRUE(credentials.ok()) << credentials.status().message();
    EXPECT_EQ((*credentials)->Current()->headers.Reveal(), "Authorization: Bearer one\r\n");
    EXPECT_EQ(runs_, 8U);
    EXPECT_EQ(reported_, c.reported);
    ASSERT_EQ(delays_ns_.size(), 7U);
    for (size_t i = 0; i < delays_ns_.size(); ++i) {
      const int64_t least_ns = std::min(kSecond << i, 30 * kSecond);
      EXPECT_GE(delays_ns_[i], least_ns);
      EXPECT_LE(delays_ns_[i], 2 * least_ns);
    }
  }
}

TEST_F(PluginStartTest, WrongConfigurationIsAnErrorAtOnce) {
  const Result<SubprocessResult> failures[] = {Status::NotFound("no such program"),
                                               Status::PermissionDenied("Permission denied")};
  for (const Result<SubprocessResult>& failure : failures) {
    EXPECT_EQ(Load({failure, token_}).status().code(), failure.status().code());
    EXPECT_EQ(runs_, 1U);
    EXPECT_TRUE(delays_ns_.empty());
  }
  // Also if the plugin has failed before.
  EXPECT_EQ(Load({Ended(1, ""), Status::NotFound("no such program")}).status().code(),
            ErrorCode::kNotFound);
  EXPECT_EQ(delays_ns_.size(), 1U);
}

TEST(Credentials, RenewReadsANewerToken) {
  TokenFile file;
  file.Write("one");
  const auto credentials = *Credentials::Load(PlainAccess(), file.Environment(), Log());
  const std::shared_ptr<const Credential> first = credentials->Current();
  EXPECT_EQ(
      Renew(*credentials, first->generation),
      Status::PermissionDenied("the server refused the credentials, and there are no newer ones"));
  file.Write("two");
  EXPECT_TRUE(Renew(*credentials, first->generation).ok());
  EXPECT_EQ(credentials->Current()->headers.Reveal(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(first->headers.Reveal(), "Authorization: Bearer one\r\n") << "it is immutable";
  EXPECT_TRUE(Renew(*credentials, first->generation).ok()) << "there is a newer one already";
  file.Write("");
  EXPECT_EQ(Renew(*credentials, 2),
            Status::NotFound("the token file /token: No such file or directory"));
}

TEST(Credentials, AnswersEachOfManyCalls) {
  TokenFile file;
  file.Write("one");
  const auto credentials = *Credentials::Load(PlainAccess(), file.Environment(), Log());
  file.Write("two");
  std::promise<void> all;
  std::atomic<int> answers = 0;
  constexpr int kCalls = 1000;
  for (int i = 0; i < kCalls; ++i) {
    credentials->Renew(1, [&](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.message();
      if (++answers == kCalls) all.set_value();
    });
  }
  all.get_future().wait();
  EXPECT_EQ(credentials->Current()->generation, 2U);
}

TEST(Credentials, TheDestructorAnswersCallsThatAreWaiting) {
  for (int i = 0; i < 100; ++i) {
    TokenFile file;
    file.Write("one");
    auto credentials = *Credentials::Load(PlainAccess(), file.Environment(), Log());
    int answers = 0;
    for (int call = 0; call < 3; ++call) {
      credentials->Renew(1, [&](const Status& status) {
        EXPECT_FALSE(status.ok());
        ++answers;
      });
    }
    credentials.reset();
    EXPECT_EQ(answers, 3);
  }
}

}  // namespace
}  // namespace berth::host
