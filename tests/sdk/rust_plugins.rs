//! Plugins that use the Rust crate of the SDK, also in wrong ways. rust_test.py builds and runs
//! them.
use berth::{
    sys, AnyColumn, Args, Column, Constant, Cycle, Dependence, Host, Level, Node, Pod, Rejection,
    Text, Verdict,
};
use std::os::raw::c_void;

const ZONE: Column<Text> = Column::new(0, "label:zone");
const ALLOC_CPU: Column<i64> = Column::new(1, "alloc.cpu");
const UNSCHEDULABLE: Column<u8> = Column::new(2, "unschedulable");
const HARD_TAINTS: Column<u32> = Column::new(3, "taints.hard");

/// Every extension point with a safe trait, arguments of every type, and a failure for each mode
/// that an argument or the pod's annotation "mode" names.
struct Everything {
    host: Host,
    zone: String,
}

fn mode(pod: Pod<'_>) -> &str {
    pod.annotation("mode").unwrap_or("")
}

impl berth::Plugin for Everything {
    const NAME: &'static str = "test.Everything";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Accepts the nodes of one zone.";
    const SERVICES: &'static [&'static str] =
        &[sys::BERTH_SERVICE_VALUES, sys::BERTH_SERVICE_STRINGS, sys::BERTH_SERVICE_LOG];
    const KINDS: &'static [&'static str] = &["v1/Namespace"];
    const FIELDS: &'static [&'static str] = &["Pod:/spec/hostIPC"];
    const ARGS_SCHEMA: &'static str =
        r#"{"type":"object","properties":{"zone":{},"strict":{},"limit":{},"least":{}}}"#;
    const COLUMNS: &'static [AnyColumn] =
        &[ZONE.any(), ALLOC_CPU.any(), UNSCHEDULABLE.any(), HARD_TAINTS.any()];
    const REASONS: &'static [&'static str] = &["Node is in another zone", "Node is tainted"];
    type State = Vec<String>;

    fn create(host: &Host, args: &mut Args) -> Result<Self, Rejection> {
        let zone = args.text("zone", "a");
        args.boolean("strict", true);
        args.integer("limit", 0..=9, 5);
        args.integer("least", 1..=i64::MAX, 5);
        host.log(Level::Info, "test.Everything was created");
        match zone.as_str() {
            "panic" => panic!("in create"),
            "fail" => Err(Rejection::error("the zone fails").and("always")),
            "" => {
                args.error("/zone", "expected a zone");
                Ok(Everything { host: *host, zone })
            }
            _ => Ok(Everything { host: *host, zone }),
        }
    }
}

impl berth::PreEnqueue for Everything {
    fn pre_enqueue(&self, pod: Pod) -> Result<(), Rejection> {
        match mode(pod) {
            "gate" => Err(Rejection::pending("gated by its annotation")),
            _ => Ok(()),
        }
    }
}

impl berth::PreFilter for Everything {
    fn pre_filter(&self, cycle: &Cycle<Vec<String>>) -> Result<Option<Vec<String>>, Rejection> {
        match mode(cycle.pod()) {
            "skip" | "skip, but state in Score" => Ok(None),
            "reject" => Err(Rejection::unschedulable("rejected by").and("its annotation")),
            "panic in PreFilter" => panic!("in PreFilter"),
            _ => Ok(Some(vec![cycle.pod().name().to_string()])),
        }
    }
}

const DEPENDENCE: Option<Dependence> = Some(Dependence {
    cluster: sys::BERTH_DEPENDS_NODE,
    pod_parts: berth::part(sys::BERTH_PART_ANNOTATIONS) | berth::part(sys::BERTH_PART_IDENTITY),
});

impl berth::Filter for Everything {
    const FILTER_DEPENDENCE: Option<Dependence> = DEPENDENCE;

