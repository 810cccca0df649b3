//! The part of <berth/abi.h> that this plugin uses, with a thin layer over it. Copy it and add what
//! you need: the tests at the end compare every struct and constant that is declared here with the
//! header.
#![allow(dead_code, non_camel_case_types)]

use std::any::Any;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

pub type berth_code = i32;
pub type berth_id = u32;

// Declares the constants, and lists them for the test. In C their names begin with BERTH_. The
// constants of parts are bit masks here, as the macro BERTH_PART returns them.
macro_rules! abi_constants {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(pub const $name: $type = $value;)*

        #[cfg(test)]
        const CONSTANTS: &[(&str, i128)] = &[$((stringify!($name), $name as i128),)*];
    };
}

abi_constants! {
    SUCCESS: berth_code = 0;
    ERROR: berth_code = 1;
    UNSCHEDULABLE: berth_code = 2;
    UNSCHEDULABLE_AND_UNRESOLVABLE: berth_code = 3;
    SKIP: berth_code = 5;
    BAD_ARGUMENT: berth_code = 35;
    BUG: berth_code = 37;
    MAGIC: u32 = 0x3148_5442;
    TYPE_I64: u32 = 1;
    TYPE_ID: u32 = 3;
    VALUE_INT: u32 = 2;
    DEPENDS_NODE: u32 = 1;
    DEPENDS_NODE_PODS: u32 = 2;
    PART_ANNOTATIONS: u64 = 1 << 3;
    PART_REQUESTS: u64 = 1 << 13;
    NORMALIZE_NONE: u32 = 0;
    NORMALIZE_MAX: u32 = 1;
    NORMALIZE_MAX_REVERSED: u32 = 2;
    NOTE_TYPE: u32 = 1;
}

