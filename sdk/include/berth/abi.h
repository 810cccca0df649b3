/* Copyright The Berth Authors. SPDX-License-Identifier: Apache-2.0
 *
 * berth/abi.h: the boundary between the host and a plugin, major version 1.
 *
 * Everything that crosses is in this file: C11, no dependency but <stddef.h> and <stdint.h>, no
 * implicit padding, 64-bit little-endian. A plugin is a shared object that exports one constant,
 * `berth_entry_v1`, and carries the same facts as JSON in an ELF note, so that the host can judge
 * it before any of its code runs. An author in C or Rust needs this file alone; an author in C++
 * includes <berth/plugin.h> and never sees it.
 *
 * Version 1 is a draft until every default plugin works on it. From then on it is frozen and only
 * grows:
 *   - a struct that begins with `struct_size` may get members at its end. Whoever fills it in sets
 *     `struct_size` to the size that it knows; a reader tests BERTH_HAS before it reads a member
 *     that was not in the first version, and nobody writes past the other side's `struct_size`;
 *   - an array is a `berth_array`: elements lie `stride` bytes apart, so that they may grow too;
 *   - strings, pairs of ids, quantities, columns and references (marked "frozen") never change;
 *   - extension points and services are found by an id with a revision ("berth.filter/1"). All that
 *     is new is optional, and the host has a default for it;
 *   - an enumeration or a set of flags may get members. Pass over a kind of change or event that
 *     you do not know, let an operator or effect that you do not know match nothing, and leave
 *     flags that you do not know alone; `reserved` is 0.
 *
 * Threads. Every function says where it is called, in these words and no others:
 *   [load]   while a profile is built or dropped: one call at a time per library; may block and
 *            allocate.
 *   [event]  the scheduling thread, between attempts: it applies one change of the cluster, or a
 *            timer, an answer of the API server, or the end of a binding.
 *   [queue]  the scheduling thread, while it orders or wakes pods. Must be short.
 *   [cycle]  the scheduling thread, within one attempt to place one pod.
 *   [block]  within a [cycle], at once on several threads for disjoint blocks of nodes. Slots and
 *            the instance are read-only here.
 *   [bind]   after the cycle: the scheduling thread, or a pool thread for a plugin with
 *            BERTH_PLUGIN_BLOCKS_IN_BIND, which may call services of [any] alone from there.
 *            Several pods at once. Rows and blocks mean nothing here.
 *   [any]    any thread of the host, and the plugin's own.
 * [event], [queue] and [cycle] never overlap, nor does [bind] on the scheduling thread. A function
 * must not call a service that is not tagged with the word that it was called under, or [any]. No
 * callback runs within the call that registered it.
 *
 * Exceptions, panics and longjmp never cross: what escapes a plugin's function ends the process
 * with the plugin's name.
 *
 * Memory. Nothing is freed on the other side. What the host passes is valid until the call returns,
 * unless the member says otherwise; what the plugin returns is copied before the host calls it
 * again. The host allocates what it passes; the plugin allocates berth_entry, berth_plugin_info,
 * berth_plugin and all that hangs on them. A pointer is never NULL where nothing says so.
 */
