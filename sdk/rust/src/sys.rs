//! The declarations of <berth/abi.h>, version 1.0. Written by sdk/abi/update.py: do not
//! edit this file. The comments of <berth/abi.h> are the contract of everything that is declared
//! here.
//!
//! A name that is a keyword of Rust ends with an underscore. Every function pointer is an `Option`,
//! because NULL is a value of every pointer in C. `ZERO` has all bytes zero; a struct that may grow
//! also has `NEW`, which is `ZERO` with its `struct_size`: write
//! `berth_filter { filter: Some(filter), ..berth_filter::NEW }`.
//!
//! What minor version n of the header added is deprecated unless the feature `host_n` of this crate
//! is on: the compiler warns of its use. It does not check that the plugin tests `has!` before.
#![allow(missing_docs, non_camel_case_types, deprecated)]

use std::os::raw::{c_char, c_void};

pub type berth_id = u32;
pub type berth_code = i32;
pub type berth_put_rows = Option<unsafe extern "C" fn(*mut c_void, *const u32, u64)>;
pub type berth_put_text = Option<unsafe extern "C" fn(*mut c_void, berth_str)>;
pub type berth_api_answer = Option<unsafe extern "C" fn(*mut c_void, *const berth_api_result)>;
pub type berth_http_answer = Option<unsafe extern "C" fn(*mut c_void, *const berth_http_result)>;

pub const BERTH_ABI_MAJOR: u16 = 1;
pub const BERTH_ABI_MINOR: u16 = 0;
pub const BERTH_ABI_DRAFT: u64 = 0x117dfba2051938d2;
pub const BERTH_MAGIC: u32 = 0x31485442;
pub const BERTH_ID_NONE: u32 = 0;
pub const BERTH_OWN_PARTS: u32 = 6;
pub const BERTH_SORT_KEY_SIZE: u32 = 32;
pub const BERTH_SCORE_MAX: u32 = 100;
pub const BERTH_NOTE_TYPE: u32 = 1;
pub const BERTH_POINT_PRE_ENQUEUE: &str = "berth.pre_enqueue/1";
pub const BERTH_POINT_ENQUEUE_EXTENSIONS: &str = "berth.enqueue_extensions/1";
pub const BERTH_POINT_QUEUE_SORT: &str = "berth.queue_sort/1";
pub const BERTH_POINT_QUEUE_SORT_2: &str = "berth.queue_sort/2";
pub const BERTH_POINT_ENTITY: &str = "berth.entity/1";
pub const BERTH_POINT_PRE_FILTER: &str = "berth.pre_filter/1";
pub const BERTH_POINT_FILTER: &str = "berth.filter/1";
pub const BERTH_POINT_POST_FILTER: &str = "berth.post_filter/1";
pub const BERTH_POINT_PRE_SCORE: &str = "berth.pre_score/1";
pub const BERTH_POINT_SCORE: &str = "berth.score/1";
pub const BERTH_POINT_RESERVE: &str = "berth.reserve/1";
pub const BERTH_POINT_PERMIT: &str = "berth.permit/1";
pub const BERTH_POINT_PRE_BIND: &str = "berth.pre_bind/1";
pub const BERTH_POINT_BIND: &str = "berth.bind/1";
pub const BERTH_POINT_POST_BIND: &str = "berth.post_bind/1";
pub const BERTH_POINT_ATTEMPT_FAILED: &str = "berth.attempt_failed/1";
pub const BERTH_POINT_CHANGES: &str = "berth.changes/1";
pub const BERTH_POINT_HAND_OVER: &str = "berth.hand_over/1";
pub const BERTH_SERVICE_LOG: &str = "berth.log/1";
pub const BERTH_SERVICE_STRINGS: &str = "berth.strings/1";
pub const BERTH_SERVICE_REFS: &str = "berth.refs/1";
pub const BERTH_SERVICE_COLUMNS: &str = "berth.columns/1";
pub const BERTH_SERVICE_VALUES: &str = "berth.values/1";
pub const BERTH_SERVICE_SELECTORS: &str = "berth.selectors/1";
pub const BERTH_SERVICE_METRICS: &str = "berth.metrics/1";
pub const BERTH_SERVICE_OBJECTS: &str = "berth.objects/1";
pub const BERTH_SERVICE_NODES: &str = "berth.nodes/1";
pub const BERTH_SERVICE_WHATIF: &str = "berth.whatif/1";
pub const BERTH_SERVICE_NOMINATOR: &str = "berth.nominator/1";
pub const BERTH_SERVICE_ACTIVATE: &str = "berth.activate/1";
pub const BERTH_SERVICE_WAITING: &str = "berth.waiting/1";
pub const BERTH_SERVICE_TIMER: &str = "berth.timer/1";
pub const BERTH_SERVICE_RANDOM: &str = "berth.random/1";
pub const BERTH_SERVICE_SHARED: &str = "berth.shared/1";
pub const BERTH_SERVICE_API: &str = "berth.api/1";
pub const BERTH_SERVICE_COMPLETION: &str = "berth.completion/1";
pub const BERTH_SERVICE_HTTP: &str = "berth.http/1";
pub const BERTH_NOTE_SECTION: &str = ".note.berth";
pub const BERTH_NOTE_NAME: &str = "Berth";

pub const BERTH_SUCCESS: berth_code = 0;
pub const BERTH_ERROR: berth_code = 1;
pub const BERTH_UNSCHEDULABLE: berth_code = 2;
pub const BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE: berth_code = 3;
pub const BERTH_WAIT: berth_code = 4;
pub const BERTH_SKIP: berth_code = 5;
pub const BERTH_PENDING: berth_code = 6;
pub const BERTH_CANCELLED: berth_code = 32;
pub const BERTH_UNSUPPORTED: berth_code = 33;
pub const BERTH_NOT_FOUND: berth_code = 34;
pub const BERTH_BAD_ARGUMENT: berth_code = 35;
pub const BERTH_CONFLICT: berth_code = 36;
pub const BERTH_BUG: berth_code = 37;

pub const BERTH_OP_IN: u32 = 1;
pub const BERTH_OP_NOT_IN: u32 = 2;
pub const BERTH_OP_EXISTS: u32 = 3;
pub const BERTH_OP_DOES_NOT_EXIST: u32 = 4;
pub const BERTH_OP_GT: u32 = 5;
pub const BERTH_OP_LT: u32 = 6;

pub const BERTH_SELECTOR_INVALID: u32 = 1;

pub const BERTH_EFFECT_NO_SCHEDULE: u32 = 1;
pub const BERTH_EFFECT_PREFER_NO_SCHEDULE: u32 = 2;
pub const BERTH_EFFECT_NO_EXECUTE: u32 = 3;

pub const BERTH_TOLERATION_EQUAL: u32 = 1;
pub const BERTH_TOLERATION_EXISTS: u32 = 2;
pub const BERTH_TOLERATION_GT: u32 = 3;
pub const BERTH_TOLERATION_LT: u32 = 4;

pub const BERTH_DO_NOT_SCHEDULE: u32 = 1;
pub const BERTH_SCHEDULE_ANYWAY: u32 = 2;

pub const BERTH_POLICY_HONOR: u32 = 1;
pub const BERTH_POLICY_IGNORE: u32 = 2;

pub const BERTH_PRESENT_CPU: u32 = 1;
pub const BERTH_PRESENT_MEMORY: u32 = 2;
pub const BERTH_PRESENT_EPHEMERAL_STORAGE: u32 = 4;
pub const BERTH_PRESENT_PODS: u32 = 8;

pub const BERTH_PROTOCOL_TCP: u32 = 1;
pub const BERTH_PROTOCOL_UDP: u32 = 2;
pub const BERTH_PROTOCOL_SCTP: u32 = 3;

pub const BERTH_CONTAINER_SIDECAR: u32 = 1;
pub const BERTH_CONTAINER_RESTARTS_ALL: u32 = 2;

