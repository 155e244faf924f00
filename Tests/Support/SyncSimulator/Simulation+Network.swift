import SteadSyncProtocol

extension Simulation {
  mutating func sendPush(_ index: Int) {
    guard let push = devices[index].zone.nextPush() else { return }
    post(index, .push(push))
  }

  mutating func sendRequest(_ index: Int) {
    post(index, .request(devices[index].zone.nextRequest(limit: pageLimit)))
  }

  private mutating func post(_ index: Int, _ message: Message) {
    let device = devices[index]
    network.append(
      Parcel(device: index, run: device.run, sent: now + device.skew, message: message))
    // A network holds only so much.
    if network.count > 16 { network.removeFirst() }
  }

  mutating func deliver(_ choice: Int, keeps: Bool) throws {
    guard !network.isEmpty else { return }
    let index = choice % network.count
    let parcel = keeps ? network[index] : network.remove(at: index)
    try deliver(parcel)
  }

  /// Gives a message to whom it is for; a partition swallows it.
  func isLost(_ parcel: Parcel) -> Bool {
    let device = devices[parcel.device]
    if device.isPartitioned { return true }
    switch parcel.message {
    case .push, .request: return false
    case .pushAnswer, .answer: return device.run != parcel.run
    }
  }

  mutating func deliver(_ parcel: Parcel) throws {
    if isLost(parcel) { return }
    var parcel = parcel
    if usesWire { parcel.message = try Wire.sent(parcel.message) }
    trace.add(parcel.message)
    sent?.append(Wire.bytes(parcel.message))
    switch parcel.message {
    case .push(let push):
      let answer = try serve(push)
      network.append(answered(parcel, .pushAnswer(push, answer)))
    case .request(let request):
      var answer = server.zone.changes(request, now: now)
      if fault == .cursorSkipsARecord, case .page(var page) = answer, page.more {
        page.cursor.seq += 1
        answer = .page(page)
      }
      network.append(answered(parcel, .answer(request, answer)))
    case .pushAnswer(let push, let answer): try receive(parcel.device, push, answer)
    case .answer(let request, let answer):
      try receive(parcel, request, answer)
    }
  }

  private func answered(_ parcel: Parcel, _ message: Message) -> Parcel {
    Parcel(device: parcel.device, run: parcel.run, sent: parcel.sent, message: message)
  }

  /// One device's push and pages, until it is at the head.
  mutating func exchange(_ index: Int) throws {
    guard !devices[index].isPartitioned else { return }
    var idle = 0
    for _ in 0..<40 {
      let before = devices[index].zone.state
      if let push = devices[index].zone.nextPush() {
        try deliver(parcel(index, .push(push)))
        try deliver(network.removeLast())
      }
      let request = devices[index].zone.nextRequest(limit: pageLimit)
      try deliver(parcel(index, .request(request)))
      try deliver(network.removeLast())
      idle = devices[index].zone.state == before ? idle + 1 : 0
      // Once for what the server asks for: a schema, blobs or marks.
      if idle == 2 { return }
    }
  }

  private func parcel(_ index: Int, _ message: Message) -> Parcel {
    Parcel(
      device: index, run: devices[index].run, sent: now + devices[index].skew, message: message)
  }

  /// The program ends after it has received an answer and before it has saved what follows from it.
  mutating func dieWhileReceiving(_ choice: Int) throws {
    guard !network.isEmpty else { return }
    let parcel = network.remove(at: choice % network.count)
    switch parcel.message {
    case .push, .request: return try deliver(parcel)
    case .pushAnswer, .answer: break
    }
    let (device, kept, marks) = (parcel.device, devices[parcel.device], freshClients)
    try deliver(parcel)
    devices[device] = kept
    try devices[device].restart(usesWire: usesWire)
    // A new client's name was never saved, and is never used.
    freshClients = max(freshClients, marks)
  }
}

// MARK: The server

extension Simulation {
  private mutating func serve(_ push: Push) throws -> PushAnswer {
    let before = server.records
    tokens += 1
    let answer = server.zone.apply(push, now: now, token: tokens &* 0x9E37_79B9_7F4A_7C15)
    let notes = server.zone.takeEvents()
    count("push \(answer.name)")
    guard case .taken(let receipt) = answer else { return answer }
    for note in notes {
      count("note \(note.name)")
      // Deleted once: a server may forget that, and a fresh device gets no tombstone.
      if case .ended(_, let incarnations) = note {
        forgive(Set(incarnations))
      }
    }
    // A tombstone that is brought back says that its lives were deleted, though the server that saw it has forgotten.
    for case .restore(let record) in push.transactions.flatMap(\.mutations) {
      forgive(Set(record.dead))
    }
    for refusal in receipt.refused { count("refused \(refusal.reason.name)") }
    try server.oracle.note(push, receipt, notes)
    try server.oracle.check(server, wasPurged: wasPurged, wasRewound: wasRewound)
    try ServerInvariants(server).check()
    if push.schemaVersion == 1 {
      try ServerInvariants.checkUnknownFields(
        before: before, after: server.records, notes: notes)
    }
    let end = server.zone.storage.state()
    snapshots[end.mark] = server.records.filter(\.value.isLive)
    schemas[end.mark] = end.schema
    recent.append(server)
    if recent.count > 4 { recent.removeFirst() }
    return answer
  }