#ifndef BERTH_ABI_H_
#define BERTH_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define BERTH_NOEXCEPT noexcept
extern "C" {
#else
#define BERTH_NOEXCEPT
#endif

#define BERTH_EXPORT __attribute__((visibility("default")))
#define BERTH_ABI_MAJOR 1
#define BERTH_ABI_MINOR 0
#define BERTH_MAGIC 0x31485442u /* "BTH1" */

/* True when struct `p` of type `T` is large enough to hold member `m`. */
#define BERTH_HAS(p, T, m) ((p)->struct_size >= offsetof(T, m) + sizeof((p)->m))

/* ---- Scalars --------------------------------------------------------------------------------- */

/* UTF-8 text, borrowed, not terminated. `ptr` may be NULL when `len` is 0. Frozen. */
typedef struct berth_str {
  const char* ptr;
  uint64_t len;
} berth_str;

/* A string of which there are boundedly many (label keys and values, resource names, zones, images,
 * node names), as a number: equal ids, equal text. 0 is "absent". An id in an object lives as long
 * as that object; an id that the plugin interned lives as long as its instance. Ids of dropped
 * strings are given out again: keep no id that you do not own. */
typedef uint32_t berth_id;
#define BERTH_ID_NONE 0u

/* Frozen. */
typedef struct berth_id_pair {
  berth_id key;
  berth_id value;
} berth_id_pair;

/* Frozen. */
typedef struct berth_str_pair {
  berth_str key;
  berth_str value;
} berth_str_pair;

/* An amount of one resource, in the resource's integer unit: "cpu" in thousandths of a core,
 * everything else as it stands (bytes, devices). Frozen. */
typedef struct berth_quantity {
  berth_id name;
  uint32_t reserved;
  int64_t value;
} berth_quantity;

/* `count` elements, `stride` bytes apart. `data` may be NULL when `count` is 0. Frozen. */
typedef struct berth_array {
  const void* data;
  uint32_t count;
  uint32_t stride;
} berth_array;

#define BERTH_AT(T, array, i) \
  ((const T*)((const char*)(array).data + (uint64_t)(i) * (array).stride))
/* BERTH_HAS for member `m` of an array's elements, which say their size by the stride. */
#define BERTH_ARRAY_HAS(T, array, m) \
  ((array).stride >= offsetof(T, m) + sizeof(((const T*)(array).data)->m))

/* What a function answers. 0 to 6 are Kubernetes' status codes, with Kubernetes' meaning for the
 * pod. */
typedef int32_t berth_code;
enum {
  BERTH_SUCCESS = 0,
  BERTH_ERROR = 1,         /* it could not be worked out: the pod backs off and is tried again */
  BERTH_UNSCHEDULABLE = 2, /* no; removing pods from the node may help */
  BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE = 3, /* no; removing pods does not help */
  BERTH_WAIT = 4,                           /* Permit only: hold the pod */
  BERTH_SKIP = 5,                           /* nothing to do here for this pod */
  BERTH_PENDING = 6, /* no, until something outside happens; or: completed later */
  /* Not verdicts: why a call had no answer. */
  BERTH_CANCELLED = 32,   /* the caller stopped waiting */
  BERTH_UNSUPPORTED = 33, /* this host knows the id and does not serve it */
  BERTH_NOT_FOUND = 34,
  BERTH_BAD_ARGUMENT = 35,
  BERTH_CONFLICT = 36,
  BERTH_BUG = 37 /* the plugin's own fault: counted against it, not the pod */
};

/* Where a function says why. Whoever calls the function makes it: the host for extension points and
 * create(), the plugin for the services that take one. Every text is copied at once. */
typedef struct berth_status {
  uint32_t struct_size;
  uint32_t reserved;
  void* impl;
  /* Adds one reason. Constant texts without a node's or pod's name can be counted over nodes; write
   * those. */
  void (*add_reason)(struct berth_status* self, berth_str text) BERTH_NOEXCEPT;
  /* In create(): says which argument is wrong (a JSON pointer such as "/scoringStrategy/type"),
   * what was expected and what was found. May be called many times; all are reported. */
  void (*add_argument_error)(struct berth_status* self, berth_str path,
                             berth_str text) BERTH_NOEXCEPT;
} berth_status;

typedef struct berth_host berth_host;
typedef struct berth_plugin berth_plugin;
typedef struct berth_values berth_values;
typedef struct berth_value { /* opaque but for its reader, see BERTH_SERVICE_VALUES */
  const berth_values* reader;
} berth_value;
typedef struct berth_object_ref berth_object_ref; /* a counted reference to an immutable object */
typedef struct berth_done berth_done;             /* a promise to complete a call exactly once */

/* ---- Objects: immutable, decoded once, the same memory for host and plugins ------------------ */
/* A view lives as long as the object: within the call that passed it; until `release` for a
 * retained reference; and for what berth.changes/1 shows, as it says there. Enumerations start at
 * 1; 0 means "not set". Times are nanoseconds since 1970-01-01T00:00:00Z; 0 is "not set". */

typedef struct berth_owner {
  berth_str name;
  berth_str uid;
  berth_id api_version;
  berth_id kind;
  uint32_t controller; /* 1 when this owner manages the object */
  uint32_t reserved;
} berth_owner;

/* A part of the object that no view has and that a plugin asked for by path (see
 * berth_plugin_info.fields). */
typedef struct berth_field {
  berth_str path;           /* "/spec/hostIPC" */
  const berth_value* value; /* NULL when absent */
} berth_field;

typedef struct berth_meta {
  uint32_t struct_size;
  berth_id ns; /* 0 for objects without a namespace */
  berth_str name;
  berth_str uid;
  berth_str resource_version;
  int64_t generation;
  int64_t created_ns;
  int64_t deleted_ns;      /* not 0: the object is being deleted */
  berth_array labels;      /* berth_id_pair, sorted by key id */
  berth_array annotations; /* berth_str_pair, in the object's order */
  berth_array owners;      /* berth_owner */
  berth_array fields;      /* berth_field */
} berth_meta;

/* Selectors. */
enum {
  BERTH_OP_IN = 1,
  BERTH_OP_NOT_IN,
  BERTH_OP_EXISTS,
  BERTH_OP_DOES_NOT_EXIST,
  BERTH_OP_GT,
  BERTH_OP_LT
};
typedef struct berth_requirement {
  berth_id key;
  uint32_t op;
  berth_array values; /* berth_id */
  int64_t number;     /* the operand of Gt and Lt */
} berth_requirement;

/* It does not parse: matches nothing, as upstream ignores it. */
enum { BERTH_SELECTOR_INVALID = 1 };
/* A label selector: all requirements hold; none means every object matches. matchLabels have become
 * In with one value. */
typedef struct berth_selector {
  uint32_t struct_size;
  uint32_t flags;
  berth_array requirements; /* berth_requirement */
} berth_selector;

/* All expressions (on labels) and all fields (key "metadata.name") hold. A term without any matches
 * no node. */
typedef struct berth_node_term {
  uint32_t flags;          /* BERTH_SELECTOR_INVALID */
  int32_t weight;          /* of a preferred term; 0 in a required one */
  berth_array expressions; /* berth_requirement */
  berth_array fields;      /* berth_requirement */
} berth_node_term;

typedef struct berth_pod_term {
  const berth_selector* selector;           /* NULL: no selector, matches no pod */
  const berth_selector* namespace_selector; /* NULL: not set */
  berth_array namespaces;                   /* berth_id */
  berth_id topology_key;
  int32_t weight; /* of a preferred term; 0 in a required one */
} berth_pod_term;

enum { BERTH_EFFECT_NO_SCHEDULE = 1, BERTH_EFFECT_PREFER_NO_SCHEDULE, BERTH_EFFECT_NO_EXECUTE };
enum {
  BERTH_TOLERATION_EQUAL = 1,
  BERTH_TOLERATION_EXISTS,
  BERTH_TOLERATION_GT,
  BERTH_TOLERATION_LT
};
typedef struct berth_toleration {
  berth_id key;   /* 0: every key (op is Exists) */
  berth_id value; /* the empty string has an id too */
  uint32_t op;
  uint32_t effect; /* 0: every effect */
  int64_t seconds; /* -1: no limit */
} berth_toleration;

typedef struct berth_taint {
  berth_id key;
  berth_id value;
  uint32_t effect;
  uint32_t reserved;
} berth_taint;

enum { BERTH_DO_NOT_SCHEDULE = 1, BERTH_SCHEDULE_ANYWAY };
enum { BERTH_POLICY_HONOR = 1, BERTH_POLICY_IGNORE };
typedef struct berth_spread {
  const berth_selector* selector; /* with matchLabelKeys merged in; NULL: matches no pod */
  berth_id topology_key;
  int32_t max_skew;
  int32_t min_domains; /* 1 when not set */
  uint32_t when_unsatisfiable;
  uint32_t node_affinity_policy; /* Honor when not set */
  uint32_t node_taints_policy;   /* Ignore when not set */
} berth_spread;

/* Amounts of every kind. The four that every pod has are members; all others are in `scalars`. */
typedef struct berth_resources {
  uint32_t struct_size;
  uint32_t present; /* bits: which of the members the object names at all, see BERTH_RESOURCE_* */
  int64_t milli_cpu;
  int64_t memory;            /* bytes */
  int64_t ephemeral_storage; /* bytes */
  int64_t pods;              /* of a node's allocatable; 0 elsewhere */
  berth_array scalars; /* berth_quantity, sorted by name id: extended resources, huge pages, ... */
} berth_resources;
enum {
  BERTH_RESOURCE_CPU = 1,
  BERTH_RESOURCE_MEMORY = 2,
  BERTH_RESOURCE_EPHEMERAL_STORAGE = 4,
  BERTH_RESOURCE_PODS = 8
};

enum { BERTH_PROTOCOL_TCP = 1, BERTH_PROTOCOL_UDP, BERTH_PROTOCOL_SCTP };
typedef struct berth_port {
  uint32_t protocol; /* TCP when not set */
  int32_t container_port;
  int32_t host_port; /* 0: none */
  berth_id host_ip;  /* 0: not set, that is 0.0.0.0 */
} berth_port;

enum {
  BERTH_CONTAINER_SIDECAR = 1,     /* an init container with restartPolicy Always */
  BERTH_CONTAINER_RESTARTS_ALL = 2 /* a restart rule has the action RestartAllContainers */
};
typedef struct berth_container {
  berth_str name;
  berth_id image;        /* as it is spelled in the spec */
  berth_id image_normal; /* with ":latest" where the spec names no tag, as nodes report it */
  uint32_t flags;
  uint32_t reserved;
  const berth_resources* requests; /* never NULL */
  const berth_resources* limits;   /* never NULL */
  berth_array ports;               /* berth_port */
} berth_container;

enum {
  BERTH_VOLUME_OTHER = 1,  /* configMap, secret, emptyDir, ...: nothing that scheduling looks at */
  BERTH_VOLUME_CLAIM,      /* source: the claim's name */
  BERTH_VOLUME_EPHEMERAL,  /* source: the generated claim's name, "<pod>-<volume>" */
  BERTH_VOLUME_GCE_DISK,   /* source: pdName */
  BERTH_VOLUME_AWS_DISK,   /* source: volumeID */
  BERTH_VOLUME_ISCSI,      /* source: iqn; pool: target portal */
  BERTH_VOLUME_RBD,        /* source: image; pool; hosts: monitors */
  BERTH_VOLUME_CSI,        /* source: driver */
  BERTH_VOLUME_AZURE_DISK, /* source: diskName; pool: diskURI */
  BERTH_VOLUME_AZURE_FILE, /* source: shareName; pool: secretName */
  BERTH_VOLUME_CINDER,     /* source: volumeID */
  BERTH_VOLUME_VSPHERE,    /* source: volumePath */
  BERTH_VOLUME_PORTWORX,   /* source: volumeID */
  BERTH_VOLUME_HOST_PATH,  /* source: path */
  BERTH_VOLUME_NFS,        /* source: server; pool: path */
  BERTH_VOLUME_IMAGE       /* source: the image's reference */
};
enum { BERTH_VOLUME_READ_ONLY = 1 };
typedef struct berth_volume {
  berth_str name;
  uint32_t kind;
  uint32_t flags;
  berth_str source;
  berth_str pool;
  berth_array hosts; /* berth_str */
} berth_volume;

enum { BERTH_CLAIM_NOT_NEEDED = 1 }; /* the status says that none is generated for it */
typedef struct berth_resource_claim {
  berth_str name;
  berth_str claim_name;    /* of an existing claim, or the generated one once the status names it */
  berth_str template_name; /* not empty: the claim is generated, and must be owned by the pod */
  uint32_t flags;
  uint32_t reserved;
} berth_resource_claim;

enum { BERTH_CONDITION_TRUE = 1, BERTH_CONDITION_FALSE, BERTH_CONDITION_UNKNOWN };
typedef struct berth_condition {
  berth_id type;
  berth_id reason;
  uint32_t status;
  uint32_t reserved;
  int64_t transition_ns;
} berth_condition;

typedef struct berth_affinity {
  uint32_t struct_size;
  uint32_t has_required_node_terms; /* 1: required_node_terms is set, perhaps empty */
  berth_array required_node_terms;  /* berth_node_term, any of them */
  berth_array preferred_node_terms; /* berth_node_term, with weights */
  berth_array required_pod_terms;   /* berth_pod_term */
  berth_array preferred_pod_terms;
  berth_array required_pod_anti_terms;
  berth_array preferred_pod_anti_terms;
} berth_affinity;

/* Parts of a pod. A plugin names those that its answers depend on; the host hashes each part once,
 * when the pod is decoded, and treats pods with equal hashes of the named parts as one. */
enum {
  BERTH_PART_IDENTITY = 0, /* name, uid, resourceVersion */
  BERTH_PART_NAMESPACE,
  BERTH_PART_LABELS,
  BERTH_PART_ANNOTATIONS,
  BERTH_PART_OWNERS,
  BERTH_PART_TIMES,    /* creation, deletion */
  BERTH_PART_PRIORITY, /* priority, priority class, preemption policy */
  BERTH_PART_SCHEDULER_NAME,
  BERTH_PART_NODE_NAME,
  BERTH_PART_NODE_SELECTION, /* node selector and node affinity */
  BERTH_PART_POD_AFFINITY,   /* pod affinity and anti-affinity */
  BERTH_PART_TOLERATIONS,
  BERTH_PART_SPREAD,
  BERTH_PART_REQUESTS,   /* request, request_of_containers, accounted */
  BERTH_PART_CONTAINERS, /* names, requests and limits of each, overhead, pod-level resources */
  BERTH_PART_PORTS,
  BERTH_PART_IMAGES,
  BERTH_PART_VOLUMES,
  BERTH_PART_GATES,
  BERTH_PART_CLAIMS,
  BERTH_PART_GROUP,
  BERTH_PART_RUNTIME, /* os, runtime class, host network, host users, restart policy */
  BERTH_PART_NOMINATION,
  BERTH_PART_STATUS, /* phase, conditions, start time */
  BERTH_PART_FIELDS, /* berth_meta.fields */
  BERTH_PART_COUNT
};
#define BERTH_PART(name) ((uint64_t)1 << BERTH_PART_##name)

enum {
  BERTH_PHASE_PENDING = 1,
  BERTH_PHASE_RUNNING,
  BERTH_PHASE_SUCCEEDED,
  BERTH_PHASE_FAILED,
  BERTH_PHASE_UNKNOWN
};
enum { BERTH_PREEMPT_LOWER_PRIORITY = 1, BERTH_PREEMPT_NEVER };
enum { BERTH_RESTART_ALWAYS = 1, BERTH_RESTART_ON_FAILURE, BERTH_RESTART_NEVER };
enum {
  BERTH_POD_HAS_PRIORITY = 1,
  BERTH_POD_HOST_NETWORK = 2,
  BERTH_POD_HOST_USERS_FALSE = 4,
  BERTH_POD_HAS_POD_LEVEL_REQUESTS = 8
};

typedef struct berth_pod {
  uint32_t struct_size;
  uint32_t flags;
  const berth_meta* meta;
  /* spec */
  berth_id scheduler_name;
  berth_id node_name;         /* its node, or the one it is assumed on; 0 while pending */
  int32_t priority;           /* 0 when not set */
  uint32_t preemption_policy; /* PreemptLowerPriority when not set */
  berth_id priority_class;
  berth_id runtime_class;
  berth_id os;
  uint32_t restart_policy;   /* Always when not set */
  berth_array node_selector; /* berth_id_pair, sorted by key id; all must be labels of the node */
  const berth_affinity* affinity; /* never NULL; empty when not set */
  berth_array tolerations;        /* berth_toleration */
  berth_array spreads;            /* berth_spread: topologySpreadConstraints */
  berth_array containers;         /* berth_container */
  berth_array init_containers;    /* berth_container, in order */
  berth_array volumes;            /* berth_volume */
  berth_array scheduling_gates;   /* berth_str */
  berth_array resource_claims;    /* berth_resource_claim */
  berth_str pod_group;            /* spec.schedulingGroup.podGroupName; empty: none */
  /* What the pod takes, worked out once (component-helpers: resource.PodRequests):
   * containers, init containers and sidecars, pod-level resources, overhead. Never NULL. */
  const berth_resources* request;
  /* The same without pod-level resources, a container without a cpu or memory request counting as
   * 100 m and 200 MiB: what NodeResourcesFit scores a pod by. */
  const berth_resources* request_of_containers;
  /* What a pod on a node holds: as `request`, a resize in progress counted at its larger size. */
  const berth_resources* accounted;
  int64_t nonzero_milli_cpu; /* of `accounted`, with defaults for containers without a request */
  int64_t nonzero_memory;
  berth_array host_ports; /* berth_port: those of containers and sidecars with a host port */
  const berth_resources* overhead; /* never NULL */
  /* status */
  berth_id nominated_node; /* status.nominatedNodeName */
  uint32_t phase;
  int64_t started_ns;
  berth_array conditions; /* berth_condition */
  /* Hash of each part by BERTH_PART_*: uint64_t. Equal parts, equal hashes, in this process. */
  berth_array part_hashes;
} berth_pod;

typedef struct berth_image {
  berth_array names; /* berth_id */
  int64_t size;      /* bytes */
} berth_image;

typedef struct berth_node {
  uint32_t struct_size;
  uint32_t unschedulable; /* spec.unschedulable */
  const berth_meta* meta;
  berth_id name; /* the node's name as an id */
  uint32_t reserved;
  berth_array taints;                 /* berth_taint */
  const berth_resources* allocatable; /* never NULL */
  const berth_resources* capacity;    /* never NULL */
  berth_array conditions;             /* berth_condition */
  berth_array images;                 /* berth_image */
  berth_array declared_features;      /* berth_id, sorted */
} berth_node;

/* An object of a kind that no view covers: a claim, a namespace, a custom resource. */
typedef struct berth_object {
  uint32_t struct_size;
  berth_id kind; /* "v1/Namespace", "storage.k8s.io/v1/CSINode" */
  const berth_meta* meta;
  const berth_value* value; /* the whole object as it was read, without metadata.managedFields */
} berth_object;

/* A reference that says what it refers to. Frozen. */
enum { BERTH_KIND_POD = 1, BERTH_KIND_NODE, BERTH_KIND_OBJECT };
typedef struct berth_tagged {
  uint32_t kind; /* 0: nothing */
  uint32_t reserved;
  const void* object; /* berth_pod, berth_node or berth_object */
} berth_tagged;

/* What the queue holds and QueueSort orders: a pod, or the pods of one spec.schedulingGroup where a
 * plugin answers for that field. A group waits, backs off and is tried as one: PreEnqueue and hints
 * see each member by itself, and one that says no, or yes, speaks for all. */
enum { BERTH_QUEUED_POD = 1, BERTH_QUEUED_GROUP };
typedef struct berth_queued {
  uint32_t struct_size;
  uint32_t kind;
  const berth_pod* pod; /* the pod, or the group's first member: one of the highest priority */
  berth_str group;      /* "<namespace>/<name>" of the group; empty for a pod */
  int32_t priority;     /* of `pod` */
  uint32_t attempts;
  int64_t queued_ns;        /* when it last entered the queue, since 1970 as all times of objects */
  int64_t first_attempt_ns; /* when it first became ready to be tried; 0: not yet */
} berth_queued;

/* clang-format off */
/* ---- Blocks of nodes ------------------------------------------------------------------------- */
/* Filter and Score are called with a block: `count` nodes, of which `selected` are asked about. All
 * there is to know of node i of the block is read as (block, i): its columns, its view, its pods. A
 * block may hold what-if rows (a node with nominated pods added, a node with victims removed);
 * nothing tells them apart, so read nothing about a node from anywhere else. An index that is not
 * selected may be no node at all: its view is NULL there, and its values mean nothing. A block has
 * any number of nodes.
 *
 * Columns. A column is an array over the block with one value per node. A plugin names its columns
 * in berth_plugin.columns and finds them in that order in berth_block.columns; columns that depend
 * on the pod are bound in PreFilter or PreScore through the service berth.columns/1 and follow
 * behind, for that cycle.
 *
 *   name                       type   unit       absent  of pods
 *   name                       ID     text       -       no      node name
 *   unschedulable              U8     0 or 1     -       no      spec.unschedulable
 *   alloc.cpu                  I64    milli-cpu  0       no      status.allocatable
 *   alloc.memory               I64    bytes      0       no
 *   alloc.ephemeral-storage    I64    bytes      0       no
 *   alloc.pods                 I64    pods       0       no
 *   alloc:<resource>           I64    units      0       no      any other resource, by its name
 *   req.cpu                    I64    milli-cpu  0       yes     sum of berth_pod.accounted over
 *   req.memory                 I64    bytes      0       yes     the node's pods
 *   req.ephemeral-storage      I64    bytes      0       yes
 *   req:<resource>             I64    units      0       yes
 *   nonzero.cpu                I64    milli-cpu  0       yes     sum of berth_pod.nonzero_milli_cpu
 *   nonzero.memory             I64    bytes      0       yes     sum of berth_pod.nonzero_memory
 *   pods.count                 I64    pods       0       yes
 *   taints                     ARRAY  -          empty   no      berth_taint, in the node's order
 *   taints.hard                U32    taints     0       no      effect NoSchedule or NoExecute
 *   taints.soft                U32    taints     0       no      effect PreferNoSchedule
 *   label:<key>                ID     text       0       no      value of the node's label
 *   images                     ARRAY  -          empty   no      berth_image
 *   features                   ARRAY  -          empty   no      berth_id: status.declaredFeatures
 *   hostport:<protocol>/<port> I64    uses       0       yes     "hostport:TCP/80", at any address
 *
 * "alloc:cpu" and "req:cpu" are other spellings of "alloc.cpu" and "req.cpu" (memory,
 * ephemeral-storage, pods alike). "hostport:TCP/80/10.0.0.1" counts only the uses at that address
 * and those at all of them, 0.0.0.0.
 */
/* clang-format on */
enum {
  BERTH_TYPE_I64 = 1, /* int64_t */
  BERTH_TYPE_U32,     /* uint32_t */
  BERTH_TYPE_ID,      /* berth_id */
  BERTH_TYPE_U8,      /* uint8_t */
  BERTH_TYPE_ARRAY    /* berth_array */
};

/* Column i of a block: element j lies at data + j * stride. Frozen. */
typedef struct berth_column {
  const void* data;
  uint32_t type;
  uint32_t stride;
} berth_column;

/* The pods on a node, those being deleted included, in no order. Frozen. */
typedef struct berth_pod_list {
  const berth_pod* const* data;
  uint64_t count;
} berth_pod_list;

typedef struct berth_block {
  uint32_t struct_size;
  uint32_t count;      /* nodes in the block */
  uint32_t n_selected; /* nodes asked about */
  uint32_t n_columns;
  const uint32_t* selected;       /* ascending indices, n_selected of them; NULL: 0 .. count-1 */
  const uint32_t* rows;           /* [count] rows; mean nothing outside [cycle] and [block] */
  const berth_column* columns;    /* [n_columns] */
  const berth_node* const* nodes; /* [count] NULL where there is no node */
  const berth_pod_list* pods;     /* [count] */
} berth_block;

/* All nodes, or all feasible ones, block by block, in the order of rows. `block` returns NULL for
 * an index of n_blocks or more. Columns that are bound are in the blocks fetched afterwards.
 * Lifetime:  the call that passed it; a block from `block` until the next call of `block`.
 * Threading: [cycle]. */
typedef struct berth_nodes {
  uint32_t struct_size;
  uint32_t n_blocks;
  uint64_t n_nodes;
  void* impl;
  const berth_block* (*block)(const struct berth_nodes* self, uint32_t index)BERTH_NOEXCEPT;
} berth_nodes;

/* ---- One attempt to place one pod ------------------------------------------------------------ */
enum {
  BERTH_CYCLE_WHAT_IF = 1 /* slots that AddPod changes are clones; nothing here is carried out */
};
typedef struct berth_cycle {
  uint32_t struct_size;
  uint32_t flags;
  uint64_t id;            /* of the attempt; grows */
  const berth_pod* pod;   /* node_name is 0 */
  void* const* slots;     /* this instance's cycle state, in the order of berth_plugin.slots */
  const uint32_t* cancel; /* see BERTH_CANCELED */
  int64_t deadline_ns;    /* when this call is late, as berth_timer.now_ns; 0: never */
  const void* host;       /* the host's own */
} berth_cycle;
/* True when the answer of a berth_cycle or berth_binding is no longer wanted: return
 * BERTH_CANCELLED. One relaxed atomic load; ask every few hundred nodes. */
#define BERTH_CANCELED(cycle) (__atomic_load_n((cycle)->cancel, __ATOMIC_RELAXED) != 0)

/* A piece of cycle state: memory in the host's arena, one per cycle and instance. It is constructed
 * before PreFilter (or the first point of the plugin) and destroyed when the pod has left the
 * binding cycle. Clones serve what-if questions; several may live at a time.
 * Threading: [cycle] for all three, and [event] for destroy.
 * Returns:   clone: SUCCESS; anything else: `to` holds nothing, and what asked for it fails. */
typedef struct berth_slot {
  uint32_t struct_size;
  uint32_t size;  /* bytes */
  uint32_t align; /* a power of two, at most 64 */
  uint32_t reserved;
  const char* type_id;                        /* "acme.zones/2", for messages; NULL: none */
  void (*construct)(void* at) BERTH_NOEXCEPT; /* NULL: zero bytes */
  berth_code (*clone)(void* to, const void* from)
      BERTH_NOEXCEPT; /* NULL: copy the bytes. Deep: the two go their own ways */
  void (*destroy)(void* at) BERTH_NOEXCEPT; /* NULL: nothing to do */
} berth_slot;

/* ---- What an answer depends on --------------------------------------------------------------- */
/* Declared per Filter and per Score. The host reuses an answer for pods whose named parts are
 * equal, on nodes that have not changed. Nothing declared (a NULL pointer) means that no answer is
 * ever reused, for this plugin alone. */
enum {
  BERTH_DEPENDS_NODE = 1,      /* the node: columns marked "no", berth_block.nodes */
  BERTH_DEPENDS_NODE_PODS = 2, /* also the pods on that node */
  BERTH_DEPENDS_OTHER = 4      /* also anything else: other nodes or objects, the plugin's index */
};
enum { BERTH_CHANGED_NONE = 0, BERTH_CHANGED_ROWS = 1, BERTH_CHANGED_ALL = 2 };
typedef struct berth_dependence {
  uint32_t struct_size;
  uint32_t cluster;   /* BERTH_DEPENDS_* */
  uint64_t pod_parts; /* BERTH_PART(..) | ..; cycle state built from them counts as they do */
  /* What the masks cannot say: a hash of what else the answers depend on, of this pod or of what
   * PreFilter found out for it. NULL: they say all.
   * Called: after PreFilter, at most once per cycle. Threading: [cycle]. Returns BERTH_SUCCESS, or
   *         BERTH_SKIP: do not reuse. */
  berth_code (*sign)(void* self, const berth_cycle* cycle, uint64_t* signature) BERTH_NOEXCEPT;
  /* With BERTH_DEPENDS_OTHER: what changed since the change numbered `since` (see
   * berth_change.sequence) for this pod. Returns BERTH_CHANGED_*; for ROWS, `put_row` is called for
   * each. NULL: all. Threading: [cycle]. */
  uint32_t (*changed)(void* self, uint64_t since, const berth_cycle* cycle,
                      void (*put_row)(void* to, uint32_t row), void* to) BERTH_NOEXCEPT;
} berth_dependence;

/* ---- Extension points ------------------------------------------------------------------------ */
/* One struct each, found through berth_plugin.get_point, copied once at load. `self` is
 * berth_plugin.self. In a profile, points are called in this order and plugins of a point in the
 * profile's order. */

/* PreEnqueue: may this pod enter the active queue at all?
 * Called:    when a pod is about to become ready, and again after an event that the plugin
 *            registered for.
 * Threading: [queue].
 * Returns:   SUCCESS; UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE or PENDING: the pod is gated,
 *            no attempt takes place, and only this plugin's events, a change of the pod itself or
 *            berth.activate/1 bring it back. ERROR: gated, and logged.
 * Must not:  block. */
#define BERTH_POINT_PRE_ENQUEUE "berth.pre_enqueue/1"
typedef struct berth_pre_enqueue {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*pre_enqueue)(void* self, const berth_pod* pod, berth_status* status) BERTH_NOEXCEPT;
} berth_pre_enqueue;

