/// What the command line says.
public struct HelperOptions: Equatable, Sendable {
  /// Where the passwords are to be.
  public enum Store: String, Sendable {
    case automatic
    case secretService = "secret-service"
    case vault
  }

  /// What is to be done.
  public enum Operation: Equatable, Sendable {
    case get, store, erase
    /// To tell which store has the passwords, and why.
    case backend
    /// One of a newer git, which is to be passed over.
    case other(String)
  }

  /// How the program is called.
  public static let usage = """
    usage: git-credential-stead [--store automatic|secret-service|vault]
                                [--vault FILE [--key-file FILE]] get|store|erase
           git-credential-stead [...] backend

    Keeps git's passwords in the Secret Service or in an encrypted file:
      git config --global credential.helper /path/to/git-credential-stead
    """

  public var store = Store.automatic
  /// The vault's file; nil means the usual one.
  public var vault: String?
  /// The file with the vault's key; nil means the usual one.
  public var keyFile: String?
  public var operation: Operation

  /// - Throws: ``CredentialError`` when the arguments, without the program's name, make no sense.
  public init(_ arguments: [String]) throws(CredentialError) {
    var store: Store?
    var words: [String] = []
    var rest = arguments[...]
    func value(of option: String) throws(CredentialError) -> String {
      guard let value = rest.popFirst(), !value.isEmpty else {
        throw CredentialError("The option \(option) needs a value.")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--store":
        store = Store(rawValue: try value(of: argument))
        if store == nil { throw CredentialError("There is no such store.") }
      case "--vault": vault = try value(of: argument)
      case "--key-file": keyFile = try value(of: argument)
      case _ where argument.hasPrefix("-"):
        throw CredentialError("There is no option \(argument).")
      default: words.append(argument)
      }
    }
    if vault != nil || keyFile != nil {
      guard store == nil || store == .vault, vault != nil else {
        throw CredentialError("--vault and --key-file are for --store vault, and go together.")
      }
      store = .vault
    }
    self.store = store ?? .automatic
    operation = try Self.operation(words)
  }

  private static func operation(_ words: [String]) throws(CredentialError) -> Operation {
    switch (words.first, words.count) {
    case ("get", 1): .get
    case ("store", 1): .store
    case ("erase", 1): .erase
    case ("backend", 1): .backend
    case (let word?, 1): .other(word)
    default: throw CredentialError("Say what is to be done: get, store, erase or backend.")
    }
  }
}
