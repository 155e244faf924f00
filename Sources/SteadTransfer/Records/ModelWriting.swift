import SteadRecords

/// One save of new objects together with more work, such as writing a receipt.
struct ModelWriting {
  private let store: RecordsStore
  private let context: ModelContext
  private let elements: [any PersistentModel]
  /// What each object brought along, itself first.
  private var groups: [[any PersistentModel]] = []

  init(_ store: RecordsStore, _ elements: [any PersistentModel]) {
    self.store = store
    self.elements = elements
    context = ModelContext(store.rows.container)
    context.observesModels = false
  }

  /// Writes the objects, then hands their placements over in the same transaction.
  mutating func run(
    _ progress: TransferProgress.Report,
    _ finish: (RowTransaction, [TransferPlacement]) throws -> Void
  ) throws {
    // A context without changes has no transaction.
    if elements.isEmpty { return try store.rows.write { try finish($0, []) } }
    try insert()
    let (groups, elements) = (groups, elements)
    try context.save(in: store.rows) { rows, replacing in
      try Self.refuse(elements, replacing)
      var placements: [TransferPlacement] = []
      placements.reserveCapacity(groups.count)
      for (number, group) in groups.enumerated() {
        try RecordsStore.report(.writing, number, of: groups.count, progress)
        placements.append(try Self.placement(of: group, number, rows))
      }
      try finish(rows, placements)
    }
  }

  private mutating func insert() throws {
    let isElement = Set(elements.map { ObjectIdentifier($0) })
    var failures: [TransferFailure] = []
    for (number, element) in elements.enumerated() where element.modelContext != nil {
      failures.append(.init(item: "object \(number)", reason: "it belongs to a context already"))
    }
    guard failures.isEmpty, isElement.count == elements.count else {
      throw TransferError(
        code: .unsupported,
        message: "The conversion must make a new object for each item, and insert it nowhere.",
        failures: failures)
    }
    var starts: [Int] = []
    starts.reserveCapacity(elements.count)
    for element in elements {
      starts.append(context.insertionCount)
      context.insertAny(element)
    }
    let all = context.insertedModelsArray
    guard context.changedModelsArray.isEmpty,
      elements.allSatisfy({ $0.modelContext === context }),
      all.allSatisfy({ store.rows.place(of: $0) != nil && !context.leadsElsewhere($0) })
    else {
      throw TransferError(
        code: .unsupported,
        message: "The conversion made objects of several stores, of models that the container has "
          + "not, or that lead to objects of a context. Move each store's by itself, name all models "
          + "when the container is made, and make what objects lead to anew.")
    }
    for (number, element) in elements.enumerated() {
      let end = number + 1 < starts.count ? starts[number + 1] : all.count
      groups.append(
        [element]
          + all[starts[number]..<end].filter {
            !isElement.contains(ObjectIdentifier($0))
          })
    }
  }

  private static func refuse(
    _ elements: [any PersistentModel], _ replacing: Set<ObjectIdentifier>
  ) throws {
    if replacing.isEmpty { return }
    let failures = elements.enumerated().filter { replacing.contains(ObjectIdentifier($1)) }.map {
      TransferFailure(
        item: "object \($0.offset)", reason: "a record has its unique value already")
    }
    throw TransferError(
      code: .conflict,
      message:
        "Records with the same unique values are there. Nothing was written; leave these items "
        + "out, give them other values, or delete the records.", failures: failures)
  }

  private static func placement(
    of group: [any PersistentModel], _ number: Int, _ rows: RowTransaction
  ) throws -> TransferPlacement {
    var digests: [String] = []
    var places: [RowPlaces.Place] = []
    for model in group {
      guard let place = rows.rows.place(of: model), let shape = rows.rows.shapes[place.entity]
      else { continue }
      guard let values = try rows.values(of: shape, place.number),
        try isAsBound(values, model, shape, rows)
      else { throw notWritten(number) }
      let pairs = try shape.pairs(of: place.number, in: rows)
      for (relationship, pairs) in zip(shape.ownedPairs, pairs) {
        let wanted = rows.targets(of: model, relationship.name).map { SQLValue.integer($0) }
        guard Set(wanted) == Set(pairs.map { $0[0] }), wanted.count == pairs.count else {
          throw notWritten(number)
        }
      }
      places.append(place)
      digests.append(shape.digest(values, pairs))
    }
    return TransferPlacement(place: RowPlaces(places).text, digest: RowPlaces.joined(digests))
  }

  /// Whether a row holds what its object says.
  private static func isAsBound(
    _ values: [SQLValue], _ model: any PersistentModel, _ shape: RowShape, _ rows: RowTransaction
  ) throws -> Bool {
    let bound = try rows.boundValues(of: model, shape)
    return zip(shape.columns, values).allSatisfy { column, value in
      bound[column].map { $0 == value } ?? true
    }
  }

  private static func notWritten(_ number: Int) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "The store does not hold what was written. Nothing was kept; check the disk, and run "
        + "again.",
      failures: [.init(item: "object \(number)", reason: "its row has other values")])
  }
}