/* EnqueueExtensions: which events may make a pod schedulable that this plugin rejected?
 * Called:    `hint` when a registered event happens, for each parked pod that the plugin rejected,
 *            or once for all that are equal in the interest's `pod_parts`. A plugin that rejects
 *            pods and has no such point gets them back at every event but UNSCHEDULED_POD.
 * Threading: [queue].
 * Returns:   BERTH_HINT_QUEUE: try the pod again; BERTH_HINT_SKIP: this event does not help it.
 * Must not:  block. */
enum { BERTH_HINT_SKIP = 0, BERTH_HINT_QUEUE = 1 };
enum {
  BERTH_RESOURCE_POD_ANY = 1,
  BERTH_RESOURCE_NODE,
  BERTH_RESOURCE_PV,
  BERTH_RESOURCE_PVC,
  BERTH_RESOURCE_CSI_NODE,
  BERTH_RESOURCE_CSI_DRIVER,
  BERTH_RESOURCE_VOLUME_ATTACHMENT,
  BERTH_RESOURCE_CSI_STORAGE_CAPACITY,
  BERTH_RESOURCE_STORAGE_CLASS,
  BERTH_RESOURCE_RESOURCE_CLAIM,
  BERTH_RESOURCE_RESOURCE_SLICE,
  BERTH_RESOURCE_DEVICE_CLASS,
  BERTH_RESOURCE_POD_GROUP,
  BERTH_RESOURCE_CUSTOM,
  BERTH_RESOURCE_WILDCARD,
  BERTH_RESOURCE_ASSIGNED_POD,    /* one with a node, or whose nomination ended */
  BERTH_RESOURCE_UNSCHEDULED_POD, /* another one came that has no node; POD_ANY does not hear it */
  BERTH_RESOURCE_TARGET_POD       /* the parked pod itself */
};
enum {
  BERTH_ACTION_ADD = 1 << 0,
  BERTH_ACTION_DELETE = 1 << 1,
  BERTH_ACTION_UPDATE_NODE_ALLOCATABLE = 1 << 2,
  BERTH_ACTION_UPDATE_NODE_LABEL = 1 << 3,
  BERTH_ACTION_UPDATE_NODE_TAINT = 1 << 4,
  BERTH_ACTION_UPDATE_NODE_CONDITION = 1 << 5,
  BERTH_ACTION_UPDATE_NODE_ANNOTATION = 1 << 6,
  BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE = 1 << 7,
  BERTH_ACTION_UPDATE_POD_LABEL = 1 << 8,
  BERTH_ACTION_UPDATE_POD_SCALE_DOWN = 1 << 9,
  BERTH_ACTION_UPDATE_POD_TOLERATION = 1 << 10,
  BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11,
  BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12,
  BERTH_ACTION_UPDATE = 0x7ffffffc, /* every update, those of later versions included */
  BERTH_ACTION_ALL = 0x7fffffff
};
typedef struct berth_event_interest {
  uint32_t resource; /* BERTH_RESOURCE_*: what changes. POD_ANY: ASSIGNED_POD and TARGET_POD */
  uint32_t actions;  /* BERTH_ACTION_* */
  const char* kind;  /* for BERTH_RESOURCE_CUSTOM: as in berth_plugin_info.kinds; else NULL */
  uint32_t has_hint; /* 0: every such event queues the pod */
  uint32_t reserved;
  /* BERTH_PART(..) | ..: the parts of the pod that the hint's answer depends on, beside the event.
   * The host then asks once for all parked pods that are equal in them. 0: asks for each pod. */
  uint64_t pod_parts;
} berth_event_interest;
typedef struct berth_event {
  uint32_t struct_size;
  uint32_t resource;   /* of a pod: ASSIGNED_POD, TARGET_POD for `queued`, UNSCHEDULED_POD */
  uint32_t actions;    /* the one that happened; BERTH_ACTION_UPDATE: none in particular */
  uint32_t interest;   /* index into berth_enqueue_extensions.interests */
  berth_tagged before; /* kind 0 for an addition */
  berth_tagged after;  /* kind 0 for a deletion */
} berth_event;
#define BERTH_POINT_ENQUEUE_EXTENSIONS "berth.enqueue_extensions/1"
typedef struct berth_enqueue_extensions {
  uint32_t struct_size;
  uint32_t flags;
  berth_array interests; /* berth_event_interest. None: only a flush or Activate helps such a pod */
  uint32_t (*hint)(void* self, const berth_queued* queued, const berth_event* event) BERTH_NOEXCEPT;
} berth_enqueue_extensions;