pub const BERTH_VOLUME_OTHER: u32 = 1;
pub const BERTH_VOLUME_CLAIM: u32 = 2;
pub const BERTH_VOLUME_EPHEMERAL: u32 = 3;
pub const BERTH_VOLUME_GCE_DISK: u32 = 4;
pub const BERTH_VOLUME_AWS_DISK: u32 = 5;
pub const BERTH_VOLUME_ISCSI: u32 = 6;
pub const BERTH_VOLUME_RBD: u32 = 7;
pub const BERTH_VOLUME_CSI: u32 = 8;
pub const BERTH_VOLUME_AZURE_DISK: u32 = 9;
pub const BERTH_VOLUME_AZURE_FILE: u32 = 10;
pub const BERTH_VOLUME_CINDER: u32 = 11;
pub const BERTH_VOLUME_VSPHERE: u32 = 12;
pub const BERTH_VOLUME_PORTWORX: u32 = 13;
pub const BERTH_VOLUME_HOST_PATH: u32 = 14;
pub const BERTH_VOLUME_NFS: u32 = 15;
pub const BERTH_VOLUME_IMAGE: u32 = 16;

pub const BERTH_VOLUME_FLAG_READ_ONLY: u32 = 1;

pub const BERTH_CLAIM_NOT_NEEDED: u32 = 1;

pub const BERTH_CONDITION_TRUE: u32 = 1;
pub const BERTH_CONDITION_FALSE: u32 = 2;
pub const BERTH_CONDITION_UNKNOWN: u32 = 3;

pub const BERTH_PART_IDENTITY: u32 = 0;
pub const BERTH_PART_TIMES: u32 = 1;
pub const BERTH_PART_NODE_NAME: u32 = 2;
pub const BERTH_PART_NOMINATION: u32 = 3;
pub const BERTH_PART_STATUS: u32 = 4;
pub const BERTH_PART_VOLUMES: u32 = 5;
pub const BERTH_PART_NAMESPACE: u32 = 6;
pub const BERTH_PART_LABELS: u32 = 7;
pub const BERTH_PART_ANNOTATIONS: u32 = 8;
pub const BERTH_PART_OWNERS: u32 = 9;
pub const BERTH_PART_PRIORITY: u32 = 10;
pub const BERTH_PART_SCHEDULER_NAME: u32 = 11;
pub const BERTH_PART_NODE_SELECTION: u32 = 12;
pub const BERTH_PART_POD_AFFINITY: u32 = 13;
pub const BERTH_PART_TOLERATIONS: u32 = 14;
pub const BERTH_PART_SPREAD: u32 = 15;
pub const BERTH_PART_REQUESTS: u32 = 16;
pub const BERTH_PART_CONTAINERS: u32 = 17;
pub const BERTH_PART_PORTS: u32 = 18;
pub const BERTH_PART_IMAGES: u32 = 19;
pub const BERTH_PART_GATES: u32 = 20;
pub const BERTH_PART_CLAIMS: u32 = 21;
pub const BERTH_PART_GROUP: u32 = 22;
pub const BERTH_PART_RUNTIME: u32 = 23;
pub const BERTH_PART_FIELDS: u32 = 24;
pub const BERTH_PART_COUNT: u32 = 25;

pub const BERTH_PHASE_PENDING: u32 = 1;
pub const BERTH_PHASE_RUNNING: u32 = 2;
pub const BERTH_PHASE_SUCCEEDED: u32 = 3;
pub const BERTH_PHASE_FAILED: u32 = 4;
pub const BERTH_PHASE_UNKNOWN: u32 = 5;

pub const BERTH_PREEMPT_LOWER_PRIORITY: u32 = 1;
pub const BERTH_PREEMPT_NEVER: u32 = 2;

pub const BERTH_RESTART_ALWAYS: u32 = 1;
pub const BERTH_RESTART_ON_FAILURE: u32 = 2;
pub const BERTH_RESTART_NEVER: u32 = 3;

pub const BERTH_POD_HAS_PRIORITY: u32 = 1;
pub const BERTH_POD_HOST_NETWORK: u32 = 2;
pub const BERTH_POD_HOST_USERS_FALSE: u32 = 4;
pub const BERTH_POD_HAS_POD_LEVEL_REQUESTS: u32 = 8;
pub const BERTH_POD_HAS_BIND_MOUNT_OPTIONS: u32 = 16;

pub const BERTH_KIND_POD: u32 = 1;
pub const BERTH_KIND_NODE: u32 = 2;
pub const BERTH_KIND_OBJECT: u32 = 3;

pub const BERTH_QUEUED_POD: u32 = 1;
pub const BERTH_QUEUED_GROUP: u32 = 2;
pub const BERTH_QUEUED_MEMBER: u32 = 3;

pub const BERTH_TYPE_I64: u32 = 1;
pub const BERTH_TYPE_U32: u32 = 2;
pub const BERTH_TYPE_ID: u32 = 3;
pub const BERTH_TYPE_U8: u32 = 4;
pub const BERTH_TYPE_ARRAY: u32 = 5;
pub const BERTH_TYPE_OBJECT: u32 = 6;
pub const BERTH_TYPE_STR: u32 = 7;

pub const BERTH_COLUMN_OPTIONAL: u32 = 1;

pub const BERTH_CYCLE_WHAT_IF: u32 = 1;
pub const BERTH_CYCLE_NOMINATED: u32 = 2;

pub const BERTH_DEPENDS_NODE: u32 = 1;
pub const BERTH_DEPENDS_NODE_PODS: u32 = 2;
pub const BERTH_DEPENDS_OTHER: u32 = 4;

pub const BERTH_STALE_NONE: u32 = 0;
pub const BERTH_STALE_ROWS: u32 = 1;
pub const BERTH_STALE_ALL: u32 = 2;

pub const BERTH_HINT_SKIP: u32 = 0;
pub const BERTH_HINT_QUEUE: u32 = 1;

pub const BERTH_RESOURCE_POD_ANY: u32 = 1;
pub const BERTH_RESOURCE_NODE: u32 = 2;
pub const BERTH_RESOURCE_PV: u32 = 3;
pub const BERTH_RESOURCE_PVC: u32 = 4;
pub const BERTH_RESOURCE_CSI_NODE: u32 = 5;
pub const BERTH_RESOURCE_CSI_DRIVER: u32 = 6;
pub const BERTH_RESOURCE_VOLUME_ATTACHMENT: u32 = 7;
pub const BERTH_RESOURCE_CSI_STORAGE_CAPACITY: u32 = 8;
pub const BERTH_RESOURCE_STORAGE_CLASS: u32 = 9;
pub const BERTH_RESOURCE_RESOURCE_CLAIM: u32 = 10;
pub const BERTH_RESOURCE_RESOURCE_SLICE: u32 = 11;
pub const BERTH_RESOURCE_DEVICE_CLASS: u32 = 12;
pub const BERTH_RESOURCE_POD_GROUP: u32 = 13;
pub const BERTH_RESOURCE_CUSTOM: u32 = 14;
pub const BERTH_RESOURCE_WILDCARD: u32 = 15;
pub const BERTH_RESOURCE_ASSIGNED_POD: u32 = 16;
pub const BERTH_RESOURCE_UNSCHEDULED_POD: u32 = 17;
pub const BERTH_RESOURCE_TARGET_POD: u32 = 18;

pub const BERTH_ACTION_ADD: u32 = 1;
pub const BERTH_ACTION_DELETE: u32 = 2;
pub const BERTH_ACTION_UPDATE_NODE_ALLOCATABLE: u32 = 4;
pub const BERTH_ACTION_UPDATE_NODE_LABEL: u32 = 8;
pub const BERTH_ACTION_UPDATE_NODE_TAINT: u32 = 16;
pub const BERTH_ACTION_UPDATE_NODE_CONDITION: u32 = 32;
pub const BERTH_ACTION_UPDATE_NODE_ANNOTATION: u32 = 64;
pub const BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE: u32 = 128;
pub const BERTH_ACTION_UPDATE_POD_LABEL: u32 = 256;
pub const BERTH_ACTION_UPDATE_POD_SCALE_DOWN: u32 = 512;
pub const BERTH_ACTION_UPDATE_POD_TOLERATION: u32 = 1024;
pub const BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED: u32 = 2048;
pub const BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM: u32 = 4096;
pub const BERTH_ACTION_UPDATE: u32 = 2147483644;
pub const BERTH_ACTION_ALL: u32 = 2147483647;

