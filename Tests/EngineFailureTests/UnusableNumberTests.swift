import SteadSQLite

/// Has a relationship of each kind of storage with a port, from either side.
@Model final class Harbour {
  var number: Int
  var first: Port?
  @Relationship(inverse: \Port.harbour) var ports: [Port] = []
  @Relationship(inverse: \Port.partners) var pairs: [Port] = []
  @Relationship(inverse: \Port.mainOf) var main: Port?
  var loose: [Port] = []

  init(number: Int) { self.number = number }
}

@Model final class Port {
  var number: Int
  var harbour: Harbour?
  var partners: [Harbour] = []
  var mainOf: Harbour?

  init(number: Int) { self.number = number }
}

/// Another program may number a row below 1, as new objects are in memory. Links to such a row were taken for links to
/// an object that is not stored: a save that should have written them succeeded without them.
@Suite("Rows with numbers below 1") struct UnusableNumberTests {
  enum Link: CaseIterable {
    case first, ports, harbour, pairs, partners, main, mainOf, loose

    func make(_ harbour: Harbour, _ port: Port) {
      switch self {
      case .first: harbour.first = port
      case .ports: harbour.ports = [port]
      case .harbour: port.harbour = harbour
      case .pairs: harbour.pairs = [port]
      case .partners: port.partners = [harbour]
      case .main: harbour.main = port
      case .mainOf: port.mainOf = harbour
      case .loose: harbour.loose = [port]
      }
    }

    /// Whether the number of the port's row is stored, or else that of the harbour's.
    func names(_ end: End) -> Bool {
      switch self {
      case .first: end == .port
      case .ports, .harbour: end == .harbour
      case .pairs, .partners, .main, .mainOf, .loose: true
      }
    }
  }

  /// Which end of a link has the row.
  enum End: String, CaseIterable { case harbour = "Harbour", port = "Port" }

  static let numbers: [Int64] = [-1, 0, .min]

  @Test(arguments: End.allCases, numbers)
  func `a link to the row is stored, or the save is refused`(end: End, number: Int64) throws {
    for link in Link.allCases {
      let store = try store { _, _ in }
      try run("UPDATE \(end.rawValue) SET _id = \(number)", in: store)
      let context = store.context()
      let (harbour, port) = (try context.only(Harbour.self), try context.only(Port.self))
      link.make(harbour, port)
      (harbour.number, port.number) = (7, 8)
      let place: Comment = "\(link)"
      if link.names(end) {
        let error = try refusal(of: context)
        #expect(error == .modelValidationFailure, place)
        #expect(error.message.contains("The \(end.rawValue) of row \(number)"), "\(error)")
        #expect(try linksOfAll(store.context()) == [0, 0, 0, 0, 0], place)
        context.rollback()
        (harbour.number, port.number) = (7, 8)
      }
      try context.save()
      let reopened = try store.reopened()
      #expect(try linksOfAll(reopened) == linksOfAll(context), place)
      #expect(try linksOfAll(reopened).reduce(0, +) == (link.names(end) ? 0 : 1), place)
      #expect(try reopened.only(Harbour.self).number == 7)
      #expect(try reopened.only(Port.self).number == 8)
    }
  }

  /// The rows of join tables stayed.
  @Test(arguments: [Int64(-1), .min])
  func `links to the row that another program has written can be cleared`(number: Int64) throws {
    let store = try store { harbour, port in
      for link in Link.allCases { link.make(harbour, port) }
    }
    let tables = ["Harbour_pairs", "Harbour_loose"]
    try run(
      "UPDATE Port SET _id = \(number); UPDATE Harbour SET first = \(number), main = \(number);"
        + tables.map { "UPDATE \($0) SET target = \(number);" }.joined(), in: store)
    let context = store.context()
    #expect(try linksOfAll(context) == [1, 1, 1, 1, 1])
    let harbour = try context.only(Harbour.self)
    (harbour.first, harbour.main) = (nil, nil)
    (harbour.ports, harbour.pairs, harbour.loose) = ([], [], [])
    try context.save()
    #expect(try linksOfAll(store.reopened()) == [0, 0, 0, 0, 0])
  }

  /// The save succeeded, and the row stayed.
  @Test(arguments: numbers)
  func `the deletion of the row's object is refused`(number: Int64) throws {
    let store = try store { _, _ in }
    try run("UPDATE Port SET _id = \(number)", in: store)
    let context = store.context()
    context.delete(try context.only(Port.self))
    let error = try refusal(of: context)
    #expect(error == .modelValidationFailure)
    #expect(error.message.contains("The Port of row \(number)"), "\(error)")
    context.rollback()
    try run("UPDATE Port SET _id = 9", in: store)
    let other = store.context()
    other.delete(try other.only(Port.self))
    try other.save()
    #expect(try store.reopened().count(Port.self) == 0)
  }

  // MARK: Steps

  /// A store with a harbour and a port.
  private func store(_ change: (Harbour, Port) -> Void) throws -> TestStore {
    let store = try TestStore(Harbour.self, Port.self)
    let context = store.context()
    let (harbour, port) = (Harbour(number: 1), Port(number: 2))
    context.insertAll(harbour, port)
    change(harbour, port)
    try context.save()
    return store
  }

  /// How many objects each relationship of the harbour leads to.
  private func linksOfAll(_ context: ModelContext) throws -> [Int] {
    let harbour = try context.only(Harbour.self)
    return [
      harbour.first == nil ? 0 : 1, harbour.main == nil ? 0 : 1, harbour.ports.count,
      harbour.pairs.count, harbour.loose.count,
    ]
  }

  /// Changes rows as another program does.
  private func run(_ sql: String, in store: TestStore) throws {
    var options = SQLiteOptions(.file(store.url.path))
    options.isWritable = true
    try SQLiteConnection(options).execute(sql)
  }
}
