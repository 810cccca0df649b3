//! Keeps pods off nodes that cost more than the pods may spend, and prefers the cheapest node.
//!
//! The label acme.com/cents-per-hour states a node's price; the annotation
//! acme.com/max-cents-per-hour states a pod's limit.
mod berth;

use berth::*;
use std::os::raw::{c_char, c_void};
use std::ptr::null;

const PRICE_COLUMN: &str = "label:acme.com/cents-per-hour\0";
const LIMIT_ANNOTATION: &str = "acme.com/max-cents-per-hour";

// ---- Policy: plain Rust without the host, see the tests -----------------------------------------

fn price(label: Option<&str>, unlabelled: i64) -> i64 {
    label.and_then(|text| text.parse().ok()).filter(|cents| *cents >= 0).unwrap_or(unlabelled)
}

/// Returns the pod's limit. A pod without the annotation has no limit; an annotation that is not a
/// number is an error.
fn limit<'a>(mut annotations: impl Iterator<Item = (&'a str, &'a str)>) -> Result<i64, ()> {
    match annotations.find(|(key, _)| *key == LIMIT_ANNOTATION) {
        None => Ok(i64::MAX),
        Some((_, text)) => text.parse().map_err(|_| ()),
    }
}

// ---- The plugin instance ------------------------------------------------------------------------

struct CheapestNode {
    abi: berth_plugin,
    host: *const berth_host,
    strings: *const berth_strings,
    unlabelled: i64,
}

/// The state of one pod's attempt. The host zeroes it at the start and copies it.
#[repr(C)]
struct State {
    limit: i64,
}

impl CheapestNode {
    unsafe fn price_of(&self, block: &berth_block, i: usize) -> i64 {
        let id: berth_id = block.cell(0, i);
        let text = (id != 0).then(|| ((*self.strings).text)(self.host, id).text());
        price(text, self.unlabelled)
    }
}

unsafe fn state<'a>(cycle: *const berth_cycle) -> &'a mut State {
    &mut *(*(*cycle).slots as *mut State)
}

unsafe extern "C" fn pre_filter(
    _: *mut c_void,
    cycle: *const berth_cycle,
    _all: *const c_void,
    _out: *mut c_void,
    status: *mut berth_status,
) -> berth_code {
    guard(status, |status| {
        let annotations = (*(*(*cycle).pod).meta).annotations.items::<berth_str_pair>();
        match limit(annotations.map(|pair| (pair.key.text(), pair.value.text()))) {
            Ok(cents) => {
                state(cycle).limit = cents;
                SUCCESS
            }
            Err(()) => {
                status.reason("Annotation acme.com/max-cents-per-hour is not a number");
                UNSCHEDULABLE_AND_UNRESOLVABLE
            }
        }
    })
}

/// Runs on several threads at the same time, so it must not change the instance or the state.
unsafe extern "C" fn filter(
    plugin: *mut c_void,
    cycle: *const berth_cycle,
    block: *const berth_block,
    out: *mut berth_filter_out,
    status: *mut berth_status,
) -> berth_code {
    guard(status, |_| {
        let (plugin, block) = (&*(plugin as *const CheapestNode), &*block);
        let limit = (*(*(*cycle).slots as *const State)).limit;
        for i in block.selected() {
            let rejected = plugin.price_of(block, i) > limit;
            *(*out).codes.add(i) = if rejected { UNSCHEDULABLE_AND_UNRESOLVABLE as u8 } else { 0 };
            *(*out).reasons.add(i) = u64::from(rejected);
        }
        SUCCESS
    })
}

/// Scores a node by its price. The host reverses the scores, so that the cheapest node gets the
/// most.
unsafe extern "C" fn score(
    plugin: *mut c_void,
    _: *const berth_cycle,
    block: *const berth_block,
    out: *mut i64,
    status: *mut berth_status,
) -> berth_code {
    guard(status, |_| {
        let (plugin, block) = (&*(plugin as *const CheapestNode), &*block);
        for i in block.selected() {
            *out.add(i) = plugin.price_of(block, i);
        }
        SUCCESS
    })
}

// ---- The library: constant data ------------------------------------------------------------------

const JSON: &str = concat!(
    r#"{"abi":[1,0],"minHostMinor":0,"plugins":[{"name":"acme.CheapestNode","version":"1.0.0","#,
    r#""points":["berth.pre_filter/1","berth.filter/1","berth.score/1"]}]}"#
);
#[link_section = ".note.berth"]
#[used]
static NOTE: Note<{ note_size(JSON) }> = note(JSON);

const SCHEMA: &str = concat!(
    r#"{"type":"object","additionalProperties":false,"properties":{"unlabelledCents":"#,
    r#"{"type":"integer","minimum":0,"default":100,"#,
    r#""description":"Price of a node without the label."}}}"#,
    "\0"
);

