/// The words of a name, in lower case: `llmPolishingAPIKey` and `llm_polishing-api.key` have the
/// same.
///
/// A run of capitals is one word up to the letter before a lowercase one: `APIKey` is `api`, `key`.
///
/// Rules that go by names compare whole words and never parts of them, so that `tokenizer` is no
/// token and `cachet` no cache. A source expression can be taken apart like a name: what isn't a
/// letter or a digit separates words.
struct NameWords: Hashable, Sendable {
  /// In the order of the name, without empty ones.
  let words: [String]

  /// Takes a name apart. Costs one pass over its characters and a string for each word.
  init(_ name: some StringProtocol) {
    var words: [String] = []
    var word = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        words.append(word)
        word = ""
        continue
      }
      // The last capital of a run begins the next word if a lowercase letter follows: `APIKey`.
      let follows = index + 1 < characters.count && characters[index + 1].isLowercase
      // A number doesn't begin a word, so `sha256` is one, but a capital after it does.
      let previous = index > 0 ? characters[index - 1] : "_"
      let begins =
        character.isUppercase
        && (previous.isLowercase || previous.isNumber || (previous.isUppercase && follows))
      if begins {
        words.append(word)
        word = ""
      }
      word += character.lowercased()
    }
    words.append(word)
    self.words = words.filter { !$0.isEmpty }
  }

  /// Whether one of the words is among its own, as a whole: `token` isn't in `tokenizer`.
  func contains(anyOf others: Set<String>) -> Bool {
    words.contains(where: others.contains)
  }

  /// Whether it ends with these words in this order.
  func ends(with others: [String]) -> Bool {
    words.suffix(others.count) == others[...]
  }

  /// The name without its last word.
  func dropLast() -> NameWords {
    NameWords(words: Array(words.dropLast()))
  }

  /// A name of words that are known already.
  private init(words: [String]) {
    self.words = words
  }
}

extension NameWords {
  /// Words after a secret's name that don't change what it is.
  ///
  /// `apiKeyString` holds the same as `apiKey`, and `passwordPreference` a password.
  private static let tails: Set<String> = [
    "key", "value", "string", "data", "text", "pref", "preference",
  ]
  /// Words in the names of settings and counts about secrets.
  ///
  /// One of them anywhere in a name is enough: `hasPassword`, `passwordCount` and `resetPassword`
  /// are flags, numbers and actions. Words that most likely replace the secret by something
  /// harmless, such as `encrypted` and `masked`, are here, too.
  private static let questions: Set<String> = [
    "has", "is", "should", "show", "shows", "hide", "use", "uses", "remember", "remembers", "save",
    "saves",
    "enable", "enabled", "needs", "require", "requires", "did", "can", "min", "max", "total", "num",
    "number",
    "count", "allow", "allows", "forgot", "forget", "reset", "change", "last", "no", "without",
    "supports",
    "encrypted", "hashed", "hash", "salted", "masked", "redacted", "fake", "test", "mock", "sample",
    "keychain",
    "public", "wants", "ask", "asks", "include", "includes", "store", "stores", "expired",
    "disable", "disabled",
    "update", "input",
  ]
  /// Endings that name a secret.
  ///
  /// Several words are one ending, since `key` and `token` alone are too common: most keys aren't
  /// secret.
  private static let secrets: [[String]] = [
    ["password"], ["passwd"], ["passcode"], ["passphrase"], ["secret"], ["api", "key"], ["apikey"],
    ["private", "key"],
    ["secret", "key"], ["encryption", "key"], ["client", "secret"], ["access", "token"],
    ["refresh", "token"],
    ["auth", "token"], ["authentication", "token"], ["authorization", "token"],
    ["bearer", "token"],
    ["session", "token"], ["api", "token"], ["login", "token"], ["user", "token"],
    ["oauth", "token"],
    ["id", "token"], ["jwt"], ["jwt", "token"], ["token"], ["mnemonic"], ["seed", "phrase"],
    ["recovery", "phrase"],
    ["recovery", "key"], ["master", "key"], ["cvv"], ["ssn"], ["pin", "code"],
    ["access", "tokens"],
    ["refresh", "tokens"], ["passwords"], ["api", "keys"], ["secrets"], ["private", "keys"],
    ["authtoken"],
    ["accesstoken"], ["refreshtoken"], ["secretkey"], ["privatekey"], ["mnemonics"],
  ]
  /// Words that make a token something other than a secret.
  ///
  /// They are about push services, pages and changes, coins, and a text's grammar.
  private static let harmlessTokens: Set<String> = [
    "push", "device", "fcm", "apns", "voip", "change", "history", "sync", "page", "next",
    "continuation", "cursor",
    "cancellation", "observation", "observer", "notification", "placeholder", "design", "keyword",
    "syntax", "text",
    "delta", "pagination", "registration", "firebase", "messaging", "paging", "end", "stop",
    "start", "file", "ubiquity",
    "identity", "erc20", "native", "selected", "lp", "reward", "coin", "buy", "sell", "swap",
    "crypto", "nft", "custom",
    "dedupe", "authenticity", "server", "remote", "live", "activity", "string", "request",
  ]

