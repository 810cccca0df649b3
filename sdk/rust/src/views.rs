//! Views of what the host passes to a call. They are valid until the call returns.

use crate::status::text_of;
use crate::sys;
use std::marker::PhantomData;

/// True when the struct that `$ptr` points to is large enough to hold `$member`. Test it before you
/// read a member that is newer than version 1.0: `unsafe { has!(cycle.as_ptr(), member) }`. The
/// compiler does not report a member that is read without the test.
///
/// # Safety
/// `$ptr` points to a struct of [`sys`] whose member `struct_size` is set.
#[macro_export]
macro_rules! has {
    ($ptr:expr, $member:ident) => {{
        let start: *const _ = $ptr;
        // The struct may be smaller than its type, so its own memory gives no offsets.
        let place = $crate::library::uninit_like(start);
        let member = ::std::ptr::addr_of!((*place.as_ptr()).$member);
        let end = member.add(1) as usize - place.as_ptr() as usize;
        (*start).struct_size as usize >= end
    }};
}

/// # Safety
/// The elements have the type T and live as long as `'a`.
pub(crate) unsafe fn items<'a, T: 'a>(
    array: sys::berth_array,
) -> impl Iterator<Item = *const T> + 'a {
    let (data, stride) = (array.data as *const u8, array.stride as usize);
    (0..array.count as usize).map(move |i| data.add(i * stride) as *const T)
}

/// A text as a number: equal ids mean equal text. See `Host::text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id<'a>(pub(crate) sys::berth_id, PhantomData<&'a ()>);

impl<'a> Id<'a> {
    /// # Safety
    /// The id lives as long as `'a`.
    pub unsafe fn from_raw(id: sys::berth_id) -> Id<'a> {
        Id(id, PhantomData)
    }

    /// The id as <berth/abi.h> declares it.
    pub fn as_raw(self) -> sys::berth_id {
        self.0
    }

    /// Returns true for the id of an absent value.
    pub fn is_none(self) -> bool {
        self.0 == sys::BERTH_ID_NONE
    }
}

/// Amounts of resources.
#[derive(Clone, Copy)]
pub struct Resources<'a>(*const sys::berth_resources, PhantomData<&'a ()>);

impl<'a> Resources<'a> {
    /// Thousandths of a core.
    pub fn milli_cpu(self) -> i64 {
        unsafe { (*self.0).milli_cpu }
    }

    /// Bytes.
    pub fn memory(self) -> i64 {
        unsafe { (*self.0).memory }
    }

    /// Bytes.
    pub fn ephemeral_storage(self) -> i64 {
        unsafe { (*self.0).ephemeral_storage }
    }

    /// The view as <berth/abi.h> declares it.
    pub fn as_ptr(self) -> *const sys::berth_resources {
        self.0
    }
}

/// A pod.
#[derive(Clone, Copy)]
pub struct Pod<'a>(*const sys::berth_pod, PhantomData<&'a ()>);

impl<'a> Pod<'a> {
    /// # Safety
    /// The view lives as long as `'a`.
    pub unsafe fn from_ptr(pod: *const sys::berth_pod) -> Pod<'a> {
        Pod(pod, PhantomData)
    }

    /// The view as <berth/abi.h> declares it.
    pub fn as_ptr(self) -> *const sys::berth_pod {
        self.0
    }

    /// The pod's name.
    pub fn name(self) -> &'a str {
        unsafe { text_of((*(*self.0).meta).name) }
    }

    /// The pod's uid.
    pub fn uid(self) -> &'a str {
        unsafe { text_of((*(*self.0).meta).uid) }
    }

    /// The pod's namespace.
    pub fn namespace(self) -> Id<'a> {
        unsafe { Id::from_raw((*(*self.0).meta).ns) }
    }

    /// The labels, as ids of keys and values, sorted by the keys' ids.
    pub fn labels(self) -> impl Iterator<Item = (Id<'a>, Id<'a>)> + 'a {
        unsafe {
            items::<sys::berth_id_pair>((*(*self.0).meta).labels)
                .map(|pair| (Id::from_raw((*pair).key), Id::from_raw((*pair).value)))
        }
    }

    /// The annotations, as keys and values.
    pub fn annotations(self) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        unsafe {
            items::<sys::berth_str_pair>((*(*self.0).meta).annotations)
                .map(|pair| (text_of((*pair).key), text_of((*pair).value)))
        }
    }

    /// The value of an annotation.
    pub fn annotation(self, key: &str) -> Option<&'a str> {
        self.annotations().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// The pod's priority; 0 when it is not set.
    pub fn priority(self) -> i32 {
        unsafe { (*self.0).priority }
    }

    /// The amounts of resources that the pod requests.
    pub fn request(self) -> Resources<'a> {
        unsafe { Resources((*self.0).request, PhantomData) }
    }
}

