// A plugin that uses the cluster's data in every way: objects of a kind with several versions,
// columns of objects and annotations, pending pods, values and selectors. It logs what it sees.
#include <array>
#include <string>
#include <string_view>

#include <berth/plugin.h>

namespace {

constexpr const char* kRacks = "example.com/v2|v1/Rack";

class Observer : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Observer";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Uses the cluster's data in every way.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS, BERTH_SERVICE_LOG,
                                        BERTH_SERVICE_VALUES, BERTH_SERVICE_SELECTORS};
  static constexpr std::array kKinds{kRacks};
  static constexpr bool kPendingChanges = true;
  static constexpr berth::Reasons kReasons{"the rack is closed", "the node is cold",
                                           "the selector does not match"};
  enum Reason : int { kClosed, kCold, kNoMatch };
  using Rack = berth::NodeObject<"example.com/v2|v1/Rack">;
  using Tier = berth::Annotation<"example.com/tier">;
  using Columns = berth::Columns<Rack, Tier>;
  using Node = berth::NodeRow<Columns>;
  struct Args {
    std::string selector;
    std::string watch;  // A further kind to watch.
    bool releases_twice = false;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("selector", &Args::selector, "Nodes that do not match are rejected."),
      berth::Arg("watch", &Args::watch, "A further kind that is watched."),
      berth::Arg("releasesTwice", &Args::releases_twice, "Whether PreFilter releases twice."));
  struct State {
    berth::ColumnRef<const berth_object*> rack;
    berth::ColumnRef<berth_str> tier;
  };

  Observer(const berth::Host& host, const Args& args)
      : host_(host), args_(args), selector_(host.selectors().FromText(args.selector)) {
    if (!selector_.ok()) throw berth::Error(std::string(selector_.status().reasons()[0]));
    Check(host_.objects().Watch<&Observer::OnRack>(kRacks, this));
    if (!args.watch.empty()) {
      // The host refuses the plugin, whatever it does with the status.
      (void)host_.objects().Watch<&Observer::OnRack>(args.watch, this);
    }
  }

  void OnRack(const berth::ObjectChange& change) {
    const berth_object& rack = change.now != nullptr ? *change.now : *change.old;
    const bool existed = (change.flags & BERTH_OBJECT_FLAG_REPLAY) != 0;
    host_.log().Warn(existed                 ? "rack existed"
                     : change.old == nullptr ? "rack added"
                     : change.now == nullptr ? "rack removed"
                                             : "rack changed",
                     {{"kind", host_.Text(change.kind)}, {"name", berth::Str(rack.meta->name)}});
  }

  void OnChange(const berth::Change& change) {
    const auto say = [&](const char* what) {
      host_.log().Warn(what, {{"pod", berth::Str(change.pod->meta->name)}});
    };
    switch (change.kind) {
      case BERTH_CHANGE_PENDING_ADDED: return say("pending");
      case BERTH_CHANGE_PENDING_CHANGED: return say("changed");
      case BERTH_CHANGE_PENDING_REMOVED: return say("not pending");
      case BERTH_CHANGE_POD_ADDED: return say("on a node");
      case BERTH_CHANGE_POD_REMOVED: return say("off a node");
      default: return;
    }
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    State& state = cycle.Emplace<State>();
    state.rack = cycle.Bind<const berth_object*>("object:example.com/v2|v1/Rack");
    state.tier = cycle.Bind<berth_str>("annotation:example.com/tier");
    host_.log().Warn("racks", {{"served", host_.objects().Served(kRacks) ? "yes" : "no"}});
    std::string names;
    const berth::Status listed = host_.objects().List(
        kRacks, "", [&](const berth_object& rack) { names.append(berth::Str(rack.meta->name)); });
    host_.log().Warn("list", {{"ok", listed.ok() ? "yes" : "no"}, {"names", names}});
    LogAnnotation(cycle.pod());
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const berth_object* const rack = node[Rack{}];
    if (node.Get(state.rack) != rack || berth::Str(node.Get(state.tier)) != node[Tier{}]) {
      throw berth::Error("the columns differ");
    }
    const bool closed = berth::ValueOf(rack)["spec"]["closed"].AsBool();
    return berth::UnschedulableIf(closed, kClosed) |
           berth::UnschedulableIf(node[Tier{}] == "cold", kCold) |
           berth::UnschedulableIf(!selector_.Matches(node.view().labels()), kNoMatch);
  }

 private:
  static void Check(const berth::Status& status) {
    if (!status.ok()) throw berth::Error("the watch is refused");
  }

  // Logs the JSON in the pod's annotation "example.com/data".
  void LogAnnotation(const berth::Pod& pod) {
    for (const berth_str_pair& pair : pod.annotations()) {
      if (berth::Str(pair.key) != "example.com/data") continue;
      const berth::ParsedValue parsed = host_.values().Parse(berth::Str(pair.value));
      if (!parsed.ok()) {
        host_.log().Warn("bad", {{"why", parsed.status().reasons()[0]}});
        continue;
      }
      const berth::Value value = parsed.value();
      host_.log().Warn(
          "data", {{"json", value["list"].ToJson()},
                   {"seconds", std::to_string(value["at"].AsTime().value_or(-1) / 1'000'000'000)}});
      if (!args_.releases_twice) continue;
      const auto& values = host_.services().values;
      values->release(host_.services().host, value["list"].abi());
    }
  }

  berth::Host host_;
  const Args args_;
  const berth::Selector selector_;
};

}  // namespace

BERTH_PLUGIN(Observer)
