#include "host/guard/plugin_faults.h"

#include <algorithm>
#include <array>
#include <bit>

#include "host/base/assert.h"
#include "host/base/time.h"

namespace berth::host {

std::string_view FaultName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kException: return "exception";
    case FaultKind::kBadCode: return "bad code";
    case FaultKind::kBadVerdict: return "bad verdict";
    case FaultKind::kBadScore: return "bad score";
    case FaultKind::kDeadline: return "deadline";
  }
  return "unknown";
}

std::shared_ptr<PluginFaults::Account> PluginFaults::Open(std::string_view plugin,
                                                          std::string_view profile) {
  auto account = std::make_shared<Account>(std::string(plugin), std::string(profile));
  const std::scoped_lock lock(mutex_);
  std::erase_if(accounts_, [](const auto& known) { return known.expired(); });
  accounts_.push_back(account);
  return account;
}

void PluginFaults::Note(Account& account, Point point, FaultKind kind, std::string_view what,
                        uint64_t pod) {
  uint64_t count = 0;
  Quarantined quarantined{account.profile_, account.plugin_, {}, 0};
  std::string& why = quarantined.why;
  {
    const std::scoped_lock lock(mutex_);
    count = ++counts_[Key(account.profile_, account.plugin_, point, kind)];
    why = QuarantineFor(account, point, pod);
    if (!why.empty()) {
      why.append(", the last at ").append(NameOf(point));
      why.append(": ").append(FaultName(kind)).append(": ").append(what);
      BeginQuarantine(account, why);
    }
    quarantined.pause_ns = account.pause_ns_;
  }
  if (std::has_single_bit(count)) LogFault(account, point, kind, what, count);
  if (why.empty()) return;
  LogQuarantine(quarantined);
  if (options_.on_quarantine) options_.on_quarantine(quarantined);
}

std::string PluginFaults::Quarantined::ToString() const {
  return plugin + " of the profile " + profile + " is in quarantine for " +
         FormatDuration(pause_ns) + ": " + why;
}

void PluginFaults::BeginQuarantine(Account& account, const std::string& why) {
  const QuarantinePolicy& policy = options_.quarantine;
  account.pause_ns_ = account.pause_ns_ == 0 ? policy.pause_ns
                                             : std::min(2 * account.pause_ns_, policy.max_pause_ns);
  account.trial_ns_ = NowNs() + account.pause_ns_;
  account.latest_.clear();
  {
    const std::scoped_lock lock(account.why_mutex_);
    account.why_ = why;
  }
  account.quarantined_.store(true, std::memory_order_release);
  has_quarantine_.store(true, std::memory_order_release);
}

bool PluginFaults::BeginTrials() {
  if (!has_quarantine_.load(std::memory_order_acquire)) return false;
  std::vector<std::shared_ptr<Account>> begun;
  {
    const std::scoped_lock lock(mutex_);
    bool has_quarantine = false;
    for (const auto& known : accounts_) {
      auto account = known.lock();
      if (account == nullptr || !account->quarantined()) continue;
      if (options_.clock == nullptr || NowNs() < account->trial_ns_) {
        has_quarantine = true;
        continue;
      }
      account->quarantined_.store(false, std::memory_order_release);
      begun.push_back(std::move(account));
    }
    has_quarantine_.store(has_quarantine, std::memory_order_release);
  }
  for (const auto& account : begun) LogTrial(*account);
  return !begun.empty();
}

std::optional<int64_t> PluginFaults::NextTrialNs() const {
  std::optional<int64_t> next;
  if (options_.clock == nullptr || !has_quarantine_.load(std::memory_order_acquire)) return next;
  const std::scoped_lock lock(mutex_);
  for (const auto& known : accounts_) {
    const auto account = known.lock();
    if (account == nullptr || !account->quarantined()) continue;
    next = std::min(next.value_or(account->trial_ns_), account->trial_ns_);
  }
  return next;
}

