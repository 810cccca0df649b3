#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/report.h>

namespace berth::testing {

std::string WordNames(uint32_t words) {
  static constexpr const char* kNames[] = {
      "[load]", "[event]", "[queue]", "[cycle]", "[block]", "[bind]", "[bind] on a pool thread"};
  if (words == kAnyWord) return "[any]";
  std::string out;
  for (uint32_t bit = 0; bit < 7; ++bit) {
    if ((words & (1u << bit)) != 0) out += (out.empty() ? "" : " ") + std::string(kNames[bit]);
  }
  return out;
}

CallScope::CallScope(Reporter* reporter, const char* point, Word word, const berth_cycle* cycle)
    : reporter_(*reporter),
      observer_(reporter->observer()),
      point_(point),
      word_(word),
      cycle_(cycle),
      outer_(current_) {
  current_ = this;
  if (observer_ != nullptr) observer_->OnBegin(point_);
}

CallScope::~CallScope() {
  if (observer_ != nullptr) observer_->OnEnd(point_);
  current_ = outer_;
}

bool ExpectWord(Reporter& reporter, const char* service, uint32_t allowed) {
  // A service that is only for [load] is called in create(), where nothing else is possible.
  if (allowed != kAnyWord && allowed != kLoad) reporter.See(Check::kThreads);
  const CallScope* call = CallScope::current();
  if (allowed == kAnyWord || (call != nullptr && (call->word() & allowed) != 0)) return true;
  const std::string where = call == nullptr
                                ? "a thread of the plugin"
                                : std::string(call->point()) + " " + WordNames(call->word());
  reporter.Fail(Check::kThreads, "calls " + std::string(service) + " from " + where +
                                     ", but it may be called only under " + WordNames(allowed));
  return false;
}

bool ExpectCycle(Reporter& reporter, const char* service, const berth_cycle* cycle) {
  const CallScope* call = CallScope::current();
  if (cycle != nullptr && call != nullptr && call->cycle() == cycle) return true;
  reporter.Fail(Check::kThreads,
                "calls " + std::string(service) + " for another cycle than the current one");
  return false;
}

bool ExpectPoint(Reporter& reporter, const char* service,
                 std::initializer_list<std::string_view> points) {
  const CallScope* call = CallScope::current();
  const std::string_view point = call != nullptr ? call->point() : "a thread of the plugin";
  if (std::find(points.begin(), points.end(), point) != points.end()) return true;
  std::string allowed;
  for (const std::string_view name : points) {
    allowed += (allowed.empty() ? "" : " and ") + std::string(name);
  }
  reporter.Fail(Check::kThreads, "calls " + std::string(service) + " from " + std::string(point) +
                                     ", but it may be called only from " + allowed);
  return false;
}

}  // namespace berth::testing
