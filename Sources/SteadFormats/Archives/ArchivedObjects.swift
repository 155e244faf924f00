import Foundation

/// The objects of a keyed archive, of any classes, as plain fields; no class is instantiated.
///
/// For archives whose objects refer to each other in circles and belong to classes that exist only on Apple's
/// systems. Costs the decoding of the property list.
package struct ArchivedObjects: Sendable {
  /// An object, identified by its position in the archive.
  package struct Reference: Hashable, Sendable {
    let index: Int
  }

  /// How many objects an archive may have.
  package static let objectLimit = 1_000_000

  private let objects: [PropertyList]
  /// The names of each class and its superclasses, by the position of the class.
  private let lineages: [Int: [String]]

  /// Throws ``PropertyListError`` for data that isn't a keyed archive.
  package init(_ data: Data) throws {
    guard case .dictionary(let archive) = try BinaryPropertyList.decode(data),
      case .array(let objects)? = archive["$objects"], archive["$archiver"] != nil,
      objects.count <= Self.objectLimit
    else {
      throw PropertyListError(
        code: .damaged,
        message: "The data isn't a keyed archive; use one that NSKeyedArchiver made.",
        offset: 0)
    }
    self.objects = objects
    var lineages: [Int: [String]] = [:]
    for (index, object) in objects.enumerated() {
      guard case .dictionary(let fields) = object, case .array(let names)? = fields["$classes"]
      else { continue }
      lineages[index] = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
    self.lineages = lineages
  }

  /// All objects of a class or its subclasses, in archive order.
  package func all(of className: String) -> [Reference] {
    objects.indices.map(Reference.init).filter { self.is($0, a: className) }
  }

  /// Whether an object is of a class or a subclass of it.
  package func `is`(_ object: Reference, a className: String) -> Bool {
    guard case .dictionary(let fields) = value(object),
      let type = fields["$class"].flatMap(reference)
    else { return false }
    return lineages[type.index]?.contains(className) == true
  }

  /// The names of an object's fields.
  package func fieldNames(of object: Reference) -> [String] {
    guard case .dictionary(let fields) = value(object) else { return [] }
    return fields.map(\.key)
  }

  /// The object that a field refers to; nil if none.
  package func object(_ field: String, of object: Reference) -> Reference? {
    guard case .dictionary(let fields) = value(object),
      let found = fields[field].flatMap(reference), found.index > 0
    else { return nil }
    return found
  }

  /// A field's string, stored in the object itself or referred to.
  package func string(_ field: String, of object: Reference) -> String? {
    guard case .dictionary(let fields) = value(object), let found = fields[field] else {
      return nil
    }
    let plain = reference(found).map(value) ?? found
    guard case .string(let text) = plain, text != "$null" else { return nil }
    return text
  }

  /// A field's whole number.
  package func integer(_ field: String, of object: Reference) -> Int? {
    guard case .dictionary(let fields) = value(object), let found = fields[field] else {
      return nil
    }
    return switch reference(found).map(value) ?? found {
    case .integer(let number): Int(number)
    case .bool(let isTrue): isTrue ? 1 : 0
    default: nil
    }
  }

  /// The elements of an array or a set, or the values of a dictionary; nil for another object.
  package func elements(of object: Reference) -> [Reference]? {
    guard case .dictionary(let fields) = value(object) else { return nil }
    // Core Data's own dictionaries keep their values in an array parallel to their keys.
    if let values = fields["values"].flatMap(reference), fields["searchMapping"] != nil {
      return elements(of: values)
    }
    guard case .array(let elements)? = fields["NS.objects"] else { return nil }
    let found = elements.compactMap(reference)
    return found.count == elements.count ? found : nil
  }

  private func value(_ reference: Reference) -> PropertyList { objects[reference.index] }

  /// The object that a value refers to, if the archive contains it.
  private func reference(_ value: PropertyList) -> Reference? {
    guard case .dictionary(let fields) = value, let number = BinaryPropertyList.reference(fields),
      Int(number) < objects.count
    else { return nil }
    return Reference(index: Int(number))
  }
}
