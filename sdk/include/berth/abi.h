/* Copyright The Berth Authors. SPDX-License-Identifier: Apache-2.0
 *
 * berth/abi.h: the boundary between the host and a plugin, major version 1.
 *
 * This file declares everything that crosses the boundary: C11, no dependency but <stddef.h> and
 * <stdint.h>, no implicit padding, 64-bit little-endian. A plugin is a shared object that exports
 * one constant, `berth_entry_v1`, and carries the same facts as JSON in an ELF note, so that the
 * host can check it before any of its code runs. An author in C needs only this file, and may
 * include <berth/plugin_c.h> for its macros. An author in Rust uses the crate of the SDK, which has
 * the same declarations. An author in C++ includes <berth/plugin.h> and does not need to read this
 * file.
 *
 * Version 1 is a draft until every default plugin works on it. From then on it is frozen and only
 * grows:
 *   - a struct that begins with `struct_size` may get members at its end. The side that fills in
 *     the struct sets `struct_size` to the size that it was compiled with. A reader tests BERTH_HAS
 *     before it reads a member that was not in the first version. A writer never writes past the
 *     other side's `struct_size`;
 *   - an array is a `berth_array`: its elements are `stride` bytes apart, so that they may grow
 *     too;
 *   - strings, pairs of ids, quantities, columns and references (marked "frozen") never change;
 *   - extension points and services are found by an id with a revision ("berth.filter/1"). Every
 *     new one is optional, and the host has a default for it;
 *   - an enumeration or a set of flags may get members, which the side with the older header does
 *     not know: see below. Set `reserved` to 0, and `flags` where no comment names a flag;
 *   - every member, struct and enumerator that is added has the mark BERTH_SINCE.
 *
 * Values that the reader does not know. A plugin treats an operator or effect that it does not know
 * as matching nothing, a code as ERROR, a kind of volume as BERTH_VOLUME_OTHER, the resource of an
 * event as one that may help the pod, and any other value as "not set". It does not change flags
 * that it does not know. A later host passes a new kind of change, queue entry or object only to a
 * plugin that asks for it, so that an index of an older plugin misses nothing. A host treats a
 * value that it does not know like this:
 *   a bit of berth_dependence.cluster or .pod_parts   the answers are never reused
 *   a bit of berth_event_interest.pod_parts           the hint is called once for each pod
 *   a resource of berth_event_interest                no event has it: the host logs a warning
 *   an action of berth_event_interest                 ignored
 *   a flag or mode of a plugin, point, slot or        the plugin is not loaded; the error states
 *     column                                          the value
 *   a flag or mode in a call of a service             BAD_ARGUMENT; the same applies to a struct
 *                                                     that is smaller than its first version
 *   a code that a plugin returns                      BUG
 *   the result of `hint`; of `changed`                BERTH_HINT_QUEUE; BERTH_STALE_ALL
 *
 * Threads. The comment of every function states where the function is called, in these words only:
 *   [load]   The scheduling thread, while a profile is built or dropped. One call at a time per
 *            library. The function may block and allocate.
 *   [event]  The scheduling thread, between attempts, while it applies one change of the cluster, a
 *            timer, an answer of the API server or the end of a binding.
 *   [queue]  The scheduling thread, while it orders or requeues pods. The function must be short.
 *   [cycle]  The scheduling thread, within one attempt to place one pod. Unless its comment forbids
 *            it, the function may wait for an answer from outside the process, such as that of an
 *            HTTP extender, until berth_cycle.deadline_ns. No pod is scheduled meanwhile.
 *   [block]  Within a [cycle], on several threads at the same time, for disjoint blocks of nodes.
 *            Slots and the instance are read-only here, unless the point has the flag SERIAL.
 *   [bind]   After the cycle, for several pods at the same time: on the scheduling thread, or on a
 *            pool thread for a plugin with BERTH_PLUGIN_BLOCKS_IN_BIND. On a pool thread the plugin
 *            may call only services marked [any]. Rows and blocks are not valid here.
 *   [any]    Any thread of the host, and the plugin's own threads.
 * [event], [queue] and [cycle] never overlap, nor does [bind] on the scheduling thread. A function
 * that runs under one of these words may call only the services that are marked with the same word
 * or with [any]. A service that is called under another word, or for another cycle than the current
 * one, does nothing and returns CONFLICT, 0 or NULL.
 *
 * Callbacks. A callback that a service keeps for later never runs within the call that passed it. A
 * callback that a service takes for the call itself (`each`, `put`, the functions of a
 * berth_status) runs within it: it may call every service that the caller may call. The pod or
 * object that `each` receives is valid until the host's call into the plugin returns.
 *
 * A reload of the profiles. An instance stays, with everything that it holds, if create() would get
 * the same for it: the same plugin of a library with the same content, profile, arguments, points
 * and deadline. Weights and the places of arguments may differ. No function of it is called for
 * that. Pods in their binding cycles stay with the instances that they began with: the host calls
 * [bind] functions, `unreserve` and `post_bind` of an instance that was replaced until it ends.
 *
 * The end of an instance. When a profile without it replaces its profile, when its profile is
 * dropped, when it is replaced because it is in quarantine, or when the host stops, the host
 * begins no more cycles with the instance. It waits until the instance's pods have left their
 * binding cycles; if it stops, it calls `unreserve` for those that are not bound instead. Neither
 * `unreserve` nor `post_bind` is called afterwards. Then, in this order:
 *   1. it calls what the instance posted, and the answers of its requests that are still open,
 *      with CANCELLED, under [event]. Timers, watches and changes are not reported any more, and
 *      services take no new callbacks: they return CANCELLED;
 *   2. it calls `quiesce`. When that returns, the plugin's own threads have ended;
 *   3. it closes the promises that are still open, so that completing them has no effect, and
 *      destroys the slots that are left;
 *   4. it calls `destroy`, and then releases the ids, references, values and selectors that the
 *      instance still holds.
 * While a call under [bind] on a pool thread does not return, 2 and 4 are left out, and the slots
 * and bindings of the instance and what it holds stay as they are. After 4, also if it is left out,
 * a service does nothing and returns CANCELLED, 0 or NULL, or CONFLICT under another word.
 * If create() fails, none of this is called: the plugin frees what it allocated, and the host drops
 * the timers, watches, posts and requests of the instance without a call and releases its ids,
 * references, values and selectors.
 *
 * Errors. Exceptions, panics and longjmp must not cross the boundary. An exception or panic that
 * leaves a plugin's function ends the process, and the crash report names the plugin.
 *
 * Memory. Neither side frees memory of the other. What the host passes is valid until the call
 * returns, unless the member's comment states otherwise. The host copies what the plugin returns
 * before it calls the plugin again. The arguments of a service must be valid until the service
 * returns, unless its comment states otherwise; the host copies what it keeps. The host
 * allocates what it passes; the plugin allocates berth_entry, berth_plugin_info, berth_plugin and
 * everything that they point to. A pointer is never NULL unless its comment allows NULL, with these
 * exceptions: a pointer to `count` elements (or n_labels, ...) may be NULL when there are none, a
 * list of berth_plugin_info when it is empty, and a `const berth_value*` when the value is absent.
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
/* The draft of this header: a digest of what it declares, which sdk/abi/update.py writes. A draft
 * may change in any way, so a host loads a plugin only if both were built with the same draft. 0
 * after the freeze. */
#define BERTH_ABI_DRAFT 0x117dfba2051938d2ull

/* BERTH_MIN_HOST_MINOR is the oldest host that the plugin supports; it becomes
 * berth_entry.min_host_minor. Define it before the first include, for all files of the plugin. A
 * member or an enumerator that is newer is marked BERTH_SINCE with its minor version, and its use
 * does not compile: in C, and in C++ after <berth/plugin.h>; without it, C++ compilers only warn.
 * To use it where the host has it, define BERTH_OPTIONAL_MINOR as its version, and test BERTH_HAS
 * before each use of a member, and berth_host.abi_minor before the plugin passes the enumerator to
 * the host. gcc does not report a designated initialiser. */
#ifndef BERTH_MIN_HOST_MINOR
#define BERTH_MIN_HOST_MINOR 0
#endif
#ifndef BERTH_OPTIONAL_MINOR
#define BERTH_OPTIONAL_MINOR BERTH_MIN_HOST_MINOR
#endif
#if BERTH_MIN_HOST_MINOR > BERTH_ABI_MINOR || BERTH_OPTIONAL_MINOR > BERTH_ABI_MINOR
#error "BERTH_MIN_HOST_MINOR or BERTH_OPTIONAL_MINOR is newer than this header (BERTH_ABI_MINOR)"
#endif
/* Marks a member, a struct or an enumerator with the minor version that added it:
 * `uint32_t m BERTH_SINCE(1);`, `typedef struct berth_x {...} berth_x BERTH_SINCE(1);`,
 * `BERTH_X BERTH_SINCE(1) = 8`. Everything of these kinds that is added after the freeze has the
 * mark. The mark of a struct applies to its typedef, so that other declarations name the struct by
 * its tag: `const struct berth_x* x BERTH_SINCE(1);`. In C++ the mark is the attribute
 * `deprecated`, which <berth/plugin.h> makes an error. A header of the C++ layer that tests
 * BERTH_HAS itself encloses its code in `#pragma GCC diagnostic push`, `ignored
 * "-Wdeprecated-declarations"` and `pop`. A method or a constant of the layer that requires the
 * version is marked BERTH_REQUIRES_HOST. The change that raises BERTH_ABI_MINOR to n also defines
 * BERTH_SINCE_n. */
#define BERTH_REQUIRES_HOST(minor) BERTH_SINCE_##minor(BERTH_UNAVAILABLE)
#ifdef __cplusplus
#define BERTH_SINCE(minor) BERTH_SINCE_##minor(BERTH_DEPRECATED)
#else
#define BERTH_SINCE(minor) BERTH_REQUIRES_HOST(minor)
#endif
#if BERTH_OPTIONAL_MINOR >= 1
#define BERTH_SINCE_1(mark)
#else
#define BERTH_SINCE_1(mark) BERTH_NEWER(mark, "1")
#endif
#define BERTH_NEWER(mark, minor)                                                           \
  mark("requires a host of minor version " minor ": define BERTH_MIN_HOST_MINOR as " minor \
       ", or BERTH_OPTIONAL_MINOR and test BERTH_HAS (of an enumerator: "                  \
       "berth_host.abi_minor) before its use")
#define BERTH_DEPRECATED(text) __attribute__((deprecated(text)))
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define BERTH_UNAVAILABLE(text) __attribute__((unavailable(text)))
#else
#define BERTH_UNAVAILABLE(text) BERTH_DEPRECATED(text)
#endif

/* True when struct `p` of type `T` is large enough to hold member `m`. */
#define BERTH_HAS(p, T, m) ((p)->struct_size >= offsetof(T, m) + sizeof((p)->m))

/* ---- Scalars --------------------------------------------------------------------------------- */

/* UTF-8 text, borrowed, not terminated. `ptr` may be NULL when `len` is 0. Frozen. */
typedef struct berth_str {
  const char* ptr;
  uint64_t len;
} berth_str;

/* A string from a set of bounded size (label keys and values, resource names, zones, images, node
 * names), represented as a number: equal ids mean equal text. 0 means "absent". The order of ids
 * means nothing and differs in every process. An id in an object lives as long as that object. An
 * id that the plugin interned lives until the plugin releases it, and no longer than the plugin
 * instance. The host reuses the ids of dropped strings: keep an id no longer than an object that
 * has it, or intern it. */
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

/* An amount of one resource in the resource's integer unit: thousandths of a core for "cpu", and
 * the plain number (bytes, devices) for every other resource. Frozen. */
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
/* BERTH_HAS for member `m` of an array's elements: the stride is the size of an element. */
#define BERTH_ARRAY_HAS(T, array, m) \
  ((array).stride >= offsetof(T, m) + sizeof(((const T*)(array).data)->m))

/* The code that a function returns. 0 to 6 are Kubernetes' status codes and mean for the pod what
 * they mean in Kubernetes. "A rejection" is UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE or
 * PENDING. A function of an extension point returns a code that its comment names, or ERROR,
 * CANCELLED or BUG. CANCELLED counts as ERROR. Any other code counts as BUG, except that `pre_bind`
 * and `bind` may pass on UNSUPPORTED, NOT_FOUND, BAD_ARGUMENT and CONFLICT, which are errors. */
typedef int32_t berth_code;
enum {
  BERTH_SUCCESS = 0,
  BERTH_ERROR = 1,         /* no result was determined: the pod backs off and is tried again */
  BERTH_UNSCHEDULABLE = 2, /* rejected; removing pods from the node may help */
  BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE = 3, /* rejected; removing pods does not help */
  BERTH_WAIT = 4,                           /* Permit only: the pod waits */
  BERTH_SKIP = 5,                           /* this plugin has nothing to do for this pod */
  /* rejected until an external event occurs; parked until it is activated; or: completed later */
  BERTH_PENDING = 6,
  /* Codes that are not verdicts. They state why a call has no result. */
  BERTH_CANCELLED = 32,   /* the caller stopped waiting */
  BERTH_UNSUPPORTED = 33, /* the id is valid, but this host does not serve it */
  BERTH_NOT_FOUND = 34,
  BERTH_BAD_ARGUMENT = 35,
  BERTH_CONFLICT = 36,
  BERTH_BUG = 37 /* as ERROR, and counted as a fault of the plugin */
};

/* Receives the reasons for a returned code. The caller of the function creates it: the host for
 * extension points and create(), the plugin for the services that take one. Every text is copied
 * before the call returns. */
typedef struct berth_status {
  uint32_t struct_size;
  uint32_t reserved;
  void* impl;
  /* Adds one reason. Write constant texts without a node's or pod's name: the host counts equal
   * texts over all nodes. */
  void (*add_reason)(struct berth_status* self, berth_str text) BERTH_NOEXCEPT;
  /* For create() only: reports one wrong argument. `path` is a JSON pointer such as
   * "/scoringStrategy/type"; `text` states what was expected and what was found. It may be called
   * many times; the host reports every error. */
  void (*add_argument_error)(struct berth_status* self, berth_str path,
                             berth_str text) BERTH_NOEXCEPT;
} berth_status;

typedef struct berth_host berth_host;
typedef struct berth_plugin berth_plugin;
typedef struct berth_values berth_values;
/* A value of a tree, opaque except for its reader, see BERTH_SERVICE_VALUES. Frozen. */
typedef struct berth_value {
  const berth_values* reader;
} berth_value;

/* A promise to complete a call exactly once. `host` is the host of the instance that was called. No
 * two promises of an instance have the same id, and 0 is never an id. Frozen. */
typedef struct berth_done {
  const berth_host* host;
  uint64_t id;
} berth_done;

