// Plugins that plan over many nodes, as a third party would write them, with the SDK only:
//   test.Preemptor  asks about all nodes in one what-if question, with victims removed, and
//                   nominates the best
//   test.Quorum     a Filter that is called once for all nodes
//   test.Witness    logs what it receives about the chosen node; normalises scores in double
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

class Preemptor : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Preemptor";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Nominates the node whose victims matter least.";
  static constexpr std::array kServices{BERTH_SERVICE_WHATIF, BERTH_SERVICE_NODES,
                                        BERTH_SERVICE_LOG};
  struct Args {
    int64_t victims = 2;
    bool together = false;
    std::string misuse;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("victims", &Args::victims, berth::Range{0, 100}, "Victims per node, at most."),
      berth::Arg("together", &Args::together, "Whether to ask about all nodes as one cluster."),
      berth::Arg("misuse", &Args::misuse,
                 "How to misuse the service instead: once-ended, no-row, "
                 "no-mode, selected, many, flag, small, index, no-pod, "
                 "copied-cycle or open."));
  using Columns = berth::Columns<>;
  using Node = berth::NodeRow<Columns>;

  Preemptor(const berth::Host& host, const Args& args) : host_(host), args_(args) {}

  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& verdicts, berth::PostFilterOut& out) {
    const std::vector<Candidate> candidates = CandidatesIn(cycle, all, verdicts);
    std::vector<uint32_t> rows;
    for (const Candidate& candidate : candidates) rows.push_back(candidate.row);
    if (!args_.misuse.empty()) return Misuse(cycle, rows);
    auto question = host_.what_if().Begin(
        cycle, rows, args_.together ? berth::WhatIfMode::kTogether : berth::WhatIfMode::kApart);
    if (!question) return berth::Status::Error("no question");
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      for (const berth_pod* victim : candidates[i].victims) {
        if (!question.RemovePod(i, *victim).ok()) return berth::Status::Error("RemovePod failed");
      }
    }
    std::vector<uint8_t> codes(rows.size());
    const berth::Status status = question.RunFilters(codes);
    if (!status.ok()) return status;
    return Choose(candidates, codes, status, all, out);
  }

 private:
  struct Candidate {
    uint32_t row;
    std::vector<const berth_pod*> victims;
    int64_t cost = 0;  // The sum of the victims' priorities.
  };

  // Returns the rejected nodes on which removing pods may help, each with its pods of the lowest
  // priorities.
  std::vector<Candidate> CandidatesIn(const berth::Cycle& cycle, const berth::Nodes& all,
                                      const berth::Verdicts& verdicts) const {
    std::vector<Candidate> candidates;
    all.ForEach<Columns>([&](const Node& node) {
      if (verdicts.Code(node.row()) != BERTH_UNSCHEDULABLE) return;
      std::vector<const berth_pod*> victims;
      for (const berth_pod* pod : node.pods()) {
        if (pod->priority < cycle.pod()->priority) victims.push_back(pod);
      }
      std::ranges::sort(victims, {}, &berth_pod::priority);
      victims.resize(std::min(victims.size(), static_cast<size_t>(args_.victims)));
      Candidate candidate{.row = node.row(), .victims = std::move(victims)};
      for (const berth_pod* victim : candidate.victims) candidate.cost += victim->priority;
      candidates.push_back(std::move(candidate));
    });
    return candidates;
  }

  berth::Status Choose(const std::vector<Candidate>& candidates, const std::vector<uint8_t>& codes,
                       const berth::Status& status, const berth::Nodes& all,
                       berth::PostFilterOut& out) const {
    const Candidate* best = nullptr;
    size_t fitting = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (codes[i] != BERTH_SUCCESS) continue;
      ++fitting;
      if (best == nullptr || candidates[i].cost < best->cost) best = &candidates[i];
    }
    std::string reasons;
    for (const std::string& reason : status.reasons()) reasons += reason + ";";
    host_.log().Info("asked", {{"nodes", std::to_string(candidates.size())},
                               {"fitting", std::to_string(fitting)},
                               {"reasons", reasons}});
    if (best == nullptr) return berth::Status::Unschedulable("no victims help");
    const auto place = host_.nodes().Find(all, best->row);
    if (!place) return berth::Status::Error("the row is not among all nodes");
    const std::string_view name = all.BlockAt<Columns>(place->block).View(place->index).name();
    if (host_.nodes().Find(name) != best->row) return berth::Status::Error("another row");
    out.Nominate(name);
    return berth::Status::Success();
  }

  // Makes one call that is not valid, and logs its code.
  berth::Status Misuse(const berth::Cycle& cycle, const std::vector<uint32_t>& rows) const {
    const berth_whatif& service = *host_.services().whatif;
    const berth_host* host = host_.services().host;
    const auto begin = [&](uint32_t row, uint32_t mode, uint64_t* question) {
      return service.begin(host, &cycle.abi(), &row, 1, mode, question);
    };
    uint64_t question = 0;
    uint8_t code = 77;
    berth_code answer = begin(rows.front(), BERTH_WHATIF_APART, &question);
    const auto run = [&](const uint32_t* selected, uint64_t n, uint32_t flags = 0,
                         uint32_t size = sizeof(berth_whatif_run)) {
      const berth_whatif_run given = {size, flags, selected, n, &code};
      return service.run_filters(host, question, &given, nullptr);
    };
    if (args_.misuse == "once-ended") {
      service.end(host, question);
      answer = run(nullptr, 0);
      service.end(host, question);
    } else if (args_.misuse == "no-row") {
      answer = begin(1'000'000, BERTH_WHATIF_APART, &question);
    } else if (args_.misuse == "no-mode") {
      answer = begin(rows.front(), 3, &question);
    } else if (args_.misuse == "selected") {
      const uint32_t selected[] = {1};
      answer = run(selected, 1);
    } else if (args_.misuse == "many") {
      const uint32_t selected[] = {0};
      answer = run(selected, uint64_t{1} << 40);
    } else if (args_.misuse == "flag") {
      answer = run(nullptr, 0, 1);
    } else if (args_.misuse == "small") {
      answer = run(nullptr, 0, 0, offsetof(berth_whatif_run, codes));
    } else if (args_.misuse == "index") {
      answer = service.remove_pod(host, question, 1, &*cycle.pod(), nullptr);
    } else if (args_.misuse == "no-pod") {
      answer = service.remove_pod(host, question, 0, &*cycle.pod(), nullptr);
    } else if (args_.misuse == "copied-cycle") {
      const berth_cycle copy = cycle.abi();
      uint64_t other = 0;
      answer = service.begin(host, &copy, rows.data(), 1, BERTH_WHATIF_APART, &other);
    }
    if (args_.misuse != "open") service.end(host, question);
    host_.log().Info(code == 77 ? "refused" : "answered", {{"code", std::to_string(answer)}});
    return berth::Status::Unschedulable("misused");
  }

  const berth::Host host_;
  const Args args_;
};

