/// Finds structs that have changed in a store which records no structures of types, as earlier versions of this library
/// left it: an app may change a struct in the update that brings the newer library.
///
/// The program's type of the same name is then taken for the one that the values were written with, unless the store
/// shows that it isn't: it lacks a column for one of the fields, values lack a field, or none of them can be read. Values
/// that don't fit for other reasons may as well be another program's. They make their objects unreadable, and the store
/// opens.
///
/// Costs reading all values of the properties once, when such a store is first opened by this version.
struct UnrecordedTypes {
  let connection: StoreConnection
  let match: SchemaMatch
  let layout: StoreLayout
  let tables: [TableLayout]
  /// The columns of each table.
  let existing: [String: [String: String]]

  /// Has the schema record that the types which have changed are others.
  func recordChanges() throws {
    lazy var fields = DerivedNames(layout, tables).generated
    for rows in MigrationRows.Table.all(match, existing, tables) {
      for case let now as Schema.Attribute in rows.new.storedProperties {
        guard [.json, .composite, .opaque].contains(now.encoding), now.structure != nil,
          let before = match.oldProperty(now.name, of: rows.new.name) as? Schema.Attribute,
          before.recorded?.structure == nil, before.encoding == now.encoding,
          before.transformerName == nil
        else { continue }
        let columns = (fields[rows.new.root.name] ?? [:]).filter { $0.value == now.name }.keys
        let lacksColumn = columns.contains {
          existing[rows.name]?[before.name + $0.dropFirst(now.name.count)] == nil
        }
        let check = ValueCheck(connection, table: rows.name, only: rows.only)
        guard try lacksColumn || check.shows(anotherTypeThan: now, in: before.name) else {
          continue
        }
        before.recorded = RecordedForm(
          isOptional: before.isOptional, encoding: before.encoding.rawValue, structure: .named(""))
      }
    }
  }
}
