/// What the writing of a save needs of its context: the entities, the stores, and how rows of others are treated.
struct SaveLayout {
  let store: StoreLayout
  /// The context's entities, by their index.
  let entities: [ContextEntity]
  let stores: [RecordStore]
  /// Whether other contexts have committed rows since the objects were changed.
  let readsOldRows: Bool
  /// Whether a new object whose unique values belong to a row leaves that row's columns unchanged.
  var keepsUniqueRows = false

  func entity(of model: any PersistentModel) -> EntityLayout {
    entities[Int(model._$statePointer.pointee.entity)].layout
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
