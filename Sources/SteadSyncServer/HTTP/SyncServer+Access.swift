#if Server
import Hummingbird

extension SyncServer {
  private struct Enrolment: Decodable {
    var user: String
    var code: String
    var name: String?
  }

  private struct Renewal: Decodable {
    var refresh_token: String
  }

  private struct Tokens: Encodable {
    var user: String
    var device: String
    var access_token: String
    var expires_in: Int64
    var refresh_token: String
    var now: Int64
  }

  /// The addresses that need no access token.
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
      let grant = try result.get()
      return try self.tokens(grant.token, refresh: grant.refresh)
    }
    router.post("v1/token") { request, context in
      try self.admit(request, context)
      let renewal = try await Input.json(Renewal.self, request)
      let now = self.clock.now
      let outcome = try await self.engine.write(.server) { session in
        try RefreshTokens.renew(renewal.refresh_token, in: session, now: now)
      }
      switch outcome {
      case .renewed(let token, let refresh): return try self.tokens(token, refresh: refresh)
      case .refused(let error): throw error
      }
    }
  }

  private func admit(_ request: Request, _ context: ServerContext) throws {
    let address = AddressRange.client(
      of: context.connection, forwarded: request.headers[.init("X-Forwarded-For")!],
      trusted: settings.trustedProxies)
    try strangers.admit("address:" + address, clock: clock)
  }

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