pub const BERTH_FILTER_SERIAL: u32 = 1;
pub const BERTH_FILTER_WHOLE: u32 = 2;

pub const BERTH_NOMINATE_KEEP: u32 = 0;
pub const BERTH_NOMINATE_OVERRIDE: u32 = 1;

pub const BERTH_NORMALIZE_NONE: u32 = 0;
pub const BERTH_NORMALIZE_MAX: u32 = 1;
pub const BERTH_NORMALIZE_MAX_REVERSED: u32 = 2;
pub const BERTH_NORMALIZE_MIN_MAX: u32 = 3;
pub const BERTH_NORMALIZE_CUSTOM: u32 = 4;
pub const BERTH_NORMALIZE_MIN_MAX_FLOAT: u32 = 5;

pub const BERTH_SCORE_SERIAL: u32 = 1;

pub const BERTH_PRE_BIND_PARALLEL: u32 = 1;

pub const BERTH_FAILED_PARKED: u32 = 1;
pub const BERTH_FAILED_FINAL: u32 = 2;

pub const BERTH_CHANGE_POD_ADDED: u32 = 1;
pub const BERTH_CHANGE_POD_CHANGED: u32 = 2;
pub const BERTH_CHANGE_POD_REMOVED: u32 = 3;
pub const BERTH_CHANGE_NODE_ADDED: u32 = 4;
pub const BERTH_CHANGE_NODE_CHANGED: u32 = 5;
pub const BERTH_CHANGE_NODE_REMOVED: u32 = 6;
pub const BERTH_CHANGE_SYNCED: u32 = 7;
pub const BERTH_CHANGE_PENDING_ADDED: u32 = 8;
pub const BERTH_CHANGE_PENDING_CHANGED: u32 = 9;
pub const BERTH_CHANGE_PENDING_REMOVED: u32 = 10;

pub const BERTH_CHANGE_FLAG_ASSUMED: u32 = 1;
pub const BERTH_CHANGE_FLAG_FORGOTTEN: u32 = 2;
pub const BERTH_CHANGE_FLAG_REPLAY: u32 = 4;

pub const BERTH_CHANGES_FLAG_PENDING: u32 = 1;

pub const BERTH_HAND_OVER_MAX_BYTES: u32 = 67108864;

pub const BERTH_LOG_TRACE: u32 = 0;
pub const BERTH_LOG_DEBUG: u32 = 1;
pub const BERTH_LOG_INFO: u32 = 2;
pub const BERTH_LOG_WARN: u32 = 3;
pub const BERTH_LOG_ERROR: u32 = 4;
pub const BERTH_LOG_OFF: u32 = 5;

pub const BERTH_VALUE_NULL: u32 = 0;
pub const BERTH_VALUE_BOOL: u32 = 1;
pub const BERTH_VALUE_INT: u32 = 2;
pub const BERTH_VALUE_FLOAT: u32 = 3;
pub const BERTH_VALUE_STRING: u32 = 4;
pub const BERTH_VALUE_ARRAY: u32 = 5;
pub const BERTH_VALUE_OBJECT: u32 = 6;

pub const BERTH_METRIC_COUNTER: u32 = 1;
pub const BERTH_METRIC_GAUGE: u32 = 2;
pub const BERTH_METRIC_HISTOGRAM: u32 = 3;

pub const BERTH_OBJECT_FLAG_REPLAY: u32 = 1;

pub const BERTH_WHATIF_APART: u32 = 1;
pub const BERTH_WHATIF_TOGETHER: u32 = 2;

pub const BERTH_API_RESULT_IN_MEMORY: u32 = 1;

pub const BERTH_HTTP_ANSWERED: u32 = 0;
pub const BERTH_HTTP_TIMEOUT: u32 = 1;
pub const BERTH_HTTP_UNREACHABLE: u32 = 2;
pub const BERTH_HTTP_TLS: u32 = 3;
pub const BERTH_HTTP_TOO_LARGE: u32 = 4;
pub const BERTH_HTTP_LOST: u32 = 5;
pub const BERTH_HTTP_MALFORMED: u32 = 6;
pub const BERTH_HTTP_CANCELLED: u32 = 7;

pub const BERTH_PLUGIN_BLOCKS_IN_BIND: u32 = 1;

