//! The host's services: texts, log, and the arguments of a profile.

use crate::status::{str_of, text_of};
use crate::sys;
use crate::views::{items, Id};
use std::ffi::CString;
use std::ops::RangeInclusive;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

/// Levels of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Trace = sys::BERTH_LOG_TRACE as isize,
    Debug = sys::BERTH_LOG_DEBUG as isize,
    Info = sys::BERTH_LOG_INFO as isize,
    Warn = sys::BERTH_LOG_WARN as isize,
    Error = sys::BERTH_LOG_ERROR as isize,
}

/// The host. A plugin may keep it as long as it lives, and use it on any thread.
#[derive(Clone, Copy)]
pub struct Host {
    host: *const sys::berth_host,
    strings: *const sys::berth_strings,
    log: *const sys::berth_log,
}

// SAFETY: the methods call only services that <berth/abi.h> marks [any].
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

/// # Safety
/// Called under [load].
unsafe fn find(host: *const sys::berth_host, id: &str) -> *const c_void {
    let mut service = std::ptr::null();
    if let (Ok(id), Some(get_service)) = (CString::new(id), (*host).get_service) {
        if get_service(host, id.as_ptr(), &mut service) != sys::BERTH_SUCCESS {
            return std::ptr::null();
        }
    }
    service
}

impl Host {
    /// # Safety
    /// Called in create() with its host.
    pub(crate) unsafe fn new(host: *const sys::berth_host) -> Host {
        Host {
            host,
            strings: find(host, sys::BERTH_SERVICE_STRINGS) as *const sys::berth_strings,
            log: find(host, sys::BERTH_SERVICE_LOG) as *const sys::berth_log,
        }
    }

    /// The host as <berth/abi.h> declares it.
    pub fn as_ptr(&self) -> *const sys::berth_host {
        self.host
    }

    /// Returns a service; None if the host does not serve it. Name services that the plugin cannot
    /// do without in `Plugin::SERVICES`.
    ///
    /// # Safety
    /// T is the struct that <berth/abi.h> declares for `id`. Call it only in `Plugin::create`.
    pub unsafe fn service<T>(&self, id: &str) -> Option<*const T> {
        let service = find(self.host, id) as *const T;
        (!service.is_null()).then_some(service)
    }

    /// Returns the text of an id; None for the id of an absent value.
    pub fn text<'a>(&self, id: Id<'a>) -> Option<&'a str> {
        if id.is_none() || self.strings.is_null() {
            return None;
        }
        unsafe { (*self.strings).text.map(|text| text_of(text(self.host, id.0))) }
    }

    /// Writes a message to the host's log, unless the level is disabled.
    pub fn log(&self, level: Level, message: &str) {
        if self.log.is_null() {
            return;
        }
        unsafe {
            let enabled = (*((*self.log).level as *const AtomicU32)).load(Ordering::Relaxed);
            if let (Some(log), true) = ((*self.log).log, level as u32 >= enabled) {
                log(self.host, level as u32, str_of(message), std::ptr::null(), 0)
            }
        }
    }
}

/// The newest version of Kubernetes that Berth decides as, as (major, minor).
pub const NEWEST_KUBE_VERSION: (u32, u32) = (1, 37);

/// The arguments that a profile gives the plugin, and what else it states about the instance. Each
/// method that reads an argument reports an error if it is wrong. `Plugin::create` then fails with
/// all errors, whatever it returns.
pub struct Args {
    values: *const sys::berth_values,
    request: *const sys::berth_instance_request,
    args: *const sys::berth_value,
    status: *mut sys::berth_status,
    failed: bool,
}

impl Args {
    /// # Safety
    /// Called in create() with its arguments; the result does not outlive the call.
    pub(crate) unsafe fn new(
        host: *const sys::berth_host,
        request: *const sys::berth_instance_request,
        status: *mut sys::berth_status,
    ) -> Args {
        let values = find(host, sys::BERTH_SERVICE_VALUES) as *const sys::berth_values;
        Args { values, request, args: (*request).args, status, failed: false }
    }

    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// The name of the profile.
    pub fn profile(&self) -> &str {
        unsafe { text_of((*self.request).profile) }
    }

    /// Returns whether the host calls the plugin at this extension point, which the profile may
    /// leave out: `args.enables(sys::BERTH_POINT_PRE_FILTER)`.
    pub fn enables(&self, point: &str) -> bool {
        // SAFETY: the elements are berth_str and live until create() returns.
        unsafe {
            let mut points = items::<sys::berth_str>((*self.request).points);
            points.any(|id| text_of(*id) == point)
        }
    }

    /// How long a call may take, in nanoseconds, as the profile sets it for this plugin; 0 if the
    /// profile does not.
    pub fn deadline_ns(&self) -> i64 {
        unsafe { (*self.request).deadline_ns }
    }

