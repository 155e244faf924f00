#if Server
  import Hummingbird

  /// The addresses of the service.
  public enum Routes {
    /// The most notes that one answer has.
    static let listLimit = 100

    public static func router(_ store: NoteStore) -> Router<BasicRequestContext> {
      let router = Router()
      router.get("notes") { request, _ in
        let count = request.uri.queryParameters.get("count", as: Int.self) ?? 20
        guard (1...listLimit).contains(count) else { throw HTTPError(.badRequest) }
        return try store.newest(count)
      }
      router.get("notes/:id") { _, context in
        guard let note = try store.note(try id(context)) else { throw HTTPError(.notFound) }
        return note
      }
      router.post("notes") { request, context in
        let draft = try await request.decode(as: NoteDraft.self, context: context)
        guard let note = try store.add(draft) else { throw HTTPError(.internalServerError) }
        return EditedResponse(status: .created, response: note)
      }
      router.post("notes/:id/reads") { _, context in
        guard let note = try store.countRead(of: try id(context)) else {
          throw HTTPError(.notFound)
        }
        return note
      }
      router.delete("notes/:id") { _, context in
        guard try store.remove(try id(context)) else { throw HTTPError(.notFound) }
        return HTTPResponse.Status.noContent
      }
      return router
    }

    private static func id(_ context: BasicRequestContext) throws -> Int {
      try context.parameters.require("id", as: Int.self)
    }
  }
#endif
