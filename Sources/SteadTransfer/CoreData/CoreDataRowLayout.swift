import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// The columns of a SELECT of one entity's rows.
struct CoreDataRowLayout {
  let columns: [String]
  private let places: [String: Int]

  init(_ plan: CoreDataClassPlan?) {
    var columns = ["Z_PK"]
    for attribute in plan?.attributes ?? [] { columns.append(attribute.column) }
    for composite in plan?.composites ?? [] { columns += composite.columns }
    for case .own(let reference) in (plan?.relationships ?? []).map(\.place) {
      columns.append(reference.column)
      if let entity = reference.entityColumn { columns.append(entity) }
    }
    self.columns = columns
    places = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
  }

  func value(_ column: String, in row: [SQLValue]) -> SQLValue {
    places[column].map { row[$0] } ?? .null
  }
}
