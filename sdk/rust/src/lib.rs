//! The SDK of the Berth scheduler for plugins in Rust. It needs only the standard library.
//!
//! A plugin is a type that implements [`Plugin`] and one trait per extension point: [`PreEnqueue`],
//! [`PreFilter`], [`Filter`], [`Score`]. [`library!`] exports it. The traits, views and services of
//! this crate are safe: a panic becomes an error of the attempt, and no view outlives the call that
//! passed it. The safe part has these four extension points, the services for texts, the log and
//! the arguments, the most common members of a pod, and the columns of a node.
//!
//! [`sys`] has all declarations of <berth/abi.h>. A plugin that needs an extension point, a service
//! or a member that has no safe form uses them with `unsafe`: [`library!`] accepts the table of an
//! extension point, whose functions run in [`guard`], [`guard_void`] or [`guard_or`];
//! [`Host::service`] finds a service; every view
//! has `as_ptr`, and an [`Id`] has `as_raw`; [`AnyColumn::new`] requests a column of any type. A
//! member that is newer than version 1.0 may be read only after [`has!`]. What minor version n of the
//! header added is deprecated in [`sys`] until the feature `host_n` of this crate is on, so that the
//! compiler warns of its use. It does not check that [`has!`] precedes the use, and the feature does
//! not set [`Plugin::MIN_HOST_MINOR`].
//!
//! The crate compiles for 64-bit little-endian targets, with the panic strategy `unwind`: with
//! `abort`, a panic would end the scheduler.
#![warn(missing_docs)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must unwind to the SDK: remove panic = \"abort\" from the profile");
#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("<berth/abi.h> is declared for 64-bit little-endian targets only");

mod host;
#[doc(hidden)]
pub mod library;
mod plugin;
mod status;
#[rustfmt::skip]
pub mod sys;
mod views;

#[cfg(test)]
#[rustfmt::skip]
mod sys_layout_test;

pub use host::{Args, Host, Level, NEWEST_KUBE_VERSION};
pub use library::{Constant, PlainData};
pub use plugin::{points, Dependence, Filter, Normalize, Plugin, PreEnqueue, PreFilter, Score};
pub use status::{guard, guard_or, guard_void, Rejection, Verdict};
pub use views::{AnyColumn, Column, ColumnType, Cycle, Id, Node, Pod, Resources, Text};

/// Returns the bit of a part of a pod, for [`Dependence::pod_parts`]:
/// `part(sys::BERTH_PART_LABELS) | part(sys::BERTH_PART_REQUESTS)`. Panics for 64 and more.
pub const fn part(index: u32) -> u64 {
    assert!(index < 64, "a part of a pod has an index below 64");
    1 << index
}
