// Scores nodes with the answers of a web service, without holding up other pods.
//
// The first attempt of a pod asks the service about all its feasible nodes, and parks the pod. The
// answer activates the pod, and the next attempt reads the scores:
//
//   POST <url>  {"pod":{"namespace":"shop","name":"w","labels":{"app":"web"}},"nodes":["a","b"]}
//   200         {"scores":{"a":80,"b":10}}
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <berth/plugin.h>

namespace {

class WebhookScore : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.WebhookScore";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Scores nodes with the answers of a web service.";
  static constexpr std::array kServices{BERTH_SERVICE_HTTP, BERTH_SERVICE_ACTIVATE,
                                        BERTH_SERVICE_TIMER, BERTH_SERVICE_VALUES,
                                        BERTH_SERVICE_STRINGS};
  enum class OnFailure : int { kIgnore, kFail };
  struct Args {
    std::string url;
    std::string ca_file;
    int64_t timeout_ms = 2'000;
    int64_t max_age_s = 300;
    OnFailure on_failure = OnFailure::kIgnore;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("url", &Args::url, berth::kRequired, "The URL of the service."),
      berth::Arg("caFile", &Args::ca_file,
                 "The CA of the service; by default those of the system."),
      berth::Arg("timeoutMs", &Args::timeout_ms, berth::Range{1, 60'000},
                 "How long a pod waits for an answer."),
      berth::Arg("maxAgeSeconds", &Args::max_age_s, berth::Range{1, 86'400},
                 "How long the scores of a pod may be used."),
      berth::Arg("onFailure", &Args::on_failure,
                 berth::Names{berth::Name{"Ignore", OnFailure::kIgnore},
                              berth::Name{"Fail", OnFailure::kFail}},
                 "Without an answer: schedule the pod without these scores, or try it later."));

  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;
  using Scores = std::unordered_map<berth_id, int64_t>;  // By the name of the node.
  struct State {
    Scores scores;
  };

  WebhookScore(const berth::Host& host, Args args) : host_(host), args_(std::move(args)) {}

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible,
                         const berth::Nodes& /*all*/) {
    const std::string uid(cycle.pod().uid());
    std::string pod = Describe(cycle.pod());
    DropOldAnswers();
    const auto known = entries_.find(uid);
    if (known == entries_.end() || known->second.pod != pod || IsOld(known->second)) {
      return Ask(cycle, std::move(pod), feasible);
    }
    const Entry& entry = known->second;
    if (entry.phase == Phase::kAsked) return berth::Status::Pending(kWaits);
    if (entry.phase == Phase::kFailed) return Fail(cycle, entry.error);
    // The service has answered about nodes by name. Nodes that it does not know get 0.
    Scores& scores = cycle.Emplace<State>().scores;
    for (const auto& [name, score] : entry.scores) scores[host_.Find(name)] = score;
    return berth::Status::Success();
  }

  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const Scores& scores = cycle.State<State>().scores;
    const auto found = scores.find(node[berth::NodeName{}]);
    return found != scores.end() ? found->second : 0;
  }

  void PostBind(const berth::Binding& binding) {
    entries_.erase(std::string(berth::Pod(binding.pod()).uid()));
  }

 private:
  static constexpr std::string_view kWaits = "waiting for scores of the web service";
  enum class Phase : uint8_t { kAsked, kAnswered, kFailed };
  struct Entry {
    std::string pod;      // As in the request: another version is another question.
    uint64_t number = 0;  // Identifies the question.
    Phase phase = Phase::kAsked;
    std::chrono::nanoseconds at{};
    std::unordered_map<std::string, int64_t> scores{};
    std::string error{};
  };

  berth::Status Ask(berth::Cycle& cycle, std::string pod, const berth::Nodes& feasible) {
    const std::string uid(cycle.pod().uid());
    std::string body = "{\"pod\":" + pod + ",\"nodes\":[";
    feasible.ForEach<Columns>([&](const Node& node) {
      if (body.back() != '[') body += ',';
      body.append("\"").append(host_.Text(node[berth::NodeName{}])).append("\"");
    });
    body += "]}";
    const uint64_t number = ++last_;
    const berth::Status sent = host_.http().Send(
        {.method = "POST",
         .url = args_.url,
         .headers = {{"Content-Type", "application/json"}},
         .body = body,
         .ca_file = args_.ca_file,
         .timeout = std::chrono::milliseconds(args_.timeout_ms)},
        [this, uid, number](const berth::HttpResult& result) { OnResult(uid, number, result); });
    if (!sent.ok()) return Fail(cycle, "the request was refused");
    entries_[uid] = {.pod = std::move(pod), .number = number, .at = host_.timers().Now()};
    return berth::Status::Pending(kWaits);
  }
  // Called on the scheduling thread: with an answer, or with the reason why there is none.
  void OnResult(const std::string& uid, uint64_t number, const berth::HttpResult& result) {
    const auto asked = entries_.find(uid);
    if (asked == entries_.end() || asked->second.number != number) return;
    Entry& entry = asked->second;
    const berth::ParsedValue answer = host_.values().Parse(result.ok() ? result.body() : "null");
    const berth::Value scores = answer.value()["scores"];
    entry.phase = scores.kind() == BERTH_VALUE_OBJECT ? Phase::kAnswered : Phase::kFailed;
    entry.error = result.ok() ? "expected an object \"scores\" in the answer" : result.error();
    for (uint64_t i = 0; i < scores.size(); ++i) {
      entry.scores[std::string(scores.KeyAt(i))] =
          std::clamp<int64_t>(scores.At(i).AsInt(), 0, berth::kScoreMax);
    }
    entry.at = host_.timers().Now();
    static_cast<void>(host_.activate().Pod(uid));
  }
  berth::Status Fail(berth::Cycle& cycle, const std::string& error) {
    host_.log().Warn("no scores of the web service", {{"url", args_.url}, {"error", error}});
    if (args_.on_failure == OnFailure::kFail) {
      return berth::Status::Error("no scores of the web service: " + error);
    }
    cycle.Emplace<State>();  // Every node gets 0.
    return berth::Status::Success();
  }

  // Labels and names have no character that JSON would escape.
  std::string Describe(const berth::Pod& pod) const {
    std::string text = "{\"namespace\":\"";
    text.append(host_.Text(pod.ns())).append("\",\"name\":\"").append(pod.name());
    text.append("\",\"labels\":{");
    for (const berth_id_pair& label : pod.labels()) {
      text.append(text.back() == '{' ? "\"" : ",\"").append(host_.Text(label.key));
      text.append("\":\"").append(host_.Text(label.value)).append("\"");
    }
    return text + "}}";
  }
  // A failure counts for a second, so that the next attempt after a backoff asks again.
  bool IsOld(const Entry& entry) const {
    const std::chrono::seconds limit(entry.phase == Phase::kFailed ? 1 : args_.max_age_s);
    return entry.phase != Phase::kAsked && host_.timers().Now() - entry.at >= limit;
  }
  // Drops the answers of pods that were deleted. Once per maximum age, because it looks at all.
  void DropOldAnswers() {
    const std::chrono::nanoseconds now = host_.timers().Now();
    if (now - swept_at_ < std::chrono::seconds(args_.max_age_s)) return;
    swept_at_ = now;
    std::erase_if(entries_, [this](const auto& entry) { return IsOld(entry.second); });
  }

  berth::Host host_;
  const Args args_;
  std::unordered_map<std::string, Entry> entries_;  // By the uid of the pod.
  uint64_t last_ = 0;
  std::chrono::nanoseconds swept_at_{};
};

}  // namespace

BERTH_PLUGIN(WebhookScore)
