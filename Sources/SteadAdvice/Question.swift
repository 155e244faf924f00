/// A question about some data.
///
/// To ask it, print ``text``, ``reason`` and ``choices``, and pass the answer to ``answer(_:in:)``.
///
/// Two questions are equal if their identifiers are.
///
/// ```swift
/// for question in Question.all where question.isNumber {
///   print(question.text, question.choices.map(\.text))
/// }
/// ```
public struct Question: Hashable, Sendable, Identifiable {
  /// One of the answers to a question.
  public struct Choice: Hashable, Sendable {
    /// The answer as a command line takes it.
    public let name: String
    /// The answer in words, for people.
    public let text: String
  }

  /// The name of the ``Situation``'s property with the answer. The option of the command line has the same name.
  public let id: String
  /// The question, for people.
  public let text: String
  /// Why it is asked, and what the answer changes.
  public let reason: String
  /// The answer that is assumed if nobody answers, in words; nil if an answer is needed.
  public let usual: String?
  /// The answers, or only examples if ``isNumber`` is true.
  public let choices: [Choice]
  /// Whether every number is an answer.
  public let isNumber: Bool

  /// Whether the situation has an answer already.
  let isAnswered: @Sendable (Situation) -> Bool
  /// Stores a valid answer; returns false and changes nothing for any other string.
  let set: @Sendable (String, inout Situation) -> Bool

  /// Stores an answer in a situation, in place of an earlier one.
  ///
  /// A choice is answered by its name, and not by its text. A number takes what ``ByteCount/parse(_:)`` reads, and
  /// isn't negative.
  ///
  /// - Returns: Whether it is an answer to the question. If not, nothing is changed.
  public func answer(_ answer: String, in situation: inout Situation) -> Bool {
    set(answer, &situation)
  }