    fn filter(&self, cycle: &Cycle<Vec<String>>, node: Node) -> Verdict {
        match mode(cycle.pod()) {
            "panic in Filter" => panic!("on node {}", node.name()),
            "wrong column" => Verdict::unschedulable(
                node.get(Column::<i64>::new(HARD_TAINTS_INDEX, "taints.hard")) as u32,
            ),
            _ if cycle.state() != &[cycle.pod().name().to_string()] => Verdict::error(0),
            _ if node.get(HARD_TAINTS) + u32::from(node.get(UNSCHEDULABLE)) > 0 => {
                Verdict::unresolvable(1)
            }
            _ if self.host.text(node.get(ZONE)) == Some(self.zone.as_str()) => Verdict::SUCCESS,
            _ => Verdict::unschedulable(0),
        }
    }
}
const HARD_TAINTS_INDEX: usize = 3;

impl berth::Score for Everything {
    const SCORE_DEPENDENCE: Option<Dependence> = DEPENDENCE;
    const NORMALIZE: berth::Normalize = berth::Normalize::Max;

    fn score(&self, cycle: &Cycle<Vec<String>>, node: Node) -> i64 {
        if mode(cycle.pod()).ends_with("state in Score") {
            return cycle.state().len() as i64;
        }
        node.get(ALLOC_CPU)
    }
}

/// A column that is not at its own index, if the library is built so.
struct Misplaced;
const FIRST: Column<i64> =
    Column::new(if option_env!("MISPLACED").is_some() { 1 } else { 0 }, "alloc.cpu");

impl berth::Plugin for Misplaced {
    const NAME: &'static str = "test.Misplaced";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Names a column at another index.";
    const COLUMNS: &'static [AnyColumn] = &[FIRST.any()];
    type State = ();

    fn create(_: &Host, _: &mut Args) -> Result<Self, Rejection> {
        Ok(Misplaced)
    }
}

impl berth::Score for Misplaced {
    fn score(&self, _: &Cycle<()>, node: Node) -> i64 {
        node.get(FIRST).min(100)
    }
}

/// An extension point without a safe trait.
struct Raw {
    host: Host,
    node: &'static str,
}

impl berth::Plugin for Raw {
    const NAME: &'static str = "test.Raw";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Rejects one node in Reserve.";
    type State = ();

    fn create(host: &Host, _: &mut Args) -> Result<Self, Rejection> {
        Ok(Raw { host: *host, node: "b" })
    }
}

impl Raw {
    fn reserve(&self, pod: Pod, node: &str) -> Result<(), Rejection> {
        match mode(pod) {
            "panic in Reserve" => panic!("in Reserve"),
            _ if node == self.node => Err(Rejection::unschedulable("rejected in Reserve")),
            _ => Ok(()),
        }
    }
}

unsafe extern "C" fn reserve(
    plugin: *mut c_void,
    cycle: *const sys::berth_cycle,
    target: *const sys::berth_target,
    status: *mut sys::berth_status,
) -> sys::berth_code {
    berth::guard(status, || {
        let (plugin, cycle) = (&*(plugin as *const Raw), Cycle::<()>::from_ptr(cycle, "Reserve"));
        let name = (*(*(*target).node).meta).name;
        let name = std::slice::from_raw_parts(name.ptr as *const u8, name.len as usize);
        plugin.reserve(cycle.pod(), std::str::from_utf8(name).unwrap())?;
        Ok(sys::BERTH_SUCCESS)
    })
}

unsafe extern "C" fn unreserve(plugin: *mut c_void, binding: *const sys::berth_binding) {
    berth::guard_void((*(plugin as *const Raw)).host.as_ptr(), || {
        if mode(Pod::from_ptr((*binding).pod)) == "panic in Reserve" {
            panic!("in Unreserve");
        }
    })
}

static RESERVE: Constant<sys::berth_reserve> = Constant(sys::berth_reserve {
    reserve: Some(reserve),
    unreserve: Some(unreserve),
    ..sys::berth_reserve::NEW
});

berth::library! {
    Everything: [PreEnqueue, PreFilter, Filter, Score];
    Misplaced: [Score];
    Raw: [] + unsafe { sys::BERTH_POINT_RESERVE => &RESERVE.0 };
}
