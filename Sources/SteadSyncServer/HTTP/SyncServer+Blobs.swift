#if Server
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SteadSQLite

extension HTTPField.Name {
  /// The number of bytes that the server has of an unfinished blob.
  fileprivate static let uploadOffset = Self("Upload-Offset")!  // A token, which always is a name.
}

extension SyncServer {
  /// The JSON of an answer to a part: how many bytes the server has.
  private struct Offset: Encodable { var offset: Int64 }

  /// The routes of blobs: an upload that can be resumed, its offset, and a download that can be resumed.
  ///
  /// A `PUT` of a blob that the server has only starts its grace period again. So a client can send a blob of which
  /// it doesn't know whether the server has it.
  func addBlobs(to router: RouterGroup<ServerContext>) {
    router.put("zones/:zone/blobs/:sha256") { request, context in
      let (caller, name) = (try context.caller, try Self.blob(context))
      try await self.check(caller, name, atLeast: .write)
      // Both are asked, because a crash may have left a file without a row.
      if self.blobs.size(name) != nil, try await self.touch(name) { return Answer.nothing() }
      let range = try BlobRange(request.headers[.contentRange])
      return try await self.blobs.withUpload(name) {
        try await self.receive(request, name, range)
      }
    }
    router.head("zones/:zone/blobs/:sha256") { _, context in
      let (caller, name) = (try context.caller, try Self.blob(context))
      try await self.check(caller, name, atLeast: .read)
      guard try await self.isStored(name), let size = self.blobs.size(name) else {
        return Response(
          status: .notFound, headers: [.uploadOffset: String(self.blobs.offset(name))])
      }
      return Response(
        status: .ok, headers: [.contentLength: String(size), .acceptRanges: "bytes"])
    }
    router.get("zones/:zone/blobs/:sha256") { request, context in
      let (caller, name) = (try context.caller, try Self.blob(context))
      // Before anything is looked up: strangers must not learn which blobs a zone has.
      try await self.check(caller, name, atLeast: .read)
      guard try await self.isStored(name), let size = self.blobs.size(name) else {
        throw ServerError(
          .notFound, "The zone has no such blob.",
          remedy: "Wait until the device that has it sends it.")
      }
      return try await self.send(name, size: size, range: request.headers[.range])
    }
  }

  /// The blob of the address. Throws ``ServerError`` for a hash that isn't one.
  private static func blob(_ context: ServerContext) throws -> BlobStore.Name {
    let hash = context.parameters.get("sha256") ?? ""
    guard Input.isHexadecimal(hash, count: 64) else {
      throw ServerError(
        .malformed, "The address has no SHA-256 hash.",
        remedy: "Use 64 hexadecimal digits in lower case.")
    }
    return BlobStore.Name(zone: try Input.zone(context), sha256: hash)
  }

  /// Throws unless the caller has the role in the blob's zone; see ``Membership/check(_:zone:atLeast:in:)``.
  private func check(_ caller: AccessToken, _ name: BlobStore.Name, atLeast role: Role) async throws
  {
    try await engine.read { session in
      try Membership.check(caller, zone: name.zone, atLeast: role, in: session)
    }
  }

  /// Whether the blob has a row. Files alone don't count: see ``BlobStore``.
  private func isStored(_ name: BlobStore.Name) async throws -> Bool {
    try await engine.read { session in
      try session.row(
        "SELECT size FROM blobs WHERE zone = $1 AND sha256 = $2",
        [.text(name.zone), .text(name.sha256)]) != nil
    }
  }

  /// Starts a blob's grace period again. Returns false if the blob doesn't exist.
  private func touch(_ name: BlobStore.Name) async throws -> Bool {
    guard try await isStored(name) else { return false }
    let now = clock.now
    return try await engine.write(.zone(name.zone)) { session in
      try session.change(
        "UPDATE blobs SET touched = $1 WHERE zone = $2 AND sha256 = $3",
        [.integer(now), .text(name.zone), .text(name.sha256)]) > 0
    }
  }

  // MARK: Receiving

