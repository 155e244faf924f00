/// Invalid arguments, or an interview that can't continue.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}
