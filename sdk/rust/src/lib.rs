//! The SDK of the Berth scheduler for plugins in Rust. It needs only the standard library.
//!
//! A plugin is a type that implements [`Plugin`] and one trait per extension point: [`PreEnqueue`],
//! [`PreFilter`], [`Filter`], [`Score`]. [`library!`] exports it. The traits, views and services of
//! this crate are safe: a panic becomes an error of the attempt, and no view outlives the call that
//! passed it.
//!
//! [`sys`] has all declarations of <berth/abi.h>. A plugin that needs an extension point, a service
//! or a member that has no safe form uses them with `unsafe`: [`library!`] accepts the table of an
//! extension point, [`Host::service`] finds a service, and every view has `as_ptr`. A member that
//! is newer than version 1.0 may be read only after [`has!`].
//!
//! The panic strategy of the library must be `unwind`: with `abort`, a panic ends the scheduler.
#![warn(missing_docs)]

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

pub use host::{Args, Host, Level};
pub use plugin::{points, Dependence, Filter, Normalize, Plugin, PreEnqueue, PreFilter, Score};
pub use status::{Rejection, Verdict};
pub use views::{AnyColumn, Column, ColumnType, Cycle, Id, Node, Pod, Resources, Text};

/// Returns the bit of a part of a pod, for [`Dependence::pod_parts`]:
/// `part(sys::BERTH_PART_LABELS) | part(sys::BERTH_PART_REQUESTS)`.
pub const fn part(index: u32) -> u64 {
    1 << index
}
