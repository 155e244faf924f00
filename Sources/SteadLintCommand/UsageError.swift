/// Words that aren't a command line of this program.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}
