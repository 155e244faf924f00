/// Reports what a save cannot write, with messages that name the remedy.
enum Misuses {
  /// How many calls that had no effect one error describes.
  static let namedLimit = 10

  static func insertion(ofForeign model: any PersistentModel) -> SwiftDataError {
    .init(
      .foreignModel,
      "\(model.persistentModelID) belongs to another context and was not inserted. Fetch it in "
        + "this context by its persistentModelID; this save wrote nothing, and the next one proceeds."
    )
  }

  static func insertion(
    ofUnknown model: any PersistentModel, _ layout: StoreLayout
  ) -> SwiftDataError {
    let unknown = UnknownClass(type(of: model), in: layout)
    return .init(
      .unknownModel,
      "\(unknown.problem), and the object was not inserted. \(unknown.remedy); this save wrote nothing, and the next one "
        + "proceeds.")
  }

  /// A relationship whose type in the program is a class that the schema has another one for.
  static func use(
    ofForeign property: PropertyLayout, of entity: EntityLayout, _ layout: StoreLayout
  ) -> SwiftDataError {
    let destination = property.destination.map { String(reflecting: layout.entities[$0].type) }
    return .init(
      .unknownModel,
      "\(entity.name).\(property.name) leads to \(destination ?? "another class"), and the program's type of it is a class of another "
        + "version, so it is empty here. Declare \(entity.name) in this version, or go the way back from its inverse; this save wrote "
        + "nothing, and the next one proceeds.")
  }

  /// A link from the other side that a relationship of a foreign type can hold only by its row.
  static func link(
    _ property: PropertyLayout, of entity: EntityLayout, toNew target: any PersistentModel
  ) -> SwiftDataError {
    .init(
      .unknownModel,
      "\(entity.name).\(property.name) would lead to a new \(String(reflecting: type(of: target))), and the program's type of it is a class "
        + "of another version. Save the new object before it is linked, or declare \(entity.name) in this version; this save wrote "
        + "nothing, and the next one proceeds.")
  }

  static func deletion(ofForeign model: any PersistentModel) -> SwiftDataError {
    .init(
      .foreignModel,
      "\(model.persistentModelID) belongs to another context and was not deleted. Delete it there, "
        + "or fetch it in this context; this save wrote nothing, and the next one proceeds.")
  }

  static func link(
    _ property: String, of owner: any PersistentModel, to target: any PersistentModel,
    _ layout: StoreLayout
  ) -> SwiftDataError {
    if target._$statePointer.pointee.home != nil {
      return .init(
        .foreignModel,
        "\(property) of \(owner.persistentModelID) leads to \(target.persistentModelID), an object "
          + "of another context. Set it to the object that this context has for that identifier, "
          + "then save again.")
    }
    let unknown = UnknownClass(type(of: target), in: layout)
    return .init(
      .unknownModel,
      "\(property) of \(owner.persistentModelID) leads to an object of a class that it can't be saved with: \(unknown.problem). "
        + "\(unknown.remedy), or clear the property.")
  }
}
