#if Server
import Hummingbird
import ServiceLifecycle
import SteadSyncProtocol

extension SyncServer {
  /// The body of `PUT /v1/zones/{zone}/members/{user}`.
  private struct NewMember: Decodable {
    var role: Role
  }

  /// The answer of `GET /v1/usage`, in bytes.
  private struct Usage: Encodable {
    var bytes: Int64
    var limit: Int64
  }

  /// The routes of zones, of their members and of their sizes.
  func addZones(to router: RouterGroup<ServerContext>) {
    router.get("zones") { _, context in
      let caller = try context.caller
      let zones = try await self.engine.read { session in
        try Devices.check(caller, in: session)
        return try Zones.list(of: caller.account, in: session)
      }
      return try Answer.json(["zones": zones])
    }
    router.put("zones/:zone") { _, context in
      let (caller, zone, now) = (try context.caller, try Input.zone(context), self.clock.now)
      try await self.engine.write(.zone(zone)) { session in
        try Zones.make(zone, for: caller, in: session, now: now)
      }
      return Answer.nothing()
    }
    router.delete("zones/:zone") { _, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      try await self.engine.write(.zone(zone)) { session in
        try Membership.check(caller, zone: zone, atLeast: .owner, in: session)
        try Zones.delete(zone, in: session)
      }
      // After the commit: a crash between the two leaves files without rows, which take space, and never rows without
      // files.
      try await self.blobs.removeAll(of: zone)
      return Answer.nothing()
    }
    router.get("usage") { _, context in
      let caller = try context.caller
      let bytes = try await self.engine.read { session in
        try Devices.check(caller, in: session)
        // Zones of which the account is only a member count for their owners' quotas.
        return try Zones.list(of: caller.account, in: session)
          .filter { $0.owner == caller.account }.map(\.bytes).reduce(0, +)
      }
      return try Answer.json(Usage(bytes: bytes, limit: self.settings.ownerQuota))
    }
    addMembers(to: router)
  }

  /// The routes of members. Only the owner changes them, except that every member may leave.
  private func addMembers(to router: RouterGroup<ServerContext>) {
    router.get("zones/:zone/members") { _, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let members = try await self.engine.read { session in
        try Membership.check(caller, zone: zone, atLeast: .read, in: session)
        return try Membership.members(of: zone, in: session)
      }
      return try Answer.json(["members": members])
    }
    router.put("zones/:zone/members/:user") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let user = try Input.account(context.parameters.get("user") ?? "")
      let role = try await Input.json(NewMember.self, request).role
      try await self.engine.write(.zone(zone)) { session in
        try Membership.check(caller, zone: zone, atLeast: .owner, in: session)
        try Membership.set(role, for: user, zone: zone, in: session)
      }
      return Answer.nothing()
    }
    router.delete("zones/:zone/members/:user") { _, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let user = try Input.account(context.parameters.get("user") ?? "")
      try await self.engine.write(.zone(zone)) { session in
        // Every member may leave.
        let needed: Role = user.text == caller.account ? .read : .owner
        try Membership.check(caller, zone: zone, atLeast: needed, in: session)
        try Membership.remove(user, zone: zone, in: session)
      }
      return Answer.nothing()
    }
  }
}

extension SyncServer {
  /// The body of `PUT /v1/zones/{zone}/schema`.
  private struct MinimumSchema: Decodable {
    var minimum: Int
  }