// Declares the structs, and generates a C source for the test that asserts their layout.
macro_rules! abi_structs {
    ($(struct $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(#[repr(C)] pub struct $name { $(pub $field: $type,)* })*

        #[cfg(test)]
        fn layout_in_c() -> String {
            let mut c = String::from("#include <berth/abi.h>\n");
            $(
                let name = stringify!($name);
                let size = std::mem::size_of::<$name>();
                c += &format!("_Static_assert(sizeof({name}) == {size}, \"{name}\");\n");
                let place = std::mem::MaybeUninit::<$name>::uninit();
                $(
                    let field = stringify!($field).trim_end_matches('_'); // type_ is `type` in C
                    let at = unsafe { std::ptr::addr_of!((*place.as_ptr()).$field) } as usize;
                    let offset = at - place.as_ptr() as usize;
                    c += &format!("_Static_assert(offsetof({name}, {field}) == {offset}, ");
                    c += &format!("\"{name}.{field}\");\n");
                )*
            )*
            c
        }
    };
}

abi_structs! {
    struct berth_str { ptr: *const u8, len: u64, }
    struct berth_str_pair { key: berth_str, value: berth_str, }
    struct berth_array { data: *const c_void, count: u32, stride: u32, }

    struct berth_status {
        struct_size: u32,
        reserved: u32,
        impl_: *mut c_void,
        add_reason: unsafe extern "C" fn(*mut berth_status, berth_str),
        add_argument_error: unsafe extern "C" fn(*mut berth_status, berth_str, berth_str),
    }

    struct berth_meta {
        struct_size: u32,
        ns: berth_id,
        name: berth_str,
        uid: berth_str,
        resource_version: berth_str,
        generation: i64,
        created_ns: i64,
        deleted_ns: i64,
        labels: berth_array,
        annotations: berth_array,
        owners: berth_array,
        fields: berth_array,
    }

    struct berth_resources {
        struct_size: u32,
        present: u32,
        milli_cpu: i64,
        memory: i64,
        ephemeral_storage: i64,
        pods: i64,
        scalars: berth_array,
    }

    struct berth_pod {
        struct_size: u32,
        flags: u32,
        meta: *const berth_meta,
        scheduler_name: berth_id,
        node_name: berth_id,
        priority: i32,
        preemption_policy: u32,
        priority_class: berth_id,
        runtime_class: berth_id,
        os: berth_id,
        restart_policy: u32,
        node_selector: berth_array,
        affinity: *const c_void,
        tolerations: berth_array,
        spreads: berth_array,
        containers: berth_array,
        init_containers: berth_array,
        volumes: berth_array,
        scheduling_gates: berth_array,
        resource_claims: berth_array,
        pod_group: berth_str,
        request: *const berth_resources,
        request_of_containers: *const berth_resources,
        accounted: *const berth_resources,
        nonzero_milli_cpu: i64,
        nonzero_memory: i64,
        host_ports: berth_array,
        overhead: *const berth_resources,
        nominated_node: berth_id,
        phase: u32,
        started_ns: i64,
        conditions: berth_array,
        part_hashes: berth_array,
    }

    struct berth_column { data: *const c_void, type_: u32, stride: u32, }

    struct berth_block {
        struct_size: u32,
        count: u32,
        n_selected: u32,
        n_columns: u32,
        selected: *const u32,
        rows: *const u32,
        columns: *const berth_column,
        nodes: *const *const c_void,
        pods: *const c_void,
    }

    struct berth_cycle {
        struct_size: u32,
        flags: u32,
        id: u64,
        pod: *const berth_pod,
        slots: *const *mut c_void,
        cancel: *const u32,
        deadline_ns: i64,
        host: *const c_void,
    }

    struct berth_slot {
        struct_size: u32,
        size: u32,
        align: u32,
        reserved: u32,
        type_id: *const c_char,
        construct: Option<unsafe extern "C" fn(*mut c_void)>,
        clone: Option<unsafe extern "C" fn(*mut c_void, *const c_void) -> berth_code>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    }

    struct berth_dependence {
        struct_size: u32,
        cluster: u32,
        pod_parts: u64,
        sign: Option<unsafe extern "C" fn(*mut c_void, *const berth_cycle, *mut u64) -> berth_code>,
        changed: Option<unsafe extern "C" fn()>,
    }

    struct berth_pre_filter {
        struct_size: u32,
        flags: u32,
        pre_filter: unsafe extern "C" fn(
            *mut c_void, *const berth_cycle, *const c_void, *mut c_void, *mut berth_status,
        ) -> berth_code,
        add_pod: Option<unsafe extern "C" fn()>,
        remove_pod: Option<unsafe extern "C" fn()>,
    }

    struct berth_filter_out { struct_size: u32, reserved: u32, codes: *mut u8, reasons: *mut u64, }

    struct berth_filter {
        struct_size: u32,
        flags: u32,
        dependence: *const berth_dependence,
        filter: unsafe extern "C" fn(
            *mut c_void, *const berth_cycle, *const berth_block, *mut berth_filter_out,
            *mut berth_status,
        ) -> berth_code,
        filter_whole: *const c_void, // null: this plugin filters in blocks
    }

    struct berth_score {
        struct_size: u32,
        flags: u32,
        normalize_mode: u32,
        reserved: u32,
        dependence: *const berth_dependence,
        score: unsafe extern "C" fn(
            *mut c_void, *const berth_cycle, *const berth_block, *mut i64, *mut berth_status,
        ) -> berth_code,
        normalize: Option<unsafe extern "C" fn()>,
    }

    struct berth_host {
        struct_size: u32,
        abi_major: u16,
        abi_minor: u16,
        impl_: *mut c_void,
        name: berth_str,
        version: berth_str,
        get_service: unsafe extern "C" fn(
            *const berth_host, *const c_char, *mut *const c_void,
        ) -> berth_code,
        fault: unsafe extern "C" fn(*const berth_host, berth_str),
    }

    struct berth_strings {
        struct_size: u32,
        reserved: u32,
        intern: unsafe extern "C" fn(*const berth_host, berth_str) -> berth_id,
        find: unsafe extern "C" fn(*const berth_host, berth_str) -> berth_id,
        text: unsafe extern "C" fn(*const berth_host, berth_id) -> berth_str,
    }

    struct berth_value { reader: *const berth_values, }

    struct berth_values {
        struct_size: u32,
        reserved: u32,
        kind: unsafe extern "C" fn(*const berth_value) -> u32,
        size: unsafe extern "C" fn(*const berth_value) -> u64,
        get: unsafe extern "C" fn(*const berth_value, berth_str) -> *const berth_value,
        at: unsafe extern "C" fn(*const berth_value, u64, *mut berth_str) -> *const berth_value,
        as_int: unsafe extern "C" fn(*const berth_value) -> i64,
        as_float: unsafe extern "C" fn(*const berth_value) -> f64,
        as_string: unsafe extern "C" fn(*const berth_value) -> berth_str,
        where_: unsafe extern "C" fn(*const berth_value) -> berth_str,
        as_quantity: unsafe extern "C" fn(*const berth_value, *mut i64, *mut i64) -> berth_code,
    }

    struct berth_plugin_info {
        struct_size: u32,
        flags: u32,
        name: *const c_char,
        version: *const c_char,
        about: *const c_char,
        points: *const *const c_char,
        services: *const *const c_char,
        kinds: *const *const c_char,
        fields: *const *const c_char,
        pod_fields: *const *const c_char,
        args_schema: *const c_char,
    }

    struct berth_column_request {
        struct_size: u32,
        flags: u32,
        name: *const c_char,
        type_: u32,
        reserved: u32,
    }

    struct berth_plugin {
        struct_size: u32,
        flags: u32,
        self_: *mut c_void,
        columns: berth_array,
        slots: berth_array,
        reasons: berth_array,
        get_point: unsafe extern "C" fn(*const berth_plugin, *const c_char) -> *const c_void,
        quiesce: Option<unsafe extern "C" fn(*mut berth_plugin)>,
        destroy: unsafe extern "C" fn(*mut berth_plugin),
    }

    struct berth_entry {
        magic: u32,
        struct_size: u32,
        abi_major: u16,
        abi_minor: u16,
        min_host_minor: u16,
        pointer_bits: u16,
        build_flags: u64,
        n_plugins: u64,
        plugins: *const *const berth_plugin_info,
        init: Option<unsafe extern "C" fn(*const berth_host, *mut berth_status) -> berth_code>,
        deinit: Option<unsafe extern "C" fn()>,
        create: unsafe extern "C" fn(
            *const berth_host, berth_str, berth_str, *const berth_value, *mut *mut berth_plugin,
            *mut berth_status,
        ) -> berth_code,
    }
}

// ---- Data of a library -------------------------------------------------------------------------

/// Constant data that points to constant data, which no thread writes.
#[repr(transparent)]
pub struct Constant<T>(pub T);
unsafe impl<T> Sync for Constant<T> {}

unsafe impl Sync for berth_entry {}

/// The ELF note, for `#[link_section = ".note.berth"] #[used] static`; N: `note_size(json)`.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 8],
    text: [u8; N],
}

pub const fn note_size(json: &str) -> usize {
    (json.len() + 4) / 4 * 4
}

pub const fn note<const N: usize>(json: &str) -> Note<N> {
    let mut text = [0; N];
    let mut i = 0;
    while i < json.len() {
        text[i] = json.as_bytes()[i];
        i += 1;
    }
    Note { name_size: 6, text_size: N as u32, kind: NOTE_TYPE, name: *b"Berth\0\0\0", text }
}

pub const fn size<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

// ---- A thin layer over the ABI -----------------------------------------------------------------

impl berth_str {
    pub const fn new(text: &'static str) -> Self {
        berth_str { ptr: text.as_ptr(), len: text.len() as u64 }
    }

    /// # Safety
    /// The text lives as long as `'a`, see abi.h.
    pub unsafe fn text<'a>(&self) -> &'a str {
        if self.len == 0 {
            return "";
        }
        std::str::from_utf8(std::slice::from_raw_parts(self.ptr, self.len as usize)).unwrap_or("")
    }
}

impl berth_array {
    pub const EMPTY: berth_array = berth_array { data: std::ptr::null(), count: 0, stride: 0 };

    pub const fn of<T>(items: &'static [T]) -> Self {
        berth_array {
            data: items.as_ptr() as *const c_void,
            count: items.len() as u32,
            stride: size::<T>(),
        }
    }

    /// # Safety
    /// The elements are of type T and live as long as `'a`. They are `stride` bytes apart.
    pub unsafe fn items<'a, T: 'a>(&self) -> impl Iterator<Item = &'a T> {
        let (data, stride) = (self.data as *const u8, self.stride as usize);
        (0..self.count as usize).map(move |i| &*(data.add(i * stride) as *const T))
    }
}

