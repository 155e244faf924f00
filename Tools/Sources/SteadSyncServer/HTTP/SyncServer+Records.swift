import Hummingbird
import SteadSyncProtocol

extension SyncServer {
  /// The maximum size of a push's body, in bytes. It is larger than the limit of the values, because of escapes,
  /// names and a schema.
  static let maximumPushBody = 8 << 20

  private struct MinimumSchema: Decodable {
    var minimum: Int
  }

  /// The addresses by which records are sent and fetched.
  func addRecords(to router: RouterGroup<ServerContext>) {
    router.post("zones/:zone/push") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let push = try Push(encoded: try await Input.body(request, upTo: Self.maximumPushBody))
      guard push.device.text == caller.device else {
        throw ServerError(
          .forbidden, "The push names a different device from its token.",
          remedy: "Send the device from the answer to the enrolment.")
      }
      let outcome = try await self.pushes.apply(
        ZonePush(
          push: push, caller: caller, quota: self.settings.ownerQuota, now: self.clock.now),
        to: zone)
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
        guard let tables = try ZoneTables.read(zone, in: session, schemas: schemas) else {
          throw EngineError.unexpectedType
        }
        return try Zone(tables).changes(changes, now: now)
      }
      return Answer.answer(
        answer.encoded(), answer.syncValue, status: answer.status, answer.failure, to: request)
    }
    router.put("zones/:zone/schema") { request, context in
      let (caller, zone) = (try context.caller, try Input.zone(context))
      let minimum = try await Input.json(MinimumSchema.self, request).minimum
      let schemas = self.schemas
      try await self.engine.write(.zone(zone)) { session in
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