  /// The routes by which records are sent and fetched: "Push" and "Changes" in SyncProtocol.md. ``Zone`` decides; the
  /// routes check the token, read the message and write the answer.
  func addRecords(to router: RouterGroup<ServerContext>) {
    router.post("zones/:zone/push") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let push = try Push(encoded: try await Input.body(request, upTo: Input.maximumPushBody))
      // Stamps name the device, and a device that stamps as another one could overwrite edits in its name.
      guard push.device.text == caller.device else {
        throw ServerError(
          .forbidden, "The push names a different device from its token.",
          remedy: "Send the device from the answer to the enrolment.")
      }
      // The time of the server, never of the request: limits and marks rely on it.
      let outcome = try await self.pushes.apply(
        ZonePush(
          push: push, caller: caller, quota: self.settings.ownerQuota, now: self.clock.now),
        to: zone)
      // After the commit: a device that is woken must find the change.
      if outcome.changed > 0 {
        self.metrics.countChanges(Int(outcome.changed))
        self.hub.moved([zone: outcome.head])
      }
      return Answer.answer(
        outcome.answer.encoded(), outcome.answer.syncValue, status: outcome.answer.status,
        outcome.answer.failure(of: push), to: request)
    }
    router.get("zones/:zone/changes") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let query = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
      let changes = try ChangesRequest(query: Dictionary(query) { $1 })
      let (now, schemas) = (self.clock.now, self.schemas)
      let answer = try await self.engine.read { session in
        try Membership.check(caller, zone: zone, atLeast: .read, in: session)
        // Only a member gets here, and a zone with members has a row.
        guard let tables = try ZoneTables.read(zone, in: session, schemas: schemas) else {
          throw EngineError.unexpectedType
        }
        return try Zone(tables).encodedChanges(changes, now: now)
      }
      return Answer.changes(answer, to: request)
    }
    router.put("zones/:zone/schema") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let minimum = try await Input.json(MinimumSchema.self, request).minimum
      let schemas = self.schemas
      try await self.engine.write(.zone(zone)) { session in
        // The lock comes first, as for a push.
        let tables = try ZoneTables.locked(zone, in: session, schemas: schemas)
        try Membership.check(caller, zone: zone, atLeast: .owner, in: session)
        guard let tables else { throw EngineError.unexpectedType }
        var state = Zone(tables)
        try state.setMinimumSchema(minimum)
        try tables.flush()
      }
      return Answer.nothing()
    }
  }
}

extension SyncServer {
  /// The longest time that a request waits, in seconds. It is below 60 s, after which nginx by default ends a request
  /// without an answer.
  static let maximumWait = 55

  /// The body of `POST /v1/wait`.
  private struct Wait: Decodable {
    /// The numbers up to which the zones were read.
    var zones: [String: Int64]
    var seconds: Int?
  }

  /// The route at which devices wait for news. It is only an optimization, and may answer without any.
  func addWaiting(to router: RouterGroup<ServerContext>) {
    router.post("wait") { request, context in
      let caller = try context.caller
      let wait = try await Input.json(Wait.self, request)
      guard wait.zones.count <= WaitHub.maximumZones else {
        throw ServerError(
          .tooLarge, "The request waits for too many zones.", remedy: "Wait for fewer.",
          figures: ["limit": Int64(WaitHub.maximumZones)])
      }
      for zone in wait.zones.keys { try Input.check(zone: zone) }
      // Each zone is checked: a wait must not tell strangers when a zone has changed.
      try await self.engine.read { session in
        for zone in wait.zones.keys {
          try Membership.check(caller, zone: zone, atLeast: .read, in: session)
        }
      }
      let zones = await self.wait(wait.zones, seconds: wait.seconds ?? Self.maximumWait)
      return try Answer.json(["zones": zones])
    }
  }

  /// Waits for news of zones, for ``maximumWait`` seconds at most.
  ///
  /// The heads are read once the request is in the hub. Read before, a push between the two would be missed, and the
  /// device would wait for the whole time.
  private func wait(_ zones: [String: Int64], seconds: Int) async -> [String] {
    let deadline = ContinuousClock.now + .seconds(max(0, min(seconds, Self.maximumWait)))
    return await withGracefulShutdownHandler {
      await hub.wait(for: zones, until: deadline) {
        // The heads may have moved before the request was in the hub.
        Task {
          let names = Array(zones.keys)
          // A failure is like no news: the client asks again after the wait.
          let heads = try? await self.engine.read { try Zones.heads(names, in: $0) }
          self.hub.moved(heads ?? [:])
        }
      }
    } onGracefulShutdown: {
      self.hub.close()
    }
  }
}
#endif
