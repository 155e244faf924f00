import Foundation
import SteadSQLite

/// Turns sort descriptors into terms of ORDER BY.
struct SortTranslator {
  /// Types known without a cast, which costs more than all the rest.
  private static let plainTypes: Set<ObjectIdentifier> = [
    ObjectIdentifier(Int.self), ObjectIdentifier(String.self), ObjectIdentifier(Date.self),
    ObjectIdentifier(Double.self), ObjectIdentifier(Bool.self),
  ]

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
    let scalar = try translation.scalar(try translation.property(keyPath, of: row))
    let valueType = type(of: keyPath as AnyKeyPath).valueType
    var localized: (any LocalizedText.Type)?
    if !Self.plainTypes.contains(ObjectIdentifier(valueType)) {
      let wrapped = PropertyShape(valueType).wrapped
      localized = wrapped as? any LocalizedText.Type
      if localized == nil { try checkOrder(wrapped) }
    }
    let collation: SQLFragment
    switch scalar.encoding {
    case .text where localized != nil: collation = localized?.collation ?? ""
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
}