class Quorum : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Quorum";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Rejects all nodes if too few of them remain.";
  static constexpr berth::Reasons kReasons{"node(s) have the most pods"};
  struct Args {
    int64_t nodes = 1;
    bool fails = false;
    bool forgets = false;
    bool throws = false;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("nodes", &Args::nodes, berth::Range{0, 1000}, "How many nodes must remain."),
      berth::Arg("fails", &Args::fails, "Whether Filter returns an error."),
      berth::Arg("forgets", &Args::forgets, "Whether Filter leaves a node out."),
      berth::Arg("throws", &Args::throws, "Whether Filter throws."));
  using Columns = berth::Columns<berth::PodsCount>;
  using Node = berth::NodeRow<Columns>;

  Quorum(const berth::Host& /*host*/, const Args& args) : args_(args) {}

  // Rejects the nodes with the most pods, unless all have as many.
  berth::Status Filter(const berth::Cycle& cycle, const berth::Nodes& survivors,
                       berth::FilterWholeOut& out) const {
    if (args_.throws) throw berth::Error("thrown");
    if (args_.fails) return berth::Status::Error("no quorum today");
    // Only a part of the nodes are candidates in a what-if.
    const bool is_what_if = cycle.abi().flags != 0;
    const bool is_met = is_what_if || survivors.size() >= static_cast<uint64_t>(args_.nodes);
    int64_t low = INT64_MAX;
    int64_t high = 0;
    survivors.ForEach<Columns>([&](const Node& node) {
      low = std::min(low, node[berth::PodsCount{}]);
      high = std::max(high, node[berth::PodsCount{}]);
    });
    const int reason = is_met ? 0
                              : out.AddReason("only " + std::to_string(survivors.size()) + " of " +
                                              std::to_string(args_.nodes) + " node(s) remain");
    bool forgets = args_.forgets;
    survivors.ForEach<Columns>([&](const Node& node) {
      if (std::exchange(forgets, false)) return;
      const bool is_high = low < high && node[berth::PodsCount{}] == high;
      out.Set(node.row(), berth::UnschedulableIf(is_high || !is_met, reason));
    });
    return berth::Status::Success();
  }

 private:
  const Args args_;
};

class Witness : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Witness";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Logs what it receives about the chosen node.";
  using Columns = berth::Columns<berth::ReqCpu, berth::AllocPods>;
  using Node = berth::NodeRow<Columns>;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMinMaxFloat;

  explicit Witness(const berth::Host& host) : host_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    gpus_ = cycle.Bind<int64_t>("req:example.com/gpu");
    return berth::Status::Success();
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& node) const {
    return node[berth::AllocPods{}];
  }
  berth::Status Reserve(berth::Cycle& /*cycle*/, const berth::Target& target) {
    LogTarget("reserve", target);
    std::string nominated;
    const berth::Status status =
        host_.nominator().ForEach([&](const berth_pod& pod, std::string_view node) {
          nominated += std::string(berth::Pod(pod).name()) + "@" + std::string(node) + ";";
        });
    host_.log().Info("nominated", {{"pods", nominated}});
    return status;
  }
  void Unreserve(const berth::Binding& /*binding*/) {}
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& target,
                       std::chrono::nanoseconds& /*timeout*/) {
    LogTarget("permit", target);
    return berth::Status::Success();
  }

 private:
  void LogTarget(std::string_view at, const berth::Target& target) const {
    std::string pods;
    for (const berth_pod* pod : target.pods()) pods += std::string(berth::Pod(*pod).name()) + ";";
    host_.log().Info(at, {{"node", target.node().name()},
                          {"pods", pods},
                          {"cpu", std::to_string(target.Node<Columns>()[berth::ReqCpu{}])},
                          {"gpus", std::to_string(target.Get(gpus_))}});
  }

  const berth::Host host_;
  berth::ColumnRef<int64_t> gpus_;  // Bound in the present cycle.
};

}  // namespace

BERTH_PLUGINS(Preemptor, Quorum, Witness);
