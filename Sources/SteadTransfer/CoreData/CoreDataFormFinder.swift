import Foundation
import SteadRecords

/// Finds out which attributes have the marker of external storage before their data.
///
/// The marker is there for each value of such an attribute and for no other attribute, but the tables do not say
/// which those are. A property that allows external storage tells of it if the store has files, or a value that names a
/// file which is there.
/// For data that might have the marker by chance, the caller must decide.
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
    if let told = mapping.externalStorage[plan.className]?[attribute.name] { return told }
    let column = quotedName(attribute.column)
    let source = "FROM \(quotedName(plan.entity.table)) WHERE \(column) IS NOT NULL"
    let first = try store.rows(
      "SELECT count(*), ifnull(sum(typeof(\(column)) = 'blob' "
        + "AND substr(\(column), 1, 1) IN (x'01', x'02')), 0) \(source)")
    guard let count = first.first?[0].integer, count > 0, first.first?[1].integer == count else {
      return false
    }
    switch attribute.encoding {
    // The new property allows it, and the store has such files.
    case .external where files.exist: return true
    case .external, .data, .opaque: break
    // Nothing else begins with such a byte: neither an archive, a property list nor JSON.
    default: return try namesFile(column, source)
    }
    guard try namesFile(column, source) else {
      throw TransferError(
        code: .unsupported,
        message:
          "All values of \(plan.className).\(attribute.name) begin as those of an attribute with "
          + "external storage do, and may do so by chance. Say in externalStorage of the mapping "
          + "whether it allows that. Nothing was written.")
    }
    return true
  }

  /// Whether a value is the name of an existing file.
  private func namesFile(_ column: String, _ source: String) throws -> Bool {
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
