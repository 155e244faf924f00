import Hummingbird

extension SyncServer {
  private struct NewMember: Decodable {
    var role: Role
  }

  private struct Usage: Encodable {
    var bytes: Int64
    var limit: Int64
  }

  /// The addresses of zones, of their members and of their sizes.
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
      try await self.blobs.removeAll(of: zone)
      return Answer.nothing()
    }
    router.get("usage") { _, context in
      let caller = try context.caller
      let bytes = try await self.engine.read { session in
        try Devices.check(caller, in: session)
        return try Zones.list(of: caller.account, in: session)
          .filter { $0.owner == caller.account }.map(\.bytes).reduce(0, +)
      }
      return try Answer.json(Usage(bytes: bytes, limit: self.settings.ownerQuota))
    }
    addMembers(to: router)
  }

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
