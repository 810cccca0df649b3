#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/argument.h>
#include <berth/testing/ids.h>
#include <berth/testing/promises.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>

namespace berth::testing {
namespace {

void CompletePromise(berth_done done, const berth_outcome* outcome) noexcept {
  if (done.host != nullptr) Services::Of(done.host).promises().Complete(done, *outcome);
}

}  // namespace

const berth_completion Promises::kService{sizeof(berth_completion), 0, &CompletePromise};

berth_done Promises::New(Call call, const std::shared_ptr<Completion>& completion) {
  const std::lock_guard lock(mutex_);
  std::erase_if(promises_, [](const auto& one) { return one.second.completion.expired(); });
  promises_.emplace(++last_, Promise{call, completion});
  return {&host_, last_};
}

bool Promises::IsOpenForBind(berth_done done) {
  std::shared_ptr<Completion> completion;
  {
    const std::lock_guard lock(mutex_);
    const auto found = promises_.find(done.id);
    if (done.host != &host_ || found == promises_.end()) return false;
    if (found->second.call != Call::kBind) return false;
    completion = found->second.completion.lock();
  }
  if (completion == nullptr) return false;
  const std::lock_guard lock(completion->mutex);
  return !completion->completed && !completion->closed;
}

void Promises::Close() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, promise] : promises_) {
    const std::shared_ptr<Completion> completion = promise.completion.lock();
    if (completion == nullptr) continue;
    const std::lock_guard completing(completion->mutex);
    completion->closed = true;
  }
}

void Promises::Complete(berth_done done, const berth_outcome& outcome) {
  std::shared_ptr<Completion> completion;
  Call call = Call::kBind;
  {
    const std::lock_guard lock(mutex_);
    if (done.id == 0 || done.id > last_) {
      reporter_.Fail(Check::kShape,
                     "completes promise " + std::to_string(done.id) + ", which it never got");
      return;
    }
    if (const auto found = promises_.find(done.id); found != promises_.end()) {
      completion = found->second.completion.lock();
      call = found->second.call;
    }
  }
  if (completion == nullptr) return;  // The host no longer waits for it.
  const std::lock_guard lock(completion->mutex);
  if (completion->closed) return;
  if (completion->completed) {
    reporter_.Fail(Check::kShape, "completes a call twice");
    return;
  }
  completion->completed = true;
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_outcome, reasons);
  if (outcome.struct_size < kFirstSize) {
    reporter_.Fail(Check::kShape, "calls completion.complete with a struct_size of " +
                                      std::to_string(outcome.struct_size) + "; expected at least " +
                                      std::to_string(kFirstSize));
    completion->answer = MakeAnswer(BERTH_BUG);
    return;
  }
  const berth_array& reasons = outcome.reasons;
  const bool is_valid =
      reasons.count == 0 || (reasons.data != nullptr && reasons.stride >= sizeof(berth_str) &&
                             reasons.stride % alignof(berth_str) == 0);
  if (!is_valid) {
    reporter_.Fail(Check::kShape, "completes a call with an array of reasons that is not valid");
    completion->answer = MakeAnswer(BERTH_BUG);
    return;
  }
  const bool is_outcome = outcome.code != BERTH_PENDING && outcome.code != BERTH_WAIT &&
                          (outcome.code != BERTH_SKIP || call == Call::kBind);
  if (!is_outcome) {
    reporter_.Fail(Check::kCodes, "completes a call with " + std::string(CodeName(outcome.code)));
    completion->answer = MakeAnswer(BERTH_BUG);
    return;
  }
  completion->answer = MakeAnswer(outcome.code);
  for (uint32_t i = 0; i < outcome.reasons.count; ++i) {
    const berth_str reason = *BERTH_AT(berth_str, outcome.reasons, i);
    if (IsNull(reason) && outcome.code != BERTH_SUCCESS) {
      reporter_.Fail(Check::kShape, "completes a call with a reason that is NULL");
      completion->answer = MakeAnswer(BERTH_BUG);
      return;
    }
    if (reason.len != 0 && !IsNull(reason)) {
      completion->answer.reasons.emplace_back(FromAbi(reason));
    }
  }
}

}  // namespace berth::testing
