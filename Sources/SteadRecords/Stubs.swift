import Foundation
struct SQLFragment { var sql: String; var bindings: [SQLValue] }
enum SQLValue: Hashable, Sendable { case null, integer(Int64), real(Double), text(String), blob(Data) }
struct TranslatedQuery { var condition: SQLFragment?; var isExact = true; var order: SQLFragment?; var orderIsExact = true; var relatedEntities: Set<Int> = [] }
struct QueryTranslator { let layout: StoreLayout
  func translate<T>(predicate: Predicate<T>?, sortBy: [SortDescriptor<T>], entity: EntityLayout) throws -> TranslatedQuery {
    TranslatedQuery(isExact: predicate == nil, orderIsExact: sortBy.isEmpty) } }
enum SteadSQLFunctions { static func register(on: OpaquePointer) throws {} }
