//! What `library!` needs: the instance, and constant data that the host reads before any code runs.

use crate::host::{Args, Host};
use crate::plugin::Plugin;
use crate::status::{abort_on_panic, guard, guard_void, slot, str_of, text_of, Rejection};
use crate::sys;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_void};

/// Data of which a static may be made: numbers and raw pointers. All structs of [`crate::sys`] have
/// this trait.
///
/// # Safety
/// The type has no interior mutability: a shared reference to it cannot change it. Every use of
/// what its raw pointers point to is `unsafe`.
pub unsafe trait PlainData {}
unsafe impl PlainData for u32 {}
unsafe impl PlainData for u64 {}
unsafe impl<T> PlainData for *const T {}
unsafe impl<T: PlainData, const N: usize> PlainData for [T; N] {}

/// A static of a struct of [`crate::sys`], which raw pointers keep from being `Sync`:
/// `static PERMIT: Constant<sys::berth_permit> = Constant(sys::berth_permit { .. });`.
#[repr(transparent)]
pub struct Constant<T>(pub T);
// SAFETY: a shared reference to plain data cannot change it.
unsafe impl<T: PlainData> Sync for Constant<T> {}

/// Returns the pointer to the table of an extension point. In a constant it fails to compile if the
/// struct is that of another extension point.
pub const fn table_of<T: sys::PointTable>(id: &str, table: &'static T) -> *const c_void {
    assert!(is_equal(id, T::ID), "this struct is not the table of this extension point");
    table as *const T as *const c_void
}

const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b, mut i) = (a.as_bytes(), b.as_bytes(), 0);
    if a.len() != b.len() {
        return false;
    }
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Memory for a T, for the offsets of its members.
pub fn uninit_like<T>(_: *const T) -> MaybeUninit<T> {
    MaybeUninit::uninit()
}

/// What `library!` generates for a plugin.
pub trait Exported: Plugin {
    /// The ids of its extension points.
    const POINTS: &'static [&'static str];
    /// Its description.
    const INFO: &'static sys::berth_plugin_info;
    /// The table of an extension point, or NULL.
    fn point(id: &str) -> *const c_void;
}

// ---- Texts at compile time ----------------------------------------------------------------------

/// The size of `joined`.
pub const fn joined_size(list: &[&str]) -> usize {
    let (mut size, mut i) = (0, 0);
    while i < list.len() {
        size += list[i].len() + 1;
        i += 1;
    }
    size
}

/// Joins texts, each with a zero byte at its end.
pub const fn joined<const N: usize>(list: &[&str]) -> [u8; N] {
    let mut text = [0; N];
    let (mut at, mut i) = (0, 0);
    while i < list.len() {
        let (from, mut k) = (list[i].as_bytes(), 0);
        while k < from.len() {
            assert!(from[k] != 0, "a text of a plugin contains a zero byte");
            text[at] = from[k];
            at += 1;
            k += 1;
        }
        at += 1;
        i += 1;
    }
    text
}

/// Pointers to the texts of `joined`, and NULL. N is one more than their number.
pub const fn pointers<const N: usize>(text: &'static [u8], list: &[&str]) -> [*const c_char; N] {
    let mut found = [std::ptr::null(); N];
    let (mut at, mut i) = (0, 0);
    while i < list.len() {
        // SAFETY: the text is at least as long as the texts of the list.
        found[i] = unsafe { text.as_ptr().add(at) as *const c_char };
        at += list[i].len() + 1;
        i += 1;
    }
    found
}

/// The largest number of the list.
pub const fn largest(list: &[u16]) -> u16 {
    let (mut found, mut i) = (0, 0);
    while i < list.len() {
        if list[i] > found {
            found = list[i];
        }
        i += 1;
    }
    found
}

// ---- The note -----------------------------------------------------------------------------------

/// The ELF note; N is a multiple of four.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 8],
    text: [u8; N],
}

/// One plugin of a note: name, version, extension points.
pub type NotePlugin = (&'static str, &'static str, &'static [&'static str]);

/// Text that is written at compile time; what does not fit is only counted.
struct Text<const N: usize> {
    bytes: [u8; N],
    size: usize,
}

impl<const N: usize> Text<N> {
    const fn push(mut self, text: &str) -> Self {
        let (from, mut i) = (text.as_bytes(), 0);
        while i < from.len() {
            if self.size < N {
                self.bytes[self.size] = from[i];
            }
            self.size += 1;
            i += 1;
        }
        self
    }

