public import SteadRecords

/// Rows of another store as records: each becomes a record of the model with its entity's name.
///
/// ```swift
/// let destination = RecordGraphDestination(container)
/// let transfer = Transfer("library", from: RecordStoreSource(old), to: destination) {
///   try destination.check($0)
///   return $0
/// }
/// ```
///
/// Attributes go to the properties of the same name (or `originalName`), each into its property's own
/// encoding; a value that would come out as another is refused. A property that the row has no value
/// of gets its default value; a required one without is a failure of that row. Relationships are set
/// when all rows have their places, each once, whichever side, or both, tells of it, in its order.
///
/// All is one transaction with the receipt. A record with the same `.unique` value is a
/// ``TransferError/Code/conflict``: nothing is written then. A row that an earlier run of the same
/// transfer moved can be led to. Costs some 20 µs a row, and all rows' memory at once.
public struct RecordGraphDestination: TransferDestination {
  /// What is left behind without a failure.
  public struct Options: Sendable, Hashable {
    /// Whether attributes and relationships that the model has not are left behind. Otherwise a row
    /// with a value in one of them is a failure.
    public var dropsUnknownProperties = false
    /// Whether a relationship to a row that is not moved becomes nil. Otherwise nothing is written.
    public var dropsMissingDestinations = false

    /// Nothing is left behind.
    public init() {}
  }

  /// The container that is written to; it has one store.
  public let container: ModelContainer
  /// What is left behind without a failure.
  public let options: Options
  let opened: Result<RecordsStore, TransferError>
  private let forms: [String: RowForm]

  /// A destination in a container that has one store.
  public init(_ container: ModelContainer, options: Options = Options()) {
    self.container = container
    self.options = options
    opened = RecordsStore.opened(container, holding: nil)
    forms = ((try? opened.get())?.rows.shapes ?? [:]).mapValues { RowForm($0) }
  }

  /// `records of` and the container's models.
  public var name: String {
    let names = container.schema.entities.map(\.name)
    let told = names.prefix(Self.toldModelLimit).joined(separator: ", ")
    return "records of \(told)\(names.count > Self.toldModelLimit ? ", ..." : "")"
  }
  /// How many models ``name`` tells.
  static let toldModelLimit = 3

  /// Throws unless a record can be made of a row; writes nothing. For a transfer's conversion.
  ///
  /// Whether the rows that it leads to are moved, too, is known when all are written.
  ///
  /// - Throws: ``TransferError`` that tells the properties and what is wrong with each.
  public func check(_ row: StoredRow) throws {
    let store = try opened.get()
    let problems = try store.reporting("read") {
      try store.rows.read { rows in
        guard let form = forms[row.entity] else { return ["the container has no such model"] }
        return try form.problems(of: row, options, rows)
      }
    }
    guard !problems.isEmpty else { return }
    throw TransferError(
      code: .notConverted,
      message:
        "\(row.entity): \(problems.joined(separator: "; ")). Rename or convert these values, "
        + "give the model's properties default values, or leave the row where it is.")
  }

  /// The receipt of a transfer; it lies in the store.
  public func receipt(named id: String) throws -> TransferReceipt? {
    try opened.get().receipt(named: id)
  }

  /// Writes rows, their relationships and the receipt in one transaction, durably.
  ///
  /// `receipt` is called once more in front, to learn what earlier runs have moved.
  public func write(
    _ elements: [StoredRow], _ progress: TransferProgress.Report,
    receipt: ([TransferPlacement]) throws -> TransferReceipt
  ) throws {
    let store = try opened.get()
    try store.reporting("written") {
      let earlier = try receipt(elements.map { _ in .init(place: "", digest: "") }).moved
      try store.rows.write { rows in
        let writing = GraphWriting(rows, forms, elements, options, earlier)
        let placements = try writing.run(progress)
        try rows.set(try receipt(placements))
      }
    }
    try progress(.init(phase: .writing, completed: elements.count, total: elements.count))
  }

  /// Compares the rows, read by a connection of their own, with the placements' digests.
  public func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try opened.get().verify(placements, progress)
  }

  /// Puts a receipt in the place of the one that is there.
  public func replace(_ receipt: TransferReceipt) throws { try opened.get().replace(receipt) }
}
