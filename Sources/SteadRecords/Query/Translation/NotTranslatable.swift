/// Why a part of a predicate has no SQL.
struct NotTranslatable: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
