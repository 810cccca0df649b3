#include <algorithm>

#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

constexpr EnumValue kTolerationOperators[] = {{"Equal", BERTH_TOLERATION_EQUAL},
                                              {"Exists", BERTH_TOLERATION_EXISTS},
                                              {"Gt", BERTH_TOLERATION_GT},
                                              {"Lt", BERTH_TOLERATION_LT}};
constexpr EnumValue kEffects[] = {{"NoSchedule", BERTH_EFFECT_NO_SCHEDULE},
                                  {"PreferNoSchedule", BERTH_EFFECT_PREFER_NO_SCHEDULE},
                                  {"NoExecute", BERTH_EFFECT_NO_EXECUTE}};
constexpr EnumValue kWhenUnsatisfiable[] = {{"DoNotSchedule", BERTH_DO_NOT_SCHEDULE},
                                            {"ScheduleAnyway", BERTH_SCHEDULE_ANYWAY}};
constexpr EnumValue kPolicies[] = {{"Honor", BERTH_POLICY_HONOR}, {"Ignore", BERTH_POLICY_IGNORE}};

// ---- Nodes ----

bool ReadNodeTerms(Reader& reader, JsonValue& value, berth_array* terms) {
  const size_t mark = reader.node_terms.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_node_term term = {};
    if (!ReadNodeSelectorTerm(reader, element, &term)) return false;
    reader.node_terms.Push(term);
    return true;
  });
  if (ok) *terms = AsArray(reader.node_terms.Take(mark, reader.arena()));
  return ok;
}

bool ReadPreferredNodeTerms(Reader& reader, JsonValue& value, berth_array* terms) {
  const size_t mark = reader.node_terms.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_node_term term = {};
    const bool read = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "weight"_field: return reader.ReadInt32(v, &term.weight);
        case "preference"_field: return ReadNodeSelectorTerm(reader, v, &term);
        default: return true;
      }
    });
    reader.node_terms.Push(term);
    return read;
  });
  if (ok) *terms = AsArray(reader.node_terms.Take(mark, reader.arena()));
  return ok;
}

bool ReadNodeAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requiredDuringSchedulingIgnoredDuringExecution"_field:
        affinity->has_required_node_terms = 1;
        return reader.ForEachField(v, [&](const Field& inner, JsonValue& terms) {
          if (inner.hash != "nodeSelectorTerms"_field) return true;
          return ReadNodeTerms(reader, terms, &affinity->required_node_terms);
        });
      case "preferredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPreferredNodeTerms(reader, v, &affinity->preferred_node_terms);
      default: return true;
    }
  });
}

// ---- Pods ----

bool ReadPodTerm(Reader& reader, JsonValue& value, berth_pod_term* term, Stack<KeyMerge>* merges) {
  KeyMerge merge;
  merge.only_new_keys = true;
  berth_selector* namespaces = nullptr;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "labelSelector"_field: return ReadLabelSelector(reader, v, &merge.selector);
      case "namespaceSelector"_field: return ReadLabelSelector(reader, v, &namespaces);
      case "namespaces"_field: return reader.ReadIds(v, &term->namespaces);
      case "topologyKey"_field: return reader.ReadName(v, &term->topology_key);
      case "matchLabelKeys"_field: return reader.ReadIds(v, &merge.match);
      case "mismatchLabelKeys"_field: return reader.ReadIds(v, &merge.mismatch);
      default: return true;
    }
  });
  term->selector = merge.selector;
  term->namespace_selector = namespaces;
  if (merge.match.count + merge.mismatch.count != 0) merges->Push(merge);
  return ok;
}

bool ReadPodTerms(Reader& reader, JsonValue& value, berth_array* terms, Stack<KeyMerge>* merges) {
  const size_t mark = reader.pod_terms.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_pod_term term = {};
    if (!ReadPodTerm(reader, element, &term, merges)) return false;
    reader.pod_terms.Push(term);
    return true;
  });
  if (ok) *terms = AsArray(reader.pod_terms.Take(mark, reader.arena()));
  return ok;
}

bool ReadPreferredPodTerms(Reader& reader, JsonValue& value, berth_array* terms,
                           Stack<KeyMerge>* merges) {
  const size_t mark = reader.pod_terms.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_pod_term term = {};
    const bool read = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "weight"_field: return reader.ReadInt32(v, &term.weight);
        case "podAffinityTerm"_field: return ReadPodTerm(reader, v, &term, merges);
        default: return true;
      }
    });
    reader.pod_terms.Push(term);
    return read;
  });
  if (ok) *terms = AsArray(reader.pod_terms.Take(mark, reader.arena()));
  return ok;
}

