/// Maps entities to classes and attributes to properties whose names differ.
///
/// Without it, an `originalName` decides, of properties and of classes that conform to `RenamedModel`; a name that is equal
/// but for case counts where no other one claims it. The renaming identifiers of the store's model are respected.
///
/// ```swift
/// var mapping = CoreDataMapping()
/// mapping.classes["Autor"] = "Author"
/// mapping.storedNames["Author"] = ["name": "vollerName"]
/// mapping.leftOut["Author"] = ["cachedPageCount"]
/// ```
public struct CoreDataMapping: Sendable, Hashable {
  /// The class of an entity, by the entity's name in the store.
  public var classes: [String: String]
  /// For each class, by the names of its properties, the names in the store.
  ///
  /// The field of a Codable struct is written `"property.field"`.
  public var storedNames: [String: [String: String]]
  /// The entities whose rows are not wanted, and relationships to which are left out.
  public var leftOutEntities: Set<String>
  /// For each class, the names in the store of attributes and relationships that are not wanted.
  public var leftOut: [String: Set<String>]
  /// Whether values without a property are left out and only reported.
  ///
  /// Otherwise an import throws before anything is written if a column has values and no property for them exists.
  public var leavesOutUnknown: Bool
  /// For each class and property, whether its attribute allows external storage in the store's model.
  ///
  /// Needed if the store leaves it open; the import then throws an error that asks for it.
  public var externalStorage: [String: [String: Bool]]

  /// Whether NULL in a property that isn't optional becomes the property's default value, and is only
  /// reported.
  ///
  /// Otherwise an import throws before anything is written. All these rows get one value, but for UUIDs:
  /// each row gets its own.
  public var acceptsDefaults: Bool

  /// A mapping by names alone.
  public init() {
    classes = [:]
    storedNames = [:]
    leftOutEntities = []
    leftOut = [:]
    leavesOutUnknown = false
    externalStorage = [:]
    acceptsDefaults = false
  }

  func storedName(_ property: String, of className: String) -> String? {
    storedNames[className]?[property]
  }

  func isLeftOut(_ column: String, of className: String) -> Bool {
    leftOut[className, default: []].contains { name in
      let name = name.uppercased()
      return column == "Z\(name)" || column == name
    }
  }
}