/* QueueSort: in which order are pods tried? Exactly one per process.
 * Called:    `key` when an entity enters the active queue; its bytes are compared, lowest first.
 *            `less` is called per comparison instead when `key` is NULL.
 * Threading: [queue].
 * Returns:   `less`: 1 when `a` is tried before `b`, else 0.
 * Must not:  depend on anything but the entity: the order must be strict and must not change while
 *            it waits. */
#define BERTH_SORT_KEY_SIZE 32
#define BERTH_POINT_QUEUE_SORT "berth.queue_sort/1"
typedef struct berth_queue_sort {
  uint32_t struct_size;
  uint32_t flags;
  void (*key)(void* self, const berth_queued* queued,
              uint8_t out[BERTH_SORT_KEY_SIZE]) BERTH_NOEXCEPT;
  int32_t (*less)(void* self, const berth_queued* a, const berth_queued* b) BERTH_NOEXCEPT;
} berth_queue_sort;

/* PreFilter: what can be said of the pod before any node is looked at, and preparation of cycle
 *            state.
 * Called:    once per cycle, plugin by plugin.
 * Threading: [cycle].
 * Returns:   SUCCESS; SKIP: this plugin's Filter, AddPod and RemovePod are not called in this
 *            cycle; UNSCHEDULABLE_AND_UNRESOLVABLE: the pod fits nowhere, stop; UNSCHEDULABLE: the
 *            same, after the other PreFilters have run; anything else fails the cycle. */