impl berth_block {
    /// Returns the indices of the selected nodes.
    pub fn selected(&self) -> impl Iterator<Item = usize> {
        let selected = self.selected;
        (0..self.n_selected as usize).map(move |k| {
            if selected.is_null() {
                k
            } else {
                unsafe { *selected.add(k) as usize }
            }
        })
    }

    /// # Safety
    /// `column` was requested with the type T, and `i` is selected.
    pub unsafe fn cell<T: Copy>(&self, column: usize, i: usize) -> T {
        let from = &*self.columns.add(column);
        *((from.data as *const u8).add(i * from.stride as usize) as *const T)
    }
}

impl berth_status {
    pub fn reason(&mut self, text: &str) {
        let text = berth_str { ptr: text.as_ptr(), len: text.len() as u64 };
        unsafe { (self.add_reason)(self, text) } // copied before the call returns
    }

    pub fn argument_error(&mut self, path: &'static str, text: &'static str) {
        unsafe { (self.add_argument_error)(self, berth_str::new(path), berth_str::new(text)) }
    }
}

impl berth_host {
    /// # Safety
    /// T is the struct of abi.h for `id`, which ends with a zero byte. Call it only in create().
    pub unsafe fn service<T>(&self, id: &str) -> Option<*const T> {
        let mut found = std::ptr::null();
        let code = (self.get_service)(self, id.as_ptr() as *const c_char, &mut found);
        (code == SUCCESS).then(|| found as *const T)
    }
}

