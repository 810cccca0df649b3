// The service berth.shared/1.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/invoke.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An object that notes its end.
struct Noted {
  std::vector<std::string>* log;
  std::string name;
};
void DestroyNoted(void* object) noexcept {
  const std::unique_ptr<Noted> noted(static_cast<Noted*>(object));
  noted->log->push_back(noted->name);
}
void DestroyOther(void* object) noexcept { DestroyNoted(object); }

class SharedServiceTest : public ServicesTest {
 protected:
  // The objects note their end in `ended_`.
  ~SharedServiceTest() override { host_ = nullptr; }

  struct Found {
    berth_code code;
    std::string name;  // The name of the object; empty if there is none.
  };

  // Calls `find` as a plugin does in its constructor.
  Found Find(InstanceHost& host, const std::string& key,
             void (*destroy)(void*) noexcept = DestroyNoted, Point point = kLoad) {
    void* object = nullptr;
    const berth_code code = Invoke(
        host, point, [&] { return functions().find(host.abi(), AsStr(key), destroy, &object); });
    return {code, object != nullptr ? static_cast<Noted*>(object)->name : ""};
  }
  berth_code Add(InstanceHost& host, const std::string& key, const std::string& name,
                 Point point = kLoad) {
    auto object = std::make_unique<Noted>(Noted{&ended_, name});
    const berth_code code = Invoke(host, point, [&] {
      return functions().add(host.abi(), AsStr(key), object.get(), DestroyNoted);
    });
    if (code == BERTH_SUCCESS) static_cast<void>(object.release());
    return code;
  }
  const berth_shared& functions() { return Service<berth_shared>(BERTH_SERVICE_SHARED); }
  static void End(InstanceHost& host, bool is_busy = false) {
    host.Close();
    host.Retire(is_busy);
  }

  std::vector<std::string> ended_;
};

TEST_F(SharedServiceTest, EndsWithTheLastInstanceThatHoldsIt) {
  const auto first = Host("test.A", "one");
  const auto second = Host("test.B", "two");
  EXPECT_EQ(Find(*first, "k").code, BERTH_NOT_FOUND);
  EXPECT_EQ(Add(*first, "k", "object"), BERTH_SUCCESS);
  EXPECT_EQ(Find(*second, "k").name, "object");
  End(*first);
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_EQ(Find(*second, "k").name, "object") << "the same instance may find it twice";
  End(*second);
  EXPECT_THAT(ended_, ElementsAre("object"));
  const auto third = Host("test.A");
  EXPECT_EQ(Find(*third, "k").code, BERTH_NOT_FOUND);
  EXPECT_EQ(Add(*third, "k", "another"), BERTH_SUCCESS);
  EXPECT_EQ(Find(*third, "k").name, "another");
}

TEST_F(SharedServiceTest, EachKeyAndLibraryHasItsOwn) {
  const int libraries[2] = {};
  const auto one = Host("test.A", "p", &libraries[0]);
  const auto two = Host("test.A", "q", &libraries[1]);
  EXPECT_EQ(Add(*one, "k", "one"), BERTH_SUCCESS);
  EXPECT_EQ(Add(*one, "l", "other key"), BERTH_SUCCESS);
  EXPECT_EQ(Find(*two, "k").code, BERTH_NOT_FOUND);
  EXPECT_EQ(Add(*two, "k", "two"), BERTH_SUCCESS);
  EXPECT_EQ(Find(*one, "k").name, "one");
  EXPECT_EQ(Find(*one, "l").name, "other key");
  EXPECT_EQ(Find(*two, "k").name, "two");
}

TEST_F(SharedServiceTest, RefusesWrongArguments) {
  EXPECT_EQ(Add(*host_, "k", "object"), BERTH_SUCCESS);
  EXPECT_EQ(Add(*host_, "k", "second"), BERTH_BAD_ARGUMENT) << "the key is in use";
  EXPECT_EQ(Add(*host_, "", "object"), BERTH_BAD_ARGUMENT) << "no key";
  EXPECT_EQ(Find(*host_, "k", DestroyOther).code, BERTH_BAD_ARGUMENT) << "of another type";
  EXPECT_EQ(Find(*host_, "k", DestroyOther).name, "");
  int object = 0;
  Invoke(*host_, kLoad, [&] {
    EXPECT_EQ(functions().add(abi(), AsStr("n"), nullptr, DestroyNoted), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(functions().add(abi(), AsStr("n"), &object, nullptr), BERTH_BAD_ARGUMENT);
  });
  EXPECT_EQ(Find(*host_, "n").code, BERTH_NOT_FOUND);
}

TEST_F(SharedServiceTest, IsServedOnlyWhileLoading) {
  host_->Begin();
  for (const Point point : {Point::kFilter, Point::kPermit, Point::kPostBind, Point::kQueueSort}) {
    EXPECT_EQ(Add(*host_, "k", "object", point), BERTH_CONFLICT) << InfoOf(point).name;
    EXPECT_EQ(Find(*host_, "k", DestroyNoted, point).code, BERTH_CONFLICT) << InfoOf(point).name;
  }
  EXPECT_EQ(Add(*host_, "k", "object", Point::kHandOver), BERTH_SUCCESS) << "Restore";
  host_->Close();
  EXPECT_EQ(Add(*host_, "l", "object"), BERTH_CANCELLED);
  EXPECT_EQ(Find(*host_, "k").code, BERTH_CANCELLED);
}

// An object may have a thread, which only its destructor can join, and which uses services.
TEST_F(SharedServiceTest, ThreadOfAnObjectMayUseServices) {
  struct Worker {
    explicit Worker(const berth_host* host) : thread([this, host] { Run(host); }) {}
    void Run(const berth_host* host) {
      const auto* log = FindService<berth_log>(host, BERTH_SERVICE_LOG);
      has_begun = true;
      while (!must_end) std::this_thread::yield();
      log->log(host, BERTH_LOG_INFO, AsStr("ends"), nullptr, 0);
    }
    std::atomic<bool> has_begun = false;
    std::atomic<bool> must_end = false;
    std::thread thread;
  };
  auto worker = std::make_unique<Worker>(abi());
  while (!worker->has_begun) std::this_thread::yield();
  const auto end = [](void* object) noexcept {
    const std::unique_ptr<Worker> ended(static_cast<Worker*>(object));
    ended->must_end = true;
    ended->thread.join();
  };
  Invoke(*host_, kLoad,
         [&] { EXPECT_EQ(functions().add(abi(), AsStr("k"), worker.get(), end), BERTH_SUCCESS); });
  static_cast<void>(worker.release());
  End(*host_);
  EXPECT_THAT(lines_, ElementsAre("2 test.Plugin: ends"));
}

// A thread that is still inside the instance may use the object.
TEST_F(SharedServiceTest, ABusyInstanceKeepsItForEver) {
  EXPECT_EQ(Add(*host_, "k", "object"), BERTH_SUCCESS);
  const auto other = Host("test.B");
  EXPECT_EQ(Find(*other, "k").name, "object");
  End(*host_, /*is_busy=*/true);
  End(*other);
  EXPECT_THAT(ended_, IsEmpty());
  const auto third = Host("test.C");
  EXPECT_EQ(Find(*third, "k").name, "object") << "the object exists, so it is shared";
  // As the library of a busy instance does.
  static auto& kept = *new std::vector<std::unique_ptr<InstanceHost>>;
  kept.push_back(std::move(host_));
}

}  // namespace
}  // namespace berth::host
