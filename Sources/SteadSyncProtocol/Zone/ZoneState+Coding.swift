extension ZoneState: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "zone's state")
    self.init()
    mark = try reader.coded("mark")
    purged = try reader.count("purged")
    bytes = Int(try reader.count("bytes"))
    records = Int(try reader.count("records"))
    schema = try reader.coded("schema")
    minimumSchema = Int(try reader.count("minimumSchema"))
    now = try reader.int("now")
    clock = try reader.coded("clock")
  }

  package var syncValue: SyncValue {
    .message([
      "mark": mark.syncValue, "purged": .int(purged), "bytes": .int(Int64(bytes)),
      "records": .int(Int64(records)), "schema": schema.syncValue,
      "minimumSchema": .int(Int64(minimumSchema)), "now": .int(now), "clock": clock.syncValue,
    ])
  }
}