bool ReadPodAffinity(Reader& reader, JsonValue& value, berth_array* required,
                     berth_array* preferred, Stack<KeyMerge>* merges) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requiredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPodTerms(reader, v, required, merges);
      case "preferredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPreferredPodTerms(reader, v, preferred, merges);
      default: return true;
    }
  });
}

bool ReadSpread(Reader& reader, JsonValue& value, berth_spread* spread, Stack<KeyMerge>* merges) {
  KeyMerge merge;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "maxSkew"_field: return reader.ReadInt32(v, &spread->max_skew);
      case "topologyKey"_field: return reader.ReadName(v, &spread->topology_key);
      case "whenUnsatisfiable"_field:
        return reader.ReadEnum(v, kWhenUnsatisfiable, &spread->when_unsatisfiable);
      case "labelSelector"_field: return ReadLabelSelector(reader, v, &merge.selector);
      case "minDomains"_field: return reader.ReadInt32(v, &spread->min_domains);
      case "nodeAffinityPolicy"_field:
        return reader.ReadEnum(v, kPolicies, &spread->node_affinity_policy);
      case "nodeTaintsPolicy"_field:
        return reader.ReadEnum(v, kPolicies, &spread->node_taints_policy);
      case "matchLabelKeys"_field: return reader.ReadIds(v, &merge.match);
      default: return true;
    }
  });
  if (spread->node_affinity_policy == 0) spread->node_affinity_policy = BERTH_POLICY_HONOR;
  if (spread->node_taints_policy == 0) spread->node_taints_policy = BERTH_POLICY_IGNORE;
  spread->selector = merge.selector;
  if (merge.match.count != 0) merges->Push(merge);
  return ok;
}

bool ReadToleration(Reader& reader, JsonValue& value, berth_toleration* toleration) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "key"_field: return reader.ReadName(v, &toleration->key);
      case "value"_field: return reader.ReadId(v, &toleration->value);
      case "operator"_field: return reader.ReadEnum(v, kTolerationOperators, &toleration->op);
      case "effect"_field: return ReadEffect(reader, v, &toleration->effect);
      case "tolerationSeconds"_field:
        // A negative value means the same as 0: evict immediately.
        if (!reader.ReadInt64(v, &toleration->seconds)) return false;
        toleration->seconds = std::max<int64_t>(toleration->seconds, 0);
        return true;
      default: return true;
    }
  });
}

}  // namespace

bool ReadAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity,
                  Stack<KeyMerge>* merges) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "nodeAffinity"_field: return ReadNodeAffinity(reader, v, affinity);
      case "podAffinity"_field:
        return ReadPodAffinity(reader, v, &affinity->required_pod_terms,
                               &affinity->preferred_pod_terms, merges);
      case "podAntiAffinity"_field:
        return ReadPodAffinity(reader, v, &affinity->required_pod_anti_terms,
                               &affinity->preferred_pod_anti_terms, merges);
      default: return true;
    }
  });
}

bool ReadSpreads(Reader& reader, JsonValue& value, berth_array* spreads, Stack<KeyMerge>* merges) {
  const size_t mark = reader.spreads.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_spread spread = {};
    spread.min_domains = 1;
    if (!ReadSpread(reader, element, &spread, merges)) return false;
    reader.spreads.Push(spread);
    return true;
  });
  if (ok) *spreads = AsArray(reader.spreads.Take(mark, reader.arena()));
  return ok;
}

bool ReadEffect(Reader& reader, JsonValue& value, uint32_t* effect) {
  return reader.ReadEnum(value, kEffects, effect);
}

bool ReadTolerations(Reader& reader, JsonValue& value, berth_array* tolerations) {
  const size_t mark = reader.tolerations.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_toleration toleration = {kNoId, kEmptyId, 0, 0, -1};
    if (!ReadToleration(reader, element, &toleration)) return false;
    if (toleration.op == 0) toleration.op = BERTH_TOLERATION_EQUAL;
    reader.tolerations.Push(toleration);
    return true;
  });
  if (ok) *tolerations = AsArray(reader.tolerations.Take(mark, reader.arena()));
  return ok;
}

}  // namespace berth::host