  /// Whether it names a secret: the secret must be its last noun, so `lastTokenUpdate` and `maxTokens` don't.
  ///
  /// Endings that say nothing, such as `Key` and `String`, are taken off one by one, so `tokenKey` is `token`.
  ///
  /// The name is all that decides. A value's type and what is done with it are asked by the rules.
  var nameSecret: Bool {
    if let last = words.last, last.last?.isNumber == true, last.first?.isLetter == true {
      // A secret with a number or a version: `wifiPassword2`, `access_token_v1`.
      let plain = String(last.prefix { $0.isLetter })
      return NameWords(words: words.dropLast() + (plain == "v" ? [] : [plain])).nameSecret
    }
    // Before the endings: `hasPassword` ends in a secret, too.
    if words.contains(where: Self.questions.contains) { return false }
    if Self.secrets.contains(where: ends) { return !isHarmlessToken }
    // Abbreviations in a row can't be separated: `openAIAPIKey`.
    if words.joined().hasSuffix("apikey") { return true }
    guard let last = words.last, Self.tails.contains(last), words.count > 1 else { return false }
    return dropLast().nameSecret
  }

  /// Whether it ends with the word token and another word says that the token gives no access.
  private var isHarmlessToken: Bool {
    // StoreKit's `appAccountToken` is an identifier that the app makes.
    words.last == "token"
      && (contains(anyOf: Self.harmlessTokens) || ends(with: ["app", "account", "token"]))
  }
}

extension [String] {
  /// Whether it has these words one after the other.
  ///
  /// Costs the product of both lengths, which are a few words each.
  func containsRun(_ run: [String]) -> Bool {
    indices.contains { self[$0...].starts(with: run) }
  }
}

// MARK: - Strings

extension StringProtocol {
  /// Without spaces and line breaks at both ends.
  var trimmed: String {
    var rest = self[...]
    while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    return String(rest)
  }

  /// The part after the last full stop.
  ///
  /// The whole string if it has none, and empty for an empty string.
  var lastComponent: String {
    String(split(separator: ".").last ?? "")
  }

  /// A type's name without the optional, array or set around it.
  ///
  /// Dictionaries stay as they are. `any` and `some` are left out.
  var elementType: String {
    var name = trimmed
    while true {
      // One layer in each round, so `[Note?]?` becomes `Note`.
      if name.hasSuffix("?") || name.hasSuffix("!") {
        name = String(name.dropLast()).trimmed
      } else if name.hasPrefix("["), name.hasSuffix("]"), !name.contains(":") {
        name = String(name.dropFirst().dropLast()).trimmed
      } else if let inner = name.inside("Optional") ?? name.inside("Array") ?? name.inside("Set") {
        name = inner
      } else {
        for word in ["any ", "some "] where name.hasPrefix(word) {
          name = String(name.dropFirst(word.count)).trimmed
        }
        return name
      }
    }
  }

  /// The type of a dictionary's values, or of a list's elements.
  ///
  /// That of `[String: [Note]]` is `Note`: the type whose fields are stored.
  var payloadType: String {
    let name = elementType
    guard name.hasPrefix("["), name.hasSuffix("]"), let colon = name.firstIndex(of: ":") else {
      return name
    }
    return String(name[name.index(after: colon)...].dropLast()).elementType
  }

  /// What is between the angle brackets of a generic type with a name.
  ///
  /// Nil for another generic type, or none.
  private func inside(_ generic: String) -> String? {
    guard hasPrefix(generic + "<"), hasSuffix(">") else { return nil }
    return String(dropFirst(generic.count + 1).dropLast()).trimmed
  }

  /// Whether a type is optional as it's written.
  var isOptionalType: Bool {
    let name = trimmed
    return name.hasSuffix("?") || name.hasSuffix("!") || name.hasPrefix("Optional<")
  }

  /// Whether a type is a list as it's written.
  ///
  /// An optional list is one; a dictionary isn't.
  var isListType: Bool {
    var name = trimmed
    while name.hasSuffix("?") || name.hasSuffix("!") { name = String(name.dropLast()) }
    if name.hasPrefix("[") { return !name.contains(":") }
    return name.hasPrefix("Array<") || name.hasPrefix("Set<")
  }

  /// Whether the strings differ in exactly one character: another one, or a missing one.
  ///
  /// Two letters that changed places differ in two characters, so they don't count. Costs one pass
  /// over both.
  func isOneEdit(from other: some StringProtocol) -> Bool {
    let (long, short) =
      count >= other.count ? (Array(self), Array(other)) : (Array(other), Array(self))
    guard long.count - short.count <= 1, String(long) != String(short) else { return false }
    // Behind the first difference both must go on alike: with one character skipped in the longer
    // one, or in both.
    let start = zip(long, short).prefix { $0 == $1 }.count
    let rest = long.count == short.count ? short[(start + 1)...] : short[start...]
    return Array(long[(start + 1)...]) == Array(rest)
  }
}