typedef struct berth_pre_filter_out {
  uint32_t struct_size;
  uint32_t reserved;
  void* impl;
  /* Only the named nodes come into question (names that no node has are ignored; several plugins'
   * answers are intersected). Without a call: all nodes. `count` 0: none. */
  void (*only_nodes)(struct berth_pre_filter_out* self, const berth_str* names,
                     uint64_t count) BERTH_NOEXCEPT;
  /* Adds a text to the plugin's reason table for this cycle and returns its bit, or -1 when all 64
   * are taken. */
  int32_t (*add_reason)(struct berth_pre_filter_out* self, berth_str text) BERTH_NOEXCEPT;
} berth_pre_filter_out;
#define BERTH_POINT_PRE_FILTER "berth.pre_filter/1"
typedef struct berth_pre_filter {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*pre_filter)(void* self, const berth_cycle* cycle, const berth_nodes* all,
                           berth_pre_filter_out* out, berth_status* status) BERTH_NOEXCEPT;
  /* What if `pod` were on, or gone from, node `index` of `block`? Changes the cycle state, which
   * may be a clone. NULL, both or none: the plugin's state does not depend on other pods.
   * Called: for nominated pods, and in preemption. Threading: [cycle]. Returns SUCCESS or ERROR. */
  berth_code (*add_pod)(void* self, const berth_cycle* cycle, const berth_pod* pod,
                        const berth_block* block, uint32_t index,
                        berth_status* status) BERTH_NOEXCEPT;
  berth_code (*remove_pod)(void* self, const berth_cycle* cycle, const berth_pod* pod,
                           const berth_block* block, uint32_t index,
                           berth_status* status) BERTH_NOEXCEPT;
} berth_pre_filter;

/* Filter: can the pod run on these nodes?
 * Called:    per block, for the nodes that no earlier Filter rejected.
 * Threading: [block].
 * Returns:   SUCCESS when every selected node has its verdict; anything else fails the cycle with
 *            the status' text. The verdict of selected node i: codes[i], one of SUCCESS,
 *            UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE, PENDING, ERROR; and, unless SUCCESS,
 *            reasons[i]: bit b stands for reason b of the plugin's table.
 * Must not:  block, log per node, write an index that is not selected, or leave a selected one
 *            unwritten. */
typedef struct berth_filter_out {
  uint32_t struct_size;
  uint32_t reserved;
  uint8_t* codes;    /* [block.count] */
  uint64_t* reasons; /* [block.count] */
} berth_filter_out;
enum { BERTH_FILTER_SERIAL = 1 }; /* one block at a time */
#define BERTH_POINT_FILTER "berth.filter/1"
typedef struct berth_filter {
  uint32_t struct_size;
  uint32_t flags;
  const berth_dependence* dependence; /* NULL: answers are never reused */
  berth_code (*filter)(void* self, const berth_cycle* cycle, const berth_block* block,
                       berth_filter_out* out, berth_status* status) BERTH_NOEXCEPT;
} berth_filter;

/* PostFilter: no node fits; can room be made?
 * Called:    plugin by plugin after Filter or PreFilter rejected the pod, until one answers
 *            SUCCESS, UNSCHEDULABLE_AND_UNRESOLVABLE or an error.
 * Threading: [cycle].
 * Returns:   SUCCESS with a nominated node; UNSCHEDULABLE: ask the next. The pod is parked either
 *            way. Without a call of `nominate` it keeps the nomination that it has. */
enum { BERTH_NOMINATE_KEEP = 0, BERTH_NOMINATE_OVERRIDE = 1 };
typedef struct berth_verdicts {
  uint32_t struct_size;
  uint32_t count; /* rows */
  /* [count] by row. SUCCESS where there is no node. Where no Filter ran: what PreFilter answered,
   * or UNSCHEDULABLE_AND_UNRESOLVABLE for a node that `only_nodes` ruled out. */
  const uint8_t* codes;
  const uint8_t* absent; /* [count] by row: 1 where no Filter ran */
} berth_verdicts;
typedef struct berth_post_filter_out {
  uint32_t struct_size;
  uint32_t mode; /* BERTH_NOMINATE_*; preset to KEEP */
  void* impl;
  void (*nominate)(struct berth_post_filter_out* self,
                   berth_str node) BERTH_NOEXCEPT; /* empty: none; sets OVERRIDE */
} berth_post_filter_out;
#define BERTH_POINT_POST_FILTER "berth.post_filter/1"
typedef struct berth_post_filter {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*post_filter)(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            const berth_verdicts* verdicts, berth_post_filter_out* out,
                            berth_status* status) BERTH_NOEXCEPT;
} berth_post_filter;

/* PreScore: preparation of cycle state from the feasible nodes.
 * Called:    once per cycle, when two or more nodes are feasible.
 * Threading: [cycle].
 * Returns:   SUCCESS; SKIP: this plugin's Score is not called in this cycle; anything else fails
 *            the cycle. */
#define BERTH_POINT_PRE_SCORE "berth.pre_score/1"
typedef struct berth_pre_score {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*pre_score)(void* self, const berth_cycle* cycle, const berth_nodes* feasible,
                          const berth_nodes* all, berth_status* status) BERTH_NOEXCEPT;
} berth_pre_score;

/* Score: how well does each feasible node suit the pod?
 * Called:    when two or more nodes are feasible: `score` per block of them; then `normalize` once
 *            with all raw scores, when the mode is CUSTOM.
 * Threading: [block] for `score`, [cycle] for `normalize`.
 * Returns:   SUCCESS with out[i] written, not INT64_MIN, for every selected i; anything else fails
 *            the cycle. After normalisation every score must lie in 0..100; the host multiplies by
 *            the weight and adds up. The modes divide in integers.
 * Must not:  as Filter. */
