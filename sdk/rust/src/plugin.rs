//! The traits of a plugin and of its extension points.

use crate::host::{Args, Host};
use crate::status::{guard, Rejection, Verdict};
use crate::sys;
use crate::views::{AnyColumn, Cycle, Node, Pod};
use std::os::raw::c_void;

/// A plugin. The host creates one instance per profile that names it.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// The name that a profile uses: "acme.CheapestNode".
    const NAME: &'static str;
    /// "1.0.0".
    const VERSION: &'static str;
    /// One sentence.
    const ABOUT: &'static str;
    /// Ids of services that the plugin requires: `sys::BERTH_SERVICE_STRINGS`.
    const SERVICES: &'static [&'static str] = &[];
    /// Kinds of berth.objects/1: "v1/Namespace".
    const KINDS: &'static [&'static str] = &[];
    /// Parts of pods and nodes to keep: "Pod:/spec/hostIPC". "Pod:" and "Node:" declare requests for
    /// whole pods or nodes, which a cluster without an API server answers then.
    const FIELDS: &'static [&'static str] = &[];
    /// Fields of the pod that the plugin handles: "/spec/tolerations".
    const POD_FIELDS: &'static [&'static str] = &[];
    /// JSON Schema of the arguments.
    const ARGS_SCHEMA: &'static str = "{}";
    /// The oldest minor version of the host that the library supports. A member of [`sys`] that a
    /// newer version adds may be read only after [`crate::has!`], and a constant may be passed only
    /// to a host whose `abi_minor` has it. The compiler does not check either.
    const MIN_HOST_MINOR: u16 = 0;
    /// BERTH_PLUGIN_*: BERTH_PLUGIN_BLOCKS_IN_BIND if functions of a table for PreBind or Bind
    /// block.
    const FLAGS: u32 = 0;
    /// The columns that the plugin reads for every node, each at its own index.
    const COLUMNS: &'static [AnyColumn] = &[];
    /// The texts of the reasons, at most 64. A [`Verdict`] names them by index.
    const REASONS: &'static [&'static str] = &[];
    /// The state of one pod's attempt, which PreFilter returns: `()` for none. Clones serve what-if
    /// questions.
    type State: Clone + Send + Sync + 'static;

    /// Creates an instance. Threading: `[load]`.
    fn create(host: &Host, args: &mut Args) -> Result<Self, Rejection>;

    /// Stops threads and timers. Afterwards the plugin must not call the host, except in `drop`. A
    /// panic counts as a fault of the plugin. Threading: `[load]`.
    fn quiesce(&self) {}
}

/// The data that results depend on. The host may reuse a result until this data changes.
#[derive(Clone, Copy, Debug)]
pub struct Dependence {
    /// BERTH_DEPENDS_*.
    pub cluster: u32,
    /// The parts of the pod, see [`crate::part`]. Include the parts that the state is built from.
    pub pod_parts: u64,
}

/// Decides whether the pod may enter the active queue.
pub trait PreEnqueue: Plugin {
    /// Must not block. A plugin that needs the attempts and times of the queue has a table of
    /// [`sys::berth_pre_enqueue`] instead. Threading: `[queue]`.
    fn pre_enqueue(&self, pod: Pod) -> Result<(), Rejection>;
}

/// Checks the pod before any node is evaluated, and prepares the state of the attempt. The state
/// must not depend on other pods.
pub trait PreFilter: Plugin {
    /// Returns the state for this attempt; None: Filter of this plugin is not called for this pod.
    /// Score is called all the same, and there [`Cycle::try_state`] returns None.
    /// Threading: `[cycle]`.
    fn pre_filter(&self, cycle: &Cycle<Self::State>) -> Result<Option<Self::State>, Rejection>;
}

/// Decides which nodes the pod can run on.
pub trait Filter: Plugin {
    /// None: the host never reuses a verdict of this plugin.
    const FILTER_DEPENDENCE: Option<Dependence> = None;

    /// Decides about one node. Threading: `[block]`, on several threads at the same time.
    fn filter(&self, cycle: &Cycle<Self::State>, node: Node) -> Verdict;
}

