import SteadSQLite

/// The conversion of an attribute's values to another type, in a custom stage whose closures do not read them.
///
/// Only conversions that lose nothing: of whole numbers to numbers with a fraction and to decimal strings, and of truth
/// values to whole numbers. Raw values are converted as such.
struct ValueConversion {
  /// A property by its new name, with the class that declares it.
  struct Property: Hashable {
    let entity: String
    let name: String
  }

  /// The greatest whole number up to which each is a value of the type.
  private static let (doubleLimit, floatLimit): (Int64, Int64) = (1 << 53, 1 << 24)

  /// The property that gets the converted values.
  let property: Property
  /// The attribute that has the values.
  private let old: Schema.Attribute
  /// The attribute that gets them.
  private let new: Schema.Attribute
  /// The table, under its former name.
  private let table: String
  /// The numbers of the classes whose rows have the property; empty outside hierarchies.
  private let classes: [Int]

  /// The conversions that exist among the changes that a store cannot follow.
  static func all(of match: SchemaMatch, _ difference: SchemaDifference) -> [ValueConversion] {
    difference.refusals.compactMap { refusal in
      guard refusal.cure == .replacement, let name = refusal.property else { return nil }
      return ValueConversion(match, Property(entity: refusal.entity, name: name))
    }
  }

  /// nil unless both are attributes with a conversion between them.
  private init?(_ match: SchemaMatch, _ property: Property) {
    guard let entity = match.oldEntities[property.entity],
      let old = match.oldProperty(property.name, of: property.entity) as? Schema.Attribute,
      let new = match.new.entitiesByName[property.entity]?.attributesByName[property.name],
      Self.expression(of: "value", from: old.encoding, to: new.encoding) != nil
    else { return nil }
    self.property = property
    (self.old, self.new) = (old, new)
    table = entity.root.name
    // Unrelated classes of a hierarchy share the table, and may share the column.
    classes =
      entity.isInHierarchy
      ? entity.family.compactMap { member in
        match.old.entities.firstIndex { $0 === member }.map { $0 + 1 }
      } : []
  }

  /// The SQL of a conversion that changes no value; nil if there is none.
  private static func expression(
    of value: String, from old: ColumnEncoding, to new: ColumnEncoding
  ) -> String? {
    switch (old, new) {
    case (.integer, .real): "CAST(\(value) AS REAL)"
    case (.integer, .text): "CAST(\(value) AS TEXT)"
    case (.boolean, .integer): value
    default: nil
    }
  }

  /// The SQL of a converted value, for an expression of the value.
  private func converted(_ value: String) -> String {
    Self.expression(of: value, from: old.encoding, to: new.encoding) ?? value
  }

  /// The SQL of a row's converted value, in the table as it was.
  var value: String { converted(old.name.sqlName) }

  /// A SELECT of the rows' numbers as `row` and their values as `value`.
  private var values: String {
    let only =
      classes.isEmpty
      ? "" : " WHERE \"_entity\" IN (\(classes.map(String.init).joined(separator: ", ")))"
    return "SELECT \"_id\" AS row, \(old.name.sqlName) AS value FROM \(table.sqlName)\(only)"
  }

  /// Whether the new type has all values that the table holds now.
  func isPossible(on connection: StoreConnection) throws -> Bool {
    // Beyond the limit, some whole numbers are no value of the floating-point type.
    let type = PropertyShape(new.valueType).wrapped
    if new.encoding == .real {
      let limit = type == Float.self ? Self.floatLimit : Self.doubleLimit
      let large = try connection.integer(
        "SELECT 1 FROM (\(values)) WHERE value NOT BETWEEN \(-limit) AND \(limit) LIMIT 1")
      if large != nil { return false }
    }
    // Each distinct value once, however many rows have it.
    let statement = try connection.prepare(
      "SELECT DISTINCT \(converted("value")) FROM (\(values)) WHERE value IS NOT NULL")
    defer { statement.reset() }
    while try statement.step() {
      if !ValueCheck.canRead(statement.value(0), as: new) { return false }
    }
    return true
  }

  /// The temporary table of a conversion's values.
  private static func aside(_ number: Int) -> String { "stead_value_\(number)" }

  /// Copies the values to a temporary table, before the tables change.
  func setAside(as number: Int, on connection: StoreConnection) throws {
    let aside = Self.aside(number)
    try connection.execute("CREATE TEMP TABLE \(aside) (row INTEGER PRIMARY KEY, value)")
    try connection.execute("INSERT INTO \(aside) \(values)")
  }

  /// Writes the converted values to the new column. A row without a value keeps NULL, or the default value of a required
  /// property.
  func write(_ number: Int, _ layout: StoreLayout, on connection: StoreConnection) throws {
    let aside = Self.aside(number)
    defer { try? connection.execute("DROP TABLE temp.\(aside)") }
    guard let entity = layout.entity(named: property.entity),
      let index = entity.property(named: property.name)?.index
    else { return }
    let rows = "SELECT row FROM \(aside)" + (new.isOptional ? "" : " WHERE value IS NOT NULL")
    try connection.execute(
      "UPDATE \(entity.table.sqlName) SET \(property.name.sqlName) = "
        + "(SELECT \(converted("value")) FROM \(aside) WHERE row = \"_id\") WHERE \"_id\" IN (\(rows))"
    )
    let kind = entity.discriminator == nil ? "0" : "\"_entity\""
    let statement = try connection.prepare(
      "SELECT \"_id\", \(kind) FROM \(entity.table.sqlName) WHERE \"_id\" IN (\(rows)) ORDER BY \"_id\""
    )
    defer { statement.reset() }
    while try statement.step() {
      // The row may be of a subclass, where the property has the same place.
      let own = layout.entity(
        discriminator: Int(statement.integer(1)), root: entity.rootIndex)
      connection.changes.record(
        .update, own ?? entity, row: statement.integer(0), properties: PropertySet([index]))
    }
  }
}
