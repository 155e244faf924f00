/// One thing to ask about some data.
///
/// A program that asks prints ``text``, ``reason`` and ``choices``, and hands the answer to ``answer(_:in:)``.
public struct Question: Hashable, Sendable, Identifiable {
  /// One of the answers to a question.
  public struct Choice: Hashable, Sendable {
    /// What a command line takes.
    public let name: String
    /// What a person reads.
    public let text: String
  }

  /// The name of the answer in a ``Situation``, which is also an option of the command line.
  public let id: String
  public let text: String
  /// Why it is asked: what the answer changes.
  public let reason: String
  /// What is taken to be true where nobody answers, in words; nil where an answer is needed.
  public let usual: String?
  /// The answers; a number is one of them for ``isNumber``.
  public let choices: [Choice]
  /// Whether any number may be answered, of which the choices are examples.
  public let isNumber: Bool

  let isAnswered: @Sendable (Situation) -> Bool
  let set: @Sendable (String, inout Situation) -> Bool

  /// Puts an answer into a situation.
  ///
  /// - Returns: Whether the question has such an answer.
  public func answer(_ answer: String, in situation: inout Situation) -> Bool {
    set(answer, &situation)
  }

  public static func == (left: Question, right: Question) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Question {
  /// All questions about one thing, in the order in which they are asked.
  public static let all: [Question] = [
    choice(
      "kind", "What is it?", usual: nil,
      because: "Each store is made for one kind of data.", \.kind
    ) { $0.text },
    choice(
      "exposure", "What if somebody else reads it?", usual: "no harm",
      because: "Preferences, stores and files lie on the disk in the clear, and in backups.",
      \.exposure
    ) { $0 == .harmless ? "no harm" : "harm: it is private, or opens something" },
    choice(
      "origin", "Can it be made or loaded again?", usual: "only here",
      because: "What can be made again belongs in a cache, which no backup takes.", \.origin
    ) { $0 == .only ? "no, it is only here" : "yes" },
    choice(
      "lifetime", "How long is it needed?", usual: "at the next start, too",
      because: "What nobody needs at the next start costs no disk.", \.lifetime
    ) { $0 == .run ? "while the program runs" : "at the next start, too" },
    number(
      "count", "How many are there, in the end?", usual: "one",
      because: "A list under one key is read and written whole; a store reads what is asked for.",
      \.count, [1, 500, 5_000]),
    number(
      "size", "How many bytes has one?", usual: "small",
      because: "Preferences and secrets are held in memory, and large values slow a store down.",
      \.size, [1 << 10, 20 << 10, 500 << 10, 5 << 20]),
    choice(
      "access", "How is it read?", usual: "as a whole",
      because: "Searching and sorting need an index, and changes one by one need transactions.",
      \.access
    ) {
      $0 == .whole ? "as a whole" : "by field, sorted, searched, related, or changed one by one"
    },
    choice(
      "devices", "On how many of a person's devices?", usual: "one",
      because: "Some stores can be synced, and some belong to one device.", \.devices
    ) { $0.rawValue },
    choice(
      "ground", "What is there already?", usual: "nothing",
      because: "A stack that works may stay until the app moves anyway.", \.ground
    ) { $0 == .new ? "nothing" : "Core Data, or systems before iOS 17 and macOS 14" },
  ]

  /// What is never asked, and can be answered by an option: no answer changes the store, only what is said about it.
  public static let refinements: [Question] = [
    choice(
      "sharing", "Who else uses it?", usual: "none",
      because: "Others need a place that they may use, and a store that several may write.",
      \.sharing
    ) {
      switch $0 {
      case .none: "nobody"
      case .processes: "other processes of the same user"
      case .extension: "an extension of the app"
      case .daemon: "a service that runs as another user"
      case .editor: "a person with an editor"
      }
    },
    choice(
      "retention", "What becomes of old data?", usual: "kept",
      because: "Few stores remove anything by themselves.", \.retention
    ) {
      switch $0 {
      case .kept: "it is kept"
      case .newest: "the newest ones stay"
      case .age: "what is older than some time is removed"
      }
    },
    choice(
      "platforms", "Which systems does the program run on?", usual: "all",
      because: "Directories, keychains and sync differ between systems.", \.platforms
    ) {
      switch $0 {
      case .all: "Apple's and others"
      case .apple: "Apple's alone"
      case .linux: "Linux alone"
      }
    },
    choice(
      "observers", "Who has to learn of changes?", usual: "none",
      because: "Some stores tell of changes, and some are silent.", \.observers
    ) {
      switch $0 {
      case .none: "nobody"
      case .views: "views of the same program"
      case .processes: "other processes"
      }
    },
    choice(
      "shape", "Will its shape change?", usual: "fixed",
      because: "What an earlier version wrote has to be read, or be left alone.", \.shape
    ) { $0 == .fixed ? "no" : "yes, in later versions" },
  ]

  /// How many there are and how large each is, in one answer such as `500 of 10KB`.
  ///
  /// ``Advisor`` asks it instead of the two questions where both answers count. An answer may leave one of them open:
  /// `500` and `10KB`.
  public static let amount = Question(
    id: "amount", text: "How many are there in the end, and how large is each?",
    reason: "What lies under one key is read and written whole; a store reads what is asked for.",
    usual: "one, and small",
    choices: ["500 of 10 KB", "1 of 20 bytes", "5,000", "2 MB"].map { Choice(name: $0, text: $0) },
    isNumber: true, isAnswered: { $0.count != nil && $0.size != nil }, set: setAmount)

  static let partsOfAmount: Set<ID> = ["count", "size"]

  private static func setAmount(_ answer: String, in situation: inout Situation) -> Bool {
    let text = answer.lowercased()
    if let split = text.firstRange(of: "of") ?? text.firstRange(of: "x") {
      guard let count = ByteCount.parse(String(text[..<split.lowerBound])), count >= 0,
        let size = ByteCount.parse(String(text[split.upperBound...])), size >= 0
      else { return false }
      (situation.count, situation.size) = (count, size)
      return true
    }
    guard let number = ByteCount.parse(text), number >= 0 else { return false }
    if text.contains("b") { situation.size = number } else { situation.count = number }
    return true
  }

  private static func choice<Answer: RawRepresentable<String> & CaseIterable & SendableMetatype>(
    _ id: String, _ text: String, usual: String?, because reason: String,
    _ path: WritableKeyPath<Situation, Answer?> & Sendable, _ title: (Answer) -> String
  ) -> Question {
    Question(
      id: id, text: text, reason: reason, usual: usual,
      choices: Answer.allCases.map { Choice(name: $0.rawValue, text: title($0)) }, isNumber: false,
      isAnswered: { $0[keyPath: path] != nil },
      set: { name, situation in
        guard let answer = Answer(rawValue: name) else { return false }
        situation[keyPath: path] = answer
        return true
      })
  }

  private static func number(
    _ id: String, _ text: String, usual: String?, because reason: String,
    _ path: WritableKeyPath<Situation, Int?> & Sendable, _ examples: [Int]
  ) -> Question {
    Question(
      id: id, text: text, reason: reason, usual: usual,
      choices: examples.map {
        Choice(name: String($0), text: id == "size" ? ByteCount.text($0) : String($0))
      }, isNumber: true,
      isAnswered: { $0[keyPath: path] != nil },
      set: { name, situation in
        guard let number = ByteCount.parse(name), number >= 0 else { return false }
        situation[keyPath: path] = number
        return true
      })
  }
}

extension Situation.Kind {
  var text: String {
    switch self {
    case .setting: "a setting, or a small value that the program remembers"
    case .secret: "a password, a token or a key"
    case .records: "records: things that are looked up, sorted or related"
    case .payloads: "a list of the last things that the program made"
    case .document: "a document that the user made and knows of"
    case .media: "pictures, sounds or films of the program's own data"
    case .cache: "what was computed or loaded, and can be again"
    case .response: "responses of a web server"
    case .queue: "work that is still to be done"
    case .managed: "a value that an administrator fixes"
    }
  }
}