/// How the host normalises the scores of a plugin to 0..100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Normalize {
    /// The scores are in 0..100 already.
    None = sys::BERTH_NORMALIZE_NONE as isize,
    /// 100 * s / max.
    Max = sys::BERTH_NORMALIZE_MAX as isize,
    /// 100 - 100 * s / max.
    MaxReversed = sys::BERTH_NORMALIZE_MAX_REVERSED as isize,
    /// 100 * (s - min) / (max - min).
    MinMax = sys::BERTH_NORMALIZE_MIN_MAX as isize,
    /// As `MinMax`, in `f64`: 100.0 * ((s - min) / (max - min)), rounded down. 29 of 0..100 becomes
    /// 28.
    MinMaxFloat = sys::BERTH_NORMALIZE_MIN_MAX_FLOAT as isize,
}

/// Rates how well each feasible node suits the pod.
pub trait Score: Plugin {
    /// None: the host never reuses a score of this plugin.
    const SCORE_DEPENDENCE: Option<Dependence> = None;
    /// How the host normalises the scores.
    const NORMALIZE: Normalize = Normalize::None;

    /// Rates one node; any number except `i64::MIN`. Threading: `[block]`, on several threads at the
    /// same time.
    fn score(&self, cycle: &Cycle<Self::State>, node: Node) -> i64;
}

/// The extension points that `library!` accepts by name.
pub mod points {
    /// [`crate::PreEnqueue`].
    pub enum PreEnqueue {}
    /// [`crate::PreFilter`].
    pub enum PreFilter {}
    /// [`crate::Filter`].
    pub enum Filter {}
    /// [`crate::Score`].
    pub enum Score {}
}

// ---- The tables of the extension points ---------------------------------------------------------

/// An extension point with safe functions, for plugins of type P.
pub trait Point<P> {
    #[doc(hidden)]
    const ID: &'static str;
    #[doc(hidden)]
    fn table() -> *const c_void;
}

const fn dependence_of(dependence: Option<Dependence>) -> sys::berth_dependence {
    match dependence {
        Some(Dependence { cluster, pod_parts }) => {
            sys::berth_dependence { cluster, pod_parts, ..sys::berth_dependence::NEW }
        }
        None => sys::berth_dependence::ZERO,
    }
}

const fn pointer_to(dependence: &'static sys::berth_dependence) -> *const sys::berth_dependence {
    if dependence.struct_size == 0 {
        return std::ptr::null();
    }
    dependence
}

impl<P: PreEnqueue> Point<P> for points::PreEnqueue {
    const ID: &'static str = sys::BERTH_POINT_PRE_ENQUEUE;
    fn table() -> *const c_void {
        struct Tables<P>(P);
        impl<P: PreEnqueue> Tables<P> {
            const TABLE: &'static sys::berth_pre_enqueue = &sys::berth_pre_enqueue {
                pre_enqueue: Some(pre_enqueue::<P>),
                ..sys::berth_pre_enqueue::NEW
            };
        }
        Tables::<P>::TABLE as *const _ as *const c_void
    }
}

impl<P: PreFilter> Point<P> for points::PreFilter {
    const ID: &'static str = sys::BERTH_POINT_PRE_FILTER;
    fn table() -> *const c_void {
        struct Tables<P>(P);
        impl<P: PreFilter> Tables<P> {
            const TABLE: &'static sys::berth_pre_filter = &sys::berth_pre_filter {
                pre_filter: Some(pre_filter::<P>),
                ..sys::berth_pre_filter::NEW
            };
        }
        Tables::<P>::TABLE as *const _ as *const c_void
    }
}

impl<P: Filter> Point<P> for points::Filter {
    const ID: &'static str = sys::BERTH_POINT_FILTER;
    fn table() -> *const c_void {
        struct Tables<P>(P);
        impl<P: Filter> Tables<P> {
            const DEPENDENCE: &'static sys::berth_dependence = &dependence_of(P::FILTER_DEPENDENCE);
            const TABLE: &'static sys::berth_filter = &sys::berth_filter {
                dependence: pointer_to(Self::DEPENDENCE),
                filter: Some(filter::<P>),
                ..sys::berth_filter::NEW
            };
        }
        Tables::<P>::TABLE as *const _ as *const c_void
    }
}

