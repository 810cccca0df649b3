//! What functions of a plugin return.

use crate::sys;
use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The verdict of a Filter about one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub(crate) code: u8,
    pub(crate) reasons: u64,
}

impl Verdict {
    /// The pod can run on the node.
    pub const SUCCESS: Verdict = Verdict { code: 0, reasons: 0 };

    const fn new(code: sys::berth_code, reason: u32) -> Verdict {
        assert!(reason < 64, "a verdict names a reason that is not in REASONS");
        Verdict { code: code as u8, reasons: 1 << reason }
    }

    /// The pod cannot run on the node; removing pods from the node may help. `reason` is an index
    /// of `Plugin::REASONS`. Panics for 64 and more, as all functions of this type do.
    pub const fn unschedulable(reason: u32) -> Verdict {
        Verdict::new(sys::BERTH_UNSCHEDULABLE, reason)
    }

    /// The pod cannot run on the node, and removing pods does not help.
    pub const fn unresolvable(reason: u32) -> Verdict {
        Verdict::new(sys::BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, reason)
    }

    /// The pod cannot run on the node until an external event occurs.
    pub const fn pending(reason: u32) -> Verdict {
        Verdict::new(sys::BERTH_PENDING, reason)
    }

    /// No verdict was determined: the attempt fails.
    pub const fn error(reason: u32) -> Verdict {
        Verdict::new(sys::BERTH_ERROR, reason)
    }

    /// Returns the verdict with one more reason.
    pub const fn and(self, reason: u32) -> Verdict {
        let more = Verdict::new(self.code as sys::berth_code, reason);
        Verdict { code: self.code, reasons: self.reasons | more.reasons }
    }
}

/// A rejection of a pod, or an error, with its reasons. Write constant texts without a node's or
/// pod's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub(crate) code: sys::berth_code,
    pub(crate) reasons: Vec<String>,
}

impl Rejection {
    fn new(code: sys::berth_code, reason: impl Into<String>) -> Rejection {
        Rejection { code, reasons: vec![reason.into()] }
    }

    /// The pod is rejected; removing pods may help.
    pub fn unschedulable(reason: impl Into<String>) -> Rejection {
        Rejection::new(sys::BERTH_UNSCHEDULABLE, reason)
    }

    /// The pod is rejected, and removing pods does not help.
    pub fn unresolvable(reason: impl Into<String>) -> Rejection {
        Rejection::new(sys::BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, reason)
    }

    /// The pod is rejected until an external event occurs. From PreFilter: the pod is parked until
    /// a plugin activates it (`sys::berth_activate`), because this plugin waits for an answer.
    pub fn pending(reason: impl Into<String>) -> Rejection {
        Rejection::new(sys::BERTH_PENDING, reason)
    }

    /// No result was determined: the pod backs off and is tried again.
    pub fn error(reason: impl Into<String>) -> Rejection {
        Rejection::new(sys::BERTH_ERROR, reason)
    }

    /// Adds one more reason.
    pub fn and(mut self, reason: impl Into<String>) -> Rejection {
        self.reasons.push(reason.into());
        self
    }
}

// ---- The boundary -------------------------------------------------------------------------------

pub(crate) const fn str_of(text: &str) -> sys::berth_str {
    sys::berth_str { ptr: text.as_ptr() as *const _, len: text.len() as u64 }
}

/// # Safety
/// The text lives as long as `'a`.
pub(crate) unsafe fn text_of<'a>(text: sys::berth_str) -> &'a str {
    if text.len == 0 {
        return "";
    }
    let bytes = std::slice::from_raw_parts(text.ptr as *const u8, text.len as usize);
    std::str::from_utf8(bytes).unwrap_or("")
}

/// # Safety
/// `status` is valid, or NULL: then the text is dropped.
pub(crate) unsafe fn add_reason(status: *mut sys::berth_status, text: &str) {
    if status.is_null() {
        return;
    }
    if let Some(add) = (*status).add_reason {
        add(status, str_of(text)) // copied before the call returns
    }
}

/// Runs the code of a function that the host calls, which a panic must not leave. A panic becomes
/// BERTH_BUG, and a rejection its code, both with reasons. The safe extension points use it; use it
/// in the functions of every table that you write. A function without a `berth_status` uses
/// [`guard_void`] or [`guard_or`]; one that returns a code all the same passes NULL, and the
/// reasons are dropped.
///
/// # Safety
/// `status` is what the host passed to the function, or NULL.
pub unsafe fn guard(
    status: *mut sys::berth_status,
    call: impl FnOnce() -> Result<sys::berth_code, Rejection>,
) -> sys::berth_code {
    match catch(call) {
        Ok(Ok(code)) => code,
        Ok(Err(rejection)) => {
            for reason in &rejection.reasons {
                add_reason(status, reason);
            }
            rejection.code
        }
        Err(text) => {
            add_reason(status, &text);
            sys::BERTH_BUG
        }
    }
}

