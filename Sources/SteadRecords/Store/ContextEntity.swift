/// An entity as a context works with it: what the schema says of it, where its rows are, and how they are read and
/// written.
///
/// A context has one array of these, in the order of ``StoreLayout/entities``. The state of each object has the place of
/// its entity there. The array is made with the context, and never changes.
///
/// A stored field of an element is read in place: `entities[index].storeIndex` and `entities[index].layout.isConstrained`
/// retain nothing. A copy of the element, which a computed property makes, too, would retain all that it refers to. So
/// there are no computed ones, and loops over objects copy no element.
struct ContextEntity {
  /// The class and its table.
  let layout: EntityLayout
  /// The place of its store among the container's stores, in the order of their locks.
  let storeIndex: Int
  /// What reads and writes its rows besides a statement. The context's own, since one thread at a time may use it.
  let rowContext: RowContext
  /// The SQL of its rows in that store, made with the first use.
  let lazyPlan: EntityPlan.Lazy

  init(
    _ layout: EntityLayout, in store: RecordStore, at storeIndex: Int, _ lazyPlan: EntityPlan.Lazy
  ) {
    self.layout = layout
    self.storeIndex = storeIndex
    self.lazyPlan = lazyPlan
    rowContext = RowContext(
      labels: layout.labels, blobs: store.blobs,
      acceptsMissingValues: store.configuration.migration == .ofCustomStage)
  }
}
