#include "conflicts.h"

#include <algorithm>

#include <berth/span.h>

namespace restrictions {
namespace {

bool SameText(berth_str a, berth_str b) { return berth::Str(a) == berth::Str(b); }

bool Overlap(const berth_array& a, const berth_array& b) {
  const berth::Span<const berth_str> others(b);
  for (const berth_str host : berth::Span<const berth_str>(a)) {
    const auto same = [host](berth_str other) { return SameText(host, other); };
    if (std::any_of(others.begin(), others.end(), same)) return true;
  }
  return false;
}

bool IsSame(const berth_volume& a, const berth_volume& b) {
  if (a.kind != b.kind || !SameText(a.source, b.source)) return false;
  return a.kind != BERTH_VOLUME_RBD || (SameText(a.pool, b.pool) && Overlap(a.hosts, b.hosts));
}

bool OnlyReads(const berth_volume& volume) {
  return (volume.flags & BERTH_VOLUME_FLAG_READ_ONLY) != 0;
}

// Returns whether pods may use a disk of this kind together if all of them only read.
bool MayBeShared(uint32_t kind) { return kind != BERTH_VOLUME_AWS_DISK; }

bool MayShare(const berth_volume& a, const berth_volume& b) {
  return MayBeShared(a.kind) && OnlyReads(a) && OnlyReads(b);
}

bool IsRestricted(const berth_volume& volume) {
  return volume.kind == BERTH_VOLUME_GCE_DISK || volume.kind == BERTH_VOLUME_AWS_DISK ||
         volume.kind == BERTH_VOLUME_ISCSI || volume.kind == BERTH_VOLUME_RBD;
}

// So many disks, and so many monitors of one, are compared one by one.
constexpr std::size_t kFew = 16;

}  // namespace

Disks::Disks(const berth::Pod& pod) {
  bool has_few_hosts = true;
  for (const berth_volume& volume : pod.volumes()) {
    if (!IsRestricted(volume)) continue;
    few_.push_back(&volume);
    has_few_hosts = has_few_hosts && volume.hosts.count <= kFew;
  }
  if (few_.size() <= kFew && has_few_hosts) return;
  const auto add = [this](const berth_volume& volume, std::string_view pool,
                          std::string_view host) {
    const Disk disk{volume.kind, berth::Str(volume.source), pool, host};
    bool& only_reads = many_.try_emplace(disk, true).first->second;
    only_reads = only_reads && OnlyReads(volume);
  };
  for (const berth_volume* const volume : few_) {
    if (volume->kind != BERTH_VOLUME_RBD) {
      add(*volume, {}, {});
      continue;
    }
    for (const berth_str host : berth::Span<const berth_str>(volume->hosts)) {
      add(*volume, berth::Str(volume->pool), berth::Str(host));
    }
  }
  few_.clear();
}

bool Disks::Conflict(const berth::Pod& other) const {
  const auto volumes = other.volumes();
  return std::any_of(volumes.begin(), volumes.end(), [this](const berth_volume& volume) {
    return IsRestricted(volume) && ConflictsWith(volume);
  });
}

bool Disks::ConflictsWith(const berth_volume& volume) const {
  for (const berth_volume* const own : few_) {
    if (IsSame(*own, volume) && !MayShare(*own, volume)) return true;
  }
  if (many_.empty()) return false;
  const auto conflicts = [&](std::string_view pool, std::string_view host) {
    const auto own = many_.find({volume.kind, berth::Str(volume.source), pool, host});
    if (own == many_.end()) return false;
    return !MayBeShared(volume.kind) || !own->second || !OnlyReads(volume);
  };
  if (volume.kind != BERTH_VOLUME_RBD) return conflicts({}, {});
  const berth::Span<const berth_str> hosts(volume.hosts);
  return std::any_of(hosts.begin(), hosts.end(), [&](berth_str host) {
    return conflicts(berth::Str(volume.pool), berth::Str(host));
  });
}

}  // namespace restrictions