  // By identifier: closures can't be compared, and a question is a constant of the library anyway.
  public static func == (left: Question, right: Question) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Question {
  /// All questions, in the order in which they are asked.
  ///
  /// ``Advisor`` relies on the order: it lets later questions have any answer, and joins the number
  /// and the size, which are neighbors.
  public static let all: [Question] = [
    choice(
      "kind", "What is it?", usual: nil,
      because: "Each store is made for one kind of data.", \.kind
    ) { $0.text },
    choice(
      "exposure", "What happens if somebody else reads it?", usual: "no harm",
      because: "Preferences, stores and files are unencrypted, on the disk and in backups.",
      \.exposure
    ) { $0 == .harmless ? "no harm" : "harm: it is private, or gives access to something" },
    choice(
      "origin", "Can it be made or loaded again?", usual: "only here",
      because: "What can be made again belongs in a cache, which backups skip.", \.origin
    ) { $0 == .only ? "no, it exists only here" : "yes" },
    choice(
      "lifetime", "How long is it needed?", usual: "at the next start, too",
      because: "Data that isn't needed at the next start needn't be on disk.", \.lifetime
    ) { $0 == .run ? "while the program runs" : "at the next start, too" },
    number(
      "count", "How many will there be?", usual: "one",
      because:
        "A list under one key is read and written as a whole; a store reads only what you ask for.",
      \.count, [1, 500, 5_000]),
    number(
      "size", "How many bytes does one have?", usual: "small",
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
      "devices", "How many of the user's devices need it?", usual: "one",
      because: "Some stores can be synced, and some belong to one device.", \.devices
    ) { $0.rawValue },
    choice(
      "ground", "What exists already?", usual: "nothing",
      because: "A Core Data stack that works may stay until the app moves for another reason.",
      \.ground
    ) { $0 == .new ? "nothing" : "Core Data, or systems before iOS 17 and macOS 14" },
  ]

  /// Questions that are never asked, and that options can answer. No answer changes the store, only the advice about
  /// it.
  ///
  /// They are apart from ``all``, so that the advisor doesn't try their answers.
  public static let refinements: [Question] = [
    choice(
      "sharing", "Who else uses it?", usual: "none",
      because:
        "Others need a place that they can access, and a store that several processes can write.",
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
      "retention", "What happens to old data?", usual: "kept",
      because: "Few stores remove anything on their own.", \.retention
    ) {
      switch $0 {
      case .kept: "it is kept"
      case .newest: "only the newest is kept"
      case .age: "it is removed at a certain age"
      }
    },
    choice(
      "platforms", "Which systems does the program run on?", usual: "all",
      because: "Directories, keychains and sync differ between systems.", \.platforms
    ) {
      switch $0 {
      case .all: "Apple's and others"
      case .apple: "only Apple's"
      case .linux: "only Linux"
      }
    },
    choice(
      "observers", "Who must be notified of changes?", usual: "none",
      because: "Some stores report changes, and some don't.", \.observers
    ) {
      switch $0 {
      case .none: "nobody"
      case .views: "views of the same program"
      case .processes: "other processes"
      }
    },
    choice(
      "shape", "Will its shape change?", usual: "fixed",
      because: "What an earlier version wrote must be read, or left alone.", \.shape
    ) { $0 == .fixed ? "no" : "yes, in later versions" },
  ]

  /// How many there are and how large each is, in one answer such as `500 of 10KB`.
  ///
  /// ``Advisor`` asks it instead of the two questions if both answers matter. An answer may give only one of them:
  /// `500` or `10KB`.
  public static let amount = Question(
    id: "amount", text: "How many will there be, and how large is each?",
    reason:
      "A list under one key is read and written as a whole; a store reads only what you ask for.",
    usual: "one, and small",
    choices: ["500 of 10 KB", "1 of 20 bytes", "5,000", "2 MB"].map { Choice(name: $0, text: $0) },
    isNumber: true, isAnswered: { $0.count != nil && $0.size != nil }, set: setAmount)

  /// The questions that ``amount`` stands for.
  static let partsOfAmount: Set<ID> = ["count", "size"]

  /// Reads `500 of 10KB`, `500 x 10KB`, or one of the two: a text with the letter b is a size.
  ///
  /// Invariant: both numbers are stored or none, so a half-understood answer leaves the situation
  /// as it was.
  private static func setAmount(_ answer: String, in situation: inout Situation) -> Bool {
    let text = answer.lowercased()
    // No unit has these letters, so they can only separate the two numbers.
    if let split = text.firstRange(of: "of") ?? text.firstRange(of: "x") {
      guard let count = ByteCount.parse(String(text[..<split.lowerBound])), count >= 0,
        let size = ByteCount.parse(String(text[split.upperBound...])), size >= 0
      else { return false }
      (situation.count, situation.size) = (count, size)
      return true
    }
    guard let number = ByteCount.parse(text), number >= 0 else { return false }
    // `KB`, `MB` and `bytes` have the letter; `2k` and `5,000` are numbers of things.
    if text.contains("b") { situation.size = number } else { situation.count = number }
    return true
  }

  /// A question whose answers are the cases of an enumeration, stored in a property of the situation.
  ///
  /// The cases' raw values are the answers, so a new case needs only its text.
  private static func choice<Answer: RawRepresentable<String> & CaseIterable & SendableMetatype>(
    _ id: String, _ text: String, usual: String?, because reason: String,
    _ path: WritableKeyPath<Situation, Answer?> & Sendable, _ title: (Answer) -> String
  ) -> Question {
    Question(
      id: id, text: text, reason: reason, usual: usual,
      choices: Answer.allCases.map { Choice(name: $0.rawValue, text: title($0)) }, isNumber: false,
      isAnswered: { $0[keyPath: path] != nil },
      set: { name, situation in
        // By the raw value alone. An interview turns a position in the list into it first.
        guard let answer = Answer(rawValue: name) else { return false }
        situation[keyPath: path] = answer
        return true
      })
  }

  /// A question whose answer is a number, with examples that people see.
  ///
  /// The examples aren't the only answers: any number is one that isn't negative.
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
        // Negative sizes would pass every limit.
        guard let number = ByteCount.parse(name), number >= 0 else { return false }
        situation[keyPath: path] = number
        return true
      })
  }
}

extension Situation.Kind {
  /// The kind in words, as a choice of the first question.
  var text: String {
    switch self {
    case .setting: "a setting, or a small value that the program remembers"
    case .secret: "a password, a token or a key"
    case .records: "records: things that are looked up, sorted or related"
    case .payloads: "a list of the most recent things that the program made"
    case .document: "a document that the user made and knows about"
    case .media: "pictures, sounds or films among the program's own data"
    case .cache: "data that was computed or loaded, and can be again"
    case .response: "responses of a web server"
    case .queue: "work that is still to be done"
    case .managed: "a value that an administrator sets for all users"
    }
  }
}
