#if Server
  import Foundation
  import Hummingbird
  import HummingbirdTesting
  import SwiftData
  import Testing

  @testable import NotesKit

  /// The service on a store with and without a history.
  @Suite struct ServiceTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await body(folder)
    }

    @Test(arguments: [ModelConfiguration.History.on, .off])
    func `notes are added, read, counted and removed`(
      history: ModelConfiguration.History
    ) async throws {
      try await withFolder { folder in
        let file = folder.appending(path: "notes.store")
        try await visit(try NoteStore(file: file, history: history))
      }
    }

    private func visit(_ store: NoteStore) async throws {
      let service = Application(router: Routes.router(store))
      try await service.test(.router) { client in
        for title in ["a", "b"] {
          let body = ByteBuffer(string: #"{"title":"\#(title)","text":"…"}"#)
          let answer = try await client.execute(uri: "/notes", method: .post, body: body)
          #expect(answer.status == .created)
        }
        func get<Value: Decodable>(_ uri: String, as type: Value.Type) async throws -> Value {
          let answer = try await client.execute(uri: uri, method: .get)
          return try JSONDecoder().decode(type, from: Data(answer.body.readableBytesView))
        }
        #expect(try await get("/notes", as: [NoteRecord].self).map(\.title) == ["b", "a"])
        #expect(try await get("/notes?count=1", as: [NoteRecord].self).map(\.title) == ["b"])
        // Requests at once count all.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<100 {
            group.addTask {
              let answer = try await client.execute(uri: "/notes/1/reads", method: .post)
              #expect(answer.status == .ok)
            }
          }
          try await group.waitForAll()
        }
        #expect(try await get("/notes/1", as: NoteRecord.self).reads == 100)
        #expect(try await client.execute(uri: "/notes/2", method: .delete).status == .noContent)
        #expect(try await client.execute(uri: "/notes/2", method: .get).status == .notFound)
        #expect(try await client.execute(uri: "/notes?count=0", method: .get).status == .badRequest)
      }
    }
  }
#endif
