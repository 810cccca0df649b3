//! Keeps pods off nodes that cost more than the pods may spend, and prefers the cheapest node.
//!
//! The label acme.com/cents-per-hour states a node's price; the annotation
//! acme.com/max-cents-per-hour states a pod's limit.
use berth::{
    sys, AnyColumn, Args, Column, Cycle, Dependence, Host, Node, Rejection, Text, Verdict,
};

const LIMIT_ANNOTATION: &str = "acme.com/max-cents-per-hour";

// ---- Policy: plain Rust without the host, see the tests -----------------------------------------

fn price(label: Option<&str>, unlabelled: i64) -> i64 {
    label.and_then(|text| text.parse().ok()).filter(|cents| *cents >= 0).unwrap_or(unlabelled)
}

/// Returns the pod's limit. A pod without the annotation has no limit; an annotation that is not a
/// number is an error.
fn limit(annotation: Option<&str>) -> Result<i64, ()> {
    annotation.map_or(Ok(i64::MAX), |text| text.parse().map_err(|_| ()))
}

// ---- The plugin ---------------------------------------------------------------------------------

/// The columns that the plugin reads for every node: one array per column, in this order.
const PRICE: Column<Text> = Column::new(0, "label:acme.com/cents-per-hour");
/// The reasons of a rejection, as indices of REASONS.
const TOO_EXPENSIVE: u32 = 0;
/// The data that the results depend on. The host may reuse a result until this data changes.
const DEPENDENCE: Dependence = Dependence {
    cluster: sys::BERTH_DEPENDS_NODE,
    pod_parts: berth::part(sys::BERTH_PART_ANNOTATIONS),
};

struct CheapestNode {
    host: Host,
    unlabelled: i64,
}

/// The state of one pod's attempt.
#[derive(Clone)]
struct State {
    limit: i64,
}

impl CheapestNode {
    fn price_of(&self, node: Node) -> i64 {
        price(self.host.text(node.get(PRICE)), self.unlabelled)
    }
}

impl berth::Plugin for CheapestNode {
    const NAME: &'static str = "acme.CheapestNode";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str =
        "Keeps pods off nodes above their price limit, and prefers the cheapest.";
    const SERVICES: &'static [&'static str] =
        &[sys::BERTH_SERVICE_VALUES, sys::BERTH_SERVICE_STRINGS];
    const ARGS_SCHEMA: &'static str = concat!(
        r#"{"type":"object","additionalProperties":false,"properties":{"unlabelledCents":"#,
        r#"{"type":"integer","minimum":0,"default":100,"#,
        r#""description":"Price of a node without the label."}}}"#
    );
    const COLUMNS: &'static [AnyColumn] = &[PRICE.any()];
    const REASONS: &'static [&'static str] = &["Node is too expensive"];
    type State = State;

    fn create(host: &Host, args: &mut Args) -> Result<Self, Rejection> {
        let unlabelled = args.integer("unlabelledCents", 0..=i64::MAX, 100);
        Ok(CheapestNode { host: *host, unlabelled })
    }
}

impl berth::PreFilter for CheapestNode {
    fn pre_filter(&self, cycle: &Cycle<State>) -> Result<Option<State>, Rejection> {
        let limit = limit(cycle.pod().annotation(LIMIT_ANNOTATION));
        limit.map(|limit| Some(State { limit })).map_err(|()| {
            Rejection::unresolvable("Annotation acme.com/max-cents-per-hour is not a number")
        })
    }
}

impl berth::Filter for CheapestNode {
    const FILTER_DEPENDENCE: Option<Dependence> = Some(DEPENDENCE);

    fn filter(&self, cycle: &Cycle<State>, node: Node) -> Verdict {
        if self.price_of(node) > cycle.state().limit {
            return Verdict::unresolvable(TOO_EXPENSIVE);
        }
        Verdict::SUCCESS
    }
}

impl berth::Score for CheapestNode {
    const SCORE_DEPENDENCE: Option<Dependence> = Some(DEPENDENCE);
    /// The cheapest node gets the most.
    const NORMALIZE: berth::Normalize = berth::Normalize::MaxReversed;

    fn score(&self, _: &Cycle<State>, node: Node) -> i64 {
        self.price_of(node)
    }
}

berth::library! { CheapestNode: [PreFilter, Filter, Score]; }

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
        assert_eq!(limit(None), Ok(i64::MAX));
        assert_eq!(limit(Some("20")), Ok(20));
        assert_eq!(limit(Some("much")), Err(()));
    }
}
