#if Server
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// A sync server: a database, keys, blobs, and the HTTP routes to them.
package final class SyncServer: Sendable {
  package let settings: ServerSettings
  let engine: StorageEngine
  let keys: SigningKeys
  let clock: ServerClock
  let blobs: BlobStore
  let hub = WaitHub()
  let pushes: ZonePushes
  var schemas: SchemaCache { pushes.schemas }
  let metrics = Metrics()
  let devices: RateLimiter
  /// For requests without a token, by address.
  let strangers = RateLimiter(perSecond: 1, burst: 20)

  /// Opens the database and reads the keys; creates them if they don't exist.
  ///
  /// Throws ``ServerError`` if the directory or the database can't be used.
  package init(_ settings: ServerSettings, clock: ServerClock = .system) throws {
    self.settings = settings
    self.clock = clock
    try ServerFolder.make(settings.directory)
    keys = try SigningKeys(directory: settings.directory, clock: clock)
    engine = try StorageEngine(settings.location)
    pushes = ZonePushes(engine)
    blobs = BlobStore(directory: settings.directory + "/blobs")
    devices = RateLimiter(perSecond: settings.requestsPerSecond, burst: settings.requestBurst)
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then answers the open requests and returns.
  ///
  /// `onStart` is called with the port once the server answers.
  package func run(onStart: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
    try await run(until: [.sigterm, .sigint], onStart: onStart)
  }

  func run(until signals: [UnixSignal], onStart: @escaping @Sendable (Int) -> Void) async throws {
    let level = settings.logLevel
    let logger = Logger(label: "stead") { _ in LineLog(logLevel: level) }
    let application = Application(
      router: router(),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.host, port: settings.port), backlog: 1_024),
      onServerRunning: { channel in
        onStart(channel.localAddress?.port ?? 0)
      },
      logger: logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [Waking(server: self), Upkeep(server: self), application],
        gracefulShutdownSignals: signals, logger: logger))
    do {
      try await group.run()
    } catch {
      await engine.close()
      throw error
    }
    await engine.close()
  }

  func router() -> Router<ServerContext> {
    let router = Router(context: ServerContext.self)
    router.add(middleware: AnswerMiddleware(metrics: metrics))
    addOperation(to: router)
    addEntrance(to: router)
    let inside = router.group("v1")
      .add(
        middleware: AccessMiddleware(
          tokens: VerifiedTokens(keys: keys, clock: clock), clock: clock, limiter: devices))
    addDevices(to: inside)
    addZones(to: inside)
    addRecords(to: inside)
    addBlobs(to: inside)
    addWaiting(to: inside)
    return router
  }

  /// Makes a code with which a user enrols one device.
  package func invite(_ account: AccountName) async throws -> String {
    let now = clock.now
    return try await engine.write(.account(account.text)) { session in
      try Invitations.make(account, in: session, now: now)
    }
  }

  /// Ends the connections to the database.
  package func close() async {
    hub.close()
    await engine.close()
  }
}
#endif
