/// A model class that had another name in an earlier version of the app.
///
/// ```swift
/// extension Publication: RenamedModel {
///   static var originalName: String { "Book" }
/// }
/// ```
///
/// A store with rows of the earlier name has them as this class from then on, with their identifiers and relationships.
/// Another class may take the earlier name, and two classes may swap names: a class that only has the name gets these
/// rows if no other class has it as its original name.
public protocol RenamedModel: PersistentModel {
  /// The name that the class had.
  static var originalName: String { get }
}

extension Schema {
  /// Whether classes and properties that both schemas have by name also have the same earlier names in the source.
  ///
  /// What a store does not record, it doesn't contradict.
  func hasSameOriginalNames(as other: Schema) -> Bool {
    entities.allSatisfy { entity in
      guard let match = other.entitiesByName[entity.name] else { return true }
      if let one = entity.originalName, let two = match.originalName, one != two { return false }
      let properties = match.storedPropertiesByName
      return entity.storedProperties.allSatisfy { property in
        properties[property.name].map { $0.originalName == property.originalName } ?? true
      }
    }
  }
}