pub const BERTH_BUILD_ASSERTS: u32 = 1;
pub const BERTH_BUILD_SANITIZED: u32 = 2;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_str {
    pub ptr: *const c_char,
    pub len: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_id_pair {
    pub key: berth_id,
    pub value: berth_id,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_str_pair {
    pub key: berth_str,
    pub value: berth_str,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_quantity {
    pub name: berth_id,
    pub reserved: u32,
    pub value: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_array {
    pub data: *const c_void,
    pub count: u32,
    pub stride: u32,
}

#[repr(C)]
pub struct berth_status {
    pub struct_size: u32,
    pub reserved: u32,
    pub impl_: *mut c_void,
    pub add_reason: Option<unsafe extern "C" fn(self_: *mut berth_status, text: berth_str)>,
    pub add_argument_error: Option<unsafe extern "C" fn(self_: *mut berth_status, path: berth_str, text: berth_str)>,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_value {
    pub reader: *const berth_values,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_done {
    pub host: *const berth_host,
    pub id: u64,
}

#[repr(C)]
pub struct berth_owner {
    pub name: berth_str,
    pub uid: berth_str,
    pub api_version: berth_id,
    pub kind: berth_id,
    pub controller: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct berth_field {
    pub path: berth_str,
    pub value: *const berth_value,
}

#[repr(C)]
pub struct berth_meta {
    pub struct_size: u32,
    pub ns: berth_id,
    pub name: berth_str,
    pub uid: berth_str,
    pub resource_version: berth_str,
    pub generation: i64,
    pub created_ns: i64,
    pub deleted_ns: i64,
    pub labels: berth_array,
    pub annotations: berth_array,
    pub owners: berth_array,
    pub fields: berth_array,
}

#[repr(C)]
pub struct berth_requirement {
    pub key: berth_id,
    pub op: u32,
    pub values: berth_array,
    pub number: i64,
}

#[repr(C)]
pub struct berth_selector {
    pub struct_size: u32,
    pub flags: u32,
    pub requirements: berth_array,
}

#[repr(C)]
pub struct berth_node_term {
    pub flags: u32,
    pub weight: i32,
    pub expressions: berth_array,
    pub fields: berth_array,
}

#[repr(C)]
pub struct berth_pod_term {
    pub selector: *const berth_selector,
    pub namespace_selector: *const berth_selector,
    pub namespaces: berth_array,
    pub topology_key: berth_id,
    pub weight: i32,
}

#[repr(C)]
pub struct berth_toleration {
    pub key: berth_id,
    pub value: berth_id,
    pub op: u32,
    pub effect: u32,
    pub seconds: i64,
}

#[repr(C)]
pub struct berth_taint {
    pub key: berth_id,
    pub value: berth_id,
    pub effect: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct berth_spread {
    pub selector: *const berth_selector,
    pub topology_key: berth_id,
    pub max_skew: i32,
    pub min_domains: i32,
    pub when_unsatisfiable: u32,
    pub node_affinity_policy: u32,
    pub node_taints_policy: u32,
}

#[repr(C)]
pub struct berth_resources {
    pub struct_size: u32,
    pub present: u32,
    pub milli_cpu: i64,
    pub memory: i64,
    pub ephemeral_storage: i64,
    pub pods: i64,
    pub scalars: berth_array,
}

#[repr(C)]
pub struct berth_port {
    pub protocol: u32,
    pub container_port: i32,
    pub host_port: i32,
    pub host_ip: berth_id,
}

#[repr(C)]
pub struct berth_container {
    pub name: berth_str,
    pub image: berth_id,
    pub image_normal: berth_id,
    pub flags: u32,
    pub reserved: u32,
    pub requests: *const berth_resources,
    pub limits: *const berth_resources,
    pub ports: berth_array,
}

#[repr(C)]
pub struct berth_volume {
    pub name: berth_str,
    pub kind: u32,
    pub flags: u32,
    pub source: berth_str,
    pub pool: berth_str,
    pub hosts: berth_array,
}

#[repr(C)]
pub struct berth_resource_claim {
    pub name: berth_str,
    pub claim_name: berth_str,
    pub template_name: berth_str,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct berth_condition {
    pub type_: berth_id,
    pub reason: berth_id,
    pub status: u32,
    pub reserved: u32,
    pub transition_ns: i64,
}

#[repr(C)]
pub struct berth_affinity {
    pub struct_size: u32,
    pub has_required_node_terms: u32,
    pub required_node_terms: berth_array,
    pub preferred_node_terms: berth_array,
    pub required_pod_terms: berth_array,
    pub preferred_pod_terms: berth_array,
    pub required_pod_anti_terms: berth_array,
    pub preferred_pod_anti_terms: berth_array,
}

#[repr(C)]
pub struct berth_pod {
    pub struct_size: u32,
    pub flags: u32,
    pub meta: *const berth_meta,
    pub scheduler_name: berth_id,
    pub node_name: berth_id,
    pub priority: i32,
    pub preemption_policy: u32,
    pub priority_class: berth_id,
    pub runtime_class: berth_id,
    pub os: berth_id,
    pub restart_policy: u32,
    pub node_selector: berth_array,
    pub affinity: *const berth_affinity,
    pub tolerations: berth_array,
    pub spreads: berth_array,
    pub containers: berth_array,
    pub init_containers: berth_array,
    pub volumes: berth_array,
    pub scheduling_gates: berth_array,
    pub resource_claims: berth_array,
    pub pod_group: berth_str,
    pub request: *const berth_resources,
    pub request_of_containers: *const berth_resources,
    pub accounted: *const berth_resources,
    pub nonzero_milli_cpu: i64,
    pub nonzero_memory: i64,
    pub host_ports: berth_array,
    pub overhead: *const berth_resources,
    pub nominated_node: berth_id,
    pub phase: u32,
    pub started_ns: i64,
    pub conditions: berth_array,
    pub own_part_hashes: berth_array,
    pub part_hashes: berth_array,
}

#[repr(C)]
pub struct berth_image {
    pub names: berth_array,
    pub size: i64,
}

#[repr(C)]
pub struct berth_node {
    pub struct_size: u32,
    pub unschedulable: u32,
    pub meta: *const berth_meta,
    pub name: berth_id,
    pub reserved: u32,
    pub taints: berth_array,
    pub allocatable: *const berth_resources,
    pub capacity: *const berth_resources,
    pub conditions: berth_array,
    pub images: berth_array,
    pub declared_features: berth_array,
}

#[repr(C)]
pub struct berth_object {
    pub struct_size: u32,
    pub kind: berth_id,
    pub meta: *const berth_meta,
    pub value: *const berth_value,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_tagged {
    pub kind: u32,
    pub reserved: u32,
    pub object: *const c_void,
}

#[repr(C)]
pub struct berth_queued {
    pub struct_size: u32,
    pub kind: u32,
    pub pod: *const berth_pod,
    pub group: berth_str,
    pub priority: i32,
    pub attempts: u32,
    pub queued_ns: i64,
    pub first_attempt_ns: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_column {
    pub data: *const c_void,
    pub type_: u32,
    pub stride: u32,
}

#[repr(C)]
pub struct berth_column_request {
    pub struct_size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub type_: u32,
    pub reserved: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_pod_list {
    pub data: *const *const berth_pod,
    pub count: u64,
}

#[repr(C)]
pub struct berth_block {
    pub struct_size: u32,
    pub count: u32,
    pub n_selected: u32,
    pub n_columns: u32,
    pub selected: *const u32,
    pub rows: *const u32,
    pub columns: *const berth_column,
    pub nodes: *const *const berth_node,
    pub pods: *const berth_pod_list,
    pub versions: *const u64,
}

#[repr(C)]
pub struct berth_nodes {
    pub struct_size: u32,
    pub n_blocks: u32,
    pub n_nodes: u64,
    pub impl_: *mut c_void,
    pub block: Option<unsafe extern "C" fn(self_: *const berth_nodes, index: u32) -> *const berth_block>,
}

#[repr(C)]
pub struct berth_cycle {
    pub struct_size: u32,
    pub flags: u32,
    pub id: u64,
    pub pod: *const berth_pod,
    pub slots: *const *mut c_void,
    pub cancel: *const u32,
    pub deadline_ns: i64,
    pub host: *const c_void,
}

#[repr(C)]
pub struct berth_slot {
    pub struct_size: u32,
    pub size: u32,
    pub align: u32,
    pub reserved: u32,
    pub type_id: *const c_char,
    pub construct: Option<unsafe extern "C" fn(at: *mut c_void)>,
    pub clone: Option<unsafe extern "C" fn(to: *mut c_void, from: *const c_void) -> berth_code>,
    pub destroy: Option<unsafe extern "C" fn(at: *mut c_void)>,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct berth_signature {
    pub low: u64,
    pub high: u64,
}

#[repr(C)]
pub struct berth_dependence {
    pub struct_size: u32,
    pub cluster: u32,
    pub pod_parts: u64,
    pub sign: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, signature: *mut berth_signature) -> berth_code>,
    pub changed: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, token: *mut u64, put_rows: berth_put_rows, to: *mut c_void) -> u32>,
}

#[repr(C)]
pub struct berth_pre_enqueue {
    pub struct_size: u32,
    pub flags: u32,
    pub pre_enqueue: Option<unsafe extern "C" fn(self_: *mut c_void, queued: *const berth_queued, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_event_interest {
    pub resource: u32,
    pub actions: u32,
    pub kind: *const c_char,
    pub has_hint: u32,
    pub reserved: u32,
    pub pod_parts: u64,
}

#[repr(C)]
pub struct berth_event {
    pub struct_size: u32,
    pub resource: u32,
    pub actions: u32,
    pub interest: u32,
    pub before: berth_tagged,
    pub after: berth_tagged,
}

#[repr(C)]
pub struct berth_enqueue_extensions {
    pub struct_size: u32,
    pub flags: u32,
    pub interests: berth_array,
    pub hint: Option<unsafe extern "C" fn(self_: *mut c_void, queued: *const berth_queued, event: *const berth_event) -> u32>,
}

#[repr(C)]
pub struct berth_queue_sort {
    pub struct_size: u32,
    pub flags: u32,
    pub key: Option<unsafe extern "C" fn(self_: *mut c_void, queued: *const berth_queued, out: *mut u8)>,
    pub less: Option<unsafe extern "C" fn(self_: *mut c_void, a: *const berth_queued, b: *const berth_queued) -> i32>,
}

#[repr(C)]
pub struct berth_lane {
    pub lane: u64,
    pub count: u64,
    pub first: *const berth_queued,
}

#[repr(C)]
pub struct berth_queue_sort_2 {
    pub struct_size: u32,
    pub flags: u32,
    pub key: Option<unsafe extern "C" fn(self_: *mut c_void, queued: *const berth_queued, out: *mut u8)>,
    pub less: Option<unsafe extern "C" fn(self_: *mut c_void, a: *const berth_queued, b: *const berth_queued) -> i32>,
    pub lane: Option<unsafe extern "C" fn(self_: *mut c_void, queued: *const berth_queued) -> u64>,
    pub next: Option<unsafe extern "C" fn(self_: *mut c_void, lanes: berth_array) -> u32>,
}

#[repr(C)]
pub struct berth_entity {
    pub struct_size: u32,
    pub flags: u32,
    pub entity: Option<unsafe extern "C" fn(self_: *mut c_void, pod: *const berth_pod, put: berth_put_text, to: *mut c_void)>,
}

#[repr(C)]
pub struct berth_pre_filter_out {
    pub struct_size: u32,
    pub reserved: u32,
    pub impl_: *mut c_void,
    pub only_nodes: Option<unsafe extern "C" fn(self_: *mut berth_pre_filter_out, names: *const berth_str, count: u64)>,
    pub add_reason: Option<unsafe extern "C" fn(self_: *mut berth_pre_filter_out, text: berth_str) -> i32>,
}

#[repr(C)]
pub struct berth_pre_filter {
    pub struct_size: u32,
    pub flags: u32,
    pub pre_filter: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, all: *const berth_nodes, out: *mut berth_pre_filter_out, status: *mut berth_status) -> berth_code>,
    pub add_pod: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, pod: *const berth_pod, block: *const berth_block, index: u32, status: *mut berth_status) -> berth_code>,
    pub remove_pod: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, pod: *const berth_pod, block: *const berth_block, index: u32, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_filter_out {
    pub struct_size: u32,
    pub reserved: u32,
    pub codes: *mut u8,
    pub reasons: *mut u64,
}

#[repr(C)]
pub struct berth_filter_whole_out {
    pub struct_size: u32,
    pub row_count: u32,
    pub codes: *mut u8,
    pub reasons: *mut u64,
    pub impl_: *mut c_void,
    pub add_reason: Option<unsafe extern "C" fn(self_: *mut berth_filter_whole_out, text: berth_str) -> i32>,
}

#[repr(C)]
pub struct berth_filter {
    pub struct_size: u32,
    pub flags: u32,
    pub dependence: *const berth_dependence,
    pub filter: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, block: *const berth_block, out: *mut berth_filter_out, status: *mut berth_status) -> berth_code>,
    pub filter_whole: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, survivors: *const berth_nodes, out: *mut berth_filter_whole_out, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_verdicts {
    pub struct_size: u32,
    pub count: u32,
    pub codes: *const u8,
    pub absent: *const u8,
}

#[repr(C)]
pub struct berth_post_filter_out {
    pub struct_size: u32,
    pub mode: u32,
    pub impl_: *mut c_void,
    pub nominate: Option<unsafe extern "C" fn(self_: *mut berth_post_filter_out, node: berth_str)>,
}

#[repr(C)]
pub struct berth_post_filter {
    pub struct_size: u32,
    pub flags: u32,
    pub post_filter: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, all: *const berth_nodes, verdicts: *const berth_verdicts, out: *mut berth_post_filter_out, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_pre_score_out {
    pub struct_size: u32,
    pub reserved: u32,
    pub impl_: *mut c_void,
}

#[repr(C)]
pub struct berth_pre_score {
    pub struct_size: u32,
    pub flags: u32,
    pub pre_score: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, feasible: *const berth_nodes, all: *const berth_nodes, out: *mut berth_pre_score_out, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_scores {
    pub struct_size: u32,
    pub count: u32,
    pub rows: *const u32,
    pub scores: *mut i64,
}

#[repr(C)]
pub struct berth_score_out {
    pub struct_size: u32,
    pub reserved: u32,
    pub scores: *mut i64,
}

#[repr(C)]
pub struct berth_score {
    pub struct_size: u32,
    pub flags: u32,
    pub normalize_mode: u32,
    pub reserved: u32,
    pub dependence: *const berth_dependence,
    pub score: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, block: *const berth_block, out: *mut berth_score_out, status: *mut berth_status) -> berth_code>,
    pub normalize: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, scores: *mut berth_scores, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_target {
    pub struct_size: u32,
    pub row: u32,
    pub node: *const berth_node,
    pub block: *const berth_block,
    pub index: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct berth_reserve {
    pub struct_size: u32,
    pub flags: u32,
    pub reserve: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, target: *const berth_target, status: *mut berth_status) -> berth_code>,
    pub unreserve: Option<unsafe extern "C" fn(self_: *mut c_void, binding: *const berth_binding)>,
}

#[repr(C)]
pub struct berth_permit_out {
    pub struct_size: u32,
    pub reserved: u32,
    pub timeout_ns: i64,
}

#[repr(C)]
pub struct berth_permit {
    pub struct_size: u32,
    pub flags: u32,
    pub permit: Option<unsafe extern "C" fn(self_: *mut c_void, cycle: *const berth_cycle, target: *const berth_target, out: *mut berth_permit_out, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_binding {
    pub struct_size: u32,
    pub flags: u32,
    pub pod: *const berth_pod,
    pub node_name: berth_str,
    pub node_uid: berth_str,
    pub slots: *const *mut c_void,
    pub cancel: *const u32,
    pub call_deadline_ns: i64,
    pub completion_deadline_ns: i64,
}

#[repr(C)]
pub struct berth_pre_bind {
    pub struct_size: u32,
    pub flags: u32,
    pub pre_flight: Option<unsafe extern "C" fn(self_: *mut c_void, binding: *const berth_binding, status: *mut berth_status) -> berth_code>,
    pub pre_bind: Option<unsafe extern "C" fn(self_: *mut c_void, binding: *const berth_binding, done: berth_done, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_bind {
    pub struct_size: u32,
    pub flags: u32,
    pub bind: Option<unsafe extern "C" fn(self_: *mut c_void, binding: *const berth_binding, done: berth_done, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_post_bind {
    pub struct_size: u32,
    pub flags: u32,
    pub post_bind: Option<unsafe extern "C" fn(self_: *mut c_void, binding: *const berth_binding)>,
}

#[repr(C)]
pub struct berth_failed_attempt {
    pub struct_size: u32,
    pub flags: u32,
    pub pod: *const berth_pod,
    pub code: berth_code,
    pub reserved: u32,
    pub node: berth_str,
    pub message: berth_str,
    pub plugins: berth_array,
}

#[repr(C)]
pub struct berth_attempt_failed {
    pub struct_size: u32,
    pub flags: u32,
    pub attempt_failed: Option<unsafe extern "C" fn(self_: *mut c_void, attempt: *const berth_failed_attempt)>,
}

#[repr(C)]
pub struct berth_change {
    pub struct_size: u32,
    pub kind: u32,
    pub flags: u32,
    pub row: u32,
    pub sequence: u64,
    pub pod: *const berth_pod,
    pub old_pod: *const berth_pod,
    pub node: *const berth_node,
    pub old_node: *const berth_node,
}

#[repr(C)]
pub struct berth_changes {
    pub struct_size: u32,
    pub flags: u32,
    pub change: Option<unsafe extern "C" fn(self_: *mut c_void, change: *const berth_change)>,
}

#[repr(C)]
pub struct berth_hand_over_out {
    pub struct_size: u32,
    pub version: u32,
    pub impl_: *mut c_void,
    pub write: Option<unsafe extern "C" fn(out: *mut berth_hand_over_out, bytes: berth_str) -> berth_code>,
}

#[repr(C)]
pub struct berth_hand_over {
    pub struct_size: u32,
    pub flags: u32,
    pub save: Option<unsafe extern "C" fn(self_: *mut c_void, out: *mut berth_hand_over_out, status: *mut berth_status) -> berth_code>,
    pub restore: Option<unsafe extern "C" fn(self_: *mut c_void, version: u32, bytes: berth_str, status: *mut berth_status) -> berth_code>,
}

#[repr(C)]
pub struct berth_host {
    pub struct_size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub impl_: *mut c_void,
    pub name: berth_str,
    pub version: berth_str,
    pub get_service: Option<unsafe extern "C" fn(host: *const berth_host, id: *const c_char, service: *mut *const c_void) -> berth_code>,
    pub fault: Option<unsafe extern "C" fn(host: *const berth_host, what: berth_str)>,
    pub hash_key: [u64; 2],
}

#[repr(C)]
pub struct berth_log {
    pub struct_size: u32,
    pub reserved: u32,
    pub level: *const u32,
    pub log: Option<unsafe extern "C" fn(host: *const berth_host, level: u32, message: berth_str, pairs: *const berth_str_pair, count: u64)>,
}

#[repr(C)]
pub struct berth_strings {
    pub struct_size: u32,
    pub reserved: u32,
    pub intern: Option<unsafe extern "C" fn(host: *const berth_host, text: berth_str) -> berth_id>,
    pub find: Option<unsafe extern "C" fn(host: *const berth_host, text: berth_str) -> berth_id>,
    pub text: Option<unsafe extern "C" fn(host: *const berth_host, id: berth_id) -> berth_str>,
    pub release: Option<unsafe extern "C" fn(host: *const berth_host, id: berth_id)>,
}

#[repr(C)]
pub struct berth_refs {
    pub struct_size: u32,
    pub reserved: u32,
    pub retain: Option<unsafe extern "C" fn(host: *const berth_host, object: berth_tagged) -> berth_code>,
    pub release: Option<unsafe extern "C" fn(host: *const berth_host, object: berth_tagged)>,
}

#[repr(C)]
pub struct berth_columns {
    pub struct_size: u32,
    pub reserved: u32,
    pub bind: Option<unsafe extern "C" fn(host: *const berth_host, cycle: *const berth_cycle, request: *const berth_column_request, index: *mut u32) -> berth_code>,
}

#[repr(C)]
pub struct berth_values {
    pub struct_size: u32,
    pub reserved: u32,
    pub kind: Option<unsafe extern "C" fn(value: *const berth_value) -> u32>,
    pub size: Option<unsafe extern "C" fn(value: *const berth_value) -> u64>,
    pub get: Option<unsafe extern "C" fn(object: *const berth_value, key: berth_str) -> *const berth_value>,
    pub at: Option<unsafe extern "C" fn(value: *const berth_value, index: u64, key_or_null: *mut berth_str) -> *const berth_value>,
    pub as_int: Option<unsafe extern "C" fn(value: *const berth_value) -> i64>,
    pub as_float: Option<unsafe extern "C" fn(value: *const berth_value) -> f64>,
    pub as_string: Option<unsafe extern "C" fn(value: *const berth_value) -> berth_str>,
    pub where_: Option<unsafe extern "C" fn(argument: *const berth_value) -> berth_str>,
    pub as_quantity: Option<unsafe extern "C" fn(value: *const berth_value, units: *mut i64, milli: *mut i64) -> berth_code>,
    pub as_time: Option<unsafe extern "C" fn(value: *const berth_value, ns: *mut i64) -> berth_code>,
    pub write_json: Option<unsafe extern "C" fn(value: *const berth_value, put: Option<unsafe extern "C" fn(*mut c_void, berth_str)>, to: *mut c_void)>,
    pub parse: Option<unsafe extern "C" fn(host: *const berth_host, json: berth_str, status: *mut berth_status) -> *const berth_value>,
    pub release: Option<unsafe extern "C" fn(host: *const berth_host, value: *const berth_value)>,
}

#[repr(C)]
pub struct berth_node_selector {
    pub struct_size: u32,
    pub flags: u32,
    pub terms: berth_array,
}

#[repr(C)]
pub struct berth_selectors {
    pub struct_size: u32,
    pub reserved: u32,
    pub from_value: Option<unsafe extern "C" fn(host: *const berth_host, label_selector: *const berth_value, out: *mut *const berth_selector, status: *mut berth_status) -> berth_code>,
    pub from_map: Option<unsafe extern "C" fn(host: *const berth_host, labels: *const berth_value, out: *mut *const berth_selector, status: *mut berth_status) -> berth_code>,
    pub from_text: Option<unsafe extern "C" fn(host: *const berth_host, text: berth_str, out: *mut *const berth_selector, status: *mut berth_status) -> berth_code>,
    pub node_selector: Option<unsafe extern "C" fn(host: *const berth_host, node_selector: *const berth_value, out: *mut *const berth_node_selector, status: *mut berth_status) -> berth_code>,
    pub matches: Option<unsafe extern "C" fn(host: *const berth_host, selector: *const berth_selector, labels: berth_array) -> i32>,
    pub matches_node: Option<unsafe extern "C" fn(host: *const berth_host, selector: *const berth_node_selector, node: *const berth_node) -> i32>,
    pub release: Option<unsafe extern "C" fn(host: *const berth_host, selector: *const berth_selector)>,
    pub release_node: Option<unsafe extern "C" fn(host: *const berth_host, selector: *const berth_node_selector)>,
}

#[repr(C)]
pub struct berth_metric {
    pub struct_size: u32,
    pub kind: u32,
    pub name: berth_str,
    pub help: berth_str,
    pub label_names: *const berth_str,
    pub n_labels: u64,
    pub buckets: *const f64,
    pub n_buckets: u64,
}

#[repr(C)]
pub struct berth_metrics {
    pub struct_size: u32,
    pub reserved: u32,
    pub define: Option<unsafe extern "C" fn(host: *const berth_host, metric: *const berth_metric, index: *mut u32) -> berth_code>,
    pub series: Option<unsafe extern "C" fn(host: *const berth_host, metric: u32, label_values: *const berth_str, series: *mut u64) -> berth_code>,
    pub observe: Option<unsafe extern "C" fn(host: *const berth_host, series: u64, value: f64)>,
}

#[repr(C)]
pub struct berth_object_change {
    pub struct_size: u32,
    pub flags: u32,
    pub kind: berth_id,
    pub reserved: u32,
    pub old: *const berth_object,
    pub now: *const berth_object,
}

#[repr(C)]
pub struct berth_objects {
    pub struct_size: u32,
    pub reserved: u32,
    pub get: Option<unsafe extern "C" fn(host: *const berth_host, kind: berth_str, ns: berth_str, name: berth_str, object: *mut *const berth_object) -> berth_code>,
    pub list: Option<unsafe extern "C" fn(host: *const berth_host, kind: berth_str, ns: berth_str, each: Option<unsafe extern "C" fn(*mut c_void, *const berth_object) -> i32>, to: *mut c_void) -> berth_code>,
    pub served: Option<unsafe extern "C" fn(host: *const berth_host, kind: berth_str) -> berth_code>,
    pub watch: Option<unsafe extern "C" fn(host: *const berth_host, kind: berth_str, change: Option<unsafe extern "C" fn(*mut c_void, *const berth_object_change)>, to: *mut c_void) -> berth_code>,
}

#[repr(C)]
pub struct berth_node_lookup {
    pub struct_size: u32,
    pub reserved: u32,
    pub find: Option<unsafe extern "C" fn(host: *const berth_host, name: berth_str, row: *mut u32) -> berth_code>,
    pub place: Option<unsafe extern "C" fn(host: *const berth_host, in_: *const berth_nodes, row: u32, block: *mut u32, index: *mut u32) -> berth_code>,
}

#[repr(C)]
pub struct berth_whatif_run {
    pub struct_size: u32,
    pub flags: u32,
    pub selected: *const u32,
    pub n_selected: u64,
    pub codes: *mut u8,
}

#[repr(C)]
pub struct berth_whatif {
    pub struct_size: u32,
    pub reserved: u32,
    pub begin: Option<unsafe extern "C" fn(host: *const berth_host, cycle: *const berth_cycle, rows: *const u32, count: u32, mode: u32, question: *mut u64) -> berth_code>,
    pub remove_pod: Option<unsafe extern "C" fn(host: *const berth_host, question: u64, i: u32, pod: *const berth_pod, status: *mut berth_status) -> berth_code>,
    pub add_pod: Option<unsafe extern "C" fn(host: *const berth_host, question: u64, i: u32, pod: *const berth_pod, status: *mut berth_status) -> berth_code>,
    pub run_filters: Option<unsafe extern "C" fn(host: *const berth_host, question: u64, run: *const berth_whatif_run, status: *mut berth_status) -> berth_code>,
    pub end: Option<unsafe extern "C" fn(host: *const berth_host, question: u64)>,
    pub reasons: Option<unsafe extern "C" fn(host: *const berth_host, question: u64, i: u32, status: *mut berth_status) -> berth_code>,
    pub pod_filters: Option<unsafe extern "C" fn(host: *const berth_host, cycle: *const berth_cycle, each: Option<unsafe extern "C" fn(*mut c_void, berth_str) -> i32>, to: *mut c_void) -> berth_code>,
}

#[repr(C)]
pub struct berth_nominator {
    pub struct_size: u32,
    pub reserved: u32,
    pub list: Option<unsafe extern "C" fn(host: *const berth_host, node: berth_str, each: Option<unsafe extern "C" fn(*mut c_void, *const berth_pod) -> i32>, to: *mut c_void) -> berth_code>,
    pub clear: Option<unsafe extern "C" fn(host: *const berth_host, pod_uid: berth_str) -> berth_code>,
    pub each: Option<unsafe extern "C" fn(host: *const berth_host, each: Option<unsafe extern "C" fn(*mut c_void, *const berth_pod, berth_str) -> i32>, to: *mut c_void) -> berth_code>,
}

#[repr(C)]
pub struct berth_activate {
    pub struct_size: u32,
    pub reserved: u32,
    pub activate: Option<unsafe extern "C" fn(host: *const berth_host, pod_uids: *const berth_str, count: u64) -> berth_code>,
}

#[repr(C)]
pub struct berth_rejection {
    pub struct_size: u32,
    pub flags: u32,
    pub pod_uid: berth_str,
    pub reason: berth_str,
}

#[repr(C)]
pub struct berth_waiting {
    pub struct_size: u32,
    pub reserved: u32,
    pub each: Option<unsafe extern "C" fn(host: *const berth_host, each: Option<unsafe extern "C" fn(*mut c_void, *const berth_pod) -> i32>, to: *mut c_void) -> berth_code>,
    pub allow: Option<unsafe extern "C" fn(host: *const berth_host, pod_uid: berth_str) -> berth_code>,
    pub reject: Option<unsafe extern "C" fn(host: *const berth_host, rejection: *const berth_rejection) -> berth_code>,
}

#[repr(C)]
pub struct berth_timer {
    pub struct_size: u32,
    pub reserved: u32,
    pub now_ns: Option<unsafe extern "C" fn(host: *const berth_host) -> i64>,
    pub wall_ns: Option<unsafe extern "C" fn(host: *const berth_host) -> i64>,
    pub start: Option<unsafe extern "C" fn(host: *const berth_host, after_ns: i64, fire: Option<unsafe extern "C" fn(*mut c_void)>, to: *mut c_void, timer: *mut u64) -> berth_code>,
    pub cancel: Option<unsafe extern "C" fn(host: *const berth_host, timer: u64) -> berth_code>,
    pub post: Option<unsafe extern "C" fn(host: *const berth_host, run: Option<unsafe extern "C" fn(*mut c_void, berth_code)>, to: *mut c_void) -> berth_code>,
    pub hold: Option<unsafe extern "C" fn(host: *const berth_host, hold: *mut u64) -> berth_code>,
    pub release: Option<unsafe extern "C" fn(host: *const berth_host, hold: u64)>,
}

#[repr(C)]
pub struct berth_random {
    pub struct_size: u32,
    pub reserved: u32,
    pub next: Option<unsafe extern "C" fn(host: *const berth_host, cycle: *const berth_cycle) -> u64>,
}

#[repr(C)]
pub struct berth_shared {
    pub struct_size: u32,
    pub reserved: u32,
    pub find: Option<unsafe extern "C" fn(host: *const berth_host, key: berth_str, destroy: Option<unsafe extern "C" fn(*mut c_void)>, object: *mut *mut c_void) -> berth_code>,
    pub add: Option<unsafe extern "C" fn(host: *const berth_host, key: berth_str, object: *mut c_void, destroy: Option<unsafe extern "C" fn(*mut c_void)>) -> berth_code>,
}

#[repr(C)]
pub struct berth_api_request {
    pub struct_size: u32,
    pub flags: u32,
    pub verb: berth_str,
    pub path: berth_str,
    pub content_type: berth_str,
    pub body: berth_str,
    pub timeout_ns: i64,
}

#[repr(C)]
pub struct berth_api_result {
    pub struct_size: u32,
    pub code: berth_code,
    pub http_status: u32,
    pub flags: u32,
    pub retry_after_ns: i64,
    pub body: berth_str,
    pub error: berth_str,
    pub value: *const berth_value,
}

#[repr(C)]
pub struct berth_status_patch {
    pub struct_size: u32,
    pub flags: u32,
    pub pod: *const berth_pod,
    pub patch: berth_str,
}

#[repr(C)]
pub struct berth_eviction {
    pub struct_size: u32,
    pub flags: u32,
    pub pod: *const berth_pod,
    pub message: berth_str,
}

#[repr(C)]
pub struct berth_api_event {
    pub struct_size: u32,
    pub flags: u32,
    pub regarding: *const berth_tagged,
    pub related: *const berth_tagged,
    pub type_: berth_str,
    pub reason: berth_str,
    pub action: berth_str,
    pub note: berth_str,
}

#[repr(C)]
pub struct berth_api {
    pub struct_size: u32,
    pub reserved: u32,
    pub bind: Option<unsafe extern "C" fn(host: *const berth_host, binding: *const berth_binding, done: berth_done) -> berth_code>,
    pub patch_status: Option<unsafe extern "C" fn(host: *const berth_host, patch: *const berth_status_patch, answer: berth_api_answer, to: *mut c_void) -> berth_code>,
    pub evict: Option<unsafe extern "C" fn(host: *const berth_host, eviction: *const berth_eviction, answer: berth_api_answer, to: *mut c_void) -> berth_code>,
    pub event: Option<unsafe extern "C" fn(host: *const berth_host, event: *const berth_api_event) -> berth_code>,
    pub request: Option<unsafe extern "C" fn(host: *const berth_host, request: *const berth_api_request, answer: berth_api_answer, to: *mut c_void) -> berth_code>,
}

#[repr(C)]
pub struct berth_outcome {
    pub struct_size: u32,
    pub code: berth_code,
    pub reasons: berth_array,
}

#[repr(C)]
pub struct berth_completion {
    pub struct_size: u32,
    pub reserved: u32,
    pub complete: Option<unsafe extern "C" fn(done: berth_done, outcome: *const berth_outcome)>,
}

#[repr(C)]
pub struct berth_http_header {
    pub name: berth_str,
    pub value: berth_str,
}

#[repr(C)]
pub struct berth_http_request {
    pub struct_size: u32,
    pub flags: u32,
    pub method: berth_str,
    pub url: berth_str,
    pub headers: berth_array,
    pub body: berth_str,
    pub ca_file: berth_str,
    pub cert_file: berth_str,
    pub key_file: berth_str,
    pub server_name: berth_str,
    pub timeout_ns: i64,
    pub max_body_bytes: u64,
}

#[repr(C)]
pub struct berth_http_result {
    pub struct_size: u32,
    pub end: u32,
    pub http_status: u32,
    pub reserved: u32,
    pub headers: berth_array,
    pub body: berth_str,
    pub error: berth_str,
}

#[repr(C)]
pub struct berth_http {
    pub struct_size: u32,
    pub reserved: u32,
    pub request: Option<unsafe extern "C" fn(host: *const berth_host, request: *const berth_http_request, answer: berth_http_answer, to: *mut c_void) -> berth_code>,
}

#[repr(C)]
pub struct berth_plugin_info {
    pub struct_size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub about: *const c_char,
    pub points: *const *const c_char,
    pub services: *const *const c_char,
    pub kinds: *const *const c_char,
    pub fields: *const *const c_char,
    pub pod_fields: *const *const c_char,
    pub args_schema: *const c_char,
}

#[repr(C)]
pub struct berth_plugin {
    pub struct_size: u32,
    pub flags: u32,
    pub self_: *mut c_void,
    pub columns: berth_array,
    pub slots: berth_array,
    pub reasons: berth_array,
    pub get_point: Option<unsafe extern "C" fn(plugin: *const berth_plugin, id: *const c_char) -> *const c_void>,
    pub quiesce: Option<unsafe extern "C" fn(plugin: *mut berth_plugin)>,
    pub destroy: Option<unsafe extern "C" fn(plugin: *mut berth_plugin)>,
}

#[repr(C)]
pub struct berth_instance_request {
    pub struct_size: u32,
    pub flags: u32,
    pub name: berth_str,
    pub profile: berth_str,
    pub args: *const berth_value,
    pub points: berth_array,
    pub deadline_ns: i64,
    pub emulated_version: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct berth_entry {
    pub magic: u32,
    pub struct_size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub min_host_minor: u16,
    pub pointer_bits: u16,
    pub build_flags: u64,
    pub n_plugins: u64,
    pub plugins: *const *const berth_plugin_info,
    pub init: Option<unsafe extern "C" fn(host: *const berth_host, status: *mut berth_status) -> berth_code>,
    pub deinit: Option<unsafe extern "C" fn()>,
    pub create: Option<unsafe extern "C" fn(host: *const berth_host, request: *const berth_instance_request, out: *mut *mut berth_plugin, status: *mut berth_status) -> berth_code>,
    pub abi_draft: u64,
}

macro_rules! zero {
    ($($name:ident)*) => {$(
        impl $name {
            /// The value whose bytes are all zero.
            // SAFETY: zero is a value of every member: a number, a NULL pointer or None.
            pub const ZERO: Self =
                unsafe { std::mem::transmute([0u8; std::mem::size_of::<Self>()]) };
        }
        // SAFETY: the members are numbers, pointers to data and pointers to functions.
        unsafe impl crate::library::PlainData for $name {}
    )*};
}
macro_rules! new {
    ($($name:ident)*) => {$(
        impl $name {
            /// `ZERO` with the struct's size.
            pub const NEW: Self =
                Self { struct_size: std::mem::size_of::<Self>() as u32, ..Self::ZERO };
        }
    )*};
}

/// The table of an extension point.
///
/// # Safety
/// <berth/abi.h> declares this struct for the extension point ID.
pub unsafe trait PointTable {
    const ID: &'static str;
}
macro_rules! point {
    ($($name:ident: $id:ident)*) => {$(
        unsafe impl PointTable for $name {
            const ID: &'static str = $id;
        }
    )*};
}

zero! {
    berth_str
    berth_id_pair
    berth_str_pair
    berth_quantity
    berth_array
    berth_status
    berth_value
    berth_done
    berth_owner
    berth_field
    berth_meta
    berth_requirement
    berth_selector
    berth_node_term
    berth_pod_term
    berth_toleration
    berth_taint
    berth_spread
    berth_resources
    berth_port
    berth_container
    berth_volume
    berth_resource_claim
    berth_condition
    berth_affinity
    berth_pod
    berth_image
    berth_node
    berth_object
    berth_tagged
    berth_queued
    berth_column
    berth_column_request
    berth_pod_list
    berth_block
    berth_nodes
    berth_cycle
    berth_slot
    berth_signature
    berth_dependence
    berth_pre_enqueue
    berth_event_interest
    berth_event
    berth_enqueue_extensions
    berth_queue_sort
    berth_lane
    berth_queue_sort_2
    berth_entity
    berth_pre_filter_out
    berth_pre_filter
    berth_filter_out
    berth_filter_whole_out
    berth_filter
    berth_verdicts
    berth_post_filter_out
    berth_post_filter
    berth_pre_score_out
    berth_pre_score
    berth_scores
    berth_score_out
    berth_score
    berth_target
    berth_reserve
    berth_permit_out
    berth_permit
    berth_binding
    berth_pre_bind
    berth_bind
    berth_post_bind
    berth_failed_attempt
    berth_attempt_failed
    berth_change
    berth_changes
    berth_hand_over_out
    berth_hand_over
    berth_host
    berth_log
    berth_strings
    berth_refs
    berth_columns
    berth_values
    berth_node_selector
    berth_selectors
    berth_metric
    berth_metrics
    berth_object_change
    berth_objects
    berth_node_lookup
    berth_whatif_run
    berth_whatif
    berth_nominator
    berth_activate
    berth_rejection
    berth_waiting
    berth_timer
    berth_random
    berth_shared
    berth_api_request
    berth_api_result
    berth_status_patch
    berth_eviction
    berth_api_event
    berth_api
    berth_outcome
    berth_completion
    berth_http_header
    berth_http_request
    berth_http_result
    berth_http
    berth_plugin_info
    berth_plugin
    berth_instance_request
    berth_entry
}

new! {
    berth_status
    berth_meta
    berth_selector
    berth_resources
    berth_affinity
    berth_pod
    berth_node
    berth_object
    berth_queued
    berth_column_request
    berth_block
    berth_nodes
    berth_cycle
    berth_slot
    berth_dependence
    berth_pre_enqueue
    berth_event
    berth_enqueue_extensions
    berth_queue_sort
    berth_queue_sort_2
    berth_entity
    berth_pre_filter_out
    berth_pre_filter
    berth_filter_out
    berth_filter_whole_out
    berth_filter
    berth_verdicts
    berth_post_filter_out
    berth_post_filter
    berth_pre_score_out
    berth_pre_score
    berth_scores
    berth_score_out
    berth_score
    berth_target
    berth_reserve
    berth_permit_out
    berth_permit
    berth_binding
    berth_pre_bind
    berth_bind
    berth_post_bind
    berth_failed_attempt
    berth_attempt_failed
    berth_change
    berth_changes
    berth_hand_over_out
    berth_hand_over
    berth_host
    berth_log
    berth_strings
    berth_refs
    berth_columns
    berth_values
    berth_node_selector
    berth_selectors
    berth_metric
    berth_metrics
    berth_object_change
    berth_objects
    berth_node_lookup
    berth_whatif_run
    berth_whatif
    berth_nominator
    berth_activate
    berth_rejection
    berth_waiting
    berth_timer
    berth_random
    berth_shared
    berth_api_request
    berth_api_result
    berth_status_patch
    berth_eviction
    berth_api_event
    berth_api
    berth_outcome
    berth_completion
    berth_http_request
    berth_http_result
    berth_http
    berth_plugin_info
    berth_plugin
    berth_instance_request
}

point! {
    berth_pre_enqueue: BERTH_POINT_PRE_ENQUEUE
    berth_enqueue_extensions: BERTH_POINT_ENQUEUE_EXTENSIONS
    berth_queue_sort: BERTH_POINT_QUEUE_SORT
    berth_queue_sort_2: BERTH_POINT_QUEUE_SORT_2
    berth_entity: BERTH_POINT_ENTITY
    berth_pre_filter: BERTH_POINT_PRE_FILTER
    berth_filter: BERTH_POINT_FILTER
    berth_post_filter: BERTH_POINT_POST_FILTER
    berth_pre_score: BERTH_POINT_PRE_SCORE
    berth_score: BERTH_POINT_SCORE
    berth_reserve: BERTH_POINT_RESERVE
    berth_permit: BERTH_POINT_PERMIT
    berth_pre_bind: BERTH_POINT_PRE_BIND
    berth_bind: BERTH_POINT_BIND
    berth_post_bind: BERTH_POINT_POST_BIND
    berth_attempt_failed: BERTH_POINT_ATTEMPT_FAILED
    berth_changes: BERTH_POINT_CHANGES
    berth_hand_over: BERTH_POINT_HAND_OVER
}
