// Tests of the thread of Credentials. credential_loader_test.cc tests the files and the plugin.
#include "host/cluster/kubernetes/access/credentials.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

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