/* ---- Objects: immutable, decoded once, shared by the host and the plugins -------------------- */
/* A view lives as long as its object: until the call that passed it returns, or until the plugin
 * releases an object that it retained (service berth.refs/1). The comment of berth.changes/1 states
 * the lifetime of what that point passes. Enumerations start at 1; 0 means "not set". Times are
 * nanoseconds since 1970-01-01T00:00:00Z; 0 means "not set". */

typedef struct berth_owner {
  berth_str name;
  berth_str uid;
  berth_id api_version;
  berth_id kind;
  uint32_t controller; /* 1 when this owner manages the object */
  uint32_t reserved;
} berth_owner;

/* A part of the object that no view has and that the plugin requested by its path (see
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
  berth_array annotations; /* berth_str_pair, sorted by the bytes of the key; each key once */
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

/* The selector could not be parsed. It matches nothing, as in kube-scheduler. */
enum { BERTH_SELECTOR_INVALID = 1 };
/* A label selector. An object matches when all requirements hold; without requirements, every
 * object matches. matchLabels are converted to In with one value. */
typedef struct berth_selector {
  uint32_t struct_size;
  uint32_t flags;
  berth_array requirements; /* berth_requirement */
} berth_selector;

/* Matches a node when all expressions (on labels) and all fields (key "metadata.name") hold. A term
 * that has neither expressions nor fields matches no node. */
typedef struct berth_node_term {
  uint32_t flags;          /* BERTH_SELECTOR_INVALID */
  int32_t weight;          /* of a preferred term; 0 in a required one */
  berth_array expressions; /* berth_requirement */
  berth_array fields;      /* berth_requirement */
} berth_node_term;

/* The pods that a term means are in one of `namespaces`, or in a namespace that
 * `namespace_selector` matches; if neither is set, in the namespace of the term's pod. */