  /// Receives a blob or a part of it, and stores it once it is whole.
  ///
  /// Invariant: a blob gets its row only after its file is complete and durable. If the row is refused, for a quota
  /// or because the zone is gone, the file goes, too. What an interrupted request has sent stays in the `.part` file,
  /// and the next request can go on there.
  ///
  /// - Returns: 201 for a whole blob, and 202 with the offset for a part.
  private func receive(_ request: Request, _ name: BlobStore.Name, _ range: BlobRange) async throws
    -> Response
  {
    // By the announced size, before a byte is written.
    guard range.total ?? 0 <= BlobStore.maximumSize else { throw Self.tooLarge }
    let handle = try await blobs.open(name, at: range.start)
    var position = range.start
    for try await buffer in request.body {
      position += Int64(buffer.readableBytes)
      // Counted here and not taken from Content-Length, which a chunked request lacks.
      guard position <= range.end ?? BlobStore.maximumSize else { throw Self.tooLarge }
      try await blobs.append(buffer, to: handle)
    }
    // Not the last part: the client goes on at the offset.
    guard position == range.total ?? position else {
      var answer = try Answer.json(Offset(offset: position), status: .accepted)
      answer.headers[.uploadOffset] = String(position)
      return answer
    }
    try await blobs.finish(name, handle)
    do {
      try await record(name, size: position)
    } catch let error as ServerError {
      // Refused. After a failure of the database the row may exist nevertheless.
      blobs.remove(name)
      throw error
    }
    return Response(status: .created)
  }

  /// Inserts the row of a blob whose file is complete, and counts its bytes, in one transaction that holds the zone's
  /// lock. Does nothing if another request has inserted the row.
  ///
  /// - Throws: ``ServerError``: `notFound` if the zone was deleted, `quota` if the owner has no room, and
  ///   `unavailable` if the file is gone.
  private func record(_ name: BlobStore.Name, size: Int64) async throws {
    let (quota, now, schemas, blobs) = (settings.ownerQuota, clock.now, schemas, blobs)
    try await engine.write(.zone(name.zone)) { session in
      guard var row = try ZoneRow.locked(name.zone, in: session, schemas: schemas) else {
        throw ServerError(
          .notFound, "The zone doesn't exist.", remedy: "Make it with PUT /v1/zones/{zone}.")
      }
      // The file of an earlier upload may have been swept in the meantime.
      guard blobs.size(name) != nil else { throw BlobStore.failure }
      let added = try session.change(
        """
        INSERT INTO blobs (zone, sha256, size, touched) VALUES ($1, $2, $3, $4)
        ON CONFLICT (zone, sha256) DO NOTHING
        """, [.text(name.zone), .text(name.sha256), .integer(size), .integer(now)])
      // Another request was first; its bytes are counted already.
      guard added > 0 else { return }
      // The insert is rolled back if this throws.
      try row.checkQuota(quota, adding: size, in: session)
      row.blobBytes += size
      try session.run([row.saving(schemas)])
    }
  }

  /// The error for more bytes than a blob, or its range, may have.
  private static let tooLarge = ServerError(
    .tooLarge, "The blob is too large, or larger than its range.", remedy: "Split it.",
    figures: ["limit": BlobStore.maximumSize])

  // MARK: Sending

  /// The response with a blob's bytes from the range's start on. It streams the file in parts, so a blob isn't in
  /// memory as a whole.
  private func send(_ name: BlobStore.Name, size: Int64, range: String?) async throws -> Response {
    // Only ranges that resume a download: from a position to the end.
    let asked = range.flatMap {
      $0.hasPrefix("bytes=") && $0.hasSuffix("-") ? Int64($0.dropFirst(6).dropLast()) : nil
    }
    // Nothing is left beyond the end, so the response has no bytes.
    let start = asked.map { min(max($0, 0), size) } ?? 0
    let handle = try await blobs.read(name, from: start)
    let body = ResponseBody(contentLength: Int(size - start)) { writer in
      while let bytes = try await BlobStore.next(handle) { try await writer.write(bytes) }
      try await writer.finish(nil)
    }
    var headers: HTTPFields = [
      .contentType: "application/octet-stream", .cacheControl: "private, immutable",
    ]
    if asked != nil { headers[.contentRange] = "bytes \(start)-\(max(size - 1, start))/\(size)" }
    return Response(status: asked == nil ? .ok : .partialContent, headers: headers, body: body)
  }
}
#endif
