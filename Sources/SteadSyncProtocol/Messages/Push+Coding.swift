extension Push: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "push")
    self.init(
      client: try reader.identifier("client"), device: try reader.identifier("device"),
      anchor: try reader.coded("anchor"), schemaVersion: Int(try reader.count("schemaVersion")),
      schemaDigest: try reader.digestIfPresent("schemaDigest"),
      schema: try reader.codedIfPresent("schema"), transactions: try reader.coded("transactions"),
      absentBlobs: Set(try reader.identifiers("absentBlobs")))
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "device": .identifier(device), "anchor": anchor.syncValue,
      "schemaVersion": .int(Int64(schemaVersion)),
      "schemaDigest": (schemaDigest?.digits).map { .string($0) }, "schema": schema?.syncValue,
      "transactions": transactions.syncValue, "absentBlobs": .identifiers(absentBlobs.sorted()),
    ])
  }
}