/// Runs the code of a function that returns nothing to the host, such as Unreserve, PostBind, a
/// change, a timer or an answer, which a panic must not leave. A panic is reported to the host,
/// which counts it as a fault of the plugin.
///
/// # Safety
/// `host` is what the host passed to `create`.
pub unsafe fn guard_void(host: *const sys::berth_host, call: impl FnOnce()) {
    guard_or(host, (), call)
}

/// Runs the code of a function whose result is no code, which a panic must not leave. A panic is
/// reported to the host, which counts it as a fault of the plugin, and the function returns
/// `otherwise`: `sys::BERTH_HINT_QUEUE` for a hint, and `sys::BERTH_STALE_ALL` for `changed`.
///
/// # Safety
/// `host` is what the host passed to `create`.
pub unsafe fn guard_or<R>(
    host: *const sys::berth_host,
    otherwise: R,
    call: impl FnOnce() -> R,
) -> R {
    match catch(call) {
        Ok(result) => result,
        Err(text) => {
            if let Some(fault) = (*host).fault {
                fault(host, str_of(&text)) // copied before the call returns
            }
            otherwise
        }
    }
}

/// Returns what `call` returns, or the text of its panic.
pub(crate) fn catch<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = message_of(&*panic);
        std::mem::forget(panic); // dropping it could panic again
        text
    })
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a text"))
}

/// Ends the process when `call` panics: the function that runs it cannot report an error.
pub(crate) fn abort_on_panic(call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        std::process::abort();
    }
}

/// The functions of berth_slot for an `Option<S>`, which is None until PreFilter has run.
pub(crate) mod slot {
    use super::*;

    pub(crate) unsafe extern "C" fn construct<S>(at: *mut c_void) {
        (at as *mut Option<S>).write(None);
    }

    pub(crate) unsafe extern "C" fn clone<S: Clone>(
        to: *mut c_void,
        from: *const c_void,
    ) -> sys::berth_code {
        match catch_unwind(AssertUnwindSafe(|| (*(from as *const Option<S>)).clone())) {
            Ok(copy) => {
                (to as *mut Option<S>).write(copy);
                sys::BERTH_SUCCESS
            }
            Err(panic) => {
                std::mem::forget(panic);
                sys::BERTH_BUG
            }
        }
    }

