import SwiftSyntax

// Generated members are nonisolated whatever the class is: the engine calls them from its own threads.

extension ModelDeclaration {
  /// The members that `@Model` adds.
  var members: [DeclSyntax] {
    var result: [String] = []
    if supermodel == nil { result += state }
    if inheritsSomething { result.append(firstIndex) }
    result += [
      supermodelMember, propertyCount, schemaMetadata, rowInitializer, reload, bind, visit,
    ]
    return result.map { "\(raw: $0)" }
  }

  private var override: String { supermodel == nil ? "" : "override " }
  private var typeMember: String { isFinal && supermodel == nil ? "static" : "class" }

  private var state: [String] {
    [
      """
      @exclusivity(unchecked) nonisolated(unsafe) \
      \(access)final var _$state = SteadRecords._ModelState()
      """,
      """
      nonisolated \(access)final var _$statePointer: \
      UnsafeMutablePointer<SteadRecords._ModelState> {
        withUnsafeMutablePointer(to: &_$state) { $0 }
      }
      """,
    ]
  }

  private var firstIndex: String {
    "nonisolated private static var _$first: Int { \(supermodel.map { "\($0)._$propertyCount" } ?? "0") }"
  }

  private var supermodelMember: String {
    """
    nonisolated \(override)\(access)\(typeMember) var _$supermodel: \
    (any SteadRecords.PersistentModel.Type)? { \(supermodel.map { "\($0).self" } ?? "nil") }
    """
  }

  private var propertyCount: String {
    let inherited = supermodel.map { "\($0)._$propertyCount + " } ?? ""
    return """
      nonisolated \(override)\(access)\(typeMember) var _$propertyCount: Int \
      { \(inherited)\(properties.count) }
      """
  }

  private var schemaMetadata: String {
    let entries = properties.map(entry) + constraintEntries
    return """
      nonisolated \(override)\(access)\(typeMember) var schemaMetadata: \
      [SteadRecords.Schema.PropertyMetadata] {
      [\(entries.isEmpty ? "" : "\n" + entries.joined(separator: "\n") + "\n")]
      }
      """
  }

  private func entry(_ property: PersistedProperty) -> String {
    var arguments = ["name: \"\(property.plainName)\"", "keypath: \\\(name).\(property.name)"]
    if let value = property.initialValue, !property.isRelationship, value != "nil" {
      // The type gives `[]`, `.now` and their like a meaning where `Any?` is expected.
      arguments.append(
        "defaultValue: \(property.usableType.map { "(\(value)) as \($0)" } ?? value)")
    }
    if let metadata = property.metadata {
      arguments.append("metadata: SteadRecords.Schema.\(metadata)")
    }
    return ".init(\(arguments.joined(separator: ", "))),"
  }

  private var constraintEntries: [String] {
    let unique = constraints.filter { $0.kind == .unique }.enumerated()
    let index = constraints.filter { $0.kind == .index }.enumerated()
    return unique.map { entry($1, named: "_unique\($0)") }
      + index.map { entry($1, named: "_index\($0)") }
  }

  private func entry(_ constraint: Constraint, named entryName: String) -> String {
    """
    .init(name: "\(entryName)", keypath: \\\(name).persistentModelID, \
    metadata: SteadRecords.Schema.\(constraint.kind.rawValue)<\(name)>\(constraint.arguments)),
    """
  }

  private var rowInitializer: String {
    var lines: [String] = properties.filter { !$0.hasInitialValue }.map { "\($0.proof) = .init()" }
    if supermodel != nil { lines.append("super.init(_row: row)") }
    lines += loads
    return function("\(access)required init(_row row: SteadRecords._RowReader)", lines)
  }

  private var reload: String {
    let lines = (supermodel == nil ? [] : ["super._$reload(row)"]) + loads
    return function("\(override)\(access)func _$reload(_ row: SteadRecords._RowReader)", lines)
  }

  private var loads: [String] {
    properties.enumerated().map { "\($1.slot)._load(row, \(index($0)))" }
  }

  private var bind: String {
    let lines =
      (supermodel == nil ? [] : ["super._$bind(row)"])
      + properties.enumerated().map { "\($1.slot)._bind(row, \(index($0)))" }
    return function("\(override)\(access)func _$bind(_ row: SteadRecords._RowWriter)", lines)
  }

  private var visit: String {
    var lines = ["switch index\(supermodel == nil ? "" : " - \(name)._$first") {"]
    lines += properties.enumerated().map { position, property in
      "case \(position): visitor.visit(&\(property.slot), index)"
    }
    lines += ["default: \(supermodel == nil ? "break" : "super._$visit(index, &visitor)")", "}"]
    return function(
      """
      \(override)\(access)func _$visit<Visitor: SteadRecords._SlotVisitor>(\
      _ index: Int, _ visitor: inout Visitor)
      """, lines)
  }

  private func function(_ head: String, _ lines: [String]) -> String {
    "nonisolated \(head) {\n\(lines.joined(separator: "\n"))\n}"
  }
}