// ---- Columns ------------------------------------------------------------------------------------

mod sealed {
    pub trait Sealed {}
    impl Sealed for i64 {}
    impl Sealed for u32 {}
    impl Sealed for u8 {}
    impl Sealed for super::Text {}
}

/// The type of a column whose values are texts, which [`Node::get`] returns as [`Id`].
pub enum Text {}

/// The type of a column's values: `i64`, `u32`, `u8` or [`Text`].
pub trait ColumnType<'a>: sealed::Sealed {
    /// BERTH_TYPE_*.
    const TYPE: u32;
    /// What [`Node::get`] returns.
    type Value;
    /// Reads the value at `at`.
    ///
    /// # Safety
    /// A value of this type is at `at`, and lives as long as `'a`.
    unsafe fn read(at: *const u8) -> Self::Value;
}

macro_rules! number_column {
    ($($number:ty: $type:expr,)*) => {$(
        impl ColumnType<'_> for $number {
            const TYPE: u32 = $type;
            type Value = $number;
            unsafe fn read(at: *const u8) -> $number {
                *(at as *const $number)
            }
        }
    )*};
}
number_column! {
    i64: sys::BERTH_TYPE_I64,
    u32: sys::BERTH_TYPE_U32,
    u8: sys::BERTH_TYPE_U8,
}

impl<'a> ColumnType<'a> for Text {
    const TYPE: u32 = sys::BERTH_TYPE_ID;
    type Value = Id<'a>;
    unsafe fn read(at: *const u8) -> Id<'a> {
        Id::from_raw(*(at as *const sys::berth_id))
    }
}

/// A column of `Plugin::COLUMNS`, which [`Node::get`] reads. <berth/abi.h> lists all columns.
#[derive(Debug)]
pub struct Column<T> {
    index: usize,
    name: &'static str,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Column<T> {}

impl<T: ColumnType<'static>> Column<T> {
    /// `index` is the place of the column in `Plugin::COLUMNS`.
    pub const fn new(index: usize, name: &'static str) -> Column<T> {
        Column { index, name, kind: PhantomData }
    }

    /// Returns the element of `Plugin::COLUMNS`.
    pub const fn any(self) -> AnyColumn {
        AnyColumn::new(self.index, self.name, T::TYPE, 0)
    }
}

/// A column without its type, for `Plugin::COLUMNS`.
#[derive(Clone, Copy)]
pub struct AnyColumn {
    pub(crate) index: usize,
    pub(crate) name: &'static str,
    pub(crate) kind: u32,
    pub(crate) flags: u32,
}

impl AnyColumn {
    /// A column of any type, BERTH_TYPE_*, and with flags, BERTH_COLUMN_*: `index` is its place in
    /// `Plugin::COLUMNS`. Read an optional column with [`Node::try_get`].
    pub const fn new(index: usize, name: &'static str, kind: u32, flags: u32) -> AnyColumn {
        AnyColumn { index, name, kind, flags }
    }
}

/// One node of a block. It may be a what-if row, so read nothing about the node from elsewhere.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    block: *const sys::berth_block,
    index: usize,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Node<'a> {
    /// # Safety
    /// The block lives as long as `'a`, and has more than `index` nodes.
    pub unsafe fn from_ptr(block: *const sys::berth_block, index: usize) -> Node<'a> {
        Node { block, index, lifetime: PhantomData }
    }

    /// Returns the selected nodes of the block, with their indices.
    ///
    /// # Safety
    /// The block lives as long as `'a`.
    pub unsafe fn selected(
        block: *const sys::berth_block,
    ) -> impl Iterator<Item = (usize, Node<'a>)> {
        let selected = (*block).selected;
        (0..(*block).n_selected as usize).map(move |k| {
            let index = if selected.is_null() { k } else { *selected.add(k) as usize };
            (index, Node::from_ptr(block, index))
        })
    }

    /// Returns the node's value in a column. Panics for a column that is not in `Plugin::COLUMNS`,
    /// and for an optional column that the host does not have.
    pub fn get<T: ColumnType<'a>>(self, column: Column<T>) -> T::Value {
        match self.try_get(column) {
            Some(value) => value,
            None => not_a_column(column.name),
        }
    }

    /// Returns the node's value in a column; None for an optional column that the host does not
    /// have. Panics for a column that is not in `Plugin::COLUMNS`.
    pub fn try_get<T: ColumnType<'a>>(self, column: Column<T>) -> Option<T::Value> {
        unsafe {
            if column.index >= (*self.block).n_columns as usize {
                not_a_column(column.name);
            }
            let from = (*self.block).columns.add(column.index);
            if (*from).data.is_null() {
                return None;
            }
            if (*from).type_ != T::TYPE {
                not_a_column(column.name);
            }
            Some(T::read(((*from).data as *const u8).add(self.index * (*from).stride as usize)))
        }
    }

    /// The node's name.
    pub fn name(self) -> &'a str {
        unsafe {
            let node = *(*self.block).nodes.add(self.index);
            if node.is_null() {
                return "";
            }
            text_of((*(*node).meta).name)
        }
    }

    /// The block as <berth/abi.h> declares it, and the node's index in it.
    pub fn as_ptr(self) -> (*const sys::berth_block, usize) {
        (self.block, self.index)
    }
}

