public import Foundation

/// Where packages come from.
public enum PackageSource: Sendable {
  /// A package database of Debian's.
  case database(URL)
  /// The log of a git repository.
  case gitLog(repository: URL)

  /// The package database, or where there is none the log of the repository that the program runs in.
  public static var ofThisMachine: PackageSource {
    database(at: DebianStatus.path)
      ?? .gitLog(repository: URL(filePath: FileManager.default.currentDirectoryPath))
  }

  /// The package database as it was before, or what ``ofThisMachine`` is where there is none.
  public static var before: PackageSource { database(at: DebianStatus.olderPath) ?? ofThisMachine }

  private static func database(at path: String) -> PackageSource? {
    FileManager.default.fileExists(atPath: path) ? .database(URL(filePath: path)) : nil
  }

  public func records() throws -> [PackageRecord] {
    switch self {
    case .database(let url): DebianStatus.parse(try String(contentsOf: url, encoding: .utf8))
    case .gitLog(let repository): try GitLog.read(repository: repository)
    }
  }
}

extension PackageSource: CustomStringConvertible {
  public var description: String {
    switch self {
    case .database(let url): url.path
    case .gitLog(let repository): "the git log of \(repository.path)"
    }
  }
}