static DEPENDENCE: Constant<berth_dependence> = Constant(berth_dependence {
    struct_size: size::<berth_dependence>(),
    cluster: DEPENDS_NODE,
    pod_parts: PART_ANNOTATIONS,
    sign: None,
    changed: None,
});
static PRE_FILTER: Constant<berth_pre_filter> = Constant(berth_pre_filter {
    struct_size: size::<berth_pre_filter>(),
    flags: 0,
    pre_filter,
    add_pod: None,
    remove_pod: None,
});
static FILTER: Constant<berth_filter> = Constant(berth_filter {
    struct_size: size::<berth_filter>(),
    flags: 0,
    dependence: &DEPENDENCE.0,
    filter,
    filter_whole: null(),
});
static SCORE: Constant<berth_score> = Constant(berth_score {
    struct_size: size::<berth_score>(),
    flags: 0,
    normalize_mode: NORMALIZE_MAX_REVERSED,
    reserved: 0,
    dependence: &DEPENDENCE.0,
    score,
    normalize: None,
});
static COLUMNS: Constant<[berth_column_request; 1]> = Constant([berth_column_request {
    struct_size: size::<berth_column_request>(),
    flags: 0,
    name: PRICE_COLUMN.as_ptr() as *const c_char,
    type_: TYPE_ID,
    reserved: 0,
}]);
static SLOTS: Constant<[berth_slot; 1]> = Constant([berth_slot {
    struct_size: size::<berth_slot>(),
    size: size::<State>(),
    align: std::mem::align_of::<State>() as u32,
    reserved: 0,
    type_id: "acme.CheapestNode.state/1\0".as_ptr() as *const c_char,
    construct: None,
    clone: None,
    destroy: None,
}]);
/// The texts of the reasons. Bit i of a verdict means reason i.
static REASONS: Constant<[berth_str; 1]> = Constant([berth_str::new("Node is too expensive")]);

unsafe extern "C" fn get_point(_: *const berth_plugin, id: *const c_char) -> *const c_void {
    match std::ffi::CStr::from_ptr(id).to_bytes() {
        b"berth.pre_filter/1" => &PRE_FILTER as *const _ as *const c_void,
        b"berth.filter/1" => &FILTER as *const _ as *const c_void,
        b"berth.score/1" => &SCORE as *const _ as *const c_void,
        _ => null(),
    }
}

unsafe extern "C" fn create(
    host: *const berth_host,
    _name: berth_str,
    _profile: berth_str,
    args: *const berth_value,
    out: *mut *mut berth_plugin,
    status: *mut berth_status,
) -> berth_code {
    guard(status, |status| {
        let values = (*host).service::<berth_values>("berth.values/1\0");
        let strings = (*host).service::<berth_strings>("berth.strings/1\0");
        let (values, strings) = match (values, strings) {
            (Some(values), Some(strings)) => (&*values, strings),
            _ => return ERROR,
        };
        let mut unlabelled = 100;
        let value = (values.get)(args, berth_str::new("unlabelledCents"));
        if !value.is_null() {
            unlabelled = (values.as_int)(value);
            if (values.kind)(value) != VALUE_INT || unlabelled < 0 {
                status.argument_error("/unlabelledCents", "expected an integer of 0 or more");
                return BAD_ARGUMENT;
            }
        }
        let abi = berth_plugin {
            struct_size: size::<berth_plugin>(),
            flags: 0,
            self_: std::ptr::null_mut(),
            columns: berth_array::of(&COLUMNS.0),
            slots: berth_array::of(&SLOTS.0),
            reasons: berth_array::of(&REASONS.0),
            get_point,
            quiesce: None,
            destroy,
        };
        let plugin = Box::into_raw(Box::new(CheapestNode { abi, host, strings, unlabelled }));
        (*plugin).abi.self_ = plugin as *mut c_void;
        *out = &mut (*plugin).abi;
        SUCCESS
    })
}

unsafe extern "C" fn destroy(plugin: *mut berth_plugin) {
    drop(Box::from_raw((*plugin).self_ as *mut CheapestNode));
}

static POINTS: Constant<[*const c_char; 4]> = Constant([
    "berth.pre_filter/1\0".as_ptr() as *const c_char,
    "berth.filter/1\0".as_ptr() as *const c_char,
    "berth.score/1\0".as_ptr() as *const c_char,
    null(),
]);
static SERVICES: Constant<[*const c_char; 3]> = Constant([
    "berth.values/1\0".as_ptr() as *const c_char,
    "berth.strings/1\0".as_ptr() as *const c_char,
    null(),
]);
static INFO: Constant<berth_plugin_info> = Constant(berth_plugin_info {
    struct_size: size::<berth_plugin_info>(),
    flags: 0,
    name: "acme.CheapestNode\0".as_ptr() as *const c_char,
    version: "1.0.0\0".as_ptr() as *const c_char,
    about: "Keeps pods off nodes above their price limit, and prefers the cheapest.\0".as_ptr()
        as *const c_char,
    points: POINTS.0.as_ptr(),
    services: SERVICES.0.as_ptr(),
    kinds: null(),
    fields: null(),
    pod_fields: null(),
    args_schema: SCHEMA.as_ptr() as *const c_char,
});
static PLUGINS: Constant<[*const berth_plugin_info; 1]> = Constant([&INFO.0]);

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static berth_entry_v1: berth_entry = berth_entry {
    magic: MAGIC,
    struct_size: size::<berth_entry>(),
    abi_major: 1,
    abi_minor: 0,
    min_host_minor: 0,
    pointer_bits: 64,
    build_flags: 0,
    n_plugins: 1,
    plugins: PLUGINS.0.as_ptr(),
    init: None,
    deinit: None,
    create,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_prices_and_falls_back_to_the_default() {
        for (label, expected) in
            [(Some("12"), 12), (Some("0"), 0), (Some("-1"), 100), (Some("cheap"), 100), (None, 100)]
        {
            assert_eq!(price(label, 100), expected, "{:?}", label);
        }
    }

    #[test]
    fn reads_the_limit_from_the_annotation() {
        assert_eq!(limit([("other", "1")].into_iter()), Ok(i64::MAX));
        assert_eq!(limit([("other", "1"), (LIMIT_ANNOTATION, "20")].into_iter()), Ok(20));
        assert_eq!(limit([(LIMIT_ANNOTATION, "much")].into_iter()), Err(()));
    }
}