    pub(crate) unsafe extern "C" fn destroy<S>(at: *mut c_void) {
        abort_on_panic(|| std::ptr::drop_in_place(at as *mut Option<S>));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    unsafe extern "C" fn keep(status: *mut sys::berth_status, text: sys::berth_str) {
        (*((*status).impl_ as *mut Vec<String>)).push(text_of(text).to_string());
    }

    /// Returns what `call` returns through `guard`: the code and the reasons.
    pub(crate) fn guarded(
        call: impl FnOnce() -> Result<sys::berth_code, Rejection>,
    ) -> (sys::berth_code, Vec<String>) {
        let mut reasons: Vec<String> = Vec::new();
        let mut status = sys::berth_status {
            impl_: &mut reasons as *mut _ as *mut c_void,
            add_reason: Some(keep),
            ..sys::berth_status::NEW
        };
        let code = unsafe { guard(&mut status, call) };
        (code, reasons)
    }

    #[test]
    fn a_panic_becomes_a_status() {
        let node = 7;
        assert_eq!(
            guarded(|| panic!("node {}", node)),
            (sys::BERTH_BUG, vec!["panic: node 7".to_string()])
        );
        assert_eq!(
            guarded(|| std::panic::panic_any(3)),
            (sys::BERTH_BUG, vec!["panic: without a text".to_string()])
        );
        assert_eq!(guarded(|| Ok(sys::BERTH_SUCCESS)), (sys::BERTH_SUCCESS, vec![]));
    }

    #[test]
    fn without_a_status_the_reasons_are_dropped() {
        unsafe {
            let none = std::ptr::null_mut();
            assert_eq!(guard(none, || panic!("lost")), sys::BERTH_BUG);
            let rejected = guard(none, || Err(Rejection::unschedulable("lost")));
            assert_eq!(rejected, sys::BERTH_UNSCHEDULABLE);
            assert_eq!(guard(none, || Ok(sys::BERTH_SKIP)), sys::BERTH_SKIP);
        }
    }

    unsafe extern "C" fn keep_fault(host: *const sys::berth_host, what: sys::berth_str) {
        (*((*host).impl_ as *mut Vec<String>)).push(text_of(what).to_string());
    }

    #[test]
    fn a_panic_without_a_code_is_a_fault() {
        let mut faults: Vec<String> = Vec::new();
        let host = sys::berth_host {
            impl_: &mut faults as *mut _ as *mut c_void,
            fault: Some(keep_fault),
            ..sys::berth_host::NEW
        };
        let (queue, skip) = (sys::BERTH_HINT_QUEUE, sys::BERTH_HINT_SKIP);
        let mut calls = 0;
        unsafe {
            guard_void(&host, || calls += 1);
            assert_eq!(guard_or(&host, queue, || skip), skip);
            guard_void(&host, || panic!("in unreserve"));
            assert_eq!(guard_or(&host, queue, || panic!("in hint")), queue);
        }
        assert_eq!(calls, 1);
        assert_eq!(faults, ["panic: in unreserve", "panic: in hint"]);
    }

    #[test]
    fn a_panic_of_a_guarded_call_without_fault_of_the_host_is_kept() {
        let host = sys::berth_host::NEW;
        assert_eq!(unsafe { guard_or(&host, 7, || panic!("in key")) }, 7);
    }

    #[test]
    fn a_rejection_reports_all_reasons() {
        assert_eq!(
            guarded(|| Err(Rejection::unschedulable("a").and(String::from("b")))),
            (sys::BERTH_UNSCHEDULABLE, vec!["a".to_string(), "b".to_string()])
        );
        assert_eq!(guarded(|| Err(Rejection::pending(""))).0, sys::BERTH_PENDING);
        assert_eq!(guarded(|| Err(Rejection::error(""))).0, sys::BERTH_ERROR);
    }

    #[test]
    fn verdicts_collect_reasons() {
        assert_eq!(Verdict::SUCCESS, Verdict { code: 0, reasons: 0 });
        assert_eq!(Verdict::unschedulable(63), Verdict { code: 2, reasons: 1 << 63 });
        assert_eq!(Verdict::unresolvable(0).and(2), Verdict { code: 3, reasons: 5 });
        assert_eq!(Verdict::pending(1), Verdict { code: 6, reasons: 2 });
        assert_eq!(Verdict::error(1), Verdict { code: 1, reasons: 2 });
    }

    #[test]
    fn a_reason_that_a_verdict_cannot_name_is_refused() {
        for wrong in [
            (|| Verdict::unschedulable(64)) as fn() -> Verdict,
            || Verdict::unresolvable(65),
            || Verdict::pending(128),
            || Verdict::error(u32::MAX),
            || Verdict::error(0).and(64),
        ] {
            assert!(std::panic::catch_unwind(wrong).is_err());
        }
        assert!(std::panic::catch_unwind(|| crate::part(64)).is_err());
        assert_eq!(crate::part(63), 1 << 63);
    }

    struct PanicsOnClone;
    impl Clone for PanicsOnClone {
        fn clone(&self) -> Self {
            panic!("no copy")
        }
    }

    #[test]
    fn a_panic_of_clone_becomes_a_code() {
        let from = Some(PanicsOnClone);
        let mut to = std::mem::MaybeUninit::<Option<PanicsOnClone>>::uninit();
        let (from, to) = (&from as *const _ as *const c_void, to.as_mut_ptr() as *mut c_void);
        assert_eq!(unsafe { slot::clone::<PanicsOnClone>(to, from) }, sys::BERTH_BUG);
    }

    #[test]
    fn state_is_cloned_deeply() {
        unsafe {
            let mut from = std::mem::MaybeUninit::<Option<Vec<i32>>>::uninit();
            let mut to = std::mem::MaybeUninit::<Option<Vec<i32>>>::uninit();
            slot::construct::<Vec<i32>>(from.as_mut_ptr() as *mut c_void);
            assert_eq!(*from.as_ptr(), None);
            *from.as_mut_ptr() = Some(vec![1]);
            let (at, copy) = (from.as_mut_ptr() as *mut c_void, to.as_mut_ptr() as *mut c_void);
            assert_eq!(slot::clone::<Vec<i32>>(copy, at), sys::BERTH_SUCCESS);
            (*to.as_mut_ptr()).as_mut().unwrap().push(2);
            assert_eq!((&*from.as_ptr(), &*to.as_ptr()), (&Some(vec![1]), &Some(vec![1, 2])));
            slot::destroy::<Vec<i32>>(at);
            slot::destroy::<Vec<i32>>(copy);
        }
    }
}
