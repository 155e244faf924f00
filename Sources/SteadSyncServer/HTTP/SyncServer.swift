#if Server
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// A sync server: a database, keys, blobs, and the HTTP routes to them.
///
/// ```swift
/// var settings = ServerSettings(directory: "/var/lib/stead")
/// settings.port = 0
/// let server = try SyncServer(settings)
/// try await server.run { port in print("Serving at port \(port)") }
/// ```
///
/// It has no state of zones in memory that the database lacks: several servers may use one PostgreSQL database and
/// one directory. Requests that wait, rate limits and caches are each process's own.
package final class SyncServer: Sendable {
  /// The settings that it was made with.
  package let settings: ServerSettings
  /// The connections to the database.
  let engine: StorageEngine
  /// The keys that sign access tokens.
  let keys: SigningKeys
  /// The time, which tests set.
  let clock: ServerClock
  let blobs: BlobStore
  /// The requests that wait for changes.
  let hub = WaitHub()
  /// Applies pushes, and merges large ones in advance.
  let pushes: ZonePushes
  /// The decoded schemas, shared by pushes and reads.
  var schemas: SchemaCache { pushes.schemas }
  /// The counters for operators.
  let metrics = Metrics()
  /// The rate limit of each device.
  let devices: RateLimiter
  /// For requests without a token, by address.
  let strangers = RateLimiter(perSecond: 1, burst: 20)

  /// Makes the directory, reads the keys and opens the database; creates them if they don't exist. Starts the threads
  /// of the connections, and doesn't listen yet. Blocks for the disk and the network.
  ///
  /// - Throws: ``ServerError`` if the directory or the keys can't be used, and ``EngineError`` if the database
  ///   can't.
  package init(_ settings: ServerSettings, clock: ServerClock = .system) throws {
    self.settings = settings
    self.clock = clock
    // First, since the keys, the blobs and by default the database are in it.
    try ServerFolder.make(settings.directory)
    keys = try SigningKeys(directory: settings.directory, clock: clock)
    engine = try StorageEngine(settings.location)
    pushes = ZonePushes(engine)
    blobs = BlobStore(directory: settings.directory + "/blobs")
    devices = RateLimiter(perSecond: settings.requestsPerSecond, burst: settings.requestBurst)
  }

  /// Serves until SIGTERM or SIGINT, or until the task is cancelled; then answers the open requests, commits what is
  /// under way and returns. A server runs once: afterwards its database is closed.
  ///
  /// - Parameter onStart: Called with the port once the server answers.
  /// - Throws: What Hummingbird throws, such as for a port in use.
  package func run(onStart: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
    try await run(until: [.sigterm, .sigint], onStart: onStart)
  }

  /// As ``run(onStart:)``, until one of some signals.
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
      // Otherwise the threads would go on after a failed start.
      await engine.close()
      throw error
    }
    await engine.close()
  }

  /// All routes, as in the table "Addresses" of SyncServer.md. Only the operators' routes, enrolment and the renewal
  /// of tokens are outside the access middleware.
  func router() -> Router<ServerContext> {
    let router = Router(context: ServerContext.self)
    // The first one added is the outermost.
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

  /// Makes a code with which a user enrols one device within 15 minutes, and the user if that is needed.
  ///
  /// - Throws: ``EngineError`` if the database fails.
  package func invite(_ account: AccountName) async throws -> String {
    let now = clock.now
    return try await engine.write(.account(account.text)) { session in
      try Invitations.make(account, in: session, now: now)
    }
  }

  /// Answers the requests that wait, and ends the connections to the database after their work. ``run(onStart:)``
  /// does that itself.
  package func close() async {
    hub.close()
    await engine.close()
  }
}

// MARK: - Access

extension SyncServer {
  /// The body of `POST /v1/enrol`.
  private struct Enrolment: Decodable {
    var user: String
    var code: String
    var name: String?
  }

  /// The body of `POST /v1/token`.
  private struct Renewal: Decodable {
    var refresh_token: String
  }

  /// The answer to both: who the device is, its tokens, and the server's time.
  private struct Tokens: Encodable {
    var user: String
    var device: String
    var access_token: String
    var expires_in: Int64
    var refresh_token: String
    var now: Int64
  }

  /// The routes that need no access token: enrolment and the renewal of tokens. Their rate limit is for an address,
  /// since nobody is known yet.
  func addEntrance(to router: Router<ServerContext>) {
    router.post("v1/enrol") { request, context in
      try self.admit(request, context)
      let enrolment = try await Input.json(Enrolment.self, request)
      let account = try Input.account(enrolment.user)
      let name = String(enrolment.name ?? "")
      guard name.utf8.count <= Devices.maximumNameLength else {
        throw ServerError(
          .malformed, "The device's name is too long.", remedy: "Use 100 bytes at most.")
      }
      let now = self.clock.now
      let result = try await self.engine.write(.account(account.text)) { session in
        try Devices.enrol(
          account, code: enrolment.code, name: name, in: session, now: now)
      }
      // Thrown only now: a refusal is a value within the transaction, which has counted the
      // attempt.
      let grant = try result.get()
      return try self.tokens(grant.token, refresh: grant.refresh)
    }
    router.post("v1/token") { request, context in
      try self.admit(request, context)
      let renewal = try await Input.json(Renewal.self, request)
      let now = self.clock.now
      // One lane for all renewals: the account isn't known before the token was looked up, and two uses of one token
      // must not overlap.
      let outcome = try await self.engine.write(.server) { session in
        try RefreshTokens.renew(renewal.refresh_token, in: session, now: now)
      }
      switch outcome {
      case .renewed(let token, let refresh): return try self.tokens(token, refresh: refresh)
      case .refused(let error): throw error
      }
    }
  }

  /// Throws ``ServerError`` with the code `tooMany` if the address has sent too many requests without a token.
  private func admit(_ request: Request, _ context: ServerContext) throws {
    let address = AddressRange.client(
      of: context.connection, forwarded: request.headers[.init("X-Forwarded-For")!],
      trusted: settings.trustedProxies)
    try strangers.admit("address:" + address, clock: clock)
  }

  /// The answer with a device's tokens. Signs the access token.
  private func tokens(_ token: AccessToken, refresh: String) throws -> Response {
    try Answer.json(
      Tokens(
        user: token.account, device: token.device,
        access_token: token.signed(with: keys, clock: clock), expires_in: AccessToken.lifetime,
        refresh_token: refresh, now: clock.now))
  }
}

extension SyncServer {
  /// The addresses of the caller's devices.
  func addDevices(to router: RouterGroup<ServerContext>) {
    router.get("devices") { _, context in
      let caller = try context.caller
      let devices = try await self.engine.read { session in
        try Devices.check(caller, in: session)
        return try Devices.list(of: caller.account, in: session)
      }
      return try Answer.json(["devices": devices])
    }
    router.delete("devices/:device") { _, context in
      let caller = try context.caller
      let device = context.parameters.get("device") ?? ""
      let now = self.clock.now
      try await self.engine.write(.account(caller.account)) { session in
        try Devices.check(caller, in: session)
        // Another user's device gets the same answer as one that doesn't exist.
        guard
          try Devices.list(of: caller.account, in: session).contains(where: { $0.device == device })
        else {
          throw ServerError(
            .notFound, "The user has no such device.", remedy: "List them at /v1/devices.")
        }
        try Devices.revoke(device, in: session, now: now)
      }
      return Answer.nothing()
    }
  }
}
#endif
