import SteadSecrets

/// Several writers and readers of one store.
struct Crowd {
  private static let counter = "counter"
  private let secrets: Secrets

  init(_ secrets: Secrets) { self.secrets = secrets }

  /// Keeps secrets one after the other, and counts each in a secret that all writers share.
  func write(_ writer: String, _ count: Int) throws {
    WorkerMain.waitForStart()
    for number in 0..<count {
      try secrets.set("\(writer)-\(number)", for: "\(writer).\(number)")
      try increment()
    }
    say("done")
  }

  private func increment() throws(SecretError) {
    while true {
      do throws(SecretError) {
        guard let old = try secrets.string(for: Self.counter) else {
          return try secrets.insert("1", for: Self.counter)
        }
        return try secrets.replace(old, with: "\((Int(old) ?? 0) + 1)", for: Self.counter)
      } catch  where error.code == .changed || error.code == .duplicateItem {
        continue
      }
    }
  }

  /// Looks whether the count ever falls, and whether what has been kept is there, whole.
  func read(until end: Int) throws {
    WorkerMain.waitForStart()
    var (last, looks, kept) = (0, 0, 0)
    while last < end {
      let count = try secrets.string(for: Self.counter).flatMap { Int($0) } ?? 0
      if count < last { say("error the count fell from \(last) to \(count)") }
      last = max(last, count)
      let accounts = try secrets.accounts().filter { $0 != Self.counter }
      // Each secret is kept before it is counted.
      if accounts.count < count { say("error of \(count) secrets \(accounts.count) are listed") }
      if accounts.count < kept { say("error \(accounts.count) are left of \(kept) secrets") }
      kept = accounts.count
      for account in accounts.shuffled().prefix(20) {
        let expected = account.split(separator: ".").joined(separator: "-")
        let found = try secrets.string(for: account)
        if found != expected { say("error \(account) is \(found ?? "missing")") }
      }
      looks += 1
    }
    say("looks \(looks)")
  }
}
