/// Words that aren't a command line of this program, or an interview that can't go on.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}