bool PluginFaults::IsOnTrial(Account& account, int64_t now_ns) const {
  if (account.pause_ns_ == 0) return false;
  if (now_ns - account.trial_ns_ < options_.quarantine.window_ns) return true;
  account.pause_ns_ = 0;
  return false;
}

void PluginFaults::LogFault(const Account& account, Point point, FaultKind kind,
                            std::string_view what, uint64_t count) const {
  if (options_.log == nullptr) return;
  std::string message(NameOf(point));
  message.append(": ").append(FaultName(kind));
  const std::string number = std::to_string(count);
  const std::array fields = {LogField{"profile", account.profile_}, LogField{"count", number}};
  options_.log->Write({.level = BERTH_LOG_WARN,
                       .logger = account.plugin_,
                       .message = message,
                       .fields = fields,
                       .error = what});
}

void PluginFaults::LogQuarantine(const Quarantined& plugin) const {
  if (options_.log == nullptr) return;
  const std::string pause = FormatDuration(plugin.pause_ns);
  const std::array fields = {LogField{"profile", plugin.profile}, LogField{"pause", pause}};
  options_.log->Write({.level = BERTH_LOG_ERROR,
                       .logger = plugin.plugin,
                       .message = "in quarantine",
                       .fields = fields,
                       .error = plugin.why});
}

void PluginFaults::LogTrial(const Account& account) const {
  if (options_.log == nullptr) return;
  const LogField profile{"profile", account.profile_};
  options_.log->Write({.level = BERTH_LOG_INFO,
                       .logger = account.plugin_,
                       .message = "The quarantine is over; called again, on trial",
                       .fields = {&profile, 1}});
}

std::string PluginFaults::QuarantineFor(Account& account, Point point, uint64_t pod) {
  const QuarantinePolicy& policy = options_.quarantine;
  if (policy.faults == 0 || account.quarantined()) return "";
  const int64_t now_ns = NowNs();
  auto& latest = account.latest_;
  std::erase_if(latest, [&](const Account::Fault& fault) {
    return now_ns - fault.at_ns > policy.window_ns || (pod != 0 && fault.pod == pod);
  });
  const auto at = static_cast<size_t>(point);
  BERTH_ASSERT(at < account.served_.size());
  if (pod != 0) account.failed_.fetch_or(1U << at);
  latest.push_back({now_ns, pod, point, account.served_[at].load(std::memory_order_relaxed)});
  if (latest.size() > policy.faults) latest.pop_front();
  const bool is_on_trial = IsOnTrial(account, now_ns);
  const uint32_t limit = !is_on_trial ? policy.faults : pod == 0 ? 1 : std::min(2U, policy.faults);
  if (latest.size() < limit) return "";
  const auto first = std::ranges::find(latest, point, &Account::Fault::point);
  const int64_t served = latest.back().served - first->served;
  const bool is_of_pods =
      std::ranges::all_of(latest, [](const Account::Fault& fault) { return fault.pod != 0; });
  if (is_of_pods && served >= int64_t{limit}) return "";
  std::string why = limit == 1 ? "a fault" : std::to_string(limit) + " faults";
  if (is_on_trial) return why.append(" on trial");
  return why.append(" within ").append(FormatDuration(policy.window_ns));
}

std::vector<PluginFaults::Count> PluginFaults::Counts() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Count> counts;
  counts.reserve(counts_.size());
  for (const auto& [key, count] : counts_) {
    const auto& [profile, plugin, point, kind] = key;
    counts.push_back({profile, plugin, point, kind, count});
  }
  return counts;
}

std::vector<PluginFaults::Quarantined> PluginFaults::InQuarantine() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Quarantined> found;
  for (const auto& known : accounts_) {
    const auto account = known.lock();
    if (account == nullptr || !account->quarantined()) continue;
    found.push_back({account->profile_, account->plugin_, account->why(), account->pause_ns_});
  }
  return found;
}

}  // namespace berth::host