    /// The version of Kubernetes whose kube-scheduler the host decides as, as (major, minor). Where
    /// two versions decide differently, the plugin decides as this one: as NEWEST_KUBE_VERSION if
    /// the host names none.
    pub fn emulated_version(&self) -> (u32, u32) {
        match unsafe { (*self.request).emulated_version } {
            0 => NEWEST_KUBE_VERSION,
            version => (version >> 16, version & 0xffff),
        }
    }

    /// The arguments as <berth/abi.h> declares them; NULL if the profile has none. berth.values/1
    /// reads them.
    pub fn as_ptr(&self) -> *const sys::berth_value {
        self.args
    }

    /// Reports a wrong argument. `path` is a JSON pointer such as "/weights/cpu".
    pub fn error(&mut self, path: &str, text: &str) {
        self.failed = true;
        unsafe {
            if let Some(add) = (*self.status).add_argument_error {
                add(self.status, str_of(path), str_of(text)) // copied before the call returns
            }
        }
    }

    /// Returns the value and its kind; None if the argument is absent.
    fn find(&self, key: &str) -> Option<(*const sys::berth_value, u32)> {
        if self.values.is_null() || self.args.is_null() {
            return None;
        }
        unsafe {
            let value = (*self.values).get?(self.args, str_of(key));
            (!value.is_null()).then_some((value, (*self.values).kind?(value)))
        }
    }

    /// Returns an integer.
    pub fn integer(&mut self, key: &str, range: RangeInclusive<i64>, default: i64) -> i64 {
        let (value, kind) = match self.find(key) {
            Some(found) => found,
            None => return default,
        };
        let number = unsafe { (*self.values).as_int.map_or(0, |as_int| as_int(value)) };
        if kind == sys::BERTH_VALUE_INT && range.contains(&number) {
            return number;
        }
        let expected = match (*range.start(), *range.end()) {
            (i64::MIN, i64::MAX) => "expected an integer".to_string(),
            (least, i64::MAX) => format!("expected an integer of {least} or more"),
            (least, most) => format!("expected an integer of {least} to {most}"),
        };
        self.error(&format!("/{key}"), &expected);
        default
    }

    /// Returns true or false.
    pub fn boolean(&mut self, key: &str, default: bool) -> bool {
        let (value, kind) = match self.find(key) {
            Some(found) => found,
            None => return default,
        };
        if kind == sys::BERTH_VALUE_BOOL {
            return unsafe { (*self.values).as_int.map_or(default, |as_int| as_int(value) != 0) };
        }
        self.error(&format!("/{key}"), "expected true or false");
        default
    }

    /// Returns a text.
    pub fn text(&mut self, key: &str, default: &str) -> String {
        let (value, kind) = match self.find(key) {
            Some(found) => found,
            None => return default.to_string(),
        };
        if kind == sys::BERTH_VALUE_STRING {
            let as_string = unsafe { (*self.values).as_string };
            return as_string.map_or(default, |read| unsafe { text_of(read(value)) }).to_string();
        }
        self.error(&format!("/{key}"), "expected a string");
        default.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_state_what_the_profile_sets() {
        let points = [str_of("berth.pre_filter/1"), str_of("berth.filter/1")];
        let request = sys::berth_instance_request {
            profile: str_of("nightly"),
            points: sys::berth_array {
                data: points.as_ptr() as *const c_void,
                count: 2,
                stride: std::mem::size_of::<sys::berth_str>() as u32,
            },
            deadline_ns: 5_000_000_000,
            emulated_version: (1 << 16) | 36,
            ..sys::berth_instance_request::NEW
        };
        let args = Args {
            values: std::ptr::null(),
            request: &request,
            args: request.args,
            status: std::ptr::null_mut(),
            failed: false,
        };
        assert_eq!(args.profile(), "nightly");
        assert!(args.enables(sys::BERTH_POINT_PRE_FILTER));
        assert!(args.enables(sys::BERTH_POINT_FILTER));
        assert!(!args.enables(sys::BERTH_POINT_SCORE));
        assert!(!args.enables(""));
        assert_eq!(args.deadline_ns(), 5_000_000_000);
        assert_eq!(args.emulated_version(), (1, 36));
        assert!(args.as_ptr().is_null());
    }

    #[test]
    fn a_host_without_an_emulated_version_means_the_newest() {
        let request = sys::berth_instance_request::NEW;
        let args = Args {
            values: std::ptr::null(),
            request: &request,
            args: request.args,
            status: std::ptr::null_mut(),
            failed: false,
        };
        assert_eq!(args.emulated_version(), NEWEST_KUBE_VERSION);
    }
}