    const fn string(self, text: &str) -> Self {
        let (from, mut i) = (text.as_bytes(), 0);
        while i < from.len() {
            let is_plain = from[i] >= b' ' && from[i] != b'"' && from[i] != b'\\';
            assert!(
                is_plain,
                "a name, version or id contains a quote, backslash or control character"
            );
            i += 1;
        }
        self.push("\"").push(text).push("\"")
    }

    const fn number(self, value: u16) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let rest = if value > 9 { self.number(value / 10) } else { self };
        rest.push(DIGITS[(value % 10) as usize])
    }
}

const fn write_note<const N: usize>(min_host_minor: u16, plugins: &[NotePlugin]) -> Text<N> {
    let mut out = Text { bytes: [0; N], size: 0 }.push("{\"abi\":[").number(sys::BERTH_ABI_MAJOR);
    out = out.push(",").number(sys::BERTH_ABI_MINOR).push("],\"minHostMinor\":");
    out = out.number(min_host_minor).push(",\"plugins\":[");
    let mut i = 0;
    while i < plugins.len() {
        let (name, version, points) = plugins[i];
        out = out.push(if i > 0 { ",{\"name\":" } else { "{\"name\":" }).string(name);
        out = out.push(",\"version\":").string(version).push(",\"points\":[");
        let mut k = 0;
        while k < points.len() {
            out = out.push(if k > 0 { "," } else { "" }).string(points[k]);
            k += 1;
        }
        out = out.push("]}");
        i += 1;
    }
    out.push("]}")
}

/// The size of the note's text.
pub const fn note_size(min_host_minor: u16, plugins: &[NotePlugin]) -> usize {
    (write_note::<0>(min_host_minor, plugins).size + 4) / 4 * 4
}

/// The note that states the same facts as the entry.
pub const fn note<const N: usize>(min_host_minor: u16, plugins: &[NotePlugin]) -> Note<N> {
    let text = write_note::<N>(min_host_minor, plugins).bytes;
    Note {
        name_size: 6,
        text_size: N as u32,
        kind: sys::BERTH_NOTE_TYPE,
        name: *b"Berth\0\0\0",
        text,
    }
}

// ---- Instances ----------------------------------------------------------------------------------

struct Instance<P> {
    abi: sys::berth_plugin,
    plugin: P,
    host: *const sys::berth_host,
    // What `abi` points to.
    _names: Vec<CString>,
    columns: Vec<sys::berth_column_request>,
    slots: Vec<sys::berth_slot>,
    reasons: Vec<sys::berth_str>,
}

fn array_of<T>(items: &[T]) -> sys::berth_array {
    sys::berth_array {
        data: items.as_ptr() as *const c_void,
        count: items.len() as u32,
        stride: std::mem::size_of::<T>() as u32,
    }
}

fn slots_of<S: Clone>() -> Vec<sys::berth_slot> {
    if std::mem::size_of::<S>() == 0 {
        return Vec::new();
    }
    vec![sys::berth_slot {
        size: std::mem::size_of::<Option<S>>() as u32,
        align: std::mem::align_of::<Option<S>>() as u32,
        construct: Some(slot::construct::<S>),
        clone: Some(slot::clone::<S>),
        destroy: Some(slot::destroy::<S>),
        ..sys::berth_slot::NEW
    }]
}

impl<P: Exported> Instance<P> {
    fn new(plugin: P, host: *const sys::berth_host) -> Result<Box<Self>, Rejection> {
        let mut names = Vec::new();
        let mut columns = Vec::new();
        for (i, column) in P::COLUMNS.iter().enumerate() {
            if column.index != i {
                let text = format!("the column {} has index {}, ", column.name, column.index);
                return Err(Rejection::error(text + &format!("but is at {i} of COLUMNS")));
            }
            let name = CString::new(column.name).map_err(|e| Rejection::error(e.to_string()))?;
            columns.push(sys::berth_column_request {
                name: name.as_ptr(), // the heap memory of a CString does not move
                type_: column.kind,
                flags: column.flags,
                ..sys::berth_column_request::NEW
            });
            names.push(name);
        }
        let mut instance = Box::new(Instance {
            abi: sys::berth_plugin::NEW,
            plugin,
            host,
            _names: names,
            columns,
            slots: slots_of::<P::State>(),
            reasons: P::REASONS.iter().map(|text| str_of(text)).collect(),
        });
        instance.abi.columns = array_of(&instance.columns);
        instance.abi.slots = array_of(&instance.slots);
        instance.abi.reasons = array_of(&instance.reasons);
        instance.abi.get_point = Some(get_point::<P>);
        instance.abi.quiesce = Some(quiesce::<P>);
        instance.abi.destroy = Some(destroy::<P>);
        Ok(instance)
    }
}