typedef struct berth_pod_term {
  /* with matchLabelKeys and mismatchLabelKeys merged in; NULL: no selector, matches no pod */
  const berth_selector* selector;
  const berth_selector* namespace_selector; /* NULL: not set; empty: matches every namespace */
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
  berth_id key;    /* 0: every key (op is Exists) */
  berth_id value;  /* the empty string also has an id */
  uint32_t op;     /* BERTH_TOLERATION_EQUAL when the object does not set it */
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

/* Amounts of all resources. The four resources that every pod has are members; all others are in
 * `scalars`. */
typedef struct berth_resources {
  uint32_t struct_size;
  uint32_t present; /* BERTH_PRESENT_* bits: the members that the object names */
  int64_t milli_cpu;
  int64_t memory;            /* bytes */
  int64_t ephemeral_storage; /* bytes */
  int64_t pods;              /* of a node's allocatable; 0 elsewhere */
  berth_array scalars; /* berth_quantity, sorted by name id: extended resources, huge pages, ... */
} berth_resources;
enum {
  BERTH_PRESENT_CPU = 1,
  BERTH_PRESENT_MEMORY = 2,
  BERTH_PRESENT_EPHEMERAL_STORAGE = 4,
  BERTH_PRESENT_PODS = 8
};

enum { BERTH_PROTOCOL_TCP = 1, BERTH_PROTOCOL_UDP, BERTH_PROTOCOL_SCTP };
typedef struct berth_port {
  uint32_t protocol; /* TCP when not set */
  int32_t container_port;
  int32_t host_port; /* 0: no host port */
  berth_id host_ip;  /* 0: not set, which means 0.0.0.0 */
} berth_port;

enum {
  BERTH_CONTAINER_SIDECAR = 1,     /* an init container with restartPolicy Always */
  BERTH_CONTAINER_RESTARTS_ALL = 2 /* a restart rule has action RestartAllContainers */
};
typedef struct berth_container {
  berth_str name;
  berth_id image; /* as written in the spec */
  /* with ":latest" appended when the spec names no tag, as nodes report it */
  berth_id image_normal;
  uint32_t flags;
  uint32_t reserved;
  const berth_resources* requests; /* never NULL */
  const berth_resources* limits;   /* never NULL */
  berth_array ports;               /* berth_port */
} berth_container;

enum {
  BERTH_VOLUME_OTHER = 1,  /* configMap, secret, emptyDir, ...: not relevant to scheduling */
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
enum { BERTH_VOLUME_FLAG_READ_ONLY = 1 };
typedef struct berth_volume {
  berth_str name;
  uint32_t kind;
  uint32_t flags;
  berth_str source;
  berth_str pool;
  berth_array hosts; /* berth_str */
} berth_volume;

enum { BERTH_CLAIM_NOT_NEEDED = 1 }; /* the status states that no claim is generated */
typedef struct berth_resource_claim {
  berth_str name;
  berth_str claim_name;    /* an existing claim, or the generated claim once the status names it */
  berth_str template_name; /* not empty: the claim is generated and must be owned by the pod */
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
  uint32_t has_required_node_terms;     /* 1: required_node_terms is set, but may be empty */
  berth_array required_node_terms;      /* berth_node_term; one of them must match */
  berth_array preferred_node_terms;     /* berth_node_term, with weights */
  berth_array required_pod_terms;       /* berth_pod_term */
  berth_array preferred_pod_terms;      /* berth_pod_term */
  berth_array required_pod_anti_terms;  /* berth_pod_term */
  berth_array preferred_pod_anti_terms; /* berth_pod_term */
} berth_affinity;

/* Parts of a pod. A plugin names the parts that its answers depend on. The host hashes each part
 * once, when it decodes the pod, and treats pods as equal when the hashes of all named parts are
 * equal. The parts below BERTH_OWN_PARTS differ between the pods of one template; those from it on
 * seldom do. */
#define BERTH_OWN_PARTS 6
enum {
  BERTH_PART_IDENTITY = 0, /* name, uid, resourceVersion */
  BERTH_PART_TIMES,        /* creation, deletion */
  BERTH_PART_NODE_NAME,
  BERTH_PART_NOMINATION,
  BERTH_PART_STATUS,  /* phase, conditions, start time */
  BERTH_PART_VOLUMES, /* the volume of a service account's token has a random name */
  BERTH_PART_NAMESPACE,
  BERTH_PART_LABELS,
  BERTH_PART_ANNOTATIONS,
  BERTH_PART_OWNERS,
  BERTH_PART_PRIORITY, /* priority, priority class, preemption policy */
  BERTH_PART_SCHEDULER_NAME,
  BERTH_PART_NODE_SELECTION, /* node selector and node affinity */
  BERTH_PART_POD_AFFINITY,   /* pod affinity and anti-affinity */
  BERTH_PART_TOLERATIONS,
  BERTH_PART_SPREAD,
  BERTH_PART_REQUESTS,   /* request, request_of_containers, accounted */
  BERTH_PART_CONTAINERS, /* names, requests and limits of each, overhead, pod-level resources */
  BERTH_PART_PORTS,
  BERTH_PART_IMAGES,
  BERTH_PART_GATES,
  BERTH_PART_CLAIMS,
  BERTH_PART_GROUP,
  BERTH_PART_RUNTIME, /* os, runtime class, host network, host users, restart policy, and whether
                         there are bind mount options */
  BERTH_PART_FIELDS,  /* berth_meta.fields */
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
  BERTH_POD_HAS_POD_LEVEL_REQUESTS = 8,
  /* a container, which may be an init or an ephemeral one, has volumeMounts[].bindMountOptions */
  BERTH_POD_HAS_BIND_MOUNT_OPTIONS = 16
};

typedef struct berth_pod {
  uint32_t struct_size;
  uint32_t flags;
  const berth_meta* meta;
  /* spec */
  berth_id scheduler_name;
  berth_id node_name; /* the pod's node, or the node that it is assumed on; 0 while pending */
  int32_t priority;   /* 0 when not set */
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
  berth_str pod_group;            /* spec.schedulingGroup.podGroupName; empty: no group */
  /* What the pod requests, computed once (component-helpers: resource.PodRequests): containers,
   * init containers and sidecars, pod-level resources, overhead. Never NULL. */
  const berth_resources* request;
  /* Same as `request`, but without pod-level resources, and a container without a cpu or memory
   * request counts as 100 m and 200 MiB. NodeResourcesFit computes its scores from these
   * amounts. */
  const berth_resources* request_of_containers;
  /* What the pod occupies on its node: same as `request`, but a resize in progress counts with the
   * larger size, and one that the node cannot grant with the size that the kubelet has set. */
  const berth_resources* accounted;
  int64_t nonzero_milli_cpu; /* from `accounted`, with defaults for containers without a request */
  int64_t nonzero_memory;
  /* berth_port: the ports of containers and sidecars that have a host port */
  berth_array host_ports;
  const berth_resources* overhead; /* never NULL */
  /* status */
  berth_id nominated_node; /* status.nominatedNodeName */
  uint32_t phase;
  int64_t started_ns;
  berth_array conditions; /* berth_condition */
  /* uint64_t: the hashes of the parts below BERTH_OWN_PARTS, indexed by BERTH_PART_*. Equal parts
   * have equal hashes within this process. The hashes have a random key of the process: they differ
   * in every process, and an author of objects cannot choose parts that have the same hash. */
  berth_array own_part_hashes;
  /* uint64_t: the hashes of the parts from BERTH_OWN_PARTS on, indexed by BERTH_PART_* -
   * BERTH_OWN_PARTS. The host shares this array between pods in which all these parts are equal. */
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

/* An object of a kind that has no view of its own: a claim, a namespace, a custom resource. */
typedef struct berth_object {
  uint32_t struct_size;
  berth_id kind; /* "v1/Namespace", "storage.k8s.io/v1/CSINode" */
  const berth_meta* meta;
  const berth_value* value; /* the whole object as read, without metadata.managedFields */
} berth_object;

enum { BERTH_KIND_POD = 1, BERTH_KIND_NODE, BERTH_KIND_OBJECT };
/* A reference together with the kind of the object that it refers to. Frozen. */
typedef struct berth_tagged {
  uint32_t kind; /* BERTH_KIND_*; 0: no object */
  uint32_t reserved;
  const void* object; /* berth_pod, berth_node or berth_object */
} berth_tagged;

/* An entry of the queue, which QueueSort orders: a pod, or the pods of one spec.schedulingGroup if
 * a plugin handles that field. A group is parked, backs off and is tried as one entry. PreEnqueue
 * and hints receive each member separately (MEMBER): a group is gated when PreEnqueue rejects one
 * of its members, and requeued when a hint returns BERTH_HINT_QUEUE for one of its members. */
enum { BERTH_QUEUED_POD = 1, BERTH_QUEUED_GROUP, BERTH_QUEUED_MEMBER };
typedef struct berth_queued {
  uint32_t struct_size;
  uint32_t kind; /* BERTH_QUEUED_*: a pod without a group, a group, or one member of a group */
  /* the pod; of a GROUP the first member, which has the group's highest priority */
  const berth_pod* pod;
  berth_str group;   /* "<namespace>/<name>" of the GROUP, or of the MEMBER's group; else empty */
  int32_t priority;  /* the priority of `pod` */
  uint32_t attempts; /* of the entry: of a MEMBER, those of its group, like the times below */
  /* when the entry last entered the queue; since 1970, like all times of objects */
  int64_t queued_ns;
  int64_t first_attempt_ns; /* when the entry first became ready; 0: not yet */
} berth_queued;

/* clang-format off */
/* ---- Blocks of nodes ------------------------------------------------------------------------- */
/* Filter and Score are called with a block of `count` nodes, of which those in `selected` must be
 * answered. A plugin reads everything about node i of the block through (block, i): its columns,
 * its view, its pods. A block may hold what-if rows (a node with nominated pods added, a node with
 * victims removed). A what-if row looks like any other row, so do not read anything about a node
 * from another source. An index that is not selected may have no node: its view is NULL, and its
 * values are undefined. A block may have any number of nodes.
 *
 * Columns. A column is an array with one value per node of the block. A plugin names its columns in
 * berth_plugin.columns and finds them in the same order in berth_block.columns. Columns that depend
 * on the pod are bound in PreFilter or PreScore through the service berth.columns/1; they follow
 * the others, for that cycle only. In the table, "of pods" is "yes" if the column depends on the
 * pods of the node.
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
 *   annotation:<key>           STR    text       empty   no      value of the node's annotation
 *   object:<kind>              OBJECT -          NULL    no      the object that describes the node
 *   images                     ARRAY  -          empty   no      berth_image
 *   features                   ARRAY  -          empty   no      berth_id: status.declaredFeatures
 *   hostport:<protocol>/<port> I64    uses       0       yes     "hostport:TCP/80", at any address
 *
 * "alloc:cpu" and "req:cpu" are other spellings of "alloc.cpu" and "req.cpu"; the same applies to
 * memory, ephemeral-storage and pods. "hostport:TCP/80/10.0.0.1" counts only the uses of the port
 * at that address and at 0.0.0.0, which stands for all addresses. A sum of more than 2^63-1 is
 * 2^63-1.
 *
 * "object:storage.k8s.io/v1/CSINode" is the object of this kind that has no namespace and has the
 * node's name. The kind must be written as in berth_plugin_info.kinds, which must name it. A change
 * of the object counts as a change of the node: an answer that depends on the column depends on
 * BERTH_DEPENDS_NODE.
 */
/* clang-format on */
enum {
  BERTH_TYPE_I64 = 1, /* int64_t */
  BERTH_TYPE_U32,     /* uint32_t */
  BERTH_TYPE_ID,      /* berth_id */
  BERTH_TYPE_U8,      /* uint8_t */
  BERTH_TYPE_ARRAY,   /* berth_array */
  BERTH_TYPE_OBJECT,  /* const berth_object*, NULL when absent */
  BERTH_TYPE_STR      /* berth_str, empty when absent */
};

/* Column i of a block: the value of node j is at data + j * stride. Frozen. */
typedef struct berth_column {
  const void* data;
  uint32_t type;
  uint32_t stride;
} berth_column;

/* Requests a column: an element of berth_plugin.columns, or the argument of berth_columns.bind. If
 * the catalogue has another type than `type`, the plugin is not loaded, or `bind` returns
 * BAD_ARGUMENT. */
enum {
  /* The plugin works without the column: `data` is NULL when the host has no such column. */
  BERTH_COLUMN_OPTIONAL = 1
};
typedef struct berth_column_request {
  uint32_t struct_size;
  uint32_t flags;   /* BERTH_COLUMN_* */
  const char* name; /* a name of the table above */
  uint32_t type;    /* BERTH_TYPE_* */
  uint32_t reserved;
} berth_column_request;

/* The pods on a node, including pods that are being deleted, in no particular order. Frozen. */
typedef struct berth_pod_list {
  const berth_pod* const* data;
  uint64_t count;
} berth_pod_list;

typedef struct berth_block {
  uint32_t struct_size;
  uint32_t count;      /* nodes in the block */
  uint32_t n_selected; /* nodes that must be answered */
  uint32_t n_columns;
  const uint32_t* selected;       /* ascending indices, n_selected of them; NULL: 0 .. count-1 */
  const uint32_t* rows;           /* [count] rows; valid only in [cycle] and [block] */
  const berth_column* columns;    /* [n_columns] */
  const berth_node* const* nodes; /* [count] NULL where there is no node */
  const berth_pod_list* pods;     /* [count] */
  /* [count] A number for the object of each node: it changes with every change of the object, and
   * two objects never have the same one in the life of the instance. The pods on the node do not
   * change it. 0 where there is no node. */
  const uint64_t* versions;
} berth_block;

/* All nodes, or all feasible nodes, block by block, in the order of their rows. `block` returns
 * NULL when `index` is n_blocks or more. A column that the plugin binds is present in the blocks
 * that it fetches afterwards.
 * Lifetime:  until the call that passed it returns; a block that `block` returned, until the next
 *            call of `block` of the same berth_nodes.
 * Threading: [cycle]. */
typedef struct berth_nodes {
  uint32_t struct_size;
  uint32_t n_blocks;
  uint64_t n_nodes;
  void* impl;
  const berth_block* (*block)(const struct berth_nodes* self, uint32_t index)BERTH_NOEXCEPT;
} berth_nodes;

/* ---- One attempt to place one pod ------------------------------------------------------------ */
/* With either flag, the nodes of the call are copies, and slots that AddPod and RemovePod change
 * are clones. The verdict may still decide where the pod is placed, so answer as without the flags,
 * but write nothing outside the slots. */
enum {
  BERTH_CYCLE_WHAT_IF = 1,  /* the call is part of a what-if question of PostFilter */
  BERTH_CYCLE_NOMINATED = 2 /* pods that are nominated to the nodes are added to them */
};
typedef struct berth_cycle {
  uint32_t struct_size;
  uint32_t flags;         /* BERTH_CYCLE_* */
  uint64_t id;            /* the attempt's number; increases with every attempt */
  const berth_pod* pod;   /* node_name is 0 */
  void* const* slots;     /* this instance's cycle state, in the order of berth_plugin.slots */
  const uint32_t* cancel; /* see BERTH_IS_CANCELLED */
  /* The deadline of this call, on the clock of berth_timer.now_ns; 0: none. The profile may set it
   * for each plugin. A call that misses it is cancelled, and counted as a fault of the plugin. */
  int64_t deadline_ns;
  const void* host; /* for the host only */
} berth_cycle;
/* True when the host no longer needs the answer for a berth_cycle or berth_binding: return
 * BERTH_CANCELLED. It costs one relaxed atomic load; test it every few hundred nodes. */
#define BERTH_IS_CANCELLED(cycle) (__atomic_load_n((cycle)->cancel, __ATOMIC_RELAXED) != 0)

/* A piece of cycle state: memory in the host's arena, one per cycle and instance. It is constructed
 * before PreFilter (or before the plugin's first extension point) and destroyed when the pod has
 * left the binding cycle. Clones serve what-if questions; several may exist at the same time.
 * Threading: [cycle] for all three functions; `destroy` also [event].
 * Returns:   `clone` returns SUCCESS. After any other code the host treats `to` as not constructed,
 *            and the operation that needed the clone fails. */
typedef struct berth_slot {
  uint32_t struct_size;
  uint32_t size;  /* bytes */
  uint32_t align; /* a power of two, at most 64 */
  uint32_t reserved;
  const char* type_id;                        /* "acme.zones/2", for messages; NULL: none */
  void (*construct)(void* at) BERTH_NOEXCEPT; /* NULL: the memory is zeroed */
  /* NULL: the bytes are copied. Must copy deeply: later changes of one do not affect the other. */
  berth_code (*clone)(void* to, const void* from) BERTH_NOEXCEPT;
  void (*destroy)(void* at) BERTH_NOEXCEPT; /* NULL: nothing to do */
} berth_slot;

/* ---- What an answer depends on --------------------------------------------------------------- */
/* Declared for each Filter and each Score. The host may reuse an answer, also in later cycles, for
 * pods whose named parts and signatures are equal, on nodes that have not changed. It may as well
 * reuse no answer, and then it calls neither `sign` nor `changed`. If nothing is declared (a NULL
 * pointer), the answers of this plugin are never reused; other plugins are not affected. */
enum {
  BERTH_DEPENDS_NODE = 1, /* the node: columns marked "no", berth_block.nodes */
  /* the node and the pods on it. Implies NODE: without NODE it means the same */
  BERTH_DEPENDS_NODE_PODS = 2,
  /* also anything else: other nodes, objects, time, the plugin's own index. What the signature
   * covers need not be declared */
  BERTH_DEPENDS_OTHER = 4
};
enum {
  BERTH_STALE_NONE = 0,
  BERTH_STALE_ROWS = 1, /* only the rows that were passed to put_rows */
  BERTH_STALE_ALL = 2   /* treat a value that you do not know as this one */
};
/* A hash of 128 bits. Frozen. */
typedef struct berth_signature {
  uint64_t low;
  uint64_t high;
} berth_signature;
/* Receives `count` rows, in any order. A row may be passed several times; a row without a node is
 * ignored. Threading: [cycle], within `changed`. */
typedef void (*berth_put_rows)(void* to, const uint32_t* rows, uint64_t count) BERTH_NOEXCEPT;
typedef struct berth_dependence {
  uint32_t struct_size;
  uint32_t cluster; /* BERTH_DEPENDS_* */
  /* BERTH_PART(..) | ..; include the parts that the cycle state is built from */
  uint64_t pod_parts;
  /* Writes a hash of everything that the answers depend on and that the masks cannot express: of
   * the pod, of what PreFilter or PreScore computed for it, of other objects. The host compares
   * nothing else before it reuses an answer, so use a hash with a key that authors of objects do
   * not know, such as SipHash with berth_host.hash_key. NULL: the masks are complete.
   * Called:    Filter's after PreFilter, Score's after PreScore (after PreFilter if the plugin has
   *            no PreScore); at most once per cycle and point.
   * Threading: [cycle].
   * Returns:   BERTH_SUCCESS, or BERTH_SKIP: the answers are not reused in this cycle. */
  berth_code (*sign)(void* self, const berth_cycle* cycle,
                     berth_signature* signature) BERTH_NOEXCEPT;
  /* For BERTH_DEPENDS_OTHER: returns which answers for the pod of this cycle may differ from the
   * answers in the state that `*token` names, for another reason than a change of the row itself
   * that NODE and NODE_PODS declare. The token is the plugin's own, for example the number of the
   * last change that it applied, but not 0. In: the state from which the reused answers come, as
   * this function wrote it; 0: there are no such answers, and the result is ignored. Out: the state
   * now; 0: the answers of this cycle are not reused. The host asks with a token only for pods that
   * are equal in the named parts and the signature. It may keep several tokens at once and ask with
   * any of them. A row whose node was added since is always evaluated again, so it need not be
   * reported. For ROWS the plugin calls `put_rows` any number of times. NULL: every answer may have
   * changed.
   * Called:    after `sign`, if there is one; Filter's after PreFilter, Score's after PreScore.
   * Threading: [cycle].
   * Returns:   BERTH_STALE_*. */
  uint32_t (*changed)(void* self, const berth_cycle* cycle, uint64_t* token,
                      berth_put_rows put_rows, void* to) BERTH_NOEXCEPT;
} berth_dependence;

/* ---- Extension points ------------------------------------------------------------------------ */
/* Each extension point is one struct. The host gets it through berth_plugin.get_point and copies it
 * once at load. `self` is berth_plugin.self. The host calls the points of a profile in the order of
 * this file, and the plugins of one point in the profile's order. */

/* PreEnqueue: decides whether the pod may enter the active queue.
 * Called:    when a pod is about to become ready, and again after an event that the plugin
 *            registered for.
 * Threading: [queue].
 * Returns:   SUCCESS; UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE or PENDING: the pod is gated
 *            and not attempted until an event that this plugin registered for, a change of the pod
 *            itself or berth.activate/1 requeues it. ERROR: the pod is gated, and the error is
 *            logged.
 * Must not:  block. */
#define BERTH_POINT_PRE_ENQUEUE "berth.pre_enqueue/1"
typedef struct berth_pre_enqueue {
  uint32_t struct_size;
  uint32_t flags;
  /* `queued`: the pod, as `hint` receives it; of a group, one member. */
  berth_code (*pre_enqueue)(void* self, const berth_queued* queued,
                            berth_status* status) BERTH_NOEXCEPT;
} berth_pre_enqueue;

/* EnqueueExtensions: registers the events that may make a pod schedulable that this plugin
 * rejected.
 * Called:    `hint` when a registered event occurs, once for each parked pod that the plugin
 *            rejected, or once for all of them that are equal in the interest's `pod_parts`: then
 *            `queued` is any one of them, so read only the named parts of it. If a plugin rejects
 *            pods and does not implement this point, every event except UNSCHEDULED_POD requeues
 *            them.
 * Threading: [queue].
 * Returns:   BERTH_HINT_QUEUE: the pod is requeued; BERTH_HINT_SKIP: the pod stays parked.
 * Must not:  block. */
enum { BERTH_HINT_SKIP = 0, BERTH_HINT_QUEUE = 1 };
/* The resources PV to CUSTOM have events only while the host watches their kind. A plugin that is
 * interested in one of them must name the kind, in any version, in berth_plugin_info.kinds, or it
 * is not loaded:
 *   PV                    v1/PersistentVolume
 *   PVC                   v1/PersistentVolumeClaim
 *   CSI_NODE              storage.k8s.io/v1/CSINode
 *   CSI_DRIVER            storage.k8s.io/v1/CSIDriver
 *   VOLUME_ATTACHMENT     storage.k8s.io/v1/VolumeAttachment
 *   CSI_STORAGE_CAPACITY  storage.k8s.io/v1/CSIStorageCapacity
 *   STORAGE_CLASS         storage.k8s.io/v1/StorageClass
 *   RESOURCE_CLAIM        resource.k8s.io/v1|v1beta2|v1beta1/ResourceClaim
 *   RESOURCE_SLICE        resource.k8s.io/v1|v1beta2|v1beta1/ResourceSlice
 *   DEVICE_CLASS          resource.k8s.io/v1|v1beta2|v1beta1/DeviceClass
 *   POD_GROUP             scheduling.k8s.io/v1alpha2/PodGroup
 *   CUSTOM                berth_event_interest.kind; v1/Pod and v1/Node need not be named */
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
  /* a pod with a node; a pod that is nominated to one, or whose nomination ended */
  BERTH_RESOURCE_ASSIGNED_POD,
  /* another pod without a node was added; POD_ANY and WILDCARD do not include it */
  BERTH_RESOURCE_UNSCHEDULED_POD,
  BERTH_RESOURCE_TARGET_POD /* the parked pod itself */
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
  BERTH_ACTION_UPDATE = 0x7ffffffc, /* every update, including those of later versions */
  BERTH_ACTION_ALL = 0x7fffffff
};
typedef struct berth_event_interest {
  uint32_t resource; /* BERTH_RESOURCE_*. POD_ANY means ASSIGNED_POD and TARGET_POD */
  uint32_t actions;  /* BERTH_ACTION_* */
  /* for BERTH_RESOURCE_CUSTOM: a kind, written as in berth_plugin_info.kinds; else NULL */
  const char* kind;
  uint32_t has_hint; /* 0: every such event requeues the pod without a call of `hint` */
  uint32_t reserved;
  /* BERTH_PART(..) | ..: the parts of the pod that the hint's result depends on, apart from the
   * event. The host calls the hint once for all parked pods that are equal in these parts. 0: once
   * for each pod. */
  uint64_t pod_parts;
} berth_event_interest;
typedef struct berth_event {
  uint32_t struct_size;
  /* for a pod: ASSIGNED_POD, UNSCHEDULED_POD, or TARGET_POD for `queued` itself */
  uint32_t resource;
  uint32_t actions;    /* the action that occurred; BERTH_ACTION_UPDATE: an unspecified update */
  uint32_t interest;   /* index into berth_enqueue_extensions.interests */
  berth_tagged before; /* kind 0 for an addition */
  berth_tagged after;  /* kind 0 for a deletion */
} berth_event;
#define BERTH_POINT_ENQUEUE_EXTENSIONS "berth.enqueue_extensions/1"
typedef struct berth_enqueue_extensions {
  uint32_t struct_size;
  uint32_t flags;
  /* berth_event_interest. Empty: only a flush or Activate requeues the pods */
  berth_array interests;
  /* NULL if no interest has `has_hint` */
  uint32_t (*hint)(void* self, const berth_queued* queued, const berth_event* event) BERTH_NOEXCEPT;
} berth_enqueue_extensions;

/* QueueSort: orders the pods of the active queue. There is exactly one plugin for it per process,
 * so every profile must use the same one with the same arguments. The host calls the instance of
 * the first profile, for the pods of all profiles.
 * Called:    `key` when an entity enters the active queue. The host compares the bytes; the lowest
 *            key is tried first. If `key` is NULL, `less` is called for each comparison instead; if
 *            `key` is set, `less` may be NULL. When another instance takes over, the host calls its
 *            `key` for every entity, or sorts all entities with its `less`.
 * Threading: [queue].
 * Returns:   `less`: 1 when `a` is tried before `b`, else 0.
 * Must not:  depend on anything but the entity. The order must be strict and must not change while
 *            the entity waits. */
#define BERTH_SORT_KEY_SIZE 32
#define BERTH_POINT_QUEUE_SORT "berth.queue_sort/1"
typedef struct berth_queue_sort {
  uint32_t struct_size;
  uint32_t flags;
  void (*key)(void* self, const berth_queued* queued,
              uint8_t out[BERTH_SORT_KEY_SIZE]) BERTH_NOEXCEPT;
  int32_t (*less)(void* self, const berth_queued* a, const berth_queued* b) BERTH_NOEXCEPT;
} berth_queue_sort;

/* QueueSort with lanes: divides the active queue into lanes, such as one per namespace, and decides
 * which lane the next entity is taken from. For orders that no key can express, because they depend
 * on what was taken before: round robin, weights, dominant-resource fairness. It is revision 2 of
 * QueueSort: if a plugin offers both revisions, the host uses this one. As in revision 1, the host
 * calls the instance of the first profile.
 * Called:    `key` or `less` as in revision 1, for the order within a lane. `lane` when an entity
 *            enters the active queue; the entity stays in its lane until it leaves the active
 *            queue, also if its pod changes. When another instance of the plugin takes over, the
 *            host calls its `lane` for every entity. `next` exactly once for each entity that is
 *            taken from the active queue, also if there is only one lane. It is not called for an
 *            entity that is tried before the end of its backoff because the active queue is empty.
 * Threading: [queue].
 * Returns:   `lane`: any number; entities with equal numbers are in one lane. `next`: the index of
 *            the lane whose first entity is tried now. An index that is out of range is a fault,
 *            and the host takes the first lane.
 * Must not:  `key`, `less`: as in revision 1. `lane`: depend on anything but the entity, or return
 *            a lane of its own for every entity, because the cost of `next` grows with the number
 *            of lanes. `next` may depend on anything, and may count what it returns: the entity is
 *            always taken.
 * Lifetime:  the lanes until `next` returns. */
typedef struct berth_lane {
  uint64_t lane;
  uint64_t count;            /* the number of entities in the lane; never 0 */
  const berth_queued* first; /* the entity that is tried if this lane is next */
} berth_lane;
#define BERTH_POINT_QUEUE_SORT_2 "berth.queue_sort/2"
typedef struct berth_queue_sort_2 {
  uint32_t struct_size;
  uint32_t flags;
  void (*key)(void* self, const berth_queued* queued,
              uint8_t out[BERTH_SORT_KEY_SIZE]) BERTH_NOEXCEPT;
  int32_t (*less)(void* self, const berth_queued* a, const berth_queued* b) BERTH_NOEXCEPT;
  uint64_t (*lane)(void* self, const berth_queued* queued) BERTH_NOEXCEPT;
  /* `lanes`: berth_lane, those that have entities, by ascending number; at least one */
  uint32_t (*next)(void* self, berth_array lanes) BERTH_NOEXCEPT;
} berth_queue_sort_2;

/* Entity: names the pods that are one entity of the queue, such as those with equal values of a
 * label, so that two groups of pods do not interleave. Profiles do not name this point: it is used
 * whenever a plugin implements it, and at most one plugin of a profile may. The host calls the
 * plugin of the pod's own profile. If no plugin implements it, each pod stands alone.
 * Order:     when a pod is taken from the active queue, the active pods of the same entity are
 *            taken next, in the order of QueueSort and whatever the priority of others, also those
 *            that become active meanwhile, until none of them is active when the host takes the
 *            next pod. A pod that is tried again meanwhile waits for its turn in the order of
 *            QueueSort, so that an entity whose pods fail does not keep others waiting. A reload of
 *            the profiles ends the sequence.
 * Lanes:     with lanes of QueueSort, an entity is followed within each lane for itself, until the
 *            lane is empty. `next` decides about the lane as ever.
 * Limits:    pods that are gated, parked or in backoff are not waited for. Each pod has its own
 *            attempts and backoff, and a failure of one changes nothing for the others; Permit and
 *            berth.activate/1 are for that. A pod that is taken out of the backoff early begins no
 *            sequence. A pod that waits as a member of a PodGroup (BERTH_QUEUED_GROUP) is not asked
 *            for.
 * Called:    when a pod enters the active queue, and when it gets a new version there. At every
 *            reload, for every active pod.
 * Threading: [queue].
 * Returns:   calls `put` once with a text that names the entity in the pod's namespace, or not at
 *            all: the pod stands alone, as with an empty text. Pods of one namespace with equal
 *            texts are one entity, also if their profiles differ.
 * Must not:  depend on anything but the pod. Block.
 * Lifetime:  the host copies the text within `put`. */
typedef void (*berth_put_text)(void* to, berth_str text) BERTH_NOEXCEPT;
#define BERTH_POINT_ENTITY "berth.entity/1"
typedef struct berth_entity {
  uint32_t struct_size;
  uint32_t flags;
  void (*entity)(void* self, const berth_pod* pod, berth_put_text put, void* to) BERTH_NOEXCEPT;
} berth_entity;

/* PreFilter: checks the pod before any node is evaluated, and prepares cycle state.
 * Called:    once per cycle, plugin by plugin.
 * Threading: [cycle].
 * Returns:   SUCCESS; SKIP: this plugin's Filter, AddPod and RemovePod are not called in this
 *            cycle; UNSCHEDULABLE_AND_UNRESOLVABLE: the pod fits on no node, and the remaining
 *            PreFilters are not called; UNSCHEDULABLE: the pod fits on no node, but the remaining
 *            PreFilters are called, and PostFilter may ask what-if questions, so prepare the slots
 *            first; PENDING: the attempt ends, and the pod is parked until a plugin activates it;
 *            any other code fails the cycle.
 * Parked:    for a plugin that waits for an answer, such as that of a service, which its thread or
 *            a request asks for meanwhile. The remaining plugins, PostFilter included, are not
 *            called. The pod keeps its nomination and has no reservation. berth.activate/1 ends the
 *            wait without backoff: a new attempt begins with PreFilter. A change of the pod other
 *            than of its status, a reload and five minutes also end it; events that a plugin
 *            registered for do not. An activation within the attempt counts too. A reason in
 *            `status` is optional; the host names the plugin. */
typedef struct berth_pre_filter_out {
  uint32_t struct_size;
  uint32_t reserved;
  void* impl;
  /* Restricts the cycle to the named nodes. Names of nodes that do not exist are ignored; the sets
   * of several plugins are intersected. If it is not called, all nodes are considered; with `count`
   * 0, none. If one plugin calls it several times, the last call counts. */
  void (*only_nodes)(struct berth_pre_filter_out* self, const berth_str* names,
                     uint64_t count) BERTH_NOEXCEPT;
  /* Adds a text to the plugin's reason table for this cycle. Returns its bit, or -1 when all 64
   * bits are in use. Answers are reused only for pods for which the same texts were added in the
   * same order. */
  int32_t (*add_reason)(struct berth_pre_filter_out* self, berth_str text) BERTH_NOEXCEPT;
} berth_pre_filter_out;
#define BERTH_POINT_PRE_FILTER "berth.pre_filter/1"
typedef struct berth_pre_filter {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*pre_filter)(void* self, const berth_cycle* cycle, const berth_nodes* all,
                           berth_pre_filter_out* out, berth_status* status) BERTH_NOEXCEPT;
  /* Update the cycle state, which may be a clone, as if `pod` were added to, or removed from, node
   * `index` of `block`. Set both or none; NULL: the plugin's state does not depend on other pods.
   * Called:    for nominated pods, and during preemption.
   * Threading: [cycle].
   * Returns:   SUCCESS or ERROR. */
  berth_code (*add_pod)(void* self, const berth_cycle* cycle, const berth_pod* pod,
                        const berth_block* block, uint32_t index,
                        berth_status* status) BERTH_NOEXCEPT;
  berth_code (*remove_pod)(void* self, const berth_cycle* cycle, const berth_pod* pod,
                           const berth_block* block, uint32_t index,
                           berth_status* status) BERTH_NOEXCEPT;
} berth_pre_filter;

/* Filter: decides which nodes the pod can run on.
 * Called:    per block, for the nodes that no earlier Filter rejected; or, with BERTH_FILTER_WHOLE,
 *            `filter_whole` once for all of them. A Filter whose dependence is the node and its
 *            pods alone may also be called for nodes that an earlier Filter rejects; one with a
 *            dependence is not called for nodes whose answers are reused.
 * Threading: [block].
 * Returns:   SUCCESS when every selected node has a verdict; any other code fails the cycle with
 *            the text of `status`. The verdict of selected node i is codes[i]: SUCCESS,
 *            UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE, PENDING or ERROR. Unless it is SUCCESS,
 *            reasons[i] states why: bit b stands for reason b of the plugin's table. A verdict of
 *            another code, or one that is not written, counts as BUG.
 * Must not:  `filter`: block, log per node, or write an index that is not selected. */
typedef struct berth_filter_out {
  uint32_t struct_size;
  uint32_t reserved;
  uint8_t* codes;    /* [block.count] */
  uint64_t* reasons; /* [block.count] */
} berth_filter_out;
enum {
  /* The host calls `filter` for one block at a time, on the scheduling thread. The function may
   * then write its slots and the instance, and use code that is not safe for threads. A row may be
   * evaluated several times in a cycle, also on a clone of the slots, and not at all if its answer
   * is reused: set `dependence` to NULL to be called for each row. No effect with WHOLE. */
  BERTH_FILTER_SERIAL = 1,
  BERTH_FILTER_WHOLE = 2 /* the host calls `filter_whole` instead of `filter` */
};
/* The verdicts of a whole Filter, by row: berth_block.rows states the row of each survivor. */
typedef struct berth_filter_whole_out {
  uint32_t struct_size;
  uint32_t row_count;
  uint8_t* codes;    /* [row_count] */
  uint64_t* reasons; /* [row_count] */
  void* impl;
  /* Adds a text to the plugin's reason table for this cycle. Returns its bit, or -1 when all 64
   * bits are in use. */
  int32_t (*add_reason)(struct berth_filter_whole_out* self, berth_str text) BERTH_NOEXCEPT;
} berth_filter_whole_out;
#define BERTH_POINT_FILTER "berth.filter/1"
typedef struct berth_filter {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_FILTER_* */
  /* NULL: answers are never reused. Must be NULL with BERTH_FILTER_WHOLE */
  const berth_dependence* dependence;
  berth_code (*filter)(void* self, const berth_cycle* cycle, const berth_block* block,
                       berth_filter_out* out,
                       berth_status* status) BERTH_NOEXCEPT; /* NULL with BERTH_FILTER_WHOLE */
  /* With BERTH_FILTER_WHOLE: decides about all nodes in one call, for verdicts that depend on which
   * other nodes remain, or on an answer from outside the process.
   * Called:    once per cycle, over the nodes that no earlier Filter of the profile rejected; not
   *            called when there are none. If the pod is nominated to a node, first over this node
   *            alone. Within a what-if question, and for a node with nominated pods
   *            (berth_cycle.flags), `survivors` are only the rows in question, in the order of the
   *            question's rows: all rows of BERTH_WHATIF_TOGETHER at once, otherwise one row per
   *            call, so that a question about 500 nodes makes 500 calls.
   * Threading: [cycle]: the function may wait for such an answer.
   * Returns:   SUCCESS when every survivor has a verdict, codes[row] and reasons[row] as for
   *            `filter`; any other code fails the cycle.
   * Must not:  write a row that is not among the survivors. */
  berth_code (*filter_whole)(void* self, const berth_cycle* cycle, const berth_nodes* survivors,
                             berth_filter_whole_out* out, berth_status* status) BERTH_NOEXCEPT;
} berth_filter;

/* PostFilter: tries to make the pod schedulable after no node fitted, for example by preemption.
 * Called:    plugin by plugin after PreFilter or Filter rejected the pod, until one returns
 *            SUCCESS, UNSCHEDULABLE_AND_UNRESOLVABLE or an error.
 * Threading: [cycle].
 * Returns:   SUCCESS, with a nominated node; UNSCHEDULABLE or PENDING: the next plugin is called.
 *            The pod is parked in every case, also after an error. If no plugin calls `nominate`,
 *            the pod keeps its current nomination. */
enum { BERTH_NOMINATE_KEEP = 0, BERTH_NOMINATE_OVERRIDE = 1 };
typedef struct berth_verdicts {
  uint32_t struct_size;
  uint32_t count; /* rows */
  /* [count] Verdicts by row; SUCCESS where there is no node. Where no Filter ran: the code that
   * PreFilter returned, or UNSCHEDULABLE_AND_UNRESOLVABLE for a node that `only_nodes` excluded. */
  const uint8_t* codes;
  const uint8_t* absent; /* [count] by row: 1 where no Filter ran */
} berth_verdicts;
typedef struct berth_post_filter_out {
  uint32_t struct_size;
  uint32_t mode; /* BERTH_NOMINATE_*; KEEP before the call; only `nominate` writes it */
  void* impl;
  /* Nominates a node and sets `mode` to OVERRIDE. An empty name clears the nomination. The host
   * does not test whether there is a node of this name. If a plugin ends the point, only its own
   * call counts, and none after an error; otherwise the last call of a plugin counts. */
  void (*nominate)(struct berth_post_filter_out* self, berth_str node) BERTH_NOEXCEPT;
} berth_post_filter_out;
#define BERTH_POINT_POST_FILTER "berth.post_filter/1"
typedef struct berth_post_filter {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*post_filter)(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            const berth_verdicts* verdicts, berth_post_filter_out* out,
                            berth_status* status) BERTH_NOEXCEPT;
} berth_post_filter;

