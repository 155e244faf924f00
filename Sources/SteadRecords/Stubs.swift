import Foundation
struct SQLFragment { var sql: String; var bindings: [SQLValue] }
enum SQLValue: Hashable, Sendable { case null, integer(Int64), real(Double), text(String), blob(Data) }
struct TranslatedQuery { var condition: SQLFragment?; var isExact = true; var order: SQLFragment?; var orderIsExact = true; var relatedEntities: Set<Int> = [] }
struct QueryTranslator { let layout: StoreLayout
  func translate<T>(predicate: Predicate<T>?, sortBy: [SortDescriptor<T>], entity: EntityLayout) throws -> TranslatedQuery {
    TranslatedQuery(isExact: predicate == nil, orderIsExact: sortBy.isEmpty) } }
enum SteadSQLFunctions { static func register(on: OpaquePointer) throws {} }
open class UndoManager { public init() {}
  var isUndoRegistrationEnabled: Bool { true }; var groupingLevel: Int { 0 }; var groupsByEvent: Bool { true }
  func endUndoGrouping() {}; func removeAllActions() {}
  func registerUndo<T: AnyObject>(withTarget: T, handler: @escaping (T) -> Void) {} }
public struct NSValueTransformerName: Hashable { init(_ s: String) {} }
open class ValueTransformer { public required init() {}
  convenience init?(forName: NSValueTransformerName) { return nil }
  static func setValueTransformer(_ t: ValueTransformer?, forName: NSValueTransformerName) {}
  open func transformedValue(_ v: Any?) -> Any? { nil }
  open func reverseTransformedValue(_ v: Any?) -> Any? { nil } }