unsafe extern "C" fn get_point<P: Exported>(
    _: *const sys::berth_plugin,
    id: *const c_char,
) -> *const c_void {
    CStr::from_ptr(id).to_str().map_or(std::ptr::null(), P::point)
}

unsafe extern "C" fn quiesce<P: Plugin>(plugin: *mut sys::berth_plugin) {
    let instance = instance_of::<P>(plugin);
    guard_void((*instance).host, || (*instance).plugin.quiesce());
}

unsafe extern "C" fn destroy<P>(plugin: *mut sys::berth_plugin) {
    let instance = instance_of::<P>(plugin);
    abort_on_panic(|| drop(Box::from_raw(instance)));
}

/// # Safety
/// `plugin` is the member `abi` of an Instance that `create` leaked.
unsafe fn instance_of<P>(plugin: *mut sys::berth_plugin) -> *mut Instance<P> {
    (plugin as *mut u8).sub(offset_of_abi::<P>()) as *mut Instance<P>
}

fn offset_of_abi<P>() -> usize {
    let place = MaybeUninit::<Instance<P>>::uninit();
    let start = place.as_ptr();
    // SAFETY: addr_of! reads nothing.
    unsafe { std::ptr::addr_of!((*start).abi) as usize - start as usize }
}

/// Creates an instance of P for berth_entry.create.
///
/// # Safety
/// The arguments are those of berth_entry.create.
pub unsafe fn create<P: Exported>(
    host: *const sys::berth_host,
    request: *const sys::berth_instance_request,
    out: *mut *mut sys::berth_plugin,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    guard(status, || {
        let mut args = Args::new(host, request, status);
        let created = P::create(&Host::new(host), &mut args);
        if args.failed() {
            return Ok(sys::BERTH_BAD_ARGUMENT);
        }
        let instance = Box::into_raw(Instance::new(created?, host)?);
        (*instance).abi.self_ = std::ptr::addr_of_mut!((*instance).plugin) as *mut c_void;
        *out = std::ptr::addr_of_mut!((*instance).abi);
        Ok(sys::BERTH_SUCCESS)
    })
}

/// True if `text` is `name`.
///
/// # Safety
/// `text` is valid.
pub unsafe fn is_name(text: sys::berth_str, name: &str) -> bool {
    text_of(text) == name
}

/// BERTH_BUILD_* of the library.
pub const BUILD_FLAGS: u64 =
    if cfg!(debug_assertions) { sys::BERTH_BUILD_ASSERTS as u64 } else { 0 };

// ---- The macro ----------------------------------------------------------------------------------

