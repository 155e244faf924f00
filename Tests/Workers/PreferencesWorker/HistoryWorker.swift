import Foundation
import SteadPreferences

/// An entry of a history that several processes share; its text says whose it is and how long.
struct Message: Codable, Identifiable, Sendable {
  /// Payloads over so many bytes go to files of their own.
  static let largeByteCount = 1_000

  var id: String
  var text: String

  init(_ writer: String, _ number: Int) {
    id = "\(writer).\(number)"
    // Each 16th is a large one.
    let length = number % 16 == 7 ? 3 * Self.largeByteCount : number % 200
    text = id + String(repeating: "x", count: length)
  }

  var isWhole: Bool {
    let parts = id.split(separator: ".")
    guard parts.count == 2, let number = Int(parts[1]) else { return false }
    return text == Message(String(parts[0]), number).text
  }
}

/// What a process does with the history that is kept under `messages`.
struct HistoryWorker {
  typealias History = PayloadHistory<Message>

  let preferences: Preferences
  let limit: Int

  init?(_ preferences: Preferences, limit: String) {
    guard let limit = Int(limit) else { return nil }
    (self.preferences, self.limit) = (preferences, limit)
  }

  func open() throws -> History {
    try History(
      "messages", limit: limit, in: preferences,
      options: .init(largePayload: .external(over: Message.largeByteCount)))
  }

  func run(_ command: String, _ arguments: [String]) throws {
    switch (command, arguments.count) {
    case ("history-dump", 0): try dump()
    case ("history-prepend", 2): try prepend(arguments)
    case ("history-crowd", 3): try takePart(arguments)
    case ("history-watch", 1): try watch(arguments)
    case ("history-open", 0): try openWhenTold()
    case ("history-batch", 1): try addAsOne(arguments)
    case ("history-fork", 1): try fork(arguments)
    default: WorkerMain.misuse()
    }
  }

  private func dump() throws {
    let history = try open()
    var lines = ""
    for message in history.items { lines += message.isWhole ? "\(message.id)\n" : "error text\n" }
    for entry in history.undecodable { lines += "error \(entry.message)\n" }
    say(lines + ".")
  }

  /// Puts messages in front without end, and says of each when it begins and when it is done.
  private func prepend(_ arguments: [String]) throws {
    guard var number = Int(arguments[1]) else { WorkerMain.misuse() }
    let history = try open()
    say("ready")
    while true {
      say("b \(number)")
      try history.prepend(Message(arguments[0], number))
      say("e \(number)")
      number += 1
    }
  }

  /// Puts so many messages in front, and where it is told to, removes each third again.
  private func takePart(_ arguments: [String]) throws {
    guard let count = Int(arguments[1]) else { WorkerMain.misuse() }
    let (name, removes) = (arguments[0], arguments[2] == "removing")
    let history = try open()
    WorkerMain.waitForStart()
    for number in 0..<count {
      try history.prepend(Message(name, number))
      if removes, number % 3 == 0, try !history.remove(id: "\(name).\(number)") {
        say("error \(name).\(number) was not there")
      }
    }
    say("done")
  }

  /// Looks at the history until all writers' last messages have been seen, in front or gone.
  private func watch(_ arguments: [String]) throws {
    let goals = arguments[0].split(separator: ",").map(String.init)
    let history = try open()
    WorkerMain.waitForStart()
    var (tops, looks) = ([String: Int](), 0)
    while goals.contains(where: { goal in
      let parts = goal.split(separator: ".")
      return tops[String(parts[0])] != Int(parts[1])
    }) {
      looks += 1
      let items = history.items
      if items.count > limit { say("error there are \(items.count)") }
      var last: [String: Int] = [:]
      for message in items {
        let parts = message.id.split(separator: ".")
        guard message.isWhole, let number = Int(parts[1]) else {
          say("error a message is damaged")
          continue
        }
        let name = String(parts[0])
        if let newer = last[name], newer <= number { say("error \(name) is not in order") }
        if last[name] == nil {
          // Each third is removed by its writer.
          if let top = tops[name], top > number, top % 3 != 0 {
            say("error \(name).\(top) was lost")
          }
          tops[name] = number
        }
        last[name] = number
      }
    }
    if !history.undecodable.isEmpty { say("error something does not decode") }
    say("looks \(looks)")
  }

  private func openWhenTold() throws {
    WorkerMain.waitForStart()
    let history = try open()
    say("opened \(history.count)")
    _ = readLine()
  }

  private func addAsOne(_ arguments: [String]) throws {
    guard let count = Int(arguments[0]) else { WorkerMain.misuse() }
    let history = try open()
    try history.batch { batch in
      for number in 0..<count { try batch.prepend(Message("batch", number * 16)) }
    }
    try history.flush()
    say("\(history.count)")
  }

  /// Forks while threads of it use the history, which the children go on to use.
  private func fork(_ arguments: [String]) throws {
    guard let count = Int(arguments[0]) else { WorkerMain.misuse() }
    let history = try open()
    // Swift's runtime has locks of its own for what it makes at the first use of a type, and those do not
    // survive a fork.
    for number in 0..<16 { try history.prepend(Message("before", number)) }
    _ = history.items.count
    let threads = DispatchGroup()
    for thread in 0..<2 {
      threads.enter()
      Thread.detachNewThread {
        for number in 0..<count { try? history.prepend(Message("thread\(thread)", number)) }
        threads.leave()
      }
    }
    let children = try (0..<6).map { child in
      let forked = try ForkedChild {
        for number in 0..<count { try history.prepend(Message("child\(child)", number)) }
        if history.items.isEmpty { say("error the history of a child is empty") }
      }
      try history.prepend(Message("parent", child))
      return forked
    }
    ForkedChild.finish(children)
    threads.wait()
    say("done")
  }
}