  /// What has ended is no longer owed to anybody.
  private mutating func forgive(_ ended: Set<Incarnation>) {
    for incarnation in ended { promises[incarnation] = nil }
    for index in devices.indices where !devices[index].owed.isEmpty {
      devices[index].owed.removeAll { ended.contains($0.incarnation) }
    }
  }

  mutating func maintain(_ step: Step) throws {
    switch step.kind {
    case .purge:
      server.zone.purge(now: now)
      wasPurged = true
    case .sweep:
      let swept = server.zone.sweep(now: now).count
      count("swept \(swept)")
      try ServerInvariants(server).check()
    case .backup:
      if backups.count < 3 { backups.append(server) }
    case .restore:
      guard !backups.isEmpty else { return }
      forget(to: backups[step[0] % backups.count])
    case .failover: forget(to: recent[max(recent.count - 1 - step[0] % 4, 0)])
    case .minimum: server.zone.setMinimumSchema(2)
    default: break
    }
  }

  private mutating func forget(to earlier: SimulatedServer) {
    for index in devices.indices { devices[index].hold() }
    hasForgotten = true
    let limits = server.zone.limits
    // Blobs lie beside the database and are not taken back with it.
    let blobs = server.zone.storage.blobIDs
    server = earlier
    server.zone.limits = limits
    server.oracle.hasForgotten = true
    for blob in blobs where !server.zone.storage.hasBlob(blob) {
      server.zone.storage.addBlob(blob, at: now)
    }
    recent = [server]
    count("server forgot")
  }
}

// MARK: Devices

extension Simulation {
  private mutating func receive(_ index: Int, _ push: Push, _ answer: PushAnswer) throws {
    let fresh = freshClient(of: index)
    devices[index].zone.receive(answer, to: push, freshClient: fresh)
    try checkView(index)
    if case .blobsMissing(let blobs) = answer {
      for blob in blobs { server.zone.storage.addBlob(blob, at: now) }
    }
  }

  private mutating func receive(
    _ parcel: Parcel, _ request: ChangesRequest, _ answer: ChangesAnswer
  ) throws {
    let index = parcel.device
    let state = devices[index].zone.state
    let fresh = freshClient(of: index)
    devices[index].zone.receive(
      answer, to: request, sent: parcel.sent, now: now + devices[index].skew, freshClient: fresh)
    let new = devices[index].zone.state
    if new == state { return }
    if new.client != state.client { count("client renumbered") }
    count("changes \(answer.name)")
    if case .expired = answer { devices[index].owed = [] }
    if case .page(let page) = answer, new.cursor == page.cursor {
      noteSettling(index, page, wasFirst: state.phase == .first)
    }
    try checkView(index)
    if case .page(let page) = answer, !page.more, new.cursor == page.cursor {
      try checkHead(index, page)
    }
  }

  /// A first fetch shows page by page, so its base is as old as the first page.
  private mutating func noteSettling(_ index: Int, _ page: Page, wasFirst: Bool) {
    let schema = schemas[page.cursor.anchor]
    if !page.more {
      devices[index].settledBy = schema
    } else if wasFirst, devices[index].settledBy == nil {
      devices[index].settledBy = schema
    }
  }

  private mutating func freshClient(of index: Int) -> ClientID {
    freshClients += 1
    return ClientID("\(devices[index].device)-\(freshClients)") ?? "fresh"
  }

  private mutating func checkView(_ index: Int) throws {
    try devices[index].followView()
    try devices[index].checkUnique()
  }

  /// At the head a client's base is what the server had at that moment.
  private func checkHead(_ index: Int, _ page: Page) throws {
    let base = devices[index].zone.storage.base.records.filter(\.value.isLive)
    guard let snapshot = snapshots[page.cursor.anchor] else {
      throw Violation(1, "\(devices[index].device) is at a head that the server never had.")
    }
    guard base == snapshot else {
      let ids = Set(base.keys).union(snapshot.keys).filter { base[$0] != snapshot[$0] }.sorted()
      throw Violation(10, "\(devices[index].device) and the server differ at the head: \(ids)")
    }
  }
}
