import Foundation

/// Turns sort descriptors into terms of ORDER BY.
struct SortTranslator {
  private let translation: PredicateTranslation
  private let row: RowTerm

  init(_ translation: PredicateTranslation, _ row: RowTerm) {
    self.translation = translation
    self.row = row
  }

  func order<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    guard let keyPath = descriptor.keyPath else {
      throw NotTranslatable("a sort descriptor without a key path")
    }
    let scalar = try value(keyPath, of: row)
    let valueType = type(of: keyPath as AnyKeyPath).valueType
    try checkOrder(PropertyShape(valueType).wrapped)
    let collation: SQLFragment
    switch scalar.encoding {
    case .text where descriptor.stringComparator != nil: collation = try lexical(descriptor)
    case .text: collation = " COLLATE stead_canonical"
    case .decimal: collation = " COLLATE stead_decimal"
    case .boolean, .integer, .unsigned64, .real, .date, .uuid: collation = ""
    default: throw NotTranslatable("an order by \(keyPath)")
    }
    // SQLite puts NULL before everything, as Foundation puts nil.
    return
      "\(scalar.sql)\(collation)\(SQLFragment(sql: descriptor.order == .forward ? "" : " DESC"))"
  }

  private func lexical<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    var comparator = descriptor.stringComparator
    comparator?.order = .forward
    guard comparator == .lexical else {
      throw NotTranslatable("an order by \(String(describing: comparator))")
    }
    return " COLLATE stead_lexical"
  }

  private func checkOrder(_ type: any Any.Type) throws {
    func open<T>(_ type: T.Type) throws { try translation.checkOrder(of: type) }
    try _openExistential(type, do: open)
  }

  /// The value of a key path, which may lead through relationships and structs.
  private func value(_ keyPath: AnyKeyPath, of row: RowTerm) throws -> Scalar {
    if row.entity.propertyByKeyPath[keyPath] != nil {
      return try translation.scalar(try translation.property(keyPath, of: row))
    }
    for (path, index) in row.entity.propertyByKeyPath {
      let property = row.entity.properties[index]
      guard let rest = KeyPathRemainder.find(keyPath, after: path, property, translation.layout)
      else { continue }
      let term = try translation.property(path, of: row)
      return try follow(rest, from: term)
    }
    return try translation.scalar(try translation.property(keyPath, of: row))
  }

  private func follow(_ rest: AnyKeyPath, from term: Term) throws -> Scalar {
    switch term {
    case .row(let row): return try value(rest, of: row)
    case .composite(let composite):
      return try translation.scalar(try translation.field(rest, of: composite))
    case .scalar(let scalar): return scalar
    default: throw NotTranslatable("an order by \(rest)")
    }
  }
}

/// Takes a key path apart: Swift only puts them together.
enum KeyPathRemainder {
  static func find(
    _ whole: AnyKeyPath, after start: AnyKeyPath, _ property: PropertyLayout, _ layout: StoreLayout
  ) -> AnyKeyPath? {
    guard case .toOne(let destination) = property.kind else { return nil }
    let target = layout.entities[destination]
    for path in target.propertyByKeyPath.keys
    where joined(start, path, isOptional: property.isOptional) == whole { return path }
    return nil
  }

  private static func joined(
    _ start: AnyKeyPath, _ end: AnyKeyPath, isOptional: Bool
  ) -> AnyKeyPath? {
    start.appending(path: end)
  }
}
