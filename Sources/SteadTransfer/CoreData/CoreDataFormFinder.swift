import Foundation
import SteadRecords

/// Finds out which attributes have the marker of external storage before their data.
///
/// The marker is there for each value of such an attribute and for no other attribute, but the tables do
/// not say which those are. So it takes a property that allows external storage, or the caller's word, or
/// a value that names a file which is there; and every value of the column has to begin with a marker.
struct CoreDataFormFinder {
  let store: ForeignStore
  let files: CoreDataFiles
  let mapping: CoreDataMapping

  func settled(_ plan: CoreDataClassPlan) throws -> CoreDataClassPlan {
    var plan = plan
    for index in plan.attributes.indices {
      if try isMarked(plan.attributes[index], plan) { plan.attributes[index].form = .marked }
    }
    return plan
  }

  private func isMarked(
    _ attribute: CoreDataClassPlan.Attribute, _ plan: CoreDataClassPlan
  ) throws -> Bool {
    if mapping.externallyStored[plan.className]?.contains(attribute.name) == true { return true }
    let column = quotedName(attribute.column)
    let source = "FROM \(quotedName(plan.entity.table)) WHERE \(column) IS NOT NULL"
    let unmarked = try store.rows(
      "SELECT 1 \(source) AND (typeof(\(column)) <> 'blob' "
        + "OR substr(\(column), 1, 1) NOT IN (x'01', x'02')) LIMIT 1")
    guard unmarked.isEmpty else { return false }
    if case .external = attribute.encoding { return true }
    guard files.exist else { return false }
    // A name is short, so longer values need not be looked at.
    let names = try store.rows(
      "SELECT substr(\(column), 2) \(source) AND substr(\(column), 1, 1) = x'02' "
        + "AND length(\(column)) <= \(CoreDataFiles.nameLimit + 2)")
    return names.contains { row in
      guard case .blob(let data) = row[0], let name = CoreDataFiles.name(data) else { return false }
      return files.has(name)
    }
  }
}
