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

  private static func isNew(_ note: String) -> Bool {
    reported.withLock { reported in
      if reported.count >= noteLimit { reported.removeAll() }
      return reported.insert(note).inserted
    }
  }

  /// Reports what is unclear in the models, once per process.
  func reportNotes() {
    // One by one: a log has a line for each problem, and shows a line break within one as an escape.
    for note in findings.notes where Self.isNew(note) {
      Report.problem(.inverseAmbiguous, message: note)
    }
    for note in findings.replacements where Self.isNew(note) { Report.problem(note) }
  }
}