/// Exports the plugins of a library, each with its extension points. Use it once per library.
///
/// ```text
/// berth::library! { CheapestNode: [PreFilter, Filter, Score]; }
/// ```
///
/// An extension point without a safe trait is named by its id and a table: a `&'static` of the
/// struct in [`crate::sys`] that belongs to the id, in a static of [`crate::Constant`]. You write
/// `unsafe`, because the functions in the table receive raw pointers: to the plugin as `self`, and
/// to what <berth/abi.h> states. A panic must not leave them: run their code in [`crate::guard`],
/// or in [`crate::guard_void`] or [`crate::guard_or`] if they return no code.
/// [`crate::Cycle::from_ptr`] gives them the state.
///
/// ```text
/// unsafe extern "C" fn reserve(
///     plugin: *mut c_void,
///     cycle: *const sys::berth_cycle,
///     target: *const sys::berth_target,
///     status: *mut sys::berth_status,
/// ) -> sys::berth_code {
///     berth::guard(status, || {
///         let (gang, cycle) = (&*(plugin as *const Gang), Cycle::from_ptr(cycle, "Reserve"));
///         gang.reserve(cycle.state(), target)?;
///         Ok(sys::BERTH_SUCCESS)
///     })
/// }
/// unsafe extern "C" fn unreserve(plugin: *mut c_void, binding: *const sys::berth_binding) {
///     let gang = &*(plugin as *const Gang);
///     berth::guard_void(gang.host.as_ptr(), || gang.unreserve(binding))
/// }
/// static RESERVE: berth::Constant<sys::berth_reserve> = berth::Constant(sys::berth_reserve {
///     reserve: Some(reserve),
///     unreserve: Some(unreserve),
///     ..sys::berth_reserve::NEW
/// });
/// berth::library! {
///     Gang: [PreFilter, Filter] + unsafe { sys::BERTH_POINT_RESERVE => &RESERVE.0 };
/// }
/// ```
#[macro_export]
macro_rules! library {
    ($(
        $plugin:ty: [$($point:ident),* $(,)?]
        $(+ unsafe { $($id:expr => $table:expr),+ $(,)? })?;
    )+) => {
        $(const _: () = {
            // The names begin with __BERTH, because items of a macro can hide those of its user.
            const __BERTH_POINTS: &[&::core::primitive::str] = &[
                $(<$crate::points::$point as $crate::library::Point<$plugin>>::ID,)*
                $($($id,)+)?
            ];
            const __BERTH_INFO: &$crate::sys::berth_plugin_info = &$crate::sys::berth_plugin_info {
                flags: <$plugin as $crate::Plugin>::FLAGS,
                name: $crate::list!(&[<$plugin as $crate::Plugin>::NAME])[0],
                version: $crate::list!(&[<$plugin as $crate::Plugin>::VERSION])[0],
                about: $crate::list!(&[<$plugin as $crate::Plugin>::ABOUT])[0],
                points: $crate::list!(__BERTH_POINTS).as_ptr(),
                services: $crate::list!(<$plugin as $crate::Plugin>::SERVICES).as_ptr(),
                kinds: $crate::list!(<$plugin as $crate::Plugin>::KINDS).as_ptr(),
                fields: $crate::list!(<$plugin as $crate::Plugin>::FIELDS).as_ptr(),
                pod_fields: $crate::list!(<$plugin as $crate::Plugin>::POD_FIELDS).as_ptr(),
                args_schema: $crate::list!(&[<$plugin as $crate::Plugin>::ARGS_SCHEMA])[0],
                ..$crate::sys::berth_plugin_info::NEW
            };
            impl $crate::library::Exported for $plugin {
                const POINTS: &'static [&'static ::core::primitive::str] = __BERTH_POINTS;
                const INFO: &'static $crate::sys::berth_plugin_info = __BERTH_INFO;
                fn point(id: &::core::primitive::str) -> *const ::std::os::raw::c_void {
                    $(if id == <$crate::points::$point as $crate::library::Point<$plugin>>::ID {
                        return <$crate::points::$point as $crate::library::Point<$plugin>>::table();
                    })*
                    $($({
                        static __BERTH_TABLE: $crate::Constant<*const ::std::os::raw::c_void> =
                            $crate::Constant($crate::library::table_of($id, $table));
                        if id == $id {
                            return __BERTH_TABLE.0;
                        }
                    })+)?
                    ::std::ptr::null()
                }
            }
        };)+

        const _: () = {
            const __BERTH_PLUGINS: &[$crate::library::NotePlugin] = &[$((
                <$plugin as $crate::Plugin>::NAME,
                <$plugin as $crate::Plugin>::VERSION,
                <$plugin as $crate::library::Exported>::POINTS,
            )),+];
            const __BERTH_MIN_HOST_MINOR: ::core::primitive::u16 =
                $crate::library::largest(&[$(<$plugin as $crate::Plugin>::MIN_HOST_MINOR),+]);
            const _: () = ::std::assert!(
                __BERTH_MIN_HOST_MINOR <= $crate::sys::BERTH_ABI_MINOR,
                "MIN_HOST_MINOR is newer than this crate (sys::BERTH_ABI_MINOR)"
            );
            const __BERTH_INFOS: &[*const $crate::sys::berth_plugin_info] =
                &[$(<$plugin as $crate::library::Exported>::INFO as *const _),+];

            #[link_section = ".note.berth"]
            #[used]
            static __BERTH_NOTE: $crate::library::Note<
                { $crate::library::note_size(__BERTH_MIN_HOST_MINOR, __BERTH_PLUGINS) },
            > = $crate::library::note(__BERTH_MIN_HOST_MINOR, __BERTH_PLUGINS);

            unsafe extern "C" fn __berth_create(
                host: *const $crate::sys::berth_host,
                request: *const $crate::sys::berth_instance_request,
                out: *mut *mut $crate::sys::berth_plugin,
                status: *mut $crate::sys::berth_status,
            ) -> $crate::sys::berth_code {
                $(if $crate::library::is_name((*request).name, <$plugin as $crate::Plugin>::NAME) {
                    return $crate::library::create::<$plugin>(host, request, out, status);
                })+
                $crate::sys::BERTH_NOT_FOUND
            }

            #[no_mangle]
            #[allow(non_upper_case_globals)]
            pub static berth_entry_v1: $crate::Constant<$crate::sys::berth_entry> =
                $crate::Constant($crate::sys::berth_entry {
                    magic: $crate::sys::BERTH_MAGIC,
                    struct_size: ::std::mem::size_of::<$crate::sys::berth_entry>()
                        as ::core::primitive::u32,
                    abi_major: $crate::sys::BERTH_ABI_MAJOR,
                    abi_minor: $crate::sys::BERTH_ABI_MINOR,
                    min_host_minor: __BERTH_MIN_HOST_MINOR,
                    pointer_bits: 64,
                    build_flags: $crate::library::BUILD_FLAGS,
                    n_plugins: __BERTH_INFOS.len() as ::core::primitive::u64,
                    plugins: __BERTH_INFOS.as_ptr(),
                    create: ::core::option::Option::Some(__berth_create),
                    abi_draft: $crate::sys::BERTH_ABI_DRAFT,
                    ..$crate::sys::berth_entry::ZERO
                });
        };
    };
}

