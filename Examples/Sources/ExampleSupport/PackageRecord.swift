/// What a source says of one package.
public struct PackageRecord: Equatable, Sendable {
  public var name = ""
  public var version = ""
  public var priority = Priority.optional
  /// In KiB.
  public var installedSize = 0
  /// nil where the source names none.
  public var section: String?
  public var maintainer = Person(name: "", address: "")
  public var summary = ""
  public var details = ""
  public var dependencies: [Need] = []

  /// A need, and the names of the packages of which any satisfies it.
  public struct Need: Equatable, Sendable {
    public let text: String
    public let names: [String]
  }

  public init() {}
}

public enum Priority: String, Codable, CaseIterable, Sendable {
  case required, important, standard, optional, extra
}