enum {
  BERTH_NORMALIZE_NONE = 0,
  BERTH_NORMALIZE_MAX = 1, /* 100 * s / max; unchanged when max is 0. DefaultNormalizeScore */
  BERTH_NORMALIZE_MAX_REVERSED = 2, /* 100 - 100 * s / max; 100 for all when max is 0 */
  BERTH_NORMALIZE_MIN_MAX = 3,      /* 100 * (s - min) / (max - min); 0 for all when equal */
  BERTH_NORMALIZE_CUSTOM = 4
};
#define BERTH_SCORE_MAX 100
typedef struct berth_scores {
  uint32_t struct_size;
  uint32_t count;
  const uint32_t* rows; /* [count] ascending */
  int64_t* scores;      /* [count] raw in, normalised out */
} berth_scores;
enum { BERTH_SCORE_SERIAL = 1 };
#define BERTH_POINT_SCORE "berth.score/1"
typedef struct berth_score {
  uint32_t struct_size;
  uint32_t flags;
  uint32_t normalize_mode;
  uint32_t reserved;
  const berth_dependence* dependence;
  berth_code (*score)(void* self, const berth_cycle* cycle, const berth_block* block, int64_t* out,
                      berth_status* status) BERTH_NOEXCEPT;
  berth_code (*normalize)(void* self, const berth_cycle* cycle, berth_scores* scores,
                          berth_status* status) BERTH_NOEXCEPT;
} berth_score;

/* The node that a pod was given. */
typedef struct berth_target {
  uint32_t struct_size;
  uint32_t row; /* means nothing outside [cycle] */
  const berth_node* node;
} berth_target;

/* Reserve: claim what the pod needs beside the node's resources.
 * Called:    after the pod is assumed on the node. `unreserve` of all plugins of the point, in
 *            reverse order, when anything fails from here on, even where `reserve` never ran: it
 *            must be idempotent and cannot fail.
 * Threading: [cycle]; `unreserve` also [event], after a failed binding.
 * Returns:   SUCCESS; a rejection parks the pod; ERROR: it backs off. */
typedef struct berth_binding berth_binding;
#define BERTH_POINT_RESERVE "berth.reserve/1"
typedef struct berth_reserve {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*reserve)(void* self, const berth_cycle* cycle, const berth_target* target,
                        berth_status* status) BERTH_NOEXCEPT;
  void (*unreserve)(void* self, const berth_binding* binding) BERTH_NOEXCEPT;
} berth_reserve;

/* Permit: may the pod go on to be bound, or must it wait?
 * Called:    after Reserve.
 * Threading: [cycle].
 * Returns:   SUCCESS; WAIT with a time-out in nanoseconds (15 minutes at most): the pod keeps its
 *            place until every waiting plugin allows it (service berth.waiting/1), one rejects it,
 *            or time runs out; a rejection parks the pod; ERROR: it backs off.
 * Of a group every member has its cycle, one after the other, before any is bound. When for none of
 * them all plugins say SUCCESS, all is given back and the group is parked: say WAIT until there are
 * enough, and allow those that wait with the SUCCESS of the last. */
#define BERTH_POINT_PERMIT "berth.permit/1"
typedef struct berth_permit {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*permit)(void* self, const berth_cycle* cycle, const berth_target* target,
                       int64_t* timeout_ns, berth_status* status) BERTH_NOEXCEPT;
} berth_permit;

/* What [bind] calls get: the pod and the node's name; no rows, no snapshot.
 * Lifetime: until the pod has left the binding cycle. */
struct berth_binding {
  uint32_t struct_size;
  uint32_t flags;
  const berth_pod* pod; /* node_name is 0 */
  berth_str node_name;
  berth_str node_uid;
  void* const* slots;
  const uint32_t* cancel;
  int64_t deadline_ns; /* when the call is late; once it answered PENDING: its answer. 0: never */
};

/* PreBind: what must happen before the pod is bound (attach a volume, write an allocation).
 * Called:    `pre_flight` first, if any: is there anything to do? Then `pre_bind`, after Permit.
 * Threading: [bind]; pre_flight always on the scheduling thread: it must not block.
 * Returns:   pre_flight: SUCCESS, SKIP (pre_bind is not called) or ERROR. pre_bind: SUCCESS;
 *            PENDING: the plugin completes `done` later, exactly once; anything else ends the
 *            binding and the pod backs off.
 * Lifetime:  `done` until it is completed; after any other answer than PENDING it is gone.
 * PreBinds that follow each other and allow it run at the same time. */
enum { BERTH_PRE_BIND_PARALLEL = 1 };
#define BERTH_POINT_PRE_BIND "berth.pre_bind/1"
typedef struct berth_pre_bind {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_PRE_BIND_PARALLEL */
  berth_code (*pre_flight)(void* self, const berth_binding* binding,
                           berth_status* status) BERTH_NOEXCEPT;
  berth_code (*pre_bind)(void* self, const berth_binding* binding, berth_done* done,
                         berth_status* status) BERTH_NOEXCEPT;
} berth_pre_bind;

/* Bind: bind the pod to the node.
 * Called:    plugin by plugin until one does not answer SKIP.
 * Threading: [bind].
 * Returns:   SUCCESS: bound; SKIP: not mine; PENDING: completed through `done` later; anything else
 *            ends the binding. With the service berth.api/1: pass `done` to its `bind` and answer
 *            PENDING.
 * Lifetime:  `done` as in PreBind. */
#define BERTH_POINT_BIND "berth.bind/1"
typedef struct berth_bind {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*bind)(void* self, const berth_binding* binding, berth_done* done,
                     berth_status* status) BERTH_NOEXCEPT;
} berth_bind;

/* PostBind: the pod is bound; clean up or take note.
 * Called:    once, after Bind succeeded.
 * Threading: [event]. */
#define BERTH_POINT_POST_BIND "berth.post_bind/1"
typedef struct berth_post_bind {
  uint32_t struct_size;
  uint32_t flags;
  void (*post_bind)(void* self, const berth_binding* binding) BERTH_NOEXCEPT;
} berth_post_bind;

/* Changes: for a plugin with an index of its own.
 * Called:    for every change of the node table, in order. A new instance first gets all there is
 *            (REPLAY), then SYNCED, before its first cycle. A pod is ADDED when it is assumed or
 *            seen on a node, whichever is first; what the cluster says of it later is CHANGED, or
 *            REMOVED and ADDED where it names another node. Pods may come before their node and
 *            stay after it. A row number is used again only when its node and all its pods were
 *            removed and no reservation holds it.
 * Threading: [event], and [cycle] for assume and forget.
 * Must not:  block, or fail: there is no second delivery.
 * Lifetime:  `pod` and `node` until the change that replaces or removes them has been delivered, so
 *            that an index may keep them; `old_pod` and `old_node` until the call returns. */
enum {
  BERTH_CHANGE_POD_ADDED = 1,
  BERTH_CHANGE_POD_CHANGED,
  BERTH_CHANGE_POD_REMOVED,
  BERTH_CHANGE_NODE_ADDED,
  BERTH_CHANGE_NODE_CHANGED,
  BERTH_CHANGE_NODE_REMOVED,
  BERTH_CHANGE_SYNCED
};
enum {
  BERTH_CHANGE_ASSUMED = 1,   /* POD_ADDED: we placed it, the cluster has not said so yet */
  BERTH_CHANGE_FORGOTTEN = 2, /* POD_REMOVED: we took an assumed pod back */
  BERTH_CHANGE_REPLAY = 4
};
typedef struct berth_change {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t flags;
  uint32_t row;               /* of the node; 0 with SYNCED */
  uint64_t sequence;          /* grows by one per change; REPLAY and SYNCED have the last one's */
  const berth_pod* pod;       /* POD_*: as it is now, or was last; else NULL */
  const berth_pod* old_pod;   /* POD_CHANGED: as it was; else NULL */
  const berth_node* node;     /* NODE_*: as it is now, or was last; POD_*: its node, if known */
  const berth_node* old_node; /* NODE_CHANGED: as it was; else NULL */
} berth_change;
#define BERTH_POINT_CHANGES "berth.changes/1"
typedef struct berth_changes {
  uint32_t struct_size;
  uint32_t flags;
  void (*change)(void* self, const berth_change* change) BERTH_NOEXCEPT;
} berth_changes;

/* ---- Services of the host -------------------------------------------------------------------- */
/* Found through berth_host.get_service in create(), kept until destroy(); later calls do nothing. A
 * berth_host argument is always the one that was passed to create(). A function that takes a
 * promise or an answer and returns an error leaves it alone: no answer will come. */
struct berth_host {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  void* impl;
  berth_str name; /* "berth" */
  berth_str version;
  /* SUCCESS and the service; UNSUPPORTED for an id that this host knows but does not serve;
   * NOT_FOUND otherwise.
   * Threading: [load]. */
  berth_code (*get_service)(const struct berth_host* host, const char* id,
                            const void** service) BERTH_NOEXCEPT;
  /* A call that has no code to answer (OnChange, Unreserve, a timer) failed: counted against the
   * plugin, at the point where it is called. `what`: why. Threading: [any]. */
  void (*fault)(const struct berth_host* host, berth_str what) BERTH_NOEXCEPT;
};

/* Log. Threading: [any]. Test `*level` first, by a relaxed atomic load: what is below it is
 * dropped, and it may change at any time. */
