#if Server
  import Hummingbird

  /// A note as clients see it.
  struct NoteRecord: ResponseEncodable, Sendable {
    var id: Int
    var title: String
    var text: String
    var reads: Int
  }

  /// What a client sends.
  struct NoteDraft: Decodable, Sendable {
    var title: String
    var text: String
  }

  /// Those routes of the example NotesKit that are measured.
  ///
  /// A copy, since NotesKit isn't a product: an example is no part of what users of the package get.
  /// `Benchmarks/server-bench` compares the answers of both services before it measures them.
  enum Routes {
    static let listLimit = 100

    static func router(_ store: GRDBStore) -> Router<BasicRequestContext> {
      let router = Router()
      router.get("notes") { request, _ in
        let count = request.uri.queryParameters.get("count", as: Int.self) ?? 20
        guard (1...listLimit).contains(count) else { throw HTTPError(.badRequest) }
        return try await store.newest(count)
      }
      router.get("notes/:id") { _, context in
        guard let note = try await store.note(try id(context)) else { throw HTTPError(.notFound) }
        return note
      }
      router.post("notes") { request, context in
        let draft = try await request.decode(as: NoteDraft.self, context: context)
        return EditedResponse(status: .created, response: try await store.add(draft))
      }
      router.post("notes/:id/reads") { _, context in
        guard let note = try await store.countRead(of: try id(context)) else {
          throw HTTPError(.notFound)
        }
        return note
      }
      return router
    }

    private static func id(_ context: BasicRequestContext) throws -> Int {
      try context.parameters.require("id", as: Int.self)
    }
  }
#endif
