#include "claims_in_use.h"

#include <string>

namespace restrictions {

void ClaimsInUse::OnChange(const berth::Change& change) {
  if (change.kind == BERTH_CHANGE_SYNCED) return;
  Row& row = rows_[change.row];
  switch (change.kind) {
    case BERTH_CHANGE_POD_ADDED: AddPod(row, *change.pod); break;
    case BERTH_CHANGE_POD_CHANGED:
      RemovePod(row, *change.old_pod);
      AddPod(row, *change.pod);
      break;
    case BERTH_CHANGE_POD_REMOVED: RemovePod(row, *change.pod); break;
    case BERTH_CHANGE_NODE_ADDED: SetNode(row, true); break;
    case BERTH_CHANGE_NODE_REMOVED: SetNode(row, false); break;
    default: break;
  }
  if (!row.has_node && row.claims.empty()) rows_.erase(change.row);
}

int64_t ClaimsInUse::Count(berth_id ns, std::string_view claim) const {
  const auto found = counts_.find(ClaimView{ns, claim});
  return found == counts_.end() ? 0 : found->second;
}

void ClaimsInUse::AddPod(Row& row, const berth::Pod& pod) {
  for (const berth_volume& volume : pod.volumes()) {
    if (volume.kind != BERTH_VOLUME_CLAIM) continue;
    const Claim claim{pod.ns(), std::string(berth::Str(volume.source))};
    AddTo(row.claims, claim, 1);
    if (row.has_node) AddTo(counts_, claim, 1);
  }
}

void ClaimsInUse::RemovePod(Row& row, const berth::Pod& pod) {
  for (const berth_volume& volume : pod.volumes()) {
    if (volume.kind != BERTH_VOLUME_CLAIM) continue;
    const Claim gone{pod.ns(), std::string(berth::Str(volume.source))};
    if (row.claims.find(gone) == row.claims.end()) continue;
    if (row.has_node) AddTo(counts_, gone, -1);
    AddTo(row.claims, gone, -1);
  }
}

void ClaimsInUse::SetNode(Row& row, bool has_node) {
  if (row.has_node == has_node) return;
  row.has_node = has_node;
  for (const auto& [claim, count] : row.claims) AddTo(counts_, claim, has_node ? count : -count);
}

void ClaimsInUse::AddTo(Counts& counts, const Claim& claim, int64_t change) {
  const auto place = counts.try_emplace(claim, 0).first;
  place->second += change;
  if (place->second == 0) counts.erase(place);
}

}  // namespace restrictions