enum {
  BERTH_LOG_TRACE = 0,
  BERTH_LOG_DEBUG,
  BERTH_LOG_INFO,
  BERTH_LOG_WARN,
  BERTH_LOG_ERROR,
  BERTH_LOG_OFF
};
#define BERTH_SERVICE_LOG "berth.log/1"
typedef struct berth_log {
  uint32_t struct_size;
  uint32_t reserved;
  const uint32_t* level;
  void (*log)(const berth_host* host, uint32_t level, berth_str message,
              const berth_str_pair* pairs, uint64_t count) BERTH_NOEXCEPT;
} berth_log;

/* Strings and ids. Threading: [any]. */
#define BERTH_SERVICE_STRINGS "berth.strings/1"
typedef struct berth_strings {
  uint32_t struct_size;
  uint32_t reserved;
  berth_id (*intern)(const berth_host* host,
                     berth_str text) BERTH_NOEXCEPT; /* owned by the instance until destroy() */
  berth_id (*find)(const berth_host* host,
                   berth_str text) BERTH_NOEXCEPT; /* 0: none now; valid until the call returns */
  berth_str (*text)(const berth_host* host,
                    berth_id id) BERTH_NOEXCEPT; /* lives as long as the id */
} berth_strings;

/* Columns that only the pod tells. Threading: [cycle], within PreFilter and PreScore.
 * Returns the column's index in the blocks of this plugin in this cycle. Binding a name twice gives
 * the same index.
 * Errors: BERTH_NOT_FOUND for a name that the catalogue does not have, BERTH_CONFLICT elsewhere. */
#define BERTH_SERVICE_COLUMNS "berth.columns/1"
typedef struct berth_columns {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*bind)(const berth_host* host, const berth_cycle* cycle, berth_str name,
                     uint32_t* index) BERTH_NOEXCEPT;
} berth_columns;

/* Values: trees as JSON has them, for arguments, objects and fields. Each knows this service.
 * What is absent is NULL, and NULL has the kind NULL; a member that is null is absent. What has
 * another kind than a function wants reads as 0 or empty.
 * Threading: [any]. Lifetime: of arguments until create() returns, else that of the object. */
enum {
  BERTH_VALUE_NULL = 0,
  BERTH_VALUE_BOOL,
  BERTH_VALUE_INT,
  BERTH_VALUE_FLOAT, /* also a whole number beyond int64_t */
  BERTH_VALUE_STRING,
  BERTH_VALUE_ARRAY,
  BERTH_VALUE_OBJECT
};
#define BERTH_SERVICE_VALUES "berth.values/1"
struct berth_values {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t (*kind)(const berth_value* value) BERTH_NOEXCEPT;
  uint64_t (*size)(const berth_value* value) BERTH_NOEXCEPT; /* of an array or object */
  const berth_value* (*get)(const berth_value* object, berth_str key)BERTH_NOEXCEPT;
  const berth_value* (*at)(const berth_value* value, uint64_t index,
                           berth_str* key_or_null)BERTH_NOEXCEPT;
  int64_t (*as_int)(const berth_value* value) BERTH_NOEXCEPT;  /* INT and BOOL */
  double (*as_float)(const berth_value* value) BERTH_NOEXCEPT; /* FLOAT and INT */
  berth_str (*as_string)(const berth_value* value) BERTH_NOEXCEPT;
  berth_str (*where)(const berth_value* argument) BERTH_NOEXCEPT; /* "profiles/default.toml:12" */
  /* A STRING or number as a Kubernetes quantity, in whole units and in thousandths, rounded away
   * from 0, at most 2^63-1. BAD_ARGUMENT: it is none, and nothing is written. */
  berth_code (*as_quantity)(const berth_value* value, int64_t* units,
                            int64_t* milli) BERTH_NOEXCEPT;
};

/* Metrics. Defined in create() only; the host adds the labels plugin and profile. Threading: [load]
 * for define, [any]. */
enum { BERTH_METRIC_COUNTER = 1, BERTH_METRIC_GAUGE, BERTH_METRIC_HISTOGRAM };
typedef struct berth_metric {
  uint32_t struct_size;
  uint32_t kind;
  berth_str name;
  berth_str help;
  const berth_str* label_names; /* [n_labels] */
  uint64_t n_labels;
  const double* buckets; /* [n_buckets] of a histogram: upper bounds, ascending */
  uint64_t n_buckets;    /* 0: the host's own, for seconds from 1 ms to 16 s */
} berth_metric;
#define BERTH_SERVICE_METRICS "berth.metrics/1"
typedef struct berth_metrics {
  uint32_t struct_size;
  uint32_t reserved;
  /* CONFLICT: the name is taken. */
  berth_code (*define)(const berth_host* host, const berth_metric* metric,
                       uint32_t* index) BERTH_NOEXCEPT;
  /* Adds to a counter, sets a gauge, counts in a histogram. A value per name of a label. */
  void (*observe)(const berth_host* host, uint32_t index, const berth_str* label_values,
                  double value) BERTH_NOEXCEPT;
} berth_metrics;

/* Objects of kinds that the plugin named in berth_plugin_info.kinds: all of them are there before
 * its first cycle.
 * Threading: `get` and `list`: [event] [queue] [cycle] [bind]; `watch`: [load]; the rest: [any].
 * Lifetime:  a view until the call that looked it up ends; longer with `retain` .. `release`. */
#define BERTH_SERVICE_OBJECTS "berth.objects/1"
typedef struct berth_objects {
  uint32_t struct_size;
  uint32_t reserved;
  const berth_object* (*get)(const berth_host* host, berth_str kind, berth_str ns,
                             berth_str name)BERTH_NOEXCEPT; /* NULL */
  /* Calls `each` for every object of the kind (of the namespace, if not empty), by namespace and
   * name, until it returns 0. NOT_FOUND: the kind was not declared. */
  berth_code (*list)(const berth_host* host, berth_str kind, berth_str ns,
                     int32_t (*each)(void* to, const berth_object*), void* to) BERTH_NOEXCEPT;
  /* `change` is called for every change of the kind, in order: [event]. What there is already comes
   * first, as additions. `old` is NULL for an addition, `now` for a deletion. SUCCESS, NOT_FOUND;
   * CONFLICT outside [load]. */
  berth_code (*watch)(const berth_host* host, berth_str kind,
                      void (*change)(void* to, const berth_object* old, const berth_object* now),
                      void* to) BERTH_NOEXCEPT;
  /* `object` is one that the host has shown in this call. */
  berth_object_ref* (*retain)(const berth_host* host, const berth_object* object)BERTH_NOEXCEPT;
  const berth_object* (*view)(const berth_object_ref* ref)BERTH_NOEXCEPT;
  void (*release)(const berth_host* host, berth_object_ref* ref) BERTH_NOEXCEPT;
} berth_objects;

/* What if: would the pod of this cycle fit, were other pods there or gone? One private row, with
 * clones of the state that AddPod and RemovePod change. `status` is the plugin's own, or NULL.
 * Threading: [cycle], within PostFilter. CONFLICT elsewhere, and for a row that has ended.
 * Lifetime:  until `end`, and no longer than the call of PostFilter. */
typedef struct berth_whatif_row berth_whatif_row;
#define BERTH_SERVICE_WHATIF "berth.whatif/1"
typedef struct berth_whatif {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*begin)(const berth_host* host, const berth_cycle* cycle, uint32_t row,
                      berth_whatif_row** out) BERTH_NOEXCEPT;
  berth_code (*remove_pod)(berth_whatif_row* row, const berth_pod* pod,
                           berth_status* status) BERTH_NOEXCEPT;
  berth_code (*add_pod)(berth_whatif_row* row, const berth_pod* pod,
                        berth_status* status) BERTH_NOEXCEPT;
  /* All Filters of the profile, nominated pods of equal or higher priority counted in. The
   * verdict's code. */
  berth_code (*run_filters)(berth_whatif_row* row, berth_status* status) BERTH_NOEXCEPT;
  void (*end)(berth_whatif_row* row) BERTH_NOEXCEPT;
} berth_whatif;

/* Pods that are nominated to a node and not yet there. `clear` takes the nomination back, here and
 * in the pod's status; NOT_FOUND: it has none. Threading: [event] [queue] [cycle]. */
#define BERTH_SERVICE_NOMINATOR "berth.nominator/1"
typedef struct berth_nominator {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*list)(const berth_host* host, berth_str node,
                     int32_t (*each)(void* to, const berth_pod* pod), void* to) BERTH_NOEXCEPT;
  berth_code (*clear)(const berth_host* host, berth_str pod_uid) BERTH_NOEXCEPT;
} berth_nominator;

/* Moves pods to the active queue (PreEnqueue still applies). Pods that do not wait in the queue are
 * passed over. Threading: [event] [queue] [cycle] [bind]. */
#define BERTH_SERVICE_ACTIVATE "berth.activate/1"
typedef struct berth_activate {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*activate)(const berth_host* host, const berth_str* pod_uids,
                         uint64_t count) BERTH_NOEXCEPT;
} berth_activate;