/// Every function that the host calls must run in `guard`, because a panic must not leave the
/// library.
pub fn guard(
    status: *mut berth_status,
    call: impl FnOnce(&mut berth_status) -> berth_code,
) -> berth_code {
    let status = unsafe { &mut *status };
    let panic = match catch_unwind(AssertUnwindSafe(|| call(status))) {
        Ok(code) => return code,
        Err(panic) => panic,
    };
    status.reason(&message(&*panic));
    std::mem::forget(panic); // dropping it could panic again
    BUG
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn includes() -> Vec<String> {
        let asked = Command::new("pkg-config").args(["--cflags", "berth-sdk"]).output().unwrap();
        assert!(asked.status.success(), "set PKG_CONFIG_PATH to <prefix>/lib/pkgconfig");
        String::from_utf8(asked.stdout).unwrap().split_whitespace().map(String::from).collect()
    }

    fn compile(c: &str) -> Result<(), String> {
        let mut cc = Command::new("cc")
            .args(["-std=c11", "-fsyntax-only", "-x", "c", "-"])
            .args(includes())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        cc.stdin.take().unwrap().write_all(c.as_bytes()).unwrap();
        let done = cc.wait_with_output().unwrap();
        if done.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into())
        }
    }

    unsafe extern "C" fn keep(status: *mut berth_status, text: berth_str) {
        (*((*status).impl_ as *mut Vec<String>)).push(text.text().to_string());
    }
    unsafe extern "C" fn ignore(_: *mut berth_status, _: berth_str, _: berth_str) {}

    #[test]
    fn a_panic_becomes_a_status() {
        let mut reasons: Vec<String> = Vec::new();
        let mut status = berth_status {
            struct_size: size::<berth_status>(),
            reserved: 0,
            impl_: &mut reasons as *mut _ as *mut c_void,
            add_reason: keep,
            add_argument_error: ignore,
        };
        assert_eq!(guard(&mut status, |_| panic!("node {}", 7)), BUG);
        assert_eq!(guard(&mut status, |_| SUCCESS), SUCCESS);
        assert_eq!(reasons, ["panic: node 7"]);
    }

    #[test]
    fn struct_layouts_match_the_header() {
        compile(&layout_in_c()).unwrap();
    }

    #[test]
    fn a_wrong_layout_is_detected() {
        let wrong = layout_in_c().replace("sizeof(berth_str) == 16", "sizeof(berth_str) == 24");
        assert!(compile(&wrong).unwrap_err().contains("berth_str"));
    }

    fn constant_in_c(name: &str, value: i128) -> String {
        let in_c = match name.strip_prefix("PART_") {
            Some(part) => format!("BERTH_PART({part})"),
            None => format!("BERTH_{name}"),
        };
        format!("#include <berth/abi.h>\n_Static_assert({in_c} == {value}, \"{name}\");\n")
    }

    #[test]
    fn constants_match_the_header() {
        let c = CONSTANTS.iter().map(|&(name, value)| constant_in_c(name, value));
        compile(&c.collect::<String>()).unwrap();
    }

    #[test]
    fn a_wrong_constant_is_detected() {
        for &(name, value) in CONSTANTS {
            let error = compile(&constant_in_c(name, value + 1)).unwrap_err();
            assert!(error.contains("failed") && error.contains(name), "{name}: {error}");
        }
    }

    #[test]
    fn every_constant_is_declared_in_abi_constants() {
        let text = include_str!("berth.rs");
        let is_constant = |line: &&str| {
            let item = line.strip_prefix("pub ").unwrap_or(line);
            item.starts_with("static ")
                || item.starts_with("const ") && !item.starts_with("const fn ")
        };
        assert_eq!(text.lines().filter(is_constant).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
