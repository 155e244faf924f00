import Synchronization

/// A contradiction between the models of a schema, found when the schema is made.
///
/// A schema's initializer cannot throw, so the container throws it.
struct SchemaProblem: Error, Hashable {
  let code: SwiftDataError.Code
  let message: String

  init(_ code: SwiftDataError.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  var error: SwiftDataError { SwiftDataError(code, message) }
}

extension Schema {
  /// The maximum number of remembered messages; beyond it a message may be reported again.
  private static let noteLimit = 1_000
  private static let reported = Mutex<Set<String>>([])

  /// Reports what is unclear in the models, once per process.
  func reportNotes() {
    // One by one: a log has a line for each problem, and shows a line break within one as an escape.
    for note in findings.notes {
      let isNew = Self.reported.withLock { reported in
        if reported.count >= Self.noteLimit { reported.removeAll() }
        return reported.insert(note).inserted
      }
      if isNew { Report.problem(.inverseAmbiguous, message: note) }
    }
  }
}
