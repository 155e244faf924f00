import Foundation

/// The object graph of a keyed archive as plain fields, without instantiating any class.
///
/// Meant for archives whose objects form cycles and belong to classes that exist only on Apple's
/// platforms, such as the `NSManagedObjectModel` in a Core Data store. ``KeyedArchive`` reads
/// archives of values instead.
///
/// An archive is a binary property list. `$objects` is an array of all objects, which refer to each
/// other by index. An object is a dictionary; its `$class` refers to another dictionary, with the
/// class's name and those of its superclasses in `$classes`.
///
/// ```swift
/// let archive = try ArchivedObjects(data)
/// for entity in archive.all(of: "NSEntityDescription") {
///   print(archive.string("NSEntityName", of: entity) ?? "")
/// }
/// ```
///
/// Making one costs the decoding of the whole property list. Accessors of fields are look-ups;
/// ``all(of:)`` is linear in the number of objects. No accessor traps on a damaged archive: a
/// missing field, one of another type and a reference out of range are all nil.
package struct ArchivedObjects: Sendable {
  /// An object, identified by its index in the archive.
  package struct Reference: Hashable, Sendable {
    /// Always within the bounds of `objects`; only `reference(_:)` and ``all(of:)`` make
    /// references.
    let index: Int
  }

  /// The maximum number of objects in an archive. The largest models of Apple's own apps have some
  /// 100,000.
  package static let objectLimit = 1_000_000

  private let objects: [PropertyList]
  /// For the index of each class description, the names in its `$classes`: the class and its
  /// superclasses.
  private let lineages: [Int: [String]]

  /// Decodes an archive.
  ///
  /// - Throws: ``PropertyListError`` for data that isn't a keyed archive, or has more than
  ///   ``objectLimit`` objects.
  package init(_ data: Data) throws {
    // NSKeyedArchiver always writes a binary property list, so other formats need not be tried.
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
    // Class descriptions are objects like the others, and may come after their instances.
    for (index, object) in objects.enumerated() {
      guard case .dictionary(let fields) = object, case .array(let names)? = fields["$classes"]
      else { continue }
      lineages[index] = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
    self.lineages = lineages
  }

  /// The objects of a class and its subclasses, in archive order.
  package func all(of className: String) -> [Reference] {
    objects.indices.map(Reference.init).filter { self.is($0, a: className) }
  }

  /// Whether an object's class is `className` or inherits from it.
  package func `is`(_ object: Reference, a className: String) -> Bool {
    guard case .dictionary(let fields) = value(object),
      let type = fields["$class"].flatMap(reference)
    else { return false }
    return lineages[type.index]?.contains(className) == true
  }

  /// The keys of an object's dictionary, `$class` included; empty if it isn't a dictionary.
  package func fieldNames(of object: Reference) -> [String] {
    guard case .dictionary(let fields) = value(object) else { return [] }
    return fields.map(\.key)
  }

  /// The object that a field refers to; nil if the field is missing, or refers to nil.
  package func object(_ field: String, of object: Reference) -> Reference? {
    guard case .dictionary(let fields) = value(object),
      // Object 0 is always the string "$null", which represents nil.
      let found = fields[field].flatMap(reference), found.index > 0
    else { return nil }
    return found
  }

  /// A field's string, which may be stored inline or as an object of its own.
  package func string(_ field: String, of object: Reference) -> String? {
    guard case .dictionary(let fields) = value(object), let found = fields[field] else {
      return nil
    }
    // An archiver may store equal strings once, and refer to them.
    let plain = reference(found).map(value) ?? found
    guard case .string(let text) = plain, text != "$null" else { return nil }
    return text
  }

  /// A field's integer, stored inline or as an object of its own; a boolean counts as 0 or 1.
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

  /// The elements of an array or a set, or the values of a dictionary, in archive order.
  ///
  /// Nil for any other object, and if one element isn't a reference: a partial list would be
  /// mistaken for a complete one.
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

  /// The object that a value refers to; nil if it isn't a reference, or its index is out of bounds.
  private func reference(_ value: PropertyList) -> Reference? {
    guard case .dictionary(let fields) = value, let number = BinaryPropertyList.reference(fields),
      Int(number) < objects.count
    else { return nil }
    return Reference(index: Int(number))
  }
}
