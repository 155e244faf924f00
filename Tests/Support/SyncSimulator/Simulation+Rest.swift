import SteadSyncProtocol

extension Simulation {
  /// The most rounds until nothing is left to do.
  private static let roundLimit = 30

  mutating func comeToRest() throws {
    network = []
    server.zone.limits.zoneBytes = 1_000_000
    for index in devices.indices {
      devices[index].isPartitioned = false
      // The others go on as they are: nothing may need a new start to come to rest.
      if devices[index].zone.schema != SimulatedSchema.second {
        try devices[index].restart(schema: SimulatedSchema.second)
      }
    }
    for _ in 0..<Self.roundLimit {
      now += 1000
      let before = devices.map(\.zone.state.cursor)
      for index in devices.indices { try exchange(index) }
      let isQuiet = devices.allSatisfy { $0.zone.state.outbox.isEmpty }
      if isQuiet, devices.map(\.zone.state.cursor) == before { return try checkRest() }
    }
    let waiting = devices.map { "\($0.device): \($0.zone.state.outbox.count) pending" }
    throw Violation(0, "It does not come to rest. \(waiting.joined(separator: ", "))")
  }

  private func checkRest() throws {
    let live = server.records.filter(\.value.isLive)
    for device in devices {
      let view = Dictionary(device.view.map { ($0.id, $0) }) { $1 }
      guard view == live else {
        let ids = Set(view.keys).union(live.keys).filter { view[$0] != live[$0] }.sorted()
        throw Violation(1, "\(device.device)'s view and the server differ in \(ids).")
      }
      if !wasPurged { try checkDebts(device, live) }
    }
    try checkPromises()
  }

  /// What was committed is at the server, ended there, or in quarantine: nothing vanishes in silence.
  private func checkPromises() throws {
    // What was purged is nowhere. What a server forgot and a device's disk, too, is lost.
    if wasPurged || (hasForgotten && wasRewound) { return }
    var known = Set(server.records.values.flatMap { $0.live + $0.dead })
    for device in devices {
      known.formUnion(device.quarantined)
      for mutation in device.zone.state.quarantine.flatMap(\.transaction.mutations) {
        if case .insert(let insert) = mutation { known.insert(insert.incarnation) }
      }
    }
    for (incarnation, index) in promises where !known.contains(incarnation) {
      throw Violation(3, "\(incarnation) of \(devices[index].device) vanished in silence.")
    }
  }

  /// What the device held when the server forgot it is there, or was deleted since.
  private func checkDebts(_ device: SimulatedDevice, _ live: [RecordID: Record]) throws {
    if device.owed.isEmpty { return }
    var homes: [Incarnation: Record] = [:]
    var dead: Set<Incarnation> = []
    for record in server.records.values {
      for incarnation in record.live { homes[incarnation] = record }
      dead.formUnion(record.dead)
    }
    let refused = Set(devices.flatMap(\.quarantined))
    for debt in device.owed
    where homes[debt.incarnation] != nil || !dead.contains(debt.incarnation) {
      // Not lost: its user knows of it.
      if refused.contains(debt.incarnation) { continue }
      guard let record = homes[debt.incarnation] else {
        throw Violation(12, "\(device.device) held \(debt.incarnation), which is nowhere.")
      }
      if debt.field.isEmpty { continue }
      // Another insert took the identity after a merge, so an edit for the earlier life was dropped and reported, or is
      // one of the other record, which may have been deleted since: a tombstone that is no alias was live after the merge.
      if record.id != debt.id, let other = server.records[debt.id], !other.isAlias { continue }
      guard let field = record.fields[debt.field], field.stamp >= debt.stamp else {
        throw Violation(12, "\(record.id).\(debt.field) of \(device.device) was lost.")
      }
    }
  }
}
