import SteadSecrets

/// Changes a writer's secrets without end, and tells of each change before and after, as
/// ``WriterModel`` reads it.
///
/// The numbers grow from start to start, since every secret is made from the number of its change.
struct Stepper {
  private let accountCount: UInt64 = 24
  private let secrets: Secrets
  private let writer: String
  private let seed: UInt64

  init(_ secrets: Secrets, _ writer: String, seed: Int) {
    self.secrets = secrets
    self.writer = writer
    self.seed = UInt64(seed)
  }

  func run() throws {
    say(try secrets.dump(prefix: "\(writer)."))
    var number = try lastNumber() + 1
    var done = ""
    while true {
      done = try take(number, after: done)
      number += 1
    }
  }

  private func lastNumber() throws -> Int {
    try secrets.accounts().filter { $0.hasPrefix("\(writer).") }
      .compactMap { try secrets.bytes(for: $0).flatMap { Sample($0)?.number } }
      .max() ?? 0
  }

  /// One change; returns what is to be said of it with the next.
  private func take(_ number: Int, after done: String) throws -> String {
    var random = SplitMix(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    let account = "\(writer).\(random.next() % accountCount)"
    switch random.next() % 100 {
    case 0..<10:
      say("\(done)b \(number) \(account) none")
      try secrets.remove(account)
    case let choice:
      let size = 8 + Int(random.next() % (choice < 30 ? 40_000 : 400))
      let sample = Sample(number: number, size: size)
      say("\(done)b \(number) \(account) \(sample.text)")
      try secrets.set(sample, for: account)
    }
    return "e \(number)\n"
  }
}