/* Pods that wait on Permit. `allow` speaks for this plugin, `reject` for all: the pod is parked.
 * NOT_FOUND: it does not wait. Threading: [event] [queue] [cycle] [bind]. */
#define BERTH_SERVICE_WAITING "berth.waiting/1"
typedef struct berth_waiting {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*each)(const berth_host* host, int32_t (*each)(void* to, const berth_pod* pod),
                     void* to) BERTH_NOEXCEPT;
  berth_code (*allow)(const berth_host* host, berth_str pod_uid) BERTH_NOEXCEPT;
  berth_code (*reject)(const berth_host* host, berth_str pod_uid, berth_str reason) BERTH_NOEXCEPT;
} berth_waiting;

/* Timers. The callback is called once, under [event]. Threading: [load] [event] [queue] [cycle]
 * [bind]. */
#define BERTH_SERVICE_TIMER "berth.timer/1"
typedef struct berth_timer {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t (*now_ns)(const berth_host* host) BERTH_NOEXCEPT;  /* monotonic, [any] */
  int64_t (*wall_ns)(const berth_host* host) BERTH_NOEXCEPT; /* as the times of objects, [any] */
  berth_code (*start)(const berth_host* host, int64_t after_ns, void (*fire)(void* to), void* to,
                      uint64_t* timer) BERTH_NOEXCEPT;
  berth_code (*cancel)(const berth_host* host,
                       uint64_t timer) BERTH_NOEXCEPT; /* NOT_FOUND: it fired */
} berth_timer;

/* The API server. A request that returned SUCCESS is answered exactly once: [event]. Threading:
 * [any]. The answer's code: SUCCESS; NOT_FOUND, CONFLICT, BAD_ARGUMENT (the server refused what was
 * sent); CANCELLED (time is up, or the host stops); ERROR otherwise. `body` is what the server
 * answered, for an error its Status object, or where it did not answer a text. */
typedef void (*berth_api_answer)(void* to, berth_code code, berth_str body);
#define BERTH_SERVICE_API "berth.api/1"
typedef struct berth_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* POST pods/binding. PENDING, which Bind answers too: the host completes `done` with the outcome.
   * CONFLICT where `done` is no open promise of Bind. */
  berth_code (*bind)(const berth_host* host, const berth_binding* binding,
                     berth_done* done) BERTH_NOEXCEPT;
  /* `patch`: a strategic merge patch of the pod, as JSON, sent to its status. */
  berth_code (*patch_status)(const berth_host* host, const berth_pod* pod, berth_str patch,
                             berth_api_answer answer, void* to) BERTH_NOEXCEPT;
  /* Makes room, as preemption does. A pod that waits on Permit, or whose PreBind can still be
   * cancelled, is sent back to the queue; any other gets the condition DisruptionTarget with reason
   * PreemptionByScheduler and `message`, and is deleted. One that is gone already: SUCCESS. */
  berth_code (*evict)(const berth_host* host, const berth_pod* pod, berth_str message,
                      berth_api_answer answer, void* to) BERTH_NOEXCEPT;
  /* An events.k8s.io/v1 Event; `type` is Normal or Warning, `related` may be NULL. */
  berth_code (*event)(const berth_host* host, const berth_tagged* regarding,
                      const berth_tagged* related, berth_str type, berth_str reason,
                      berth_str action, berth_str note) BERTH_NOEXCEPT;
  /* `verb`: GET, POST, PUT, PATCH (a JSON merge patch) or DELETE; `path` with its query; `body`:
   * JSON, or empty; `timeout_ns`: 0: the host's own. */
  berth_code (*request)(const berth_host* host, berth_str verb, berth_str path, berth_str body,
                        int64_t timeout_ns, berth_api_answer answer, void* to) BERTH_NOEXCEPT;
} berth_api;

/* Completes what a [bind] call left PENDING: exactly once, with the code and text that the call
 * would have returned.
 * Threading: [any]. */
#define BERTH_SERVICE_COMPLETION "berth.completion/1"
typedef struct berth_completion {
  uint32_t struct_size;
  uint32_t reserved;
  void (*complete)(berth_done* done, berth_code code, berth_str reason) BERTH_NOEXCEPT;
} berth_completion;

/* ---- What a library exports ------------------------------------------------------------------ */

/* What a plugin is, before there is an instance of it. Constant data; lists end with NULL. */
enum { BERTH_PLUGIN_BLOCKS_IN_BIND = 1 };
typedef struct berth_plugin_info {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;              /* "NodeResourcesFit", "acme.RackPower": what a profile names */
  const char* version;           /* "1.4.0" */
  const char* about;             /* one sentence */
  const char* const* points;     /* ids of extension points; those that this host does not know
                                  are passed over */
  const char* const* services;   /* ids of services that it cannot do without */
  const char* const* kinds;      /* for berth.objects/1: "v1/Namespace" */
  const char* const* fields;     /* parts of pods and nodes to keep: "Pod:/spec/hostIPC" */
  const char* const* pod_fields; /* what it answers for: "/spec/tolerations" */
  const char* args_schema;       /* JSON Schema of the arguments; "{}" or NULL: takes none */
} berth_plugin_info;

/* The plugin works without it: data is NULL when the host has no such column. */
enum { BERTH_COLUMN_OPTIONAL = 1 };
typedef struct berth_column_request {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  uint32_t type; /* BERTH_TYPE_*; refused at load when the catalogue says otherwise */
  uint32_t reserved;
} berth_column_request;

/* One instance, allocated and freed by the plugin. The arrays are read once, after create(). */
struct berth_plugin {
  uint32_t struct_size;
  uint32_t flags;
  void* self;
  berth_array columns; /* berth_column_request */
  berth_array slots;   /* berth_slot */
  berth_array reasons; /* berth_str: the reason table's constant part, at most 64 */
  /* The struct of an extension point, or NULL. Must be set for every id in
   * berth_plugin_info.points. Threading: [load]. */
  const void* (*get_point)(const struct berth_plugin* plugin, const char* id)BERTH_NOEXCEPT;
  /* Stop threads and timers; after it returns, no call goes into the host but from destroy(). NULL:
   * nothing runs. Called once, when no call into the instance is on its way. Threading: [load]. */
  void (*quiesce)(struct berth_plugin* plugin) BERTH_NOEXCEPT;
  /* Releases what is retained and frees the instance. Threading: [load]. */
  void (*destroy)(struct berth_plugin* plugin) BERTH_NOEXCEPT;
};

enum { BERTH_BUILD_ASSERTS = 1, BERTH_BUILD_SANITIZED = 2 };
typedef struct berth_entry {
  uint32_t magic; /* BERTH_MAGIC */
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;      /* of the header that it was built with */
  uint16_t min_host_minor; /* the oldest host that will do; 0 unless it uses something newer */
  uint16_t pointer_bits;   /* 64 */
  uint64_t build_flags;
  uint64_t n_plugins;
  const berth_plugin_info* const* plugins; /* [n_plugins] */
  /* Once per library before the first create, and after the last destroy. NULL: nothing to do.
   * `host` is gone when init() returns; anything but SUCCESS refuses the library. [load] */
  berth_code (*init)(const berth_host* host, berth_status* status) BERTH_NOEXCEPT;
  void (*deinit)(void) BERTH_NOEXCEPT;
  /* An instance of plugin `name` for profile `profile`. `args` may be NULL. Returns SUCCESS and
   * sets *out; BAD_ARGUMENT with add_argument_error for each; ERROR. [load] */
  berth_code (*create)(const berth_host* host, berth_str name, berth_str profile,
                       const berth_value* args, berth_plugin** out,
                       berth_status* status) BERTH_NOEXCEPT;
} berth_entry;

/* The only symbol that a library exports. */
extern BERTH_EXPORT const berth_entry berth_entry_v1;

/* The ELF note: section ".note.berth", name "Berth", type 1, descriptor: JSON text
 *   {"abi":[1,0],"minHostMinor":0,"plugins":[
 *     {"name":"...","version":"...","points":["berth.filter/1"]}]}
 * with the same facts as the entry; the host compares them. */
#define BERTH_NOTE_SECTION ".note.berth"
#define BERTH_NOTE_NAME "Berth"
#define BERTH_NOTE_TYPE 1u
/* Writes the note from a string literal; use once per library, at file scope. The descriptor ends
 * in zero bytes up to a multiple of four; readers cut them off. */
#define BERTH_NOTE(json)                                                               \
  __attribute__((section(BERTH_NOTE_SECTION), used, aligned(4))) static const struct { \
    uint32_t name_size, text_size, type;                                               \
    char name[8];                                                                      \
    char text[(sizeof(json) + 3u) / 4u * 4u];                                          \
  } berth_note_v1 = {6u,                                                               \
                     (uint32_t)((sizeof(json) + 3u) / 4u * 4u),                        \
                     BERTH_NOTE_TYPE,                                                  \
                     {'B', 'e', 'r', 't', 'h', 0, 0, 0},                               \
                     json}

#ifdef __cplusplus
}
#endif

#endif /* BERTH_ABI_H_ */
