/// A model class that had another name in an earlier version of the app.
///
/// ```swift
/// extension Publication: RenamedModel {
///   static var originalName: String { "Book" }
/// }
/// ```
///
/// A store with rows of the earlier name has them as this class from then on, with their identifiers and relationships.
public protocol RenamedModel: PersistentModel {
  /// The name that the class had.
  static var originalName: String { get }
}

extension Schema {
  /// The earlier names of models, by their names now.
  var originalNames: [String: String] {
    var names: [String: String] = [:]
    for model in models {
      guard let renamed = model.type as? any RenamedModel.Type else { continue }
      names[model.name] = renamed.originalName
    }
    return names
  }
}
