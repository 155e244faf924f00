import Hummingbird

/// The addresses of the service.
enum Routes {
  /// The most notes that one answer has.
  static let listLimit = 100

  static func router(_ store: some NoteStore) -> Router<BasicRequestContext> {
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
      guard let note = try await store.add(draft) else { throw HTTPError(.internalServerError) }
      return EditedResponse(status: .created, response: note)
    }
    router.post("notes/:id/reads") { _, context in
      guard let note = try await store.countRead(of: try id(context)) else {
        throw HTTPError(.notFound)
      }
      return note
    }
    router.delete("notes/:id") { _, context in
      guard try await store.remove(try id(context)) else { throw HTTPError(.notFound) }
      return HTTPResponse.Status.noContent
    }
    return router
  }

  private static func id(_ context: BasicRequestContext) throws -> Int {
    try context.parameters.require("id", as: Int.self)
  }
}
