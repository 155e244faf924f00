import Synchronization

/// The plans of a container's entities by the entities' index, each made when it is first asked for: most
/// programs open more models than they use at first.
struct EntityPlans: Sendable {
  private let plans: [LazyPlan]

  init(_ plans: [LazyPlan]) { self.plans = plans }

  subscript(entity: Int) -> EntityPlan { plans[entity].plan }
}

extension EntityPlans {
  /// A plan that is made when first needed; several threads may ask at once.
  final class LazyPlan: Sendable {
    private let entity: EntityLayout
    private let table: TableLayout
    private let store: RecordStore.Identity
    private let made = AtomicLazyReference<EntityPlan>()

    init(_ entity: EntityLayout, _ table: TableLayout, _ store: RecordStore.Identity) {
      self.entity = entity
      self.table = table
      self.store = store
    }

    var plan: EntityPlan {
      made.load() ?? made.storeIfNil(EntityPlan(entity: entity, table: table, store: store))
    }
  }
}
