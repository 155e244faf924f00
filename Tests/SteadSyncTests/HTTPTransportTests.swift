import Foundation
import SteadSync
import SteadSyncProtocol
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

/// Exchanges over HTTP with a real server on a port.
@Suite(.hangLimit) struct HTTPTransportTests {
  private let server: HTTPSyncServer
  private let directory: TemporaryDirectory

  init() throws {
    server = try HTTPSyncServer()
    directory = try TemporaryDirectory()
  }

  /// Seconds. Tests that run beside these may hold all threads for long.
  private static let patience = 600.0

  private func transport(_ file: SyncCredentialFile) throws -> HTTPSyncTransport {
    try HTTPSyncTransport(credentials: file, timeout: Self.patience)
  }

  private func enrolled(_ name: String) async throws -> SyncCredentialFile {
    let file = SyncCredentialFile(directory.file("\(name).json"))
    try file.save(
      try await HTTPSyncTransport.enrol(
        server: server.url, user: "anna", code: "code", timeout: Self.patience))
    return file
  }

  @Test func `devices meet over HTTP`() async throws {
    let one = try Device(try transport(try await enrolled("one")))
    let two = try Device(try transport(try await enrolled("two")))
    let note = Note("Milk & “honey”")
    note.photo = Data(repeating: 7, count: 100_000)
    one.context.insert(note)
    try one.context.save()
    try await one.engine.syncNow()
    try await two.engine.syncNow()
    #expect(try one.content == two.content)
    #expect(try two.note("Milk & “honey”")?.photo == note.photo)
  }