/* PreScore: prepares cycle state from the feasible nodes.
 * Called:    once per cycle, when two or more nodes are feasible and the profile has a Score
 *            plugin.
 * Threading: [cycle].
 * Returns:   SUCCESS; SKIP: this plugin's Score is not called in this cycle; PENDING: the attempt
 *            ends, and the pod is parked until a plugin activates it, as after PreFilter; any other
 *            code fails the cycle. */
typedef struct berth_pre_score_out {
  uint32_t struct_size;
  uint32_t reserved;
  void* impl;
} berth_pre_score_out;
#define BERTH_POINT_PRE_SCORE "berth.pre_score/1"
typedef struct berth_pre_score {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*pre_score)(void* self, const berth_cycle* cycle, const berth_nodes* feasible,
                          const berth_nodes* all, berth_pre_score_out* out,
                          berth_status* status) BERTH_NOEXCEPT;
} berth_pre_score;

/* Score: rates how well each feasible node suits the pod.
 * Called:    when two or more nodes are feasible: `score` for each block of them, without the nodes
 *            whose scores are reused; then, if the mode is CUSTOM, `normalize` once with all raw
 *            scores.
 * Threading: [block] for `score`, [cycle] for `normalize`.
 * Returns:   SUCCESS, with scores[i] written for every selected i, and not INT64_MIN; any other
 *            code fails the cycle. After normalisation every score must be in 0..100; the host
 *            multiplies the scores by the weight and adds them up. The modes use integer division,
 *            except MIN_MAX_FLOAT. A score outside 0..100, or one that is not written, counts as
 *            BUG.
 * Must not:  block, log per node, write an index that is not selected, or leave a selected index
 *            unwritten. */
