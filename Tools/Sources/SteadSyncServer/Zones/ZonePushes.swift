import Synchronization

/// Applies pushes, and merges large ones in advance to spare the writing thread.
final class ZonePushes: Sendable {
  /// The number of changes from which a push is merged in advance. For fewer, reading the zone costs more than
  /// merging.
  static let minimumChanges = 10

  private let engine: StorageEngine
  let schemas = SchemaCache()
  /// The number of pushes in progress for each zone.
  private let underWay = Mutex<[String: Int]>([:])

  init(_ engine: StorageEngine) { self.engine = engine }

  /// Applies a push, and returns after the commit.
  func apply(_ push: ZonePush, to zone: String) async throws -> ZonePush.Outcome {
    let isAlone = underWay.withLock { zones in
      zones[zone, default: 0] += 1
      return zones[zone] == 1
    }
    defer {
      underWay.withLock { zones in
        let others = (zones[zone] ?? 1) - 1
        zones[zone] = others == 0 ? nil : others
      }
    }
    let schemas = schemas
    var draft: ZoneDraft?
    // Another push of the zone would make the draft useless.
    if isAlone, engine.hasOneWriter, push.changes >= Self.minimumChanges {
      draft = try await engine.read { try push.draft(for: zone, in: $0, schemas: schemas) }
    }
    return try await engine.write(.zone(zone)) { [draft] session in
      if let draft,
        let outcome = try push.write(draft, to: zone, in: session, schemas: schemas)
      {
        return outcome
      }
      return try push.apply(to: zone, in: session, schemas: schemas)
    }
  }
}
