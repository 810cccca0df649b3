#include "host/runtime/binding.h"

#include <utility>
#include <vector>

#include "host/base/assert.h"

namespace berth::host {

struct Binding::Body {
  PodRef pod;
  NodeRef node;
  std::vector<uint32_t> cancel;    // Indexed by plugin, as Plan::plugins().
  std::vector<berth_binding> abi;  // Indexed by plugin. The elements never move in memory.
  std::unique_ptr<CycleState> state;
};

Binding::Binding(const Plan& plan, PodRef pod, NodeRef node, std::unique_ptr<CycleState> state)
    : plan_(plan), body_(std::make_shared<Body>()) {
  BERTH_ASSERT(state != nullptr);
  const auto plugins = static_cast<uint32_t>(plan.plugins().size());
  body_->pod = std::move(pod);
  body_->node = std::move(node);
  body_->state = std::move(state);
  body_->cancel.resize(plugins);
  body_->abi.reserve(plugins);
  const berth_meta& meta = *body_->node->view().meta;
  for (uint32_t plugin = 0; plugin < plugins; ++plugin) {
    body_->abi.push_back({.struct_size = sizeof(berth_binding),
                          .flags = 0,
                          .pod = &body_->pod->view(),
                          .node_name = meta.name,
                          .node_uid = meta.uid,
                          .slots = body_->state->of(plugin).data(),
                          .cancel = &body_->cancel[plugin],
                          .deadline_ns = 0});
  }
}

Binding::~Binding() = default;

const PodRef& Binding::pod() const { return body_->pod; }
const NodeRef& Binding::node() const { return body_->node; }
const berth_binding* Binding::AbiFor(uint32_t plugin) const { return &body_->abi[plugin]; }

void Binding::Cancel() {
  cancelled_ = true;
  for (uint32_t plugin = 0; plugin < body_->cancel.size(); ++plugin) CancelCall(plugin);
}

void Binding::CancelCall(uint32_t plugin) {
  __atomic_store_n(&body_->cancel[plugin], 1U, __ATOMIC_RELAXED);
}

void Binding::BeginCall(uint32_t plugin) {
  __atomic_store_n(&body_->cancel[plugin], cancelled_ ? 1U : 0U, __ATOMIC_RELAXED);
  body_->abi[plugin].deadline_ns = 0;
}

uint32_t* Binding::CancelWordOf(uint32_t plugin) { return &body_->cancel[plugin]; }

int64_t* Binding::DeadlineFor(uint32_t plugin) { return &body_->abi[plugin].deadline_ns; }

std::shared_ptr<const void> Binding::Keep() const { return body_; }

std::unique_ptr<CycleState> Binding::TakeState() {
  if (body_.use_count() != 1) return nullptr;
  return std::move(body_->state);
}

}  // namespace berth::host