enum {
  BERTH_NORMALIZE_NONE = 0,
  /* 100 * s / max; unchanged when max is 0. Equals DefaultNormalizeScore of kube-scheduler */
  BERTH_NORMALIZE_MAX = 1,
  BERTH_NORMALIZE_MAX_REVERSED = 2, /* 100 - 100 * s / max; 100 for all when max is 0 */
  BERTH_NORMALIZE_MIN_MAX = 3, /* 100 * (s - min) / (max - min); 0 for all when all are equal */
  BERTH_NORMALIZE_CUSTOM = 4,
  /* (int64_t)(100.0 * ((double)(s - min) / (double)(max - min))); 0 for all when all are equal.
   * Differs from MIN_MAX by rounding: 29 of 0..100 becomes 28. Equals the normalisation of
   * InterPodAffinity in kube-scheduler */
  BERTH_NORMALIZE_MIN_MAX_FLOAT = 5
};
#define BERTH_SCORE_MAX 100
typedef struct berth_scores {
  uint32_t struct_size;
  uint32_t count;
  const uint32_t* rows; /* [count] ascending */
  int64_t* scores;      /* [count] raw in, normalised out */
} berth_scores;
typedef struct berth_score_out {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t* scores; /* [block.count] */
} berth_score_out;
enum { BERTH_SCORE_SERIAL = 1 }; /* as BERTH_FILTER_SERIAL, for `score` */
#define BERTH_POINT_SCORE "berth.score/1"
typedef struct berth_score {
  uint32_t struct_size;
  uint32_t flags;
  uint32_t normalize_mode;
  uint32_t reserved;
  const berth_dependence* dependence;
  berth_code (*score)(void* self, const berth_cycle* cycle, const berth_block* block,
                      berth_score_out* out, berth_status* status) BERTH_NOEXCEPT;
  berth_code (*normalize)(void* self, const berth_cycle* cycle, berth_scores* scores,
                          berth_status* status) BERTH_NOEXCEPT; /* may be NULL if not CUSTOM */
} berth_score;

/* The node that was chosen for the pod. `block` and `index` lead to the plugin's columns of the
 * node, those that it bound in this cycle included, and to the pods on the node. The pod itself is
 * already assumed on the node: the columns and the pod list include it.
 * Lifetime:  until the call that passed it returns. */
typedef struct berth_target {
  uint32_t struct_size;
  uint32_t row; /* valid only in [cycle] */
  const berth_node* node;
  const berth_block* block;
  uint32_t index; /* of the node in `block` */
  uint32_t reserved;
} berth_target;

/* Reserve: claims what the pod needs apart from the node's resources.
 * Called:    `reserve` after the pod is assumed on the node. When anything fails from here on,
 *            `unreserve` is called for all plugins of the point in reverse order, even for plugins
 *            whose `reserve` was not called: it must be idempotent and cannot fail, and it is never
 *            cancelled.
 * Threading: [cycle]; `unreserve` also [event], after a failed binding.
 * Returns:   SUCCESS; a rejection parks the pod; after ERROR the pod backs off. */
typedef struct berth_binding berth_binding;
#define BERTH_POINT_RESERVE "berth.reserve/1"
typedef struct berth_reserve {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*reserve)(void* self, const berth_cycle* cycle, const berth_target* target,
                        berth_status* status) BERTH_NOEXCEPT;
  void (*unreserve)(void* self, const berth_binding* binding) BERTH_NOEXCEPT;
} berth_reserve;

/* Permit: decides whether the pod is bound now, waits, or is rejected.
 * Called:    after Reserve.
 * Threading: [cycle].
 * Returns:   SUCCESS; WAIT, with a timeout in `out`: the pod keeps its place until every plugin
 *            that returned WAIT allows it (service berth.waiting/1), one plugin rejects it, or the
 *            timeout expires; a rejection parks the pod; after ERROR the pod backs off.
 * Groups: every member of a group has its own cycle, one after the other, before any member is
 * bound. If no member gets SUCCESS from all plugins, all members are unreserved and the group is
 * parked. So return WAIT until there are enough members; at the last one return SUCCESS and allow
 * those that wait. */
typedef struct berth_permit_out {
  uint32_t struct_size;
  uint32_t reserved;
  /* How long the pod waits for this plugin at most if the result is WAIT; 0 before the call. A time
   * below 0 counts as 0, and a time above 15 minutes as 15 minutes. */
  int64_t timeout_ns;
} berth_permit_out;
#define BERTH_POINT_PERMIT "berth.permit/1"
typedef struct berth_permit {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*permit)(void* self, const berth_cycle* cycle, const berth_target* target,
                       berth_permit_out* out, berth_status* status) BERTH_NOEXCEPT;
} berth_permit;

/* What [bind] calls receive: the pod and the node's name and uid, but no rows and no snapshot. Each
 * of `pre_flight`, `pre_bind`, `bind`, and `unreserve` or `post_bind` receives a berth_binding of
 * its own, whose members do not change from the beginning of the call on.
 * Lifetime:  until the pod has left the binding cycle. */
struct berth_binding {
  uint32_t struct_size;
  uint32_t flags;       /* 0 */
  const berth_pod* pod; /* node_name is 0 */
  berth_str node_name;
  berth_str node_uid;
  void* const* slots;
  const uint32_t* cancel; /* see BERTH_IS_CANCELLED */
  /* when the function must return, on the clock of berth_timer.now_ns. 0: none */
  int64_t call_deadline_ns;
  /* when `done` must be completed if the function returns PENDING, on the same clock. 0: none */
  int64_t completion_deadline_ns;
};

/* PreBind: does what must happen before the pod is bound (attach a volume, write an allocation).
 * Called:    after Permit: first `pre_flight`, if it is set, to find out whether there is work to
 *            do, then `pre_bind`.
 * Threading: [bind]; `pre_flight` always runs on the scheduling thread and must not block.
 * Returns:   `pre_flight`: SUCCESS, SKIP (`pre_bind` is not called) or ERROR. `pre_bind`: SUCCESS;
 *            PENDING: the plugin completes `done` later, exactly once; any other code ends the
 *            binding, and the pod backs off.
 *            A promise that is completed with PENDING or SKIP counts as BUG.
 * Lifetime:  `done` until it is completed; if `pre_bind` returns another code than PENDING, only
 *            until it returns. Completing it afterwards has no effect.
 * Consecutive PreBinds that set BERTH_PRE_BIND_PARALLEL run at the same time. */
enum { BERTH_PRE_BIND_PARALLEL = 1 };
#define BERTH_POINT_PRE_BIND "berth.pre_bind/1"
typedef struct berth_pre_bind {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_PRE_BIND_PARALLEL */
  berth_code (*pre_flight)(void* self, const berth_binding* binding,
                           berth_status* status) BERTH_NOEXCEPT;
  berth_code (*pre_bind)(void* self, const berth_binding* binding, berth_done done,
                         berth_status* status) BERTH_NOEXCEPT;
} berth_pre_bind;

/* Bind: binds the pod to the node.
 * Called:    plugin by plugin until one returns another code than SKIP.
 * Threading: [bind].
 * Returns:   SUCCESS: the pod is bound; SKIP: this plugin does not bind this pod; PENDING: the
 *            plugin completes `done` later, also with SKIP; any other code ends the binding, and
 *            the pod backs off. To use the service berth.api/1, pass `done` to its `bind` and
 *            return PENDING.
 * Lifetime:  `done` as in PreBind. */
#define BERTH_POINT_BIND "berth.bind/1"
typedef struct berth_bind {
  uint32_t struct_size;
  uint32_t flags;
  berth_code (*bind)(void* self, const berth_binding* binding, berth_done done,
                     berth_status* status) BERTH_NOEXCEPT;
} berth_bind;

/* PostBind: notifies the plugin that the pod is bound, so that it can clean up or record the
 * binding.
 * Called:    once, after Bind succeeded. It is never cancelled.
 * Threading: [event]. */
#define BERTH_POINT_POST_BIND "berth.post_bind/1"
typedef struct berth_post_bind {
  uint32_t struct_size;
  uint32_t flags;
  void (*post_bind)(void* self, const berth_binding* binding) BERTH_NOEXCEPT;
} berth_post_bind;

/* AttemptFailed: tells the plugin why an attempt to place a pod of its profile failed: because of a
 * plugin at any point, a timeout of Permit, another scheduler, or an error of the API server.
 * PostFilter is not called after another plugin has ended the point, and Unreserve gets no reason.
 * Called:    once for each attempt that failed, also if this plugin was not called in it; after
 *            Unreserve of all plugins, when the pod is back in the queue. Not for a pod that
 *            PreEnqueue holds, which is not attempted; nor for a pod that was deleted before its
 *            attempt; nor for a pod for which PreFilter or PreScore returned PENDING; nor, as a
 *            rule, when the scheduler stops. The host calls all plugins of the profile, in
 *            the order of the profile.
 * Threading: [event].
 * Lifetime:  `attempt`, and what it points to, until the call returns.
 * The call cannot change the decision. It may use berth.waiting/1 and berth.activate/1, for other
 * members of a group for example. A plugin that activates the pod of the call itself makes the
 * scheduler try it without a pause.
 * A profile does not name this point: it is called for every plugin of the profile that has it. */
enum {
  /* The pod, or its group, is parked until an event for a plugin that rejected it; otherwise it
   * backs off, or is FINAL. */
  BERTH_FAILED_PARKED = 1,
  /* The pod is not tried again: it was deleted, or another client has bound it. */
  BERTH_FAILED_FINAL = 2
};
typedef struct berth_failed_attempt {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_FAILED_* */
  const berth_pod* pod;
  /* UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE or PENDING: `plugins` rejected the pod; without
   * plugins, PreBind or Bind has answered so, or the pod was deleted or bound by another client.
   * SKIP: a member of a group is being deleted. Any other code: an error ended the attempt. */
  berth_code code;
  uint32_t reserved;
  berth_str node;      /* the name of the node that the pod had been given; empty: none */
  berth_str message;   /* the text of the pod's condition PodScheduled */
  berth_array plugins; /* berth_str: the names of the plugins that rejected the pod; may be empty */
} berth_failed_attempt;
#define BERTH_POINT_ATTEMPT_FAILED "berth.attempt_failed/1"
typedef struct berth_attempt_failed {
  uint32_t struct_size;
  uint32_t flags;
  void (*attempt_failed)(void* self, const berth_failed_attempt* attempt) BERTH_NOEXCEPT;
} berth_attempt_failed;

/* Changes: reports every change of the node table to a plugin that maintains its own index.
 * Called:    for every change, in order. A new instance first receives everything that exists (flag
 *            REPLAY), then SYNCED, before its first cycle. A pod is ADDED when it is assumed or
 *            first seen on a node, whichever comes first. A later update from the cluster is
 *            CHANGED, or REMOVED and ADDED if it names another node. A pod may be added before its
 *            node, and may remain after its node was removed. A row number is reused only when its
 *            node and all its pods were removed and no reservation holds it.
 * Pending:   with BERTH_CHANGES_FLAG_PENDING in `flags`, also for every pod without a node whose
 *            schedulerName belongs to a profile of this process, wherever it is in the queue and
 *            while it is attempted. At no time is a pod both pending and on a node: when it is
 *            assumed, PENDING_REMOVED precedes POD_ADDED; when it is forgotten and still exists,
 *            PENDING_ADDED follows POD_REMOVED.
 * Threading: [event]; [cycle] for assume and forget.
 * Must not:  block or fail: a change is not delivered a second time.
 * Lifetime:  `pod` and `node` until the change that replaces or removes them has been delivered, so
 *            that an index may keep them; `old_pod` and `old_node` until the call returns. */
enum {
  BERTH_CHANGE_POD_ADDED = 1,
  BERTH_CHANGE_POD_CHANGED,
  BERTH_CHANGE_POD_REMOVED,
  BERTH_CHANGE_NODE_ADDED,
  BERTH_CHANGE_NODE_CHANGED,
  BERTH_CHANGE_NODE_REMOVED,
  BERTH_CHANGE_SYNCED,
  BERTH_CHANGE_PENDING_ADDED,
  BERTH_CHANGE_PENDING_CHANGED,
  BERTH_CHANGE_PENDING_REMOVED
};
enum {
  /* POD_ADDED: this scheduler placed the pod, the cluster has not confirmed it yet */
  BERTH_CHANGE_FLAG_ASSUMED = 1,
  BERTH_CHANGE_FLAG_FORGOTTEN = 2, /* POD_REMOVED: this scheduler withdrew an assumed pod */
  BERTH_CHANGE_FLAG_REPLAY = 4
};
typedef struct berth_change {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t flags;
  uint32_t row; /* the node's row; 0 for SYNCED and PENDING_* */
  /* grows by one per change, also for PENDING_* that the plugin did not ask for; REPLAY and SYNCED
   * carry the last change's number */
  uint64_t sequence;
  const berth_pod* pod;     /* POD_*, PENDING_*: its current state, or its last; else NULL */
  const berth_pod* old_pod; /* POD_CHANGED, PENDING_CHANGED: its previous state; else NULL */
  /* NODE_*: its current state, or its last; POD_*: the pod's node, NULL if unknown */
  const berth_node* node;
  const berth_node* old_node; /* NODE_CHANGED: its previous state; else NULL */
} berth_change;
enum { BERTH_CHANGES_FLAG_PENDING = 1 }; /* reports PENDING_* too */
#define BERTH_POINT_CHANGES "berth.changes/1"
typedef struct berth_changes {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_CHANGES_* */
  void (*change)(void* self, const berth_change* change) BERTH_NOEXCEPT;
} berth_changes;

/* HandOver: passes the state of an instance to its successor, which replaces it at a reload: the
 * instance of the plugin of the same name in the profile of the same name. A state is bytes and a
 * version of their format, which the author chooses. The library of the successor may be another
 * build, also an older one, so a state contains no pointers. Interned ids belong to one instance;
 * a state names nodes and objects by their names and uids.
 * Called:    at a reload, between attempts, when all new instances were created without an error:
 *            `save` of the old instance, then `restore` of the new one, if both implement the
 *            point. `restore` precedes every other call of the new instance but create(): objects
 *            are replayed to its watches, and nodes and pods to berth.changes/1, afterwards.
 *            `save` is not called when a profile is dropped or the host stops.
 * Attempts:  those that began before the reload end with the old instance. Only it gets the rest of
 *            their calls (PreBind, Bind, and Unreserve or PostBind), also long after `save`; calls
 *            of PreBind and Bind on pool threads may be in progress during `save`. Its changes of
 *            its state since `save` are lost.
 * State:     it must name the pod of every reservation that is not bound yet, by its uid. The
 *            successor receives the end of the reservation in berth.changes/1: the replay contains
 *            the pod (POD_ADDED with ASSUMED); then POD_CHANGED confirms that it is bound, or
 *            POD_REMOVED (FORGOTTEN if it was not bound) ends it. A reservation whose pod is on no
 *            node when SYNCED arrives has ended. A successor that rebuilds all its data from the
 *            replay needs no hand-over for them.
 * Threading: [load].
 * Returns:   save: SUCCESS; SKIP: there is nothing to hand over; ERROR or BUG. restore: SUCCESS;
 *            any other code refuses the state. After a refusal, or if `save` failed, the reload
 *            succeeds, the successor begins without the state, and the host logs both versions of
 *            the plugin, that of the state, and the reasons.
 * Must not:  restore a part of the state and then refuse it: the instance is used as it is; refuse
 *            a state that the same library saved with the same arguments.
 * Lifetime:  `out`, and `bytes` of both functions, until the call returns. */
