#if Server
  import Foundation
  import SwiftData

  @Model final class Note {
    @Attribute(.unique) var number: Int
    var title: String
    var text: String
    var reads: Int = 0

    init(number: Int, title: String, text: String) {
      self.number = number
      self.title = title
      self.text = text
    }
  }

  /// The notes on SwiftData's API: a container for the process, a context for each request.
  ///
  /// A context is cheap to make and belongs to one request: nobody else sees what it has not saved. What is read,
  /// changed and saved runs in `transaction`, which holds the store's write lock, so that no other request comes in
  /// between.
  public struct NoteStore: Sendable {
    private let container: ModelContainer

    /// - Parameter history: Whether the store records who changed what, as it does unless told otherwise.
    public init(file: URL, history: ModelConfiguration.History = .on) throws {
      container = try ModelContainer(
        for: Note.self, configurations: ModelConfiguration(url: file, history: history))
    }

    private var context: ModelContext {
      let context = ModelContext(container)
      // No view looks at these objects.
      context.observesModels = false
      return context
    }

    func newest(_ count: Int) throws -> [NoteRecord] {
      var newest = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.number, order: .reverse)])
      newest.fetchLimit = count
      return try context.fetch(newest).map(NoteRecord.init)
    }

    func note(_ id: Int) throws -> NoteRecord? { try find(id, in: context).map(NoteRecord.init) }

    func add(_ draft: NoteDraft) throws -> NoteRecord? {
      try changing { context in
        var last = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.number, order: .reverse)])
        last.fetchLimit = 1
        let number = (try context.fetch(last).first?.number ?? 0) + 1
        let note = Note(number: number, title: draft.title, text: draft.text)
        context.insert(note)
        return NoteRecord(note)
      }
    }

    /// Adds one to the count of reads; nil where there is no such note.
    func countRead(of id: Int) throws -> NoteRecord? {
      try changing { context in
        guard let note = try find(id, in: context) else { return NoteRecord?.none }
        note.reads += 1
        return NoteRecord(note)
      } ?? nil
    }

    func remove(_ id: Int) throws -> Bool {
      try changing { context in
        guard let note = try find(id, in: context) else { return false }
        context.delete(note)
        return true
      } ?? false
    }

    private func changing<Result>(_ body: (ModelContext) throws -> Result) throws -> Result? {
      let context = context
      var result: Result?
      try context.transaction { result = try body(context) }
      return result
    }

    private func find(_ id: Int, in context: ModelContext) throws -> Note? {
      var descriptor = FetchDescriptor<Note>(predicate: #Predicate { $0.number == id })
      descriptor.fetchLimit = 1
      return try context.fetch(descriptor).first
    }
  }

  extension NoteRecord {
    init(_ note: Note) {
      self.init(id: note.number, title: note.title, text: note.text, reads: note.reads)
    }
  }
#endif
