/// What the writing of a save asks of the context's layout.
struct SaveLayout {
  let store: StoreLayout
  let plans: EntityPlans
  let traits: [EntityTraits]
  let contexts: [RowContext]
  /// The place of each entity's store.
  let storeIndex: [Int]
  let stores: [RecordStore]
  /// Whether other contexts have committed rows since the objects were changed.
  let readsOldRows: Bool
  /// Whether a new object whose unique values belong to a row leaves that row's columns unchanged.
  var keepsUniqueRows = false

  func entity(of model: any PersistentModel) -> EntityLayout {
    store.entities[Int(model._$statePointer.pointee.entity)]
  }

  /// Whether objects of a hierarchy have files or rows in join tables.
  func hasMoreThanRows(_ root: Int) -> Bool {
    store.entities.contains {
      $0.rootIndex == root && (!$0.joined.isEmpty || !$0.externalColumns.isEmpty)
    }
  }

  /// The one-to-one relationships in which an object has a partner.
  func partners(of model: any PersistentModel) -> PropertySet {
    let entity = entity(of: model)
    var result = PropertySet()
    for index in entity.relationships where entity.properties[index].isOneToOne {
      switch model.content(at: index) {
      case .toOne(.model), .toOne(.row): result.insert(index)
      default: break
      }
    }
    return result
  }
}