enum { BERTH_HAND_OVER_MAX_BYTES = 67108864 }; /* 64 MiB: the largest state */
typedef struct berth_hand_over_out {
  uint32_t struct_size;
  uint32_t version; /* `save` sets it; 0 if it does not */
  void* impl;
  /* Appends bytes to the state. Returns SUCCESS; or BAD_ARGUMENT if the state would be larger than
   * BERTH_HAND_OVER_MAX_BYTES: then nothing is handed over, whatever `save` returns. */
  berth_code (*write)(struct berth_hand_over_out* out, berth_str bytes) BERTH_NOEXCEPT;
} berth_hand_over_out;
#define BERTH_POINT_HAND_OVER "berth.hand_over/1"
typedef struct berth_hand_over {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  berth_code (*save)(void* self, berth_hand_over_out* out, berth_status* status) BERTH_NOEXCEPT;
  berth_code (*restore)(void* self, uint32_t version, berth_str bytes,
                        berth_status* status) BERTH_NOEXCEPT;
} berth_hand_over;

/* ---- Services of the host -------------------------------------------------------------------- */
/* A plugin finds services through berth_host.get_service in create() and may use them until
 * destroy() returns. Of later calls, "The end of an instance" above states the result. A berth_host
 * argument must be the host that was passed to create(). A service function that takes a
 * `berth_done` or an answer callback and returns an error does not complete or call it. */
struct berth_host {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  void* impl;
  berth_str name; /* "berth" */
  berth_str version;
  /* Returns SUCCESS and the service; UNSUPPORTED for a valid id that this host does not serve;
   * NOT_FOUND otherwise.
   * Threading: [load]. */
  berth_code (*get_service)(const struct berth_host* host, const char* id,
                            const void** service) BERTH_NOEXCEPT;
  /* Reports a failure in a call that returns no code (`change`, `unreserve`, a timer). The host
   * counts it against the plugin, at the extension point at which the plugin is being called.
   * `what` states why. Threading: [any]. */
  void (*fault)(const struct berth_host* host, berth_str what) BERTH_NOEXCEPT;
  /* A random key of this process, for hashes of data that others choose: signatures, and tables
   * that are keyed by names of objects. Do not write it to a log or an object. */
  uint64_t hash_key[2];
};

/* Log. Threading: [any]. Test `*level` first, with a relaxed atomic load: messages below it are
 * dropped. The level may change at any time. */
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

/* Strings and ids. Threading: [any], except `find`. */
#define BERTH_SERVICE_STRINGS "berth.strings/1"
typedef struct berth_strings {
  uint32_t struct_size;
  uint32_t reserved;
  /* Returns the id of the text, which the instance holds until it has called `release` as often as
   * `intern` returned the id. The host releases after destroy() what the instance still holds, and
   * returns 0 from then on. */
  berth_id (*intern)(const berth_host* host, berth_str text) BERTH_NOEXCEPT;
  /* Returns the id that the text has now, or 0 if it has none. Valid until the current call into
   * the plugin returns. On a thread of the plugin's own, and under [bind] on a pool thread, an id
   * is valid only if the instance holds it: `find` returns 0 there, so use `intern`.
   * Threading: [load] [event] [queue] [cycle] [block], and [bind] on the scheduling thread. */
  berth_id (*find)(const berth_host* host, berth_str text) BERTH_NOEXCEPT;
  /* Returns the text, which lives as long as the id. It is empty for 0 and for an unknown id. */
  berth_str (*text)(const berth_host* host, berth_id id) BERTH_NOEXCEPT;
  /* Undoes one call of `intern` that returned this id. 0 is ignored. An id that the instance does
   * not hold is a fault of the plugin and changes nothing. */
  void (*release)(const berth_host* host, berth_id id) BERTH_NOEXCEPT;
} berth_strings;

/* References to pods, nodes and objects, so that a plugin can keep them beyond the call that passed
 * them. They are counted for each instance. The host releases after destroy() what the instance
 * still holds.
 * Threading: [any]. */
#define BERTH_SERVICE_REFS "berth.refs/1"
typedef struct berth_refs {
  uint32_t struct_size;
  uint32_t reserved;
  /* Keeps the object alive until `release` was called as often as `retain`: the pointer stays
   * valid, and so does everything that the object points to. `object` must be valid by the Lifetime
   * of what passed it (the old state in a change included), or be one that the instance retains.
   * BAD_ARGUMENT: `object` is no object of the host, such as a copy of a view, or
   * an object of another kind; nothing changes. CANCELLED: the instance has been destroyed. */
  berth_code (*retain)(const berth_host* host, berth_tagged object) BERTH_NOEXCEPT;
  /* Undoes one `retain`. An object that the instance does not retain is a fault of the plugin and
   * changes nothing. */
  void (*release)(const berth_host* host, berth_tagged object) BERTH_NOEXCEPT;
} berth_refs;

/* Binds columns whose names depend on the pod. */
#define BERTH_SERVICE_COLUMNS "berth.columns/1"
typedef struct berth_columns {
  uint32_t struct_size;
  uint32_t reserved;
  /* Sets *index to the column's index in the blocks of this plugin in this cycle. Binding a name
   * twice sets the same index.
   * Threading: [cycle], within PreFilter and PreScore.
   * Errors:    NOT_FOUND: the catalogue has no such column, or berth_plugin_info.kinds does not
   *            name its kind. With BERTH_COLUMN_OPTIONAL this is SUCCESS, and `data` is NULL in the
   *            blocks. BAD_ARGUMENT: the catalogue has another type, or a flag is unknown. CONFLICT
   *            outside PreFilter and PreScore. */
  berth_code (*bind)(const berth_host* host, const berth_cycle* cycle,
                     const berth_column_request* request, uint32_t* index) BERTH_NOEXCEPT;
} berth_columns;

/* Values: JSON-like trees, for arguments, objects and fields. Every value points to this service.
 * An absent value is NULL, and its kind is BERTH_VALUE_NULL. A member whose value is null counts as
 * absent. A function that needs another kind than the value has returns 0 or empty.
 * Threading: [any].
 * Lifetime:  arguments until create() returns; a value that `parse` returned until `release`, or
 *            until destroy() returns; otherwise that of the object. */
