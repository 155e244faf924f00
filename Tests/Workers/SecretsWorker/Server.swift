import SteadSecrets

/// Does what each line of the input says, and answers with a line.
///
///     get <account>                 value <text> | none | error <code>
///     set <account> <text>          ok | error <code>
///     fill <account> <size> <number>
///     dump                          the accounts, and a full stop
struct Server {
  private let secrets: Secrets

  init(_ secrets: Secrets) { self.secrets = secrets }

  func run() throws {
    say("ready")
    while let line = readLine() {
      do throws(SecretError) {
        say(try answer(line.split(separator: " ").map(String.init)))
      } catch {
        say("error \(error.code)")
      }
    }
  }

  private func answer(_ words: [String]) throws(SecretError) -> String {
    switch (words.first, words.count) {
    case ("get", 2): return try secrets.string(for: words[1]).map { "value \($0)" } ?? "none"
    case ("set", 3): try secrets.set(words[2], for: words[1])
    case ("fill", 4):
      let sample = Sample(number: Int(words[3]) ?? 0, size: Int(words[2]) ?? 0)
      try secrets.set(sample, for: words[1])
    case ("dump", 1): return try secrets.dump()
    default: return "error what?"
    }
    return "ok"
  }
}
