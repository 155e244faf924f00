import SteadSyncProtocol

/// Devices, a server, a network and a clock, all in one value: the same steps lead to the same end.
package struct Simulation {
  enum Message {
    case push(Push)
    case pushAnswer(Push, PushAnswer)
    case request(ChangesRequest)
    case answer(ChangesRequest, ChangesAnswer)
  }

  struct Parcel {
    var device: Int
    var run: Int
    var sent: Int64
    var message: Message
  }

  let fault: SimulatedFault?
  var now: Int64 = 1_000_000_000
  var server: SimulatedServer
  var devices: [SimulatedDevice] = []
  var network: [Parcel] = []
  var backups: [SimulatedServer] = []
  /// The server after each of its last pushes, for failovers.
  var recent: [SimulatedServer] = []
  /// The live records at each mark.
  var snapshots: [Mark: [RecordID: Record]] = [.start: [:]]
  /// The zone's schema at each mark.
  var schemas: [Mark: Schema] = [.start: .empty]
  var pageLimit = 3
  /// Whether messages go through their encoding.
  var usesWire = false
  var tokens: UInt64 = 0
  var freshClients = 0
  var wasPurged = false
  var wasRewound = false
  var hasForgotten = false
  /// Lives that a device has committed, each with the device.
  var promises: [Incarnation: Int] = [:]
  /// A digest of all messages, where ``Simulation/traces`` is set.
  var trace = Trace()
  var tallies = false
  /// What was sent, where that is asked for.
  var sent: [[UInt8]]?
  /// How often each interesting thing happened.
  package internal(set) var tally: [String: Int] = [:]

  init(fault: SimulatedFault? = nil) {
    self.fault = fault
    server = SimulatedServer()
    recent = [server]
  }

  /// Runs steps, lets everything heal, and checks that it comes to rest with all the same.
  ///
  /// Returns the first violation.
  package static func violation(in steps: [Step], fault: SimulatedFault? = nil) -> Violation? {
    var simulation = Simulation(fault: fault)
    return simulation.run(steps)
  }

  /// What came of a history.
  package struct Outcome {
    package var violation: Violation?
    package var tally: [String: Int]
    /// Of everything that happened, where it was traced.
    package var digest: UInt64
  }

  /// The same as ``violation(in:fault:)``, with what happened on the way.
  package static func result(
    of steps: [Step], traces: Bool = false, tallies: Bool = false
  ) -> Outcome {
    var simulation = Simulation()
    simulation.trace.isOn = traces
    simulation.tallies = tallies
    let violation = simulation.run(steps)
    return Outcome(
      violation: violation, tally: simulation.tally, digest: simulation.trace.digest)
  }

  /// The messages of a history as bytes, and the server at its end.
  static func messages(of steps: [Step]) -> ([[UInt8]], Zone<MemoryZone>) {
    var simulation = Simulation()
    simulation.sent = []
    _ = simulation.run(steps)
    return (simulation.sent ?? [], simulation.server.zone)
  }

  mutating func run(_ steps: [Step]) -> Violation? {
    do {
      for step in steps { try run(step) }
      try comeToRest()
      return nil
    } catch let violation as Violation {
      return violation
    } catch {
      return Violation(0, "\(error)")
    }
  }

  private mutating func run(_ step: Step) throws {
    trace.add(step)
    if devices.isEmpty, step.kind != .devices { addDevices(2) }
    let device = devices.isEmpty ? 0 : step[0] % devices.count
    switch step.kind {
    case .devices: addDevices(min(max(step[0], 1), 5))
    case .pages: pageLimit = max(step[0], 1)
    case .skew: devices[device].skew = Int64(step[1])
    case .wire: usesWire = true
    case .quota: server.zone.limits.zoneBytes = step[0]
    case .insert, .update, .delete, .link, .family, .guarded: try edit(device, step)
    case .push: sendPush(device)
    case .pull: sendRequest(device)
    case .deliver: try deliver(step[0], keeps: false)
    case .double: try deliver(step[0], keeps: true)
    case .lose: if !network.isEmpty { network.remove(at: step[0] % network.count) }
    case .partition: devices[device].isPartitioned = true
    case .heal: devices[device].isPartitioned = false
    case .sync: try exchange(device)
    case .kill: try devices[device].restart(usesWire: usesWire)
    case .die: try dieWhileReceiving(step[0])
    case .image:
      let copied = devices[device]
      devices[device].image = (copied.zone.state, copied.zone.storage, copied.settledBy)
    case .rewind: rewind(device)
    case .wait: now += Int64(step[0])
    case .upgrade:
      try devices[device].restart(schema: SimulatedSchema.second, usesWire: usesWire)
    case .join: if devices.count < 5 { addDevices(1) }
    case .refetch: devices[device].zone.refetch()
    case .retry:
      _ = devices[device].zone.retry(at: step[1], now: now + devices[device].skew)
      try devices[device].followView()
    case .purge, .sweep, .backup, .restore, .failover, .minimum: try maintain(step)
    }
  }

  private mutating func rewind(_ index: Int) {
    // What only the disk had is lost with it.
    let lost = inserts(of: devices[index])
    guard devices[index].rewind(now: now) else { return }
    now += 1
    for incarnation in lost.subtracting(inserts(of: devices[index])) {
      promises[incarnation] = nil
    }
    count("device rewound")
    wasRewound = true
  }

  /// The lives that a device's outbox and quarantine begin.
  private func inserts(of device: SimulatedDevice) -> Set<Incarnation> {
    let state = device.zone.state
    let transactions = state.outbox + state.quarantine.map(\.transaction)
    return Set(
      transactions.flatMap(\.mutations).compactMap { mutation in
        if case .insert(let insert) = mutation { insert.incarnation } else { nil }
      })
  }

  private mutating func addDevices(_ count: Int) {
    for _ in 0..<count {
      let number = devices.count
      let schema = number % 2 == 0 ? SimulatedSchema.first : SimulatedSchema.second
      devices.append(SimulatedDevice(number, schema: schema))
    }
  }

  mutating func count(_ event: @autoclosure () -> String) {
    if tallies { tally[event(), default: 0] += 1 }
  }
}

