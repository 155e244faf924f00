import Foundation

/// The program `vault.py`, which knows vaults from their documentation alone.
enum IndependentProgram {
  /// The first Python that has the package `cryptography`; nil where there is none.
  static let python: String? = ["python3", "/usr/bin/python3"].first {
    (try? ToolRun([$0, "-c", "import cryptography"]))?.status == 0
  }

  private static let source = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().file("vault.py")

  /// Runs it, and returns what it printed.
  static func call(_ arguments: [String]) throws -> Data {
    Data(try ToolRun.text([python ?? "python3", source.filePath] + arguments).utf8)
  }
}

extension Requirement {
  static let cryptography = Requirement(
    IndependentProgram.python != nil, orElse: "no Python has `cryptography`: install it")
}