  @Test(arguments: ["notes", "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef"])
  func `a name that the server would refuse is refused at once`(_ zone: String) async throws {
    let transport = try transport(try await enrolled("one"))
    let store = try SyncedKeyValueStore(file: directory.file("settings.store"))
    #expect(throws: SyncError.notAServerZone(zone)) {
      try SyncEngine(keyValueStores: [zone: store], transport: transport)
    }
  }

  @Test func `news arrive by themselves`() async throws {
    let one = try Device(try transport(try await enrolled("one")))
    let two = try Device(try transport(try await enrolled("two")))
    await one.engine.start()
    await two.engine.start()
    for number in 0..<5 {
      one.context.insert(Note("\(number)"))
      try one.context.save()
      // A poll for what is to come, not a wait for a time.
      while try two.note("\(number)") == nil { try await Task.sleep(for: .milliseconds(2)) }
    }
    await one.engine.pause()
    await two.engine.pause()
  }

  @Test func `a server that asks for a pause gets it`() async throws {
    let device = try Device(try transport(try await enrolled("one")))
    server.askForPause(seconds: 500)
    await #expect(throws: SyncError.busy(seconds: 500, reason: "it is being moved")) {
      try await device.engine.syncNow()
    }
    let start = Date()
    await device.engine.start()
    var retry: Date?
    while retry == nil {
      // A poll for what is to come, not a wait for a time.
      if case .failed(let date) = device.engine.status.zones[Device.zone]?.activity { retry = date }
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(try #require(retry).timeIntervalSince(start) >= 500)
    server.askForPause(seconds: nil)
    try await device.engine.syncNow()
    await device.engine.pause()
  }

  /// A pause cancels requests at whatever moment they are in.
  @Test func `a pause at any moment loses nothing`() async throws {
    let one = try Device(try transport(try await enrolled("one")))
    let two = try Device(try transport(try await enrolled("two")))
    var random = SplitMix(seed: Effort.seed)
    for number in 0..<Effort.times(100) {
      await one.engine.start()
      await two.engine.start()
      one.context.insert(Note("\(number)"))
      try one.context.save()
      // Within whatever they do next: the moment is what is drawn, and nothing is expected to have happened by then.
      usleep(useconds_t.random(in: 0..<4_000, using: &random))
      await one.engine.pause()
      await two.engine.pause()
    }
    for device in [one, two] { try await device.engine.syncNow() }
    #expect(try one.content == two.content)
    #expect(try two.content.count == Effort.times(100))
  }

  @Test func `tokens are renewed and kept`() async throws {
    let file = try await enrolled("one")
    let first = try #require(try file.load())
    let device = try Device(try transport(file))
    try await device.engine.syncNow()
    let second = try #require(try file.load())
    #expect(second.refreshToken != first.refreshToken)
    server.endAccess()
    device.context.insert(Note("Milk"))
    try device.context.save()
    try await device.engine.syncNow()
    #expect(server.renewalCount == 2)
    #expect(try file.load()?.refreshToken != second.refreshToken)
    let mode =
      try FileManager.default.attributesOfItem(
        atPath: directory.file("one.json").path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func `a device that is enrolled again keeps its edits`() async throws {
    let device = try Device(try transport(try await enrolled("one")))
    device.context.insert(Note("before"))
    try device.context.save()
    try await device.engine.syncNow()
    device.context.insert(Note("pending"))
    try device.context.save()
    let again = try SyncEngine(
      device.container, transport: transport(try await enrolled("again")))
    try await again.syncNow()
    let zone = try #require(ZoneID(Device.zone))
    #expect(await server.records.records(of: zone).count == 2)
    #expect(again.status.isUpToDate)
  }

  @Test func `errors say what to do`() async throws {
    let file = SyncCredentialFile(directory.file("none.json"))
    #expect(throws: SyncError.notEnrolled) { try transport(file) }
    await #expect(throws: SyncError.refused(status: 401, reason: "no, with status 401")) {
      try await HTTPSyncTransport.enrol(
        server: server.url, user: "anna", code: "wrong", timeout: Self.patience)
    }
    let credentials = try await enrolled("one")
    let device = try Device(try transport(credentials))
    server.stop()
    let error = await #expect(throws: SyncError.self) { try await device.engine.syncNow() }
    guard case .unreachable? = error else { return #expect(error == nil) }
    #expect(try credentials.load().map { !"\($0)".contains($0.refreshToken) } == true)
  }

  @Test func `kills lose nothing and send nothing twice`() async throws {
    let file = directory.url.appending(path: "worker")
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    try SyncCredentialFile(file.appending(path: "account.json")).save(
      try await HTTPSyncTransport.enrol(
        server: server.url, user: "anna", code: "code", timeout: Self.patience))
    let saved = try await withCheckedThrowingContinuation { continuation in
      // A thread that waits for a worker, which waits for the server, must not be one that the server needs.
      Thread.detachNewThread { continuation.resume(with: Result { try Self.kill(in: file) }) }
    }
    let device = try Device(
      try transport(SyncCredentialFile(file.appending(path: "account.json"))), in: file)
    try await device.engine.syncNow()
    let zone = try #require(ZoneID(Device.zone))
    let records = await server.records.records(of: zone).filter { $0.type == "Note" }
    let titles = records.compactMap { $0.fields["title"]?.value.string }
    #expect(titles.count == Set(titles).count, "none is there twice")
    #expect(saved.subtracting(titles).isEmpty, "none is lost")
    let other = try Device(try transport(try await enrolled("other")))
    try await other.engine.syncNow()
    #expect(try other.content == device.content)
  }

  /// Kills workers again and again; returns the titles that they have saved.
  private static func kill(in folder: URL) throws -> Set<String> {
    var random = SplitMix(seed: Effort.seed)
    var saved: Set<String> = []
    for run in 0..<Effort.times(30) {
      let worker = try WorkerProcess([
        try WorkerProcess.program("SyncWorker"), folder.path, "run \(run)",
      ])
      for _ in 0..<Int.random(in: 1..<12, using: &random) {
        guard let line = worker.line() else { break }
        if line != "." { saved.insert(line) }
      }
      // Within whatever it does next.
      usleep(useconds_t.random(in: 0..<20_000, using: &random))
      worker.end()
      for line in worker.rest() where line.hasPrefix("run") { saved.insert(line) }
    }
    return saved
  }
}
