import SteadSyncProtocol

typealias SimulatedZone = ClientZone<MemoryClientStorage>

/// A device: what its disk has, and the program that runs.
struct SimulatedDevice {
  let device: DeviceID
  /// The running program's zone. Each change is on the disk when the call returns.
  var zone: SimulatedZone
  /// How far the device's clock is ahead.
  var skew: Int64 = 0
  var isPartitioned = false
  /// Answers to an earlier run of the program don't arrive.
  var run = 0
  /// A copy of the disk, made earlier.
  var image: (state: ClientState, storage: MemoryClientStorage, settledBy: Schema?)?
  /// The zone's schema when the server had what the base has: its constraints hold there. Nil before the first page.
  var settledBy: Schema?
  /// The rows of a program, which follow the view by what has changed alone. On the disk.
  private(set) var rows: [RecordID: Record] = [:]
  /// What this device held when the server forgot it.
  var owed: [Debt] = []

  struct Debt: Hashable {
    var id: RecordID
    var incarnation: Incarnation
    var field: String
    var stamp: Stamp
  }

  init(_ number: Int, schema: Schema) {
    device = DeviceID("device\(number)") ?? "device"
    let client = ClientID("\(device)a") ?? "client"
    var state = ClientState(client: client, device: device)
    state.clock = HybridClock()
    zone = SimulatedZone(state, storage: MemoryClientStorage(), schema: schema)
  }

  /// Ends the program and starts it again with what the disk has.
  ///
  /// - Parameter usesWire: whether the disk has the state as bytes.
  mutating func restart(schema: Schema? = nil, usesWire: Bool = false) throws {
    let state = usesWire ? try Wire.sent(zone.state) : zone.state
    zone = SimulatedZone(state, storage: zone.storage, schema: schema ?? zone.schema)
    run += 1
  }

  /// Takes the disk back to the copy. Returns false where there is none.
  mutating func rewind(now: Int64) -> Bool {
    guard let (state, storage, settledBy) = image else { return false }
    self.settledBy = settledBy
    // Its clock went on; otherwise two edits could have one stamp.
    skew = max(skew, zone.state.clock.last.milliseconds - now - state.clock.offset + 1)
    zone = SimulatedZone(state, storage: storage, schema: zone.schema)
    run += 1
    owed = []
    rows = Dictionary(uniqueKeysWithValues: view.map { ($0.id, $0) })
    return true
  }

  /// Writes the rows that have changed, as a program does in the transaction of each call.
  mutating func followView() throws {
    for id in zone.takeChangedRecords() { rows[id] = zone.record(id) }
    let view = Dictionary(uniqueKeysWithValues: view.map { ($0.id, $0) })
    let unknown = Set(view.keys).union(rows.keys).filter { rows[$0] != view[$0] }
    guard unknown.isEmpty else {
      throw Violation(1, "\(device) did not learn that \(unknown.sorted()) changed.")
    }
  }

  /// What the program sees.
  var view: [Record] {
    var records = zone.storage.base.records
    for (record, _) in zone.merger.overlay.changes { records[record.id] = record }
    return records.values.filter(\.isLive)
  }

  /// Checks that no two records of the view share a key.
  ///
  /// Two that are as the base has them may, by a constraint that the zone's schema hadn't at the base's mark: the
  /// server has not settled them by it, and will when the device pushes its schema.
  func checkUnique() throws {
    let base = zone.storage.base
    try ServerInvariants.checkUnique(view, zone.schema) { one, other, rule in
      guard let settledBy, let type = base.record(one)?.type,
        settledBy.entities[type]?.unique.contains(rule) != true
      else { return false }
      return [one, other].allSatisfy { base.record($0) == zone.record($0) }
    }
  }

  /// One of the records that the program sees.
  func seen(_ choice: Int) -> Record? {
    let records = view.sorted { $0.id < $1.id }
    return records.isEmpty ? nil : records[choice % records.count]
  }

  /// The incarnations that a quarantine has, which a full server refused to take back.
  var quarantined: [Incarnation] {
    zone.state.quarantine.flatMap(\.transaction.mutations).flatMap { mutation -> [Incarnation] in
      guard case .restore(let record) = mutation else { return [] }
      return record.live
    }
  }

  /// Notes what the device holds when a server forgets.
  mutating func hold() {
    for record in zone.storage.allRecords(after: 0) where record.isLive {
      for incarnation in record.live {
        owed.append(Debt(id: record.id, incarnation: incarnation, field: "", stamp: record.at))
        for (name, field) in record.fields {
          owed.append(
            Debt(id: record.id, incarnation: incarnation, field: name, stamp: field.stamp))
        }
      }
    }
  }
}