/// The pointers to the texts of a constant list, each with a zero byte at its end, and NULL.
#[doc(hidden)]
#[macro_export]
macro_rules! list {
    ($list:expr) => {{
        const __BERTH_LIST: &[&::core::primitive::str] = $list;
        const __BERTH_TEXT: &[::core::primitive::u8] = &$crate::library::joined::<
            { $crate::library::joined_size(__BERTH_LIST) },
        >(__BERTH_LIST);
        const __BERTH_POINTERS: &[*const ::std::os::raw::c_char] =
            &$crate::library::pointers::<{ __BERTH_LIST.len() + 1 }>(__BERTH_TEXT, __BERTH_LIST);
        __BERTH_POINTERS
    }};
}

pub use crate::plugin::Point;

#[cfg(test)]
mod tests {
    use super::*;

    fn note_text(min_host_minor: u16, plugins: &[NotePlugin]) -> String {
        let text = write_note::<400>(min_host_minor, plugins);
        String::from_utf8(text.bytes[..text.size].to_vec()).unwrap()
    }

    #[test]
    fn the_note_states_the_facts_of_the_entry() {
        const ONE: &[NotePlugin] = &[("a.A", "1.0.0", &["berth.filter/1", "berth.score/1"])];
        let abi = format!("{{\"abi\":[{},{}],", sys::BERTH_ABI_MAJOR, sys::BERTH_ABI_MINOR);
        assert_eq!(
            note_text(0, ONE),
            abi.clone()
                + r#""minHostMinor":0,"plugins":[{"name":"a.A","version":"1.0.0","#
                + r#""points":["berth.filter/1","berth.score/1"]}]}"#
        );
        const TWO: &[NotePlugin] = &[("A", "1", &[]), ("B", "2", &["x"])];
        assert_eq!(
            note_text(65535, TWO),
            abi + r#""minHostMinor":65535,"plugins":[{"name":"A","version":"1","points":[]},"#
                + r#"{"name":"B","version":"2","points":["x"]}]}"#
        );
        // Padded with one to four zero bytes.
        const SIZE: usize = note_size(0, ONE);
        let note = note::<SIZE>(0, ONE);
        assert_eq!((note.name_size, note.text_size as usize, note.kind), (6, SIZE, 1));
        let text = note_text(0, ONE);
        assert!(SIZE % 4 == 0 && SIZE > text.len() && SIZE <= text.len() + 4);
        assert!(note.text.starts_with(text.as_bytes()));
        assert!(note.text[text.len()..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_name_that_json_would_escape_is_refused() {
        for name in ["a\"", "a\\", "a\n"] {
            assert!(std::panic::catch_unwind(|| note_text(0, &[(name, "1", &[])])).is_err());
        }
    }

    #[test]
    fn lists_end_with_null() {
        let empty = crate::list!(&[]);
        assert!(empty.len() == 1 && empty[0].is_null());
        let list = crate::list!(&["berth.filter/1", "", "b"]);
        let texts: Vec<&str> = list[..3]
            .iter()
            .map(|text| unsafe { CStr::from_ptr(*text).to_str().unwrap() })
            .collect();
        assert_eq!(texts, ["berth.filter/1", "", "b"]);
        assert!(list.len() == 4 && list[3].is_null());
    }

    // ---- A library whose names are those that the macro could hide, with a table ---------------

    #[allow(dead_code)]
    mod lib {}
    struct P;
    const POINTS: &str = sys::BERTH_POINT_PERMIT;
    const NOTE: &str = sys::BERTH_POINT_POST_BIND;
    static INFO: Constant<sys::berth_permit> =
        Constant(sys::berth_permit { flags: 7, ..sys::berth_permit::NEW });
    static INFOS: Constant<sys::berth_post_bind> = Constant(sys::berth_post_bind::NEW);
    const LIST: &[&str] = &["v1/Namespace"];

    impl Plugin for P {
        const NAME: &'static str = "test.P";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "Uses the names of the macro.";
        const KINDS: &'static [&'static str] = LIST;
        const FLAGS: u32 = sys::BERTH_PLUGIN_BLOCKS_IN_BIND;
        type State = ();
        fn create(_: &Host, _: &mut Args) -> Result<Self, Rejection> {
            Ok(P)
        }
        fn quiesce(&self) {
            panic!("in quiesce")
        }
    }
    impl crate::PreEnqueue for P {
        fn pre_enqueue(&self, _: crate::Pod) -> Result<(), Rejection> {
            Ok(())
        }
    }
    crate::library! { P: [PreEnqueue] + unsafe { POINTS => &INFO.0, NOTE => &INFOS.0 }; }

    #[test]
    fn a_table_is_found_by_its_id() {
        let ids = [sys::BERTH_POINT_PRE_ENQUEUE, POINTS, NOTE];
        assert_eq!(<P as Exported>::POINTS, ids);
        assert_eq!(P::point(POINTS), &INFO.0 as *const _ as *const c_void);
        assert_eq!(P::point(NOTE), &INFOS.0 as *const _ as *const c_void);
        assert!(!P::point(ids[0]).is_null());
        assert!(P::point(sys::BERTH_POINT_RESERVE).is_null());
    }

    #[test]
    fn a_table_of_another_extension_point_is_refused() {
        assert!(std::panic::catch_unwind(|| table_of(NOTE, &INFO.0)).is_err());
        assert!(std::panic::catch_unwind(|| table_of("berth.permit/2", &INFO.0)).is_err());
        assert!(std::panic::catch_unwind(|| table_of("berth.permit/1/", &INFO.0)).is_err());
    }

    #[test]
    fn the_description_has_the_flags_and_lists() {
        let info = <P as Exported>::INFO;
        assert_eq!(info.flags, sys::BERTH_PLUGIN_BLOCKS_IN_BIND);
        let kind = unsafe { CStr::from_ptr(*info.kinds) };
        assert_eq!(kind.to_str(), Ok("v1/Namespace"));
    }

    unsafe extern "C" fn keep_fault(host: *const sys::berth_host, what: sys::berth_str) {
        (*((*host).impl_ as *mut Vec<String>)).push(text_of(what).to_string());
    }

    #[test]
    fn a_panic_of_quiesce_is_a_fault() {
        let mut faults: Vec<String> = Vec::new();
        let host = sys::berth_host {
            impl_: &mut faults as *mut _ as *mut c_void,
            fault: Some(keep_fault),
            ..sys::berth_host::NEW
        };
        let mut plugin = std::ptr::null_mut();
        let mut status = sys::berth_status::NEW;
        let request = sys::berth_instance_request::NEW;
        unsafe {
            let code = create::<P>(&host, &request, &mut plugin, &mut status);
            assert_eq!(code, sys::BERTH_SUCCESS);
            (*plugin).quiesce.unwrap()(plugin);
            (*plugin).destroy.unwrap()(plugin);
        }
        assert_eq!(faults, ["panic: in quiesce"]);
    }

    #[test]
    fn the_largest_minor_version_counts() {
        assert_eq!(largest(&[0]), 0);
        assert_eq!(largest(&[1, 3, 2]), 3);
    }
}
