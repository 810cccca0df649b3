// NodePorts: rejects nodes on which a host port that the pod requests is in use.
// kube-scheduler: pkg/scheduler/framework/plugins/nodeports/node_ports.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

using Ports = berth::Span<const berth_port>;

// Returns the name of the protocol in column names. For an unknown protocol, no column has the
// returned name, so that binding the column fails the cycle.
const char* NameOf(uint32_t protocol) {
  switch (protocol) {
    case BERTH_PROTOCOL_TCP: return "TCP";
    case BERTH_PROTOCOL_UDP: return "UDP";
    case BERTH_PROTOCOL_SCTP: return "SCTP";
    default: return "an unknown protocol";
  }
}

class NodePorts : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodePorts";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes on which a host port that the pod requests is in use.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_COLUMNS};
  static constexpr std::array kPodFields{"/spec/containers/ports/hostPort"};
  static constexpr berth::Reasons kReasons{
      "node(s) didn't have free ports for the requested pod ports"};
  enum Reason : int { kNotFree };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods,
                                                       .pod_parts = BERTH_PART(PORTS)};
  using Node = berth::NodeRow<Columns>;

  struct State {
    // One column for each requested port: the number of conflicting ports in use on the node.
    std::vector<berth::ColumnRef<int64_t>> uses;
  };

  explicit NodePorts(const berth::Host& host)
      : host_(host), every_address_(host.Intern("0.0.0.0")) {}

  // Skips pods that request no host port.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const Ports ports = cycle.pod().host_ports();
    if (ports.empty()) return berth::Status::Skip();
    State& state = cycle.Emplace<State>();
    for (const berth_port& port : ports) {
      state.uses.push_back(cycle.Bind<int64_t>(ColumnOf(port)));
    }
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    bool in_use = false;
    for (const berth::ColumnRef<int64_t> uses : state.uses) in_use |= node.Get(uses) != 0;
    return berth::UnschedulableIf(in_use, kNotFree);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_POD_ANY,
             .actions = BERTH_ACTION_DELETE,
             .pod_parts = BERTH_PART(PORTS)},
            {.resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD, .always = true}};
  }

  // Returns kQueue for every added node, and for a deleted pod that was on a node, or nominated to
  // one, and used a conflicting port.
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth_pod* const gone = berth::PodIn(event.before);
    if (gone == nullptr) return berth::QueueingHint::kQueue;
    const bool held = gone->node_name != BERTH_ID_NONE || gone->nominated_node != BERTH_ID_NONE;
    const bool helps =
        held && AnyConflict(berth::Pod(*queued.pod).host_ports(), berth::Pod(*gone).host_ports());
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  // So many ports are compared with each of the others.
  static constexpr std::size_t kFew = 16;

  // Returns whether the port is requested on all addresses. "::" is treated as a single address.
  bool IsOnAllAddresses(const berth_port& port) const {
    return port.host_ip == BERTH_ID_NONE || port.host_ip == every_address_;
  }

  std::string ColumnOf(const berth_port& port) const {
    std::string column =
        "hostport:" + std::string(NameOf(port.protocol)) + "/" + std::to_string(port.host_port);
    if (!IsOnAllAddresses(port)) column.append("/").append(host_.Text(port.host_ip));
    return column;
  }

  // kube-scheduler: HostPortInfo.CheckConflict.
  bool Conflict(const berth_port& a, const berth_port& b) const {
    if (a.protocol != b.protocol || a.host_port != b.host_port) return false;
    return IsOnAllAddresses(a) || IsOnAllAddresses(b) || a.host_ip == b.host_ip;
  }

  // A protocol, a port, and an address or 0 for all addresses.
  using Use = std::array<int64_t, 3>;
  Use UseOf(const berth_port& port) const {
    return {port.protocol, port.host_port, IsOnAllAddresses(port) ? 0 : int64_t{port.host_ip}};
  }

  bool AnyConflict(Ports wanted, Ports used) const {
    if (std::min(wanted.size(), used.size()) <= kFew) {
      return std::any_of(wanted.begin(), wanted.end(), [&](const berth_port& want) {
        return std::any_of(used.begin(), used.end(),
                           [&](const berth_port& use) { return Conflict(want, use); });
      });
    }
    // Sorted by protocol, port and address; 0: all addresses.
    std::vector<Use> uses;
    uses.reserve(used.size());
    for (const berth_port& use : used) uses.push_back(UseOf(use));
    std::sort(uses.begin(), uses.end());
    return std::any_of(wanted.begin(), wanted.end(), [&](const berth_port& want) {
      const Use use = UseOf(want);
      const auto first = std::lower_bound(uses.begin(), uses.end(), Use{use[0], use[1], 0});
      if (first == uses.end() || (*first)[0] != use[0] || (*first)[1] != use[1]) return false;
      return use[2] == 0 || (*first)[2] == 0 || std::binary_search(first, uses.end(), use);
    });
  }

  const berth::Host host_;
  const berth_id every_address_;
};

}  // namespace

BERTH_PLUGIN(NodePorts)