impl<P: Score> Point<P> for points::Score {
    const ID: &'static str = sys::BERTH_POINT_SCORE;
    fn table() -> *const c_void {
        struct Tables<P>(P);
        impl<P: Score> Tables<P> {
            const DEPENDENCE: &'static sys::berth_dependence = &dependence_of(P::SCORE_DEPENDENCE);
            const TABLE: &'static sys::berth_score = &sys::berth_score {
                normalize_mode: P::NORMALIZE as u32,
                dependence: pointer_to(Self::DEPENDENCE),
                score: Some(score::<P>),
                ..sys::berth_score::NEW
            };
        }
        Tables::<P>::TABLE as *const _ as *const c_void
    }
}

// ---- The functions that the host calls ----------------------------------------------------------
// `plugin` is berth_plugin.self, which points to the P of an instance.

unsafe extern "C" fn pre_enqueue<P: PreEnqueue>(
    plugin: *mut c_void,
    queued: *const sys::berth_queued,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    guard(status, || {
        (*(plugin as *const P)).pre_enqueue(Pod::from_ptr((*queued).pod))?;
        Ok(sys::BERTH_SUCCESS)
    })
}

unsafe extern "C" fn pre_filter<P: PreFilter>(
    plugin: *mut c_void,
    cycle: *const sys::berth_cycle,
    _all: *const sys::berth_nodes,
    _out: *mut sys::berth_pre_filter_out,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    guard(status, || {
        let cycle = Cycle::from_ptr(cycle, "PreFilter");
        let state = (*(plugin as *const P)).pre_filter(&cycle)?;
        let code = if state.is_some() { sys::BERTH_SUCCESS } else { sys::BERTH_SKIP };
        let slot = cycle.slot();
        if !slot.is_null() {
            *slot = state;
        }
        Ok(code)
    })
}

unsafe extern "C" fn filter<P: Filter>(
    plugin: *mut c_void,
    cycle: *const sys::berth_cycle,
    block: *const sys::berth_block,
    out: *mut sys::berth_filter_out,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    guard(status, || {
        let (plugin, cycle) = (&*(plugin as *const P), Cycle::from_ptr(cycle, "Filter"));
        let (codes, reasons) = ((*out).codes, (*out).reasons);
        for (i, node) in Node::selected(block) {
            let verdict = plugin.filter(&cycle, node);
            *codes.add(i) = verdict.code;
            *reasons.add(i) = verdict.reasons;
        }
        Ok(sys::BERTH_SUCCESS)
    })
}

unsafe extern "C" fn score<P: Score>(
    plugin: *mut c_void,
    cycle: *const sys::berth_cycle,
    block: *const sys::berth_block,
    out: *mut sys::berth_score_out,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    guard(status, || {
        let (plugin, cycle) = (&*(plugin as *const P), Cycle::from_ptr(cycle, "Score"));
        let scores = (*out).scores;
        for (i, node) in Node::selected(block) {
            *scores.add(i) = plugin.score(&cycle, node);
        }
        Ok(sys::BERTH_SUCCESS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scored;
    impl Plugin for Scored {
        const NAME: &'static str = "test.Scored";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "";
        type State = ();
        fn create(_: &Host, _: &mut Args) -> Result<Self, Rejection> {
            Ok(Scored)
        }
    }
    impl Score for Scored {
        const NORMALIZE: Normalize = Normalize::MinMaxFloat;
        fn score(&self, _: &Cycle<()>, _: Node) -> i64 {
            0
        }
    }

    #[test]
    fn the_table_of_score_has_the_mode() {
        let table = <points::Score as Point<Scored>>::table() as *const sys::berth_score;
        assert_eq!(unsafe { (*table).normalize_mode }, sys::BERTH_NORMALIZE_MIN_MAX_FLOAT);
    }
}
