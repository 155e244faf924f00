#if Server
import Foundation
import SteadSyncProtocol
@testable import SteadSyncServer

/// A client of one zone over HTTP, which speaks with the protocol's types and keeps nothing.
struct TestClient: Sendable {
  static let zone = String(repeating: "0a", count: 16)

  var device: TestDevice
  var zone = Self.zone
  var id: ClientID = "client"
  /// What is pushed says that the client has seen this.
  var anchor = Mark.start
  var schema = Schema.empty

  private var deviceID: DeviceID { DeviceID(device.device) ?? "none" }

  /// Makes the client's zone.
  func makeZone() async throws { _ = try await device.send("PUT", "v1/zones/\(zone)") }

  func insert(
    _ id: RecordID, _ fields: [String: SyncValue] = [:], type: String = "Note", at time: Int64 = 1
  ) -> Mutation {
    .insert(
      Mutation.Insert(
        id: id, type: type, incarnation: Incarnation("\(id)-\(time)") ?? "i",
        stamp: Stamp(milliseconds: time, device: deviceID), fields: fields))
  }

  func update(
    _ id: RecordID, _ fields: [String: SyncValue], of insert: Int64 = 1, type: String = "Note",
    at time: Int64
  ) -> Mutation {
    .update(
      Mutation.Update(
        id: id, type: type, incarnations: [Incarnation("\(id)-\(insert)") ?? "i"],
        stamp: Stamp(milliseconds: time, device: deviceID), fields: fields))
  }

  func delete(
    _ id: RecordID, of insert: Int64 = 1, type: String = "Note", at time: Int64
  ) -> Mutation {
    .delete(
      Mutation.Delete(
        id: id, type: type, incarnations: [Incarnation("\(id)-\(insert)") ?? "i"],
        stamp: Stamp(milliseconds: time, device: deviceID)))
  }

  func message(_ number: Int64, _ mutations: [Mutation], schema: Schema? = nil) -> Push {
    Push(
      client: id, device: deviceID, anchor: anchor, schemaVersion: self.schema.version,
      schema: schema,
      transactions: [Transaction(number: number, basis: number - 1, mutations: mutations)])
  }

  func push(_ push: Push, headers: [String: String] = [:]) async throws -> TestAnswer {
    try await device.send(
      "POST", "v1/zones/\(zone)/push", body: Data(push.encoded()), headers: headers)
  }

  /// Pushes one transaction.
  func push(_ number: Int64, _ mutations: Mutation...) async throws -> TestAnswer {
    try await push(message(number, mutations))
  }

  /// Fetches changes; everything, without a cursor.
  func changes(
    _ cursor: Cursor? = nil, limit: Int = 400, acknowledged: Int64 = 0, marks: [Mark] = []
  ) async throws -> TestAnswer {
    let request = ChangesRequest(
      client: id, cursor: cursor, limit: limit, acknowledged: acknowledged, marks: marks)
    let query = request.queryItems.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return try await device.send("GET", "v1/zones/\(zone)/changes?\(query)")
  }
}

extension TestAnswer {
  /// The answer to a push.
  var pushed: PushAnswer? { try? PushAnswer(encoded: body) }

  /// What became of a push's transactions; nil unless it was taken.
  var receipt: PushReceipt? {
    if case .taken(let receipt) = pushed { receipt } else { nil }
  }

  /// The answer to a request for changes.
  var fetched: ChangesAnswer? { try? ChangesAnswer(encoded: body) }

  /// The page; nil unless the answer is one.
  var page: Page? {
    if case .page(let page) = fetched { page } else { nil }
  }

  var ids: [String] { page?.records.map(\.id.text) ?? [] }
}
#endif
