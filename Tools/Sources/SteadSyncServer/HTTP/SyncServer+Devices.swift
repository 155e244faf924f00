import Hummingbird

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