enum {
  BERTH_VALUE_NULL = 0,
  BERTH_VALUE_BOOL,
  BERTH_VALUE_INT,
  BERTH_VALUE_FLOAT, /* also a whole number outside the range of int64_t */
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
  /* Reads a STRING or number as a Kubernetes quantity, in whole units and in thousandths, each
   * rounded away from 0 and at most 2^63-1. BAD_ARGUMENT: the value is not a quantity, and nothing
   * is written. */
  berth_code (*as_quantity)(const berth_value* value, int64_t* units,
                            int64_t* milli) BERTH_NOEXCEPT;
  /* Reads a STRING as a time of RFC 3339, such as "2026-01-31T12:00:00Z", in nanoseconds since
   * 1970-01-01T00:00:00Z. BAD_ARGUMENT: the value is not such a time, and nothing is written. */
  berth_code (*as_time)(const berth_value* value, int64_t* ns) BERTH_NOEXCEPT;
  /* Passes the value as JSON to `put`, in pieces, within the call. A number that JSON cannot
   * express, and an absent value, are written as null. */
  void (*write_json)(const berth_value* value, void (*put)(void* to, berth_str text) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
  /* Reads one JSON value. Returns NULL, and adds a reason to `status` unless it is NULL, when the
   * text is not JSON or exceeds a limit of the host. The plugin owns the value until `release`. */
  const berth_value* (*parse)(const berth_host* host, berth_str json,
                              berth_status* status)BERTH_NOEXCEPT;
  /* Releases a value that `parse` returned, with all its parts. It is a fault of the plugin, and
   * changes nothing, if `parse` did not return the value or it was released before. NULL: does
   * nothing. */
  void (*release)(const berth_host* host, const berth_value* value) BERTH_NOEXCEPT;
};

/* A node matches when one of the terms matches. */
typedef struct berth_node_selector {
  uint32_t struct_size;
  uint32_t flags;    /* BERTH_SELECTOR_INVALID */
  berth_array terms; /* berth_node_term */
} berth_node_selector;

/* Selectors: creates selectors from objects and texts, and matches selectors.
 * Threading: [any].
 * Returns:   SUCCESS, and the selector; BAD_ARGUMENT, with the reasons in `status` unless it is
 *            NULL, for anything that the API server would reject, and for an absent value; nothing
 *            is written then.
 * Lifetime:  a selector until it is released, or until destroy() returns. It is a fault of the
 *            plugin, and changes nothing, to release a selector that this service did not return,
 *            or to release it twice. NULL: does nothing. */
#define BERTH_SERVICE_SELECTORS "berth.selectors/1"
typedef struct berth_selectors {
  uint32_t struct_size;
  uint32_t reserved;
  /* Reads a LabelSelector: {"matchLabels": {...}, "matchExpressions": [...]}. */
  berth_code (*from_value)(const berth_host* host, const berth_value* label_selector,
                           const berth_selector** out, berth_status* status) BERTH_NOEXCEPT;
  /* Reads a map of labels, such as a Service's selector: {"app": "web"}. */
  berth_code (*from_map)(const berth_host* host, const berth_value* labels,
                         const berth_selector** out, berth_status* status) BERTH_NOEXCEPT;
  /* Reads a selector as `kubectl get -l` does: "app=web,tier in (a,b),!old". An empty text matches
   * every object. */
  berth_code (*from_text)(const berth_host* host, berth_str text, const berth_selector** out,
                          berth_status* status) BERTH_NOEXCEPT;
  /* Reads a NodeSelector: {"nodeSelectorTerms": [...]}. */
  berth_code (*node_selector)(const berth_host* host, const berth_value* node_selector,
                              const berth_node_selector** out, berth_status* status) BERTH_NOEXCEPT;
  /* Returns 1 if the selector matches, else 0. The selector may also be one of a pod. `labels`:
   * berth_id_pair, sorted by key id. NULL matches nothing. */
  int32_t (*matches)(const berth_host* host, const berth_selector* selector,
                     berth_array labels) BERTH_NOEXCEPT;
  int32_t (*matches_node)(const berth_host* host, const berth_node_selector* selector,
                          const berth_node* node) BERTH_NOEXCEPT;
  void (*release)(const berth_host* host, const berth_selector* selector) BERTH_NOEXCEPT;
  void (*release_node)(const berth_host* host, const berth_node_selector* selector) BERTH_NOEXCEPT;
} berth_selectors;

/* Metrics. They can be defined in create() only; the host adds the labels plugin and profile.
 * Threading: [load] for `define`, [any] for the others. */
enum { BERTH_METRIC_COUNTER = 1, BERTH_METRIC_GAUGE, BERTH_METRIC_HISTOGRAM };
typedef struct berth_metric {
  uint32_t struct_size;
  uint32_t kind;
  berth_str name;
  berth_str help;
  const berth_str* label_names; /* [n_labels] */
  uint64_t n_labels;
  const double* buckets; /* [n_buckets] of a histogram: upper bounds, ascending */
  uint64_t n_buckets;    /* 0: the host's default, for seconds from 1 ms to 16 s */
} berth_metric;
#define BERTH_SERVICE_METRICS "berth.metrics/1"
typedef struct berth_metrics {
  uint32_t struct_size;
  uint32_t reserved;
  /* CONFLICT: outside create(), or when the name is already defined: twice by the instance, by
   * another plugin, or by another instance of the plugin with other properties. BAD_ARGUMENT: the
   * kind is unknown, or a name, the labels or the buckets are not valid. The log states which. */
  berth_code (*define)(const berth_host* host, const berth_metric* metric,
                       uint32_t* index) BERTH_NOEXCEPT;
  /* Sets *series to a handle of the metric with these label values, which is valid until destroy().
   * `label_values` has one value per label name. Equal values give the same handle, which is never
   * 0. Ask once for each list of label values, not once for each observation.
   * Series stay, also those of label values that no longer occur, such as names of removed nodes.
   * Errors: BAD_ARGUMENT for an index that `define` did not set; BUG when the metric has 2,000
   *         other series, or the instance 4,096, which is also a fault, counted once for each
   *         instance; CANCELLED after destroy(). */
  berth_code (*series)(const berth_host* host, uint32_t metric, const berth_str* label_values,
                       uint64_t* series) BERTH_NOEXCEPT;
  /* Adds to a counter, sets a gauge, or records a value in a histogram. Takes no lock. Does nothing
   * for a handle that `series` did not set. */
  void (*observe)(const berth_host* host, uint64_t series, double value) BERTH_NOEXCEPT;
} berth_metrics;

/* Objects of the kinds that the plugin named in berth_plugin_info.kinds. All of them are available
 * before the plugin's first cycle, except those of a kind that the API server does not serve. Such
 * a kind never delays the start; the host finds out when the server begins to serve it.
 *
 * `kind` is written as in berth_plugin_info.kinds, also if it names several versions. The kind of
 * an object, berth_object.kind, has the version that the host uses: the first one that the server
 * serves. If that version changes, the watch reports the objects of the old version as deleted and
 * those of the new one as added.
 * Threading: `get`, `list` and `served`: [event] [queue] [cycle], and [bind] on the scheduling
 *            thread; `watch`: [load].
 * Lifetime:  a view until the call into the plugin that fetched it returns; berth.refs/1 keeps an
 *            object longer. */
enum {
  /* The object existed before the watch, or before the server served the kind. */
  BERTH_OBJECT_FLAG_REPLAY = 1
};
typedef struct berth_object_change {
  uint32_t struct_size;
  uint32_t flags; /* BERTH_OBJECT_* */
  berth_id kind;  /* berth_object.kind of both objects */
  uint32_t reserved;
  const berth_object* old; /* NULL: an addition */
  const berth_object* now; /* NULL: a deletion */
} berth_object_change;
#define BERTH_SERVICE_OBJECTS "berth.objects/1"
typedef struct berth_objects {
  uint32_t struct_size;
  uint32_t reserved;
  /* Sets *object. NOT_FOUND: there is no such object. UNSUPPORTED: the server does not serve the
   * kind now. BAD_ARGUMENT: the plugin did not declare the kind. CONFLICT: called under another
   * word. *object is NULL unless the result is SUCCESS. */
  berth_code (*get)(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                    const berth_object** object) BERTH_NOEXCEPT;
  /* Calls `each` for every object of the kind, or of the kind and namespace if `ns` is not empty,
   * ordered by namespace and name, until `each` returns 0. UNSUPPORTED: the server does not serve
   * the kind now. BAD_ARGUMENT: the plugin did not declare the kind. */
  berth_code (*list)(const berth_host* host, berth_str kind, berth_str ns,
                     int32_t (*each)(void* to, const berth_object* object) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
  /* SUCCESS: the server serves the kind, or the host does not know yet. UNSUPPORTED: the server
   * does not serve the kind now. BAD_ARGUMENT: the plugin did not declare the kind. */
  berth_code (*served)(const berth_host* host, berth_str kind) BERTH_NOEXCEPT;
  /* Registers `change`, which is called under [event] for every change of the kind, in order.
   * Existing objects are reported first, as additions with the flag REPLAY. Returns SUCCESS, also
   * for a kind that the server does not serve, whose objects are reported once it does;
   * BAD_ARGUMENT for a kind that was not declared; CONFLICT outside [load]. */
  berth_code (*watch)(const berth_host* host, berth_str kind,
                      void (*change)(void* to, const berth_object_change* change) BERTH_NOEXCEPT,
                      void* to) BERTH_NOEXCEPT;
} berth_objects;

/* The row of a node by its name, and the place of a row in blocks. */
#define BERTH_SERVICE_NODES "berth.nodes/1"
typedef struct berth_node_lookup {
  uint32_t struct_size;
  uint32_t reserved;
  /* Finds the row of the node of this name. NOT_FOUND: there is no such node. The row means nothing
   * after the current call into the plugin has returned, except within the same cycle.
   * Threading: [event] [queue] [cycle]. */
  berth_code (*find)(const berth_host* host, berth_str name, uint32_t* row) BERTH_NOEXCEPT;
  /* Finds the block of `in`, and the index within the block, at which a row stands. NOT_FOUND: the
   * row is not one of the nodes of `in`. BAD_ARGUMENT: `in` was not passed to this call of the
   * plugin.
   * Threading: [cycle]. */
  berth_code (*place)(const berth_host* host, const berth_nodes* in, uint32_t row, uint32_t* block,
                      uint32_t* index) BERTH_NOEXCEPT;
} berth_node_lookup;

/* Evaluates the pod of this cycle on copies of nodes with other pods added or removed: any number
 * of nodes per question, and any number of questions at the same time. Filter reads cycle state
 * that AddPod and RemovePod have changed on a clone. A plugin whose PreFilter returned SKIP takes
 * no part. `status` is created by the plugin, or NULL.
 * Threading: [cycle], within PostFilter.
 * Errors:    CONFLICT outside PostFilter; for a question that has ended or never began; and from
 *            `begin` if PreFilters were left out, because one of them returned
 *            UNSCHEDULABLE_AND_UNRESOLVABLE or no name is in all `only_nodes`.
 *            BAD_ARGUMENT for an index, selection, mode or flag that is not valid.
 * Lifetime:  a question until `end`, and no longer than the call of PostFilter; its id is never
 *            reused and never 0. A pod that was added must exist as long as the question. */
enum {
  /* Every row is a question of its own: pods that are added to, or removed from, one row do not
   * exist for the others. `rows` may be in any order and contain a row more than once. */
  BERTH_WHATIF_APART = 1,
  /* All rows are one cluster, in which all changes apply. `rows` contains each row once at most. */
  BERTH_WHATIF_TOGETHER = 2
};
/* The arguments of `run_filters`. */
typedef struct berth_whatif_run {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  /* [n_selected] ascending indices of the question's `rows`; NULL: all of them, and `n_selected` is
   * ignored */
  const uint32_t* selected;
  uint64_t n_selected;
  /* [count of `rows`] codes[i] is written for every selected i, and for no other: the verdict of
   * row i, as of Filter */
  uint8_t* codes;
} berth_whatif_run;
#define BERTH_SERVICE_WHATIF "berth.whatif/1"
typedef struct berth_whatif {
  uint32_t struct_size;
  uint32_t reserved;
  /* Begins a question about `count` rows; `mode` is one of BERTH_WHATIF_*. NOT_FOUND: a row has no
   * node. The array `rows` is copied. */
  berth_code (*begin)(const berth_host* host, const berth_cycle* cycle, const uint32_t* rows,
                      uint32_t count, uint32_t mode, uint64_t* question) BERTH_NOEXCEPT;
  /* Remove a pod from, and add a pod to, row `i` of `rows`. NOT_FOUND, with a reason: the pod to
   * remove is not on the row, and nothing changes; it must be the view that the row's pod list has,
   * not an older version of the pod that the plugin retained. ERROR, with a reason: a plugin's
   * AddPod, RemovePod or clone failed; from then on row i (with TOGETHER: every row) has no verdict
   * but ERROR. */
  berth_code (*remove_pod)(const berth_host* host, uint64_t question, uint32_t i,
                           const berth_pod* pod, berth_status* status) BERTH_NOEXCEPT;
  berth_code (*add_pod)(const berth_host* host, uint64_t question, uint32_t i, const berth_pod* pod,
                        berth_status* status) BERTH_NOEXCEPT;
  /* Runs all Filters of the profile on the selected rows. A row with nominated pods of equal or
   * higher priority must also pass with these pods added to it.
   * Returns SUCCESS when the verdicts are written; `status` receives the reasons of the rejections,
   * each text once. With APART, an error of one row is its verdict, ERROR, and the other rows are
   * answered. With TOGETHER, an error of one row is that of the call: ERROR, and no verdict is
   * written. */
  berth_code (*run_filters)(const berth_host* host, uint64_t question, const berth_whatif_run* run,
                            berth_status* status) BERTH_NOEXCEPT;
  /* Ends a question; does nothing for one that has ended. */
  void (*end)(const berth_host* host, uint64_t question) BERTH_NOEXCEPT;
  /* Adds to `status` the reasons of row `i` in the last run of the question that selected it; none
   * if the row passed. CONFLICT: no run has selected the row. A caller that counts reasons over
   * many rows reads them here, because the reasons of `run_filters` belong to no row. */
  berth_code (*reasons)(const berth_host* host, uint64_t question, uint32_t i,
                        berth_status* status) BERTH_NOEXCEPT;
  /* Calls `each` with the name of every plugin whose Filter takes part in questions of this cycle
   * and may answer differently for other pods on the row: it declares BERTH_DEPENDS_NODE_PODS or
   * BERTH_DEPENDS_OTHER, or no dependence. In the order of the profile, until `each` returns 0. A
   * caller that knows these plugins can tell in advance which questions are worth asking. Errors:
   * those of `begin`. */
  berth_code (*pod_filters)(const berth_host* host, const berth_cycle* cycle,
                            int32_t (*each)(void* to, berth_str plugin) BERTH_NOEXCEPT,
                            void* to) BERTH_NOEXCEPT;
} berth_whatif;

/* Pods that are nominated to a node and not yet on it: `list` calls `each` for those of one node,
 * `each` for those of all nodes, ordered by node; both until the callback returns 0. `clear`
 * removes a pod's nomination, both in this scheduler and in the pod's status; NOT_FOUND: the pod is
 * not nominated. It does so before the next entry of the queue is tried: the lists and what-if
 * questions of the current call into the plugin still have the nomination. Threading: [event]
 * [queue] [cycle]. */
#define BERTH_SERVICE_NOMINATOR "berth.nominator/1"
typedef struct berth_nominator {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*list)(const berth_host* host, berth_str node,
                     int32_t (*each)(void* to, const berth_pod* pod) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
  berth_code (*clear)(const berth_host* host, berth_str pod_uid) BERTH_NOEXCEPT;
  berth_code (*each)(const berth_host* host,
                     int32_t (*each)(void* to, const berth_pod* pod, berth_str node) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
} berth_nominator;

/* Moves pods to the active queue, before the next entry of the queue is tried; PreEnqueue still
 * applies. Pods that are not waiting in the queue at the call, or whose attempt begins before, are
 * ignored; but a pod in an attempt that ends with PENDING in PreFilter or PreScore counts as
 * waiting, so that an answer which arrives within the attempt is not lost.
 * Threading: [event] [queue] [cycle] [bind]. */
#define BERTH_SERVICE_ACTIVATE "berth.activate/1"
typedef struct berth_activate {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*activate)(const berth_host* host, const berth_str* pod_uids,
                         uint64_t count) BERTH_NOEXCEPT;
} berth_activate;

/* The arguments of `reject`. */
typedef struct berth_rejection {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  berth_str pod_uid;
  berth_str reason; /* why the pod is rejected; should not be empty */
} berth_rejection;

/* Pods that wait on Permit. `each` passes the pods that wait for this plugin in its profile, also
 * those for which an instance that this one replaced returned WAIT, ordered by uid. `allow`
 * withdraws this plugin's WAIT; NOT_FOUND: the pod does not wait for this plugin. `reject` rejects
 * any pod that waits, for all plugins, and the pod is parked; NOT_FOUND: the pod does not wait.
 * BAD_ARGUMENT: an unknown flag. Threading: [event] [queue] [cycle] [bind].
 * `each` passes the pods that wait when it is called, also those that its callback decides. What
 * `allow` and `reject` decide takes effect before the next entry of the queue is tried. */
#define BERTH_SERVICE_WAITING "berth.waiting/1"
typedef struct berth_waiting {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*each)(const berth_host* host,
                     int32_t (*each)(void* to, const berth_pod* pod) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
  berth_code (*allow)(const berth_host* host, berth_str pod_uid) BERTH_NOEXCEPT;
  berth_code (*reject)(const berth_host* host, const berth_rejection* rejection) BERTH_NOEXCEPT;
} berth_waiting;

/* Timers. The callback is called once, under [event]. The id of a timer is never 0 and never
 * reused.
 * Threading: [load] [event] [queue] [cycle] [bind], unless a member's comment states otherwise. */
#define BERTH_SERVICE_TIMER "berth.timer/1"
typedef struct berth_timer {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t (*now_ns)(const berth_host* host) BERTH_NOEXCEPT; /* monotonic, [any] */
  /* on the clock of object times, [any] */
  int64_t (*wall_ns)(const berth_host* host) BERTH_NOEXCEPT;
  /* A time below 0 counts as 0. BAD_ARGUMENT without `fire`; CANCELLED when the instance ends;
   * CONFLICT also when 65,536 timers of the instance have not ended. */
  berth_code (*start)(const berth_host* host, int64_t after_ns,
                      void (*fire)(void* to) BERTH_NOEXCEPT, void* to,
                      uint64_t* timer) BERTH_NOEXCEPT;
  berth_code (*cancel)(const berth_host* host,
                       uint64_t timer) BERTH_NOEXCEPT; /* NOT_FOUND: it already fired */
  /* Calls `run` once, later, under [event]: with SUCCESS, or with CANCELLED when the instance ends
   * first. Calls are made in the order in which they were posted. Threading: [any].
   * Returns SUCCESS; BAD_ARGUMENT without `run`; CANCELLED when the instance ends; CONFLICT when
   * 65,536 posts of the instance wait already. `run` is called only after SUCCESS. */
  berth_code (*post)(const berth_host* host, void (*run)(void* to, berth_code code) BERTH_NOEXCEPT,
                     void* to) BERTH_NOEXCEPT;
  /* Announces work of a thread of the plugin that will post a function or make a request. A
   * simulation or a replay that would end, and its virtual time, wait for `release`, up to a limit
   * in real time. No other run waits. A plugin announces the work before the thread begins it,
   * because the run may end in between. Sets `*hold`, which is never 0 and never reused. Threading:
   * [any]. Returns SUCCESS; CANCELLED when the instance ends; CONFLICT when the instance has 65,536
   * holds already. */
  berth_code (*hold)(const berth_host* host, uint64_t* hold) BERTH_NOEXCEPT;
  /* Ends a hold, after the post. The host ends those that are left when the instance ends. To
   * release something that the instance does not hold counts as a fault. Threading: [any]. */
  void (*release)(const berth_host* host, uint64_t hold) BERTH_NOEXCEPT;
} berth_timer;

/* Random numbers that a replay repeats.
 * Threading: [cycle]. */
#define BERTH_SERVICE_RANDOM "berth.random/1"
typedef struct berth_random {
  uint32_t struct_size;
  uint32_t reserved;
  /* Returns the next of 2^64 equally likely numbers. The sequence depends on the host's seed, the
   * number of the attempt, the plugin and its profile alone; each attempt has its own sequence,
   * which what-if questions continue. `cycle` is that of the current call; a call outside [cycle],
   * or with the cycle of another instance, is a fault of the plugin, and the result is 0. */
  uint64_t (*next)(const berth_host* host, const berth_cycle* cycle) BERTH_NOEXCEPT;
} berth_random;

/* Shared states: objects that the instances of one library share, whichever their plugins and
 * profiles are, and also an old instance and the one that replaces it at a reload.
 * Ownership: the host owns an object from `add` on. An instance that adds or finds it holds it
 *            until its destroy() has returned, or its create() has failed. When no instance holds
 *            the object any more, the host calls its `destroy` under [load], with the last of
 *            them. An instance that is never destroyed (see "The end of an instance") holds its
 *            objects for ever.
 * Library:   one that is loaded with other content has objects of its own, because its code may
 *            differ. berth.hand_over/1 passes what must survive such a reload.
 * Object:    belongs to the plugins alone. Calls on the scheduling thread do not overlap; whatever
 *            [block], [bind] and threads of a plugin also use needs a lock.
 * Threading: [load].
 * Must not:  call services in `destroy`. Depend on how many instances there are: the host may
 *            create an instance and destroy it before any other call, to examine it. */
#define BERTH_SERVICE_SHARED "berth.shared/1"
typedef struct berth_shared {
  uint32_t struct_size;
  uint32_t reserved;
  /* Sets `*object` to the library's object of this key. Returns SUCCESS; NOT_FOUND: add one;
   * BAD_ARGUMENT: the object was added with another `destroy`, so it is of another type. */
  berth_code (*find)(const berth_host* host, berth_str key,
                     void (*destroy)(void* object) BERTH_NOEXCEPT, void** object) BERTH_NOEXCEPT;
  /* Gives an object to the host. Returns SUCCESS; BAD_ARGUMENT, and does not take the object: the
   * library has an object of this key, `key` is empty, or `object` or `destroy` is NULL. */
  berth_code (*add)(const berth_host* host, berth_str key, void* object,
                    void (*destroy)(void* object) BERTH_NOEXCEPT) BERTH_NOEXCEPT;
} berth_shared;

/* Requests to the API server. A request that returned SUCCESS is answered exactly once, under
 * [event].
 * Threading: [any].
 * Errors:    CONFLICT when 65,536 requests of the instance are not answered yet, or 65,536 of its
 *            events and bindings wait for the scheduling thread. BAD_ARGUMENT for a `path` or a
 *            `body` of more than 3 MiB. */
typedef struct berth_api_request {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  berth_str verb; /* GET, POST, PUT, PATCH or DELETE */
  berth_str path; /* with its query: "/api/v1/nodes?limit=500" */
  /* The media type of `body`. Empty: application/json, and application/merge-patch+json for
   * PATCH. */
  berth_str content_type;
  berth_str body;     /* may be empty */
  int64_t timeout_ns; /* 0: the host's default */
} berth_api_request;

enum {
  /* `evict`: the pod had a place only in the memory of this scheduler, and lost it. Nothing was
   * sent to the API server. */
  BERTH_API_RESULT_IN_MEMORY = 1
};
/* The answer to a request.
 * Lifetime: until the answer callback returns. */
typedef struct berth_api_result {
  uint32_t struct_size;
  /* SUCCESS; NOT_FOUND; CONFLICT; BAD_ARGUMENT: the server rejected the content of the request;
   * CANCELLED: the timeout expired, or the instance or the host ends; ERROR otherwise. */
  berth_code code;
  uint32_t http_status;     /* 0: there was no response, or no single request (`evict`) */
  uint32_t flags;           /* BERTH_API_RESULT_* */
  int64_t retry_after_ns;   /* from the header Retry-After; 0: the server did not send it */
  berth_str body;           /* as received, also of an error; empty: none */
  berth_str error;          /* what failed; empty for SUCCESS */
  const berth_value* value; /* the decoded body; NULL when it is not JSON */
} berth_api_result;
typedef void (*berth_api_answer)(void* to, const berth_api_result* result) BERTH_NOEXCEPT;

typedef struct berth_status_patch {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const berth_pod* pod;
  berth_str patch; /* a strategic merge patch of the pod, as JSON */
} berth_status_patch;

typedef struct berth_eviction {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const berth_pod* pod;
  berth_str message;
} berth_eviction;

typedef struct berth_api_event {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const berth_tagged* regarding;
  const berth_tagged* related; /* NULL: none */
  berth_str type;              /* "Normal" or "Warning" */
  berth_str reason;            /* not empty */
  berth_str action;            /* not empty */
  berth_str note;
} berth_api_event;

#define BERTH_SERVICE_API "berth.api/1"
typedef struct berth_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Sends POST pods/binding. Returns PENDING, which Bind then returns too; the host completes
   * `done` with the result. CONFLICT: `done` is not an open promise of Bind of this instance. */
  berth_code (*bind)(const berth_host* host, const berth_binding* binding,
                     berth_done done) BERTH_NOEXCEPT;
  /* Patches the pod's status. BAD_ARGUMENT: `patch` is not a JSON object, its `metadata` is not an
   * object, or a flag is unknown. */
  berth_code (*patch_status)(const berth_host* host, const berth_status_patch* patch,
                             berth_api_answer answer, void* to) BERTH_NOEXCEPT;
  /* Evicts a pod, as preemption does. A pod that waits on Permit, or whose PreBind can still be
   * cancelled, returns to the queue. Any other pod gets the condition DisruptionTarget with reason
   * PreemptionByScheduler and `message`, and is deleted. SUCCESS if the pod no longer exists. The
   * host begins after the current call into the plugin. */
  berth_code (*evict)(const berth_host* host, const berth_eviction* eviction,
                      berth_api_answer answer, void* to) BERTH_NOEXCEPT;
  /* Creates an events.k8s.io/v1 Event. */
  berth_code (*event)(const berth_host* host, const berth_api_event* event) BERTH_NOEXCEPT;
  /* Sends any request. BAD_ARGUMENT: an unknown verb, or a path that does not begin with "/". */
  berth_code (*request)(const berth_host* host, const berth_api_request* request,
                        berth_api_answer answer, void* to) BERTH_NOEXCEPT;
} berth_api;

/* How a call ended: the code that it would have returned, and the reasons that it would have added
 * to its berth_status. */
typedef struct berth_outcome {
  uint32_t struct_size;
  berth_code code;
  berth_array reasons; /* berth_str; may be empty */
} berth_outcome;

/* Completes a [bind] call that returned PENDING: exactly once, with the outcome of the call. A
 * promise that is completed already, or that the host no longer waits for, is ignored. An id that
 * the host never passed to the instance is a fault of the plugin. An outcome that is smaller than
 * its first version, or whose array is not valid, counts as BUG.
 * Threading: [any]. */
#define BERTH_SERVICE_COMPLETION "berth.completion/1"
typedef struct berth_completion {
  uint32_t struct_size;
  uint32_t reserved;
  void (*complete)(berth_done done, const berth_outcome* outcome) BERTH_NOEXCEPT;
} berth_completion;

/* A header of a request or of an answer. */
typedef struct berth_http_header {
  berth_str name;
  berth_str value;
} berth_http_header;

typedef struct berth_http_request {
  uint32_t struct_size;
  uint32_t flags;   /* 0 */
  berth_str method; /* GET, HEAD, POST, PUT, PATCH or DELETE */
  /* Begins with http:// or https://; without a user, a password and a fragment. */
  berth_str url;
  /* berth_http_header; may be empty. The host adds Host and Content-Length, and User-Agent unless
   * it is given. It logs neither these headers nor the body. */
  berth_array headers;
  berth_str body; /* may be empty */
  /* A file of certificates in PEM. One of them must have signed the certificate of the server.
   * Empty: the CAs of the system are trusted. The host reads this file and the next two again, at
   * most once a minute. */
  berth_str ca_file;
  berth_str cert_file;   /* the client certificate in PEM; empty: none */
  berth_str key_file;    /* its key in PEM */
  berth_str server_name; /* which the certificate must have; empty: the host of the URL */
  /* From the call to the end of the answer. 0: ten seconds; at most one hour. */
  int64_t timeout_ns;
  uint64_t max_body_bytes; /* of the answer; 0: 1 MiB; at most 64 MiB */
} berth_http_request;

/* How a request ended. Only ANSWERED has an HTTP status, headers and a body. */
enum {
  BERTH_HTTP_ANSWERED = 0,    /* the server answered, with whatever status */
  BERTH_HTTP_TIMEOUT = 1,     /* no complete answer within timeout_ns */
  BERTH_HTTP_UNREACHABLE = 2, /* no connection: the name is unknown, or nothing listens */
  BERTH_HTTP_TLS = 3,         /* the certificate cannot be verified, or a file not be read */
  BERTH_HTTP_TOO_LARGE = 4,   /* the body exceeds max_body_bytes, or the head 64 KiB */
  BERTH_HTTP_LOST = 5,        /* the connection ended before the answer was complete */
  BERTH_HTTP_MALFORMED = 6,   /* the answer is not HTTP/1.1 */
  BERTH_HTTP_CANCELLED = 7,   /* the instance or the host ends */
};

/* The end of a request.
 * Lifetime: until the answer callback returns. */
typedef struct berth_http_result {
  uint32_t struct_size;
  uint32_t end;         /* BERTH_HTTP_*; a later version may add more: none of them is an answer */
  uint32_t http_status; /* 0: there was no answer */
  uint32_t reserved;
  berth_array headers; /* berth_http_header, in the order of the answer */
  berth_str body;
  berth_str error; /* why there was no answer; empty for ANSWERED */
} berth_http_result;
typedef void (*berth_http_answer)(void* to, const berth_http_result* result) BERTH_NOEXCEPT;

/* HTTP requests to any server. They do not block: the host's threads do the work.
 * Called:    `answer` is called exactly once for each request that returned SUCCESS, under [event],
 *            never within the call of `request`. It may call `activate`.
 * Threading: [any].
 * Returns:   SUCCESS; BAD_ARGUMENT: no `answer`, an unknown method, a URL or a header that is not
 *            valid, one of the headers that the host writes, a certificate without a key or a key
 *            without one, or a limit beyond those of berth_http_request; CANCELLED: the instance
 *            ends; CONFLICT: 65,536 requests of the instance are not answered yet, they would have
 *            more than 64 MiB together, or requests to 16 other servers are under way.
 * Must not:  be used to ask the API server, for which berth_api has the credentials.
 * Lifetime:  the host copies the request. When the instance ends, by a reload or by the end of the
 *            host, its requests are cancelled, and every answer is called before `quiesce`.
 * An instance has up to 32 connections to each of up to 16 servers, shared with no other instance.
 * They are kept for a minute; further requests wait for one. One thread of the host looks up names
 * and reads certificates for all plugins: a name server that does not answer delays the first
 * connections of others. A request is sent once: again only if no byte of it had left. No redirect
 * is followed, no proxy is used, no cookie is kept.
 * A simulation or a replay sends its requests too. It waits for the answer in real time, as for a
 * hold of berth_timer; timeout_ns is real time, and virtual time stands still meanwhile. */
#define BERTH_SERVICE_HTTP "berth.http/1"
typedef struct berth_http {
  uint32_t struct_size;
  uint32_t reserved;
  berth_code (*request)(const berth_host* host, const berth_http_request* request,
                        berth_http_answer answer, void* to) BERTH_NOEXCEPT;
} berth_http;

/* ---- What a library exports ------------------------------------------------------------------ */

/* The description of a plugin, which the host reads before it creates an instance. Constant data;
 * lists end with NULL. */
enum { BERTH_PLUGIN_BLOCKS_IN_BIND = 1 };
typedef struct berth_plugin_info {
  uint32_t struct_size;
  uint32_t flags;              /* BERTH_PLUGIN_* */
  const char* name;            /* "NodeResourcesFit", "acme.RackPower": what a profile names */
  const char* version;         /* "1.4.0" */
  const char* about;           /* one sentence */
  const char* const* points;   /* ids of extension points; unknown ones are ignored */
  const char* const* services; /* ids of services that the plugin requires */
  /* The kinds that the host keeps for berth.objects/1: "v1/Namespace". Several versions, in the
   * order of preference, are separated by "|": "resource.k8s.io/v1|v1beta1/ResourceClaim". v1/Pod
   * and v1/Node are refused: pods and nodes come with berth_block and berth.changes/1. */
  const char* const* kinds;
  /* Parts of pods and nodes to keep: "Pod:/spec/hostIPC". "Pod:" and "Node:" declare that the
   * plugin reads or patches whole pods or nodes through berth.api/1: a cluster without an API
   * server keeps their texts for it. Do not read them as a berth_field. */
  const char* const* fields;
  /* fields of the pod that the plugin handles: "/spec/tolerations" */
  const char* const* pod_fields;
  const char* args_schema; /* JSON Schema of the arguments; "{}" or NULL: no arguments */
} berth_plugin_info;

/* One instance, allocated and freed by the plugin. The host reads the arrays once, after
 * create(). */
struct berth_plugin {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  void* self;
  berth_array columns; /* berth_column_request */
  berth_array slots;   /* berth_slot */
  berth_array reasons; /* berth_str: the reason table's constant part, at most 64 */
  /* Returns the struct of an extension point, or NULL. Must return one for every id in
   * berth_plugin_info.points. Threading: [load]. */
  const void* (*get_point)(const struct berth_plugin* plugin, const char* id)BERTH_NOEXCEPT;
  /* Stops threads and timers. Afterwards the plugin must not call the host except from destroy().
   * NULL: the plugin has no threads or timers. Called once, when no call into the instance is in
   * progress. Threading: [load]. */
  void (*quiesce)(struct berth_plugin* plugin) BERTH_NOEXCEPT;
  /* Releases what the instance retained and frees it. Threading: [load]. */
  void (*destroy)(struct berth_plugin* plugin) BERTH_NOEXCEPT;
};

/* A version of Kubernetes as a number; a later version is larger. */
#define BERTH_KUBE_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

/* What create() creates an instance for.
 * Lifetime:  until create() returns. */
typedef struct berth_instance_request {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  berth_str name; /* berth_plugin_info.name */
  berth_str profile;
  const berth_value* args; /* NULL: no arguments */
  /* berth_str: the ids of berth_plugin_info.points whose functions the host calls: those of the
   * points that the profile enables for this plugin, of EnqueueExtensions, Entity, AttemptFailed,
   * Changes and HandOver. If a point has several revisions, only the one that the host uses. */
  berth_array points;
  /* How long a call of the plugin may take, as the profile sets it for this plugin. 0: the profile
   * does not set it, and the host's own deadlines apply. */
  int64_t deadline_ns;
  /* The version of Kubernetes whose kube-scheduler the host decides as: BERTH_KUBE_VERSION(1, 37).
   * Where two versions decide differently, the plugin decides as this one. 0: the newest version
   * that the plugin knows. */
  uint32_t emulated_version;
  uint32_t reserved;
} berth_instance_request;

enum { BERTH_BUILD_ASSERTS = 1, BERTH_BUILD_SANITIZED = 2 };
typedef struct berth_entry {
  uint32_t magic; /* BERTH_MAGIC */
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;      /* of the header that the plugin was built with */
  uint16_t min_host_minor; /* the oldest supported host; 0 unless the plugin uses something newer */
  uint16_t pointer_bits;   /* 64 */
  uint64_t build_flags;
  uint64_t n_plugins;
  const berth_plugin_info* const* plugins; /* [n_plugins] */
  /* `init` is called once per library before the first create(), `deinit` after the last destroy().
   * NULL: nothing to do. `host` is not valid after init() returns. If init() returns another code
   * than SUCCESS, the library is rejected. Threading: [load]. */
  berth_code (*init)(const berth_host* host, berth_status* status) BERTH_NOEXCEPT;
  void (*deinit)(void) BERTH_NOEXCEPT;
  /* Creates an instance. Returns SUCCESS and sets *out; BAD_ARGUMENT, after add_argument_error for
   * each wrong argument; or ERROR. Threading: [load]. */
  berth_code (*create)(const berth_host* host, const berth_instance_request* request,
                       berth_plugin** out, berth_status* status) BERTH_NOEXCEPT;
  uint64_t abi_draft; /* BERTH_ABI_DRAFT of the header that the plugin was built with */
} berth_entry;

/* The only symbol that a library exports. */
extern BERTH_EXPORT const berth_entry berth_entry_v1;

/* The ELF note: section ".note.berth", name "Berth", type 1, descriptor: JSON text
 *   {"abi":[1,0],"minHostMinor":0,"plugins":[
 *     {"name":"...","version":"...","points":["berth.filter/1"]}]}
 * It states the same facts as the entry; the host compares the two. */
#define BERTH_NOTE_SECTION ".note.berth"
#define BERTH_NOTE_NAME "Berth"
#define BERTH_NOTE_TYPE 1u
/* Writes the note from a string literal. Use it once per library, at file scope. The descriptor is
 * padded with zero bytes to a multiple of four; readers remove the padding. */
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