#[cold]
fn not_a_column(name: &str) -> ! {
    panic!("{name} is not a column of this type and index in COLUMNS");
}

// ---- An attempt ---------------------------------------------------------------------------------

/// One attempt to place one pod, with the state that PreFilter returned for it.
pub struct Cycle<'a, S> {
    cycle: *const sys::berth_cycle,
    point: &'static str,
    state: PhantomData<&'a S>,
}

impl<'a, S> Cycle<'a, S> {
    /// Returns the attempt that the host passes to a function of the plugin whose `State` is S.
    /// `point` is the name of the function's extension point, for messages.
    ///
    /// # Safety
    /// The host passed the cycle to an instance that [`crate::library!`] exports, and the cycle
    /// lives as long as `'a`. S is the `State` of this plugin.
    pub unsafe fn from_ptr(cycle: *const sys::berth_cycle, point: &'static str) -> Self {
        Cycle { cycle, point, state: PhantomData }
    }

    /// The place of the state, which is None until PreFilter has run; NULL for a State without a
    /// size. It is the only slot of the instance. Write it only under `[cycle]`, while there is no
    /// reference to the state.
    pub fn slot(&self) -> *mut Option<S> {
        if std::mem::size_of::<S>() == 0 {
            return std::ptr::null_mut();
        }
        unsafe { *(*self.cycle).slots as *mut Option<S> }
    }

