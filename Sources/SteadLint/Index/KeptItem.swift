/// Something that a project keeps: a key, a model, a file or a secret, with what the source shows
/// about it.
///
/// It says what the source shows, and nothing about an actual store. Values of preferences, files
/// and secrets are never read.
///
/// ``Linter/survey()`` makes the items of a project. ``Survey/findings(about:)`` has what the rules
/// found about one.
///
/// ```swift
/// for item in try Linter(root: folder).survey().items where item.isUnlimited {
///   print("\(item.name) only grows")
/// }
/// ```
public struct KeptItem: Codable, Hashable, Sendable {
  /// What keeps it.
  public enum Kind: String, Codable, Sendable {
    /// A key of preferences.
    case preference
    /// A key of iCloud's key-value store.
    case cloudValue = "cloud-value"
    /// A model of SwiftData.
    case model
    /// A class of Core Data.
    case managedObject = "managed-object"
    /// A file that the program writes, or that a Codable value is read from.
    case file
    /// A value that goes to a keychain.
    case secret
  }

  /// What is written.
  public enum Form: String, Codable, Sendable {
    /// A value as it is, such as a string or a number.
    case plain
    /// A Codable value, whole.
    case encoded
    /// A list of Codable values, whole.
    case encodedList = "encoded-list"
    /// An image, a sound or a film.
    case media
    /// Objects with properties.
    case records
  }

  /// The stored properties of a model.
  public struct Shape: Codable, Hashable, Sendable {
    /// How many properties are stored, relationships included.
    public internal(set) var propertyCount = 0
    /// How many of them lead to models of the project.
    public internal(set) var relationshipCount = 0
    /// Data properties that are stored in the row.
    public internal(set) var inlineData: [String] = []
    /// Data properties with `.externalStorage`.
    public internal(set) var externalData: [String] = []
  }

  /// The values in keychain queries for an item.
  public struct Keychain: Codable, Hashable, Sendable {
    /// Such as "generic password"; "item" if the source doesn't show it.
    public let itemClass: String
    /// The service or the server: its string, or the expression for it in angle brackets.
    public let service: String?
    /// The account, the tag or the label, in the same way.
    public let account: String?
    /// When it can be read, as the source writes it; nil if no query sets it.
    public let accessibility: String?
    /// Whether the system's keychain syncs it to other devices.
    public let isSynced: Bool

    /// The name of a constant such as `kSecClassGenericPassword` in a sentence.
    ///
    /// It is "generic password" for that one.
    static func title(of itemClass: String) -> String {
      let words = NameWords(itemClass.dropFirst("kSecClass".count)).words
      return words.isEmpty ? "item" : words.joined(separator: " ")
    }
  }

  /// What keeps it, which also says what ``name`` is.
  public let kind: Kind
  /// The key, the model's name, or the expression that names the file.
  public let name: String
  /// Whether the name is the key itself, not an expression that makes the key at run time.
  public internal(set) var isNameKnown = true
  /// What is written: a plain value, an encoded one, bytes of media, or records.
  public let form: Form
  /// The type of the value, as far as the source shows.
  public let type: String?
  /// How many elements a list keeps, if the source has a figure for it, such as in `items.count > 50`.
  public internal(set) var limit: Int?
  /// Whether a list only grows: something appends to it, and nothing shortens it or compares its length.
  public internal(set) var isUnlimited = false
  /// Whether elements of a list are looked up, filtered or sorted.
  public internal(set) var isSearched = false
  /// Whether other devices get it.
  public internal(set) var isSynced = false
  /// The system directory that a file is in, if the source shows it.
  public internal(set) var directory: String?
  /// Whether the system may remove it, as it does with caches and temporary files.
  public internal(set) var isFleeting = false
  /// The properties of a model; nil for anything else.
  public internal(set) var shape: Shape?
  /// Nil unless the item is from a keychain query.
  public internal(set) var keychain: Keychain?
  /// How many places in the source write it. A wrapped property such as `@AppStorage` writes and reads.
  public internal(set) var writeCount = 0
  /// How many places in the source read it.
  public internal(set) var readCount = 0
  /// Where the source uses it, or where a model is declared. Never empty.
  ///
  /// Sorted by path and position, with one place for each line.
  public private(set) var places: [Place]

  /// Makes an item with the counts and marks of nothing known.
  ///
  /// - Parameter places: In any order, with repetitions; at least one.
  init(kind: Kind, name: String, form: Form, type: String?, places: [Place]) {
    self.kind = kind
    self.name = name
    self.form = form
    self.type = type
    var seen: Set<String> = []
    // One for each line: a call and its key are two places, but one line in a report.
    self.places = places.sorted { $0.precedes($1) }.filter {
      seen.insert("\($0.path):\($0.line)").inserted
    }
  }

  /// The item with a prefix before the path of each place.
  func prefixed(with prefix: String) -> KeptItem {
    var item = self
    item.places = places.map { $0.prefixed(with: prefix) }
    return item
  }
}