// MARK: Edits

extension Simulation {
  private mutating func edit(_ index: Int, _ step: Step) throws {
    let device = devices[index]
    let seen = greatestStamp(of: device)
    let known = device.zone.state.outbox.count
    guard let edits = edits(step, device) else { return }
    let answer = devices[index].zone.commit(edits, now: now + device.skew)
    trace.add("\(answer)")
    count("commit \(answer.name)")
    guard case .committed = answer else { return }
    let new = devices[index].zone.state.outbox[known...].flatMap(\.mutations).flatMap(\.stamps)
    if let seen, let least = new.min(), least <= seen {
      throw Violation(8, "\(device.device) stamps \(least) after it has seen \(seen).")
    }
    for mutation in devices[index].zone.state.outbox[known...].flatMap(\.mutations) {
      if case .insert(let insert) = mutation { promises[insert.incarnation] = index }
    }
    try devices[index].checkUnique()
    try devices[index].followView()
  }

  private func greatestStamp(of device: SimulatedDevice) -> Stamp? {
    device.view.map(\.newest).max()
  }

  private func edits(_ step: Step, _ device: SimulatedDevice) -> [Edit]? {
    let schema = device.zone.schema
    let all = SimulatedSchema.all
    let (id, type) = all[step[1] % all.count]
    guard schema.entities[type] != nil else { return nil }
    func fields(_ type: String, _ variant: Int, _ old: Record?) -> [String: SyncValue] {
      SimulatedSchema.fields(
        of: type, variant: variant, device: device.device, schema: schema, old: old)
    }
    switch step.kind {
    case .insert:
      let values = fields(type, step[2], nil).merging(fields(type, step[2] / 5, nil)) { $1 }
      return [.insert(id: id, type: type, fields: values)]
    case .update:
      guard let record = device.seen(step[1]) else { return nil }
      return [.update(id: record.id, fields: fields(record.type, step[2], record))]
    case .delete: return device.seen(step[1]).map { [.delete(id: $0.id)] }
    case .link:
      let tasks = SimulatedSchema.tasks
      let (a, b) = (step[1] % tasks.count, step[2] % tasks.count)
      let link = SimulatedSchema.links[a][b]
      if step[3] == 1 { return [.delete(id: link)] }
      let ends: [String: SyncValue] = ["a": .string(tasks[a].text), "b": .string(tasks[b].text)]
      return [.insert(id: link, type: "Link", fields: ends)]
    case .guarded:
      // A record that forbids to delete a task.
      let target: [String: SyncValue] = ["target": .string(SimulatedSchema.tasks[step[1] % 4].text)]
      return [
        .insert(id: SimulatedSchema.pool[2].ids[step[2] % 2], type: "Guard", fields: target)
      ]
    case .family:
      // A child before its parent, in one transaction.
      let parent = SimulatedSchema.tasks[step[1] % 4]
      let child = SimulatedSchema.pool[1].ids[step[2] % 3]
      let owner: [String: SyncValue] = ["owner": .string(parent.text), "title": "x"]
      return [
        .insert(id: child, type: "Child", fields: owner),
        .insert(id: parent, type: "Task", fields: fields("Task", step[2], nil)),
        .update(id: parent, fields: ["name": "family"]),
      ]
    default: return nil
    }
  }
}

extension CommitResult {
  var name: String {
    switch self {
    case .committed: "taken"
    case .unknown: "unknown"
    case .refused: "refused"
    case .tooLarge: "too large"
    }
  }
}
