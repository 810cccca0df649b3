// Scores nodes with the answers of a web service, without holding up other pods.
// The first attempt of a pod asks the service about all its feasible nodes, and parks the pod. The
// answer activates the pod, and the next attempt reads the scores:
//   POST <url>  {"pod":{"namespace":"a","name":"b-1","labels":{"app":"b"}},"nodes":["n1","n2"]}
//   200         {"scores":{"n1":80,"n2":10}}
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
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
  static constexpr bool kPendingChanges = true;
  struct Args {
    std::string url;
    std::string ca_file;
    int64_t timeout_ms = 2'000;
    int64_t max_age_s = 300;
    bool is_ignorable = true;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("url", &Args::url, berth::kRequired, "The URL of the service."),
      berth::Arg("caFile", &Args::ca_file, "The CA of the service; by default the system's."),
      berth::Arg("timeoutMs", &Args::timeout_ms, berth::Range{1, 60'000}, "How long a pod waits."),
      berth::Arg("maxAgeSeconds", &Args::max_age_s, berth::Range{1, 86'400},
                 "How long the scores of a pod may be used."),
      berth::Arg("ignorable", &Args::is_ignorable,
                 "Without an answer: schedule the pod without these scores, or try it later."));
  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;
  struct State {
    std::unordered_map<berth_id, int64_t> scores;  // By the name of the node.
  };
  WebhookScore(const berth::Host& host, Args args) : host_(host), args_(std::move(args)) {}
  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible, const berth::Nodes&) {
    std::string pod = Describe(cycle.pod());
    const auto known = entries_.find(std::string(cycle.pod().uid()));
    if (known == entries_.end() || known->second.pod != pod ||
        host_.timers().Now() >= known->second.until) {
      return Ask(cycle, std::move(pod), feasible);
    }
    const Entry& entry = known->second;
    if (entry.until == kNever) return berth::Status::Pending(kWaits);
    if (!entry.error.empty()) return Fail(cycle, entry.error);
    State& state = cycle.Emplace<State>();
    for (const auto& [name, score] : entry.scores) state.scores[host_.Find(name)] = score;
    return berth::Status::Success();
  }

  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const auto found = state.scores.find(node[berth::NodeName{}]);
    return found != state.scores.end() ? found->second : 0;
  }

  // The pod has a node, or it was deleted.
  void OnChange(const berth::Change& change) {
    if (change.kind != BERTH_CHANGE_PENDING_REMOVED) return;
    entries_.erase(std::string(berth::Pod(*change.pod).uid()));
  }

 private:
  static constexpr std::string_view kWaits = "waiting for scores of the web service";
  static constexpr auto kNever = std::chrono::nanoseconds::max();
  struct Entry {
    std::string pod;  // As in the request: other labels are another question.
    std::chrono::nanoseconds until = kNever;  // When it gets old; never before the answer.
    std::map<std::string, int64_t> scores{};
    std::string error{};
  };

  berth::Status Ask(berth::Cycle& cycle, std::string pod, const berth::Nodes& feasible) {
    std::string uid(cycle.pod().uid());
    std::string body = "{\"pod\":" + pod + ",\"nodes\":[";
    feasible.ForEach<Columns>([&](const Node& node) {
      if (body.back() != '[') body += ',';
      body.append("\"").append(host_.Text(node[berth::NodeName{}])).append("\"");
    });
    const berth::Status sent = host_.http().Send(
        {.method = "POST",
         .url = args_.url,
         .headers = {{"Content-Type", "application/json"}},
         .body = body + "]}",
         .ca_file = args_.ca_file,
         .timeout = std::chrono::milliseconds(args_.timeout_ms)},
        [this, uid, pod](const berth::HttpResult& result) { OnResult(uid, pod, result); });
    if (!sent.ok()) return Fail(cycle, "the request was refused");
    entries_.insert_or_assign(std::move(uid), Entry{.pod = std::move(pod)});
    return berth::Status::Pending(kWaits);
  }
  // Called on the scheduling thread: with an answer, or with the reason why there is none.
  void OnResult(const std::string& uid, const std::string& pod, const berth::HttpResult& result) {
    const auto asked = entries_.find(uid);
    if (asked == entries_.end() || asked->second.pod != pod) return;
    Entry& entry = asked->second;
    const berth::ParsedValue answer = host_.values().Parse(result.ok() ? result.body() : "null");
    const berth::Value scores = answer.value()["scores"];
    if (scores.kind() != BERTH_VALUE_OBJECT) {
      entry.error = result.ok() ? "expected an object \"scores\" in the answer" : result.error();
    }
    for (uint64_t i = 0; i < scores.size(); ++i) {
      const int64_t score = std::clamp<int64_t>(scores.At(i).AsInt(), 0, berth::kScoreMax);
      entry.scores.emplace(scores.KeyAt(i), score);
    }
    // A failure counts for a second, so that the attempt after a backoff asks again.
    entry.until =
        host_.timers().Now() + std::chrono::seconds(entry.error.empty() ? args_.max_age_s : 1);
    static_cast<void>(host_.activate().Pod(uid));
  }
  berth::Status Fail(berth::Cycle& cycle, const std::string& error) {
    host_.log().Warn("no scores of the web service", {{"error", error}});
    if (!args_.is_ignorable) return berth::Status::Error("no scores of the web service: " + error);
    cycle.Emplace<State>();
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

  const berth::Host host_;
  const Args args_;
  std::map<std::string, Entry> entries_;  // By the uid of the pod.
};

}  // namespace

BERTH_PLUGIN(WebhookScore)
