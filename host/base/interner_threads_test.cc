#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/interner.h"

namespace berth::host {
namespace {

constexpr uint64_t kThreads = 4;

template <class Body>
void RunThreads(Body body) {
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(InternerThreads, AllThreadsSeeOneIdPerText) {
  constexpr size_t kTexts = 5000;
  Interner interner;
  std::vector<std::vector<Id>> ids(kThreads, std::vector<Id>(kTexts));
  RunThreads([&](uint64_t thread) {
    for (size_t i = 0; i < kTexts; ++i) {
      const size_t text = (i + thread * 1250) % kTexts;
      ids[thread][text] = interner.Intern("text-" + std::to_string(text));
    }
  });
  EXPECT_EQ(interner.size(), kTexts + 1);
  for (size_t i = 0; i < kTexts; ++i) {
    for (uint64_t thread = 1; thread < kThreads; ++thread) ASSERT_EQ(ids[thread][i], ids[0][i]);
    EXPECT_EQ(interner.Text(ids[0][i]), "text-" + std::to_string(i));
  }
  RunThreads([&](uint64_t thread) {
    for (const Id id : ids[thread]) interner.Release(id);
  });
  EXPECT_EQ(interner.Sweep(), kTexts);
}

TEST(InternerThreads, AReferencedTextSurvivesSweepsOnAnotherThread) {
  Interner interner;
  std::atomic<uint64_t> working{kThreads};
  std::thread sweeper([&] {
    while (working.load() != 0) {
      interner.Sweep();
      std::this_thread::yield();
    }
  });
  RunThreads([&](uint64_t thread) {
    std::mt19937_64 random(thread);
    for (int32_t i = 0; i < 20'000; ++i) {
      const std::string text = "text-" + std::to_string(random() % 200);
      IdRefs refs(interner);
      const Id id = refs.Intern(text);
      interner.AddRef(id);
      EXPECT_EQ(interner.Text(id), text);
      EXPECT_EQ(interner.Find(text), id);
      interner.Release(id);
    }
    working.fetch_sub(1);
  });
  sweeper.join();
  interner.Sweep();
  EXPECT_EQ(interner.size(), 1U);
  EXPECT_EQ(interner.unreferenced(), 0U);
}

TEST(InternerThreads, AnotherThreadCanReadTextOfPassedId) {
  Interner interner;
  std::atomic<Id> mailbox{kNoId};
  constexpr int32_t kLetters = 5000;
  std::thread reader([&] {
    for (int32_t i = 0; i < kLetters; ++i) {
      Id id = kNoId;
      while ((id = mailbox.exchange(kNoId, std::memory_order_acq_rel)) == kNoId) {
        std::this_thread::yield();
      }
      EXPECT_EQ(interner.Text(id), "letter-" + std::to_string(i));
      EXPECT_NE(interner.Hash(id), 0U);
      interner.Release(id);
    }
  });
  for (int32_t i = 0; i < kLetters; ++i) {
    const Id id = interner.Intern("letter-" + std::to_string(i));
    while (mailbox.load(std::memory_order_acquire) != kNoId) std::this_thread::yield();
    mailbox.store(id, std::memory_order_release);
    if (i % 1000 == 999) interner.Sweep();
  }
  reader.join();
  interner.Sweep();
  EXPECT_EQ(interner.size(), 1U);
}

}  // namespace
}  // namespace berth::host
