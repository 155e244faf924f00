import SteadSyncProtocol

/// A server as a value: a copy is a backup.
struct SimulatedServer {
  var zone: Zone<MemoryZone>
  var oracle = Oracle()

  init() {
    var limits = SyncLimits()
    limits.tombstoneAge = 600_000
    zone = Zone(MemoryZone(), limits: limits)
  }

  var records: [RecordID: Record] { zone.storage.content.records }
}