    /// The pod to place.
    pub fn pod(&self) -> Pod<'a> {
        unsafe { Pod::from_ptr((*self.cycle).pod) }
    }

    /// The number of the attempt, which increases with every attempt.
    pub fn id(&self) -> u64 {
        unsafe { (*self.cycle).id }
    }

    /// What PreFilter returned for this attempt. Panics if the profile does not enable the plugin
    /// at PreFilter, if PreFilter returned None, and for a State without a size; the host reports
    /// the panic as an error of this plugin. Score runs for a pod for which PreFilter returned None:
    /// use [`Cycle::try_state`] there.
    pub fn state(&self) -> &S {
        match self.try_state() {
            Some(state) => state,
            None => panic!(
                "{} requires the state, but there is none: enable the plugin at PreFilter, or use \
                 try_state if PreFilter may return None",
                self.point
            ),
        }
    }

    /// What PreFilter returned for this attempt; None if it did not run or returned None, and for a
    /// State without a size.
    pub fn try_state(&self) -> Option<&S> {
        let slot = self.slot();
        // SAFETY: only PreFilter writes the slot, and no view of it exists then.
        unsafe {
            if slot.is_null() {
                None
            } else {
                (*slot).as_ref()
            }
        }
    }

    /// True when the host no longer needs the answer. Test it every few hundred nodes, and return
    /// any result if it is true.
    pub fn is_cancelled(&self) -> bool {
        use std::sync::atomic::{AtomicU32, Ordering};
        unsafe { (*((*self.cycle).cancel as *const AtomicU32)).load(Ordering::Relaxed) != 0 }
    }

    /// The attempt as <berth/abi.h> declares it.
    pub fn as_ptr(&self) -> *const sys::berth_cycle {
        self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::raw::c_void;

    const CPU: Column<i64> = Column::new(0, "alloc.cpu");

    /// Calls `read` with node 1 of a block with two nodes and the column alloc.cpu: 10, 20.
    fn with_node<R>(read: impl FnOnce(Node) -> R) -> R {
        let values = [10i64, 20];
        let columns = [sys::berth_column {
            data: values.as_ptr() as *const c_void,
            type_: sys::BERTH_TYPE_I64,
            stride: 8,
        }];
        let selected = [1u32];
        let block = sys::berth_block {
            count: 2,
            n_selected: 1,
            n_columns: 1,
            selected: selected.as_ptr(),
            columns: columns.as_ptr(),
            ..sys::berth_block::NEW
        };
        let (index, node) = unsafe { Node::selected(&block) }.next().unwrap();
        assert_eq!(index, 1);
        read(node)
    }

    #[test]
    fn a_node_reads_its_columns() {
        assert_eq!(with_node(|node| node.get(CPU)), 20);
    }

    #[test]
    fn a_wrong_column_is_refused() {
        for wrong in [
            (|node| assert_eq!(node.get(Column::<i64>::new(1, "req.cpu")), 0)) as fn(Node),
            |node| assert_eq!(node.get(Column::<u32>::new(0, "alloc.cpu")), 0),
            |node| assert!(node.get(Column::<Text>::new(0, "alloc.cpu")).is_none()),
        ] {
            let panic = std::panic::catch_unwind(|| with_node(wrong)).unwrap_err();
            let text = panic.downcast_ref::<String>().unwrap();
            assert!(text.contains("is not a column of this type and index in COLUMNS"), "{text}");
        }
    }

    #[test]
    fn an_optional_column_may_be_absent() {
        let columns = [sys::berth_column { data: std::ptr::null(), type_: 0, stride: 0 }];
        let block = sys::berth_block {
            count: 1,
            n_columns: 1,
            columns: columns.as_ptr(),
            ..sys::berth_block::NEW
        };
        let node = unsafe { Node::from_ptr(&block, 0) };
        assert_eq!(node.try_get(CPU), None);
        assert!(std::panic::catch_unwind(|| with_node(|node| node.try_get(WRONG))).is_err());
        assert_eq!(with_node(|node| node.try_get(CPU)), Some(20));
    }
    const WRONG: Column<i64> = Column::new(1, "req.cpu");

    #[test]
    fn raw_values_are_those_of_the_boundary() {
        assert_eq!(unsafe { Id::from_raw(7) }.as_raw(), 7);
        let column = AnyColumn::new(2, "free.cpu", sys::BERTH_TYPE_I64, sys::BERTH_COLUMN_OPTIONAL);
        assert_eq!((column.index, column.name), (2, "free.cpu"));
        assert_eq!((column.kind, column.flags), (sys::BERTH_TYPE_I64, sys::BERTH_COLUMN_OPTIONAL));
        assert_eq!((CPU.any().kind, CPU.any().flags), (sys::BERTH_TYPE_I64, 0));
    }

    #[test]
    fn without_a_selection_all_nodes_are_selected() {
        let block = sys::berth_block { count: 3, n_selected: 3, ..sys::berth_block::NEW };
        let found: Vec<usize> = unsafe { Node::selected(&block) }.map(|(i, _)| i).collect();
        assert_eq!(found, [0, 1, 2]);
    }

    #[test]
    fn state_is_there_only_after_pre_filter() {
        let mut state: Option<i64> = None;
        let slots = [&mut state as *mut _ as *mut c_void];
        let raw = sys::berth_cycle { slots: slots.as_ptr(), ..sys::berth_cycle::NEW };
        let cycle = unsafe { Cycle::<i64>::from_ptr(&raw, "Score") };
        assert_eq!(cycle.try_state(), None);
        let panic = std::panic::catch_unwind(|| *cycle.state()).unwrap_err();
        assert_eq!(
            panic.downcast_ref::<String>().unwrap(),
            "Score requires the state, but there is none: enable the plugin at PreFilter, or use \
             try_state if PreFilter may return None"
        );
        unsafe { *cycle.slot() = Some(3) };
        assert_eq!((cycle.try_state(), cycle.state()), (Some(&3), &3));
    }

    #[test]
    fn a_member_exists_when_the_struct_is_large_enough() {
        let mut column = sys::berth_block::NEW;
        assert!(unsafe { crate::has!(&column, versions) });
        column.struct_size -= 1;
        assert!(unsafe { !crate::has!(&column, versions) });
        assert!(unsafe { crate::has!(&column, pods) });
        // The memory of an older version's struct ends where its struct_size states.
        let old = Box::new(4u32);
        let old = &*old as *const u32 as *const sys::berth_block;
        assert!(unsafe { crate::has!(old, struct_size) });
        assert!(unsafe { !crate::has!(old, versions) });
    }
}
