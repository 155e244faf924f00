import Foundation

/// What the command line of a benchmark asks for.
package struct BenchmarkOptions {
  package var only: Set<String> = []
  package var skipped: Set<String> = []
  package var rounds: Int
  /// Whether the program ends with 1 when a limit is missed.
  package var isCheck = false
  /// Whether processor time is measured, for machines that others use, too.
  package var countsProcessorTime = false

  /// What every benchmark understands, for its `usage`.
  package static let usage = """
    [--only <measure>]… [--skip <measure>]… [--rounds <n>] [--cpu] [--check]
      --cpu     measures processor time, without waiting for the disk
      --check   ends with 1 when a limit is missed
    """

  /// The options of a command line.
  ///
  /// - Parameters:
  ///   - arguments: The command line, without the program's name.
  ///   - rounds: How many rounds there are where it does not say.
  ///   - other: Takes an argument that is the program's own, with what follows it, and tells whether it
  ///     knows it.
  /// - Throws: ``UsageError`` for an argument that nobody knows.
  package init(
    _ arguments: [String], rounds: Int,
    other: (_ argument: String, _ next: () throws -> String) throws -> Bool = { _, _ in false }
  ) throws {
    self.rounds = rounds
    var rest = arguments[...]
    func next() throws -> String {
      guard let value = rest.popFirst() else { throw UsageError() }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--only": only.insert(try next())
      case "--skip": skipped.insert(try next())
      case "--rounds": self.rounds = max(1, Int(try next()) ?? rounds)
      case "--cpu": countsProcessorTime = true
      case "--check": isCheck = true
      default: guard try other(argument, next) else { throw UsageError() }
      }
    }
  }

  /// Has the clock of this process and its children measure what is asked for; called before it is used.
  package func setClock() {
    if countsProcessorTime { setenv(Clock.variable, "1", 1) }
  }

  package func includes(_ name: String) -> Bool {
    (only.isEmpty || only.contains(name)) && !skipped.contains(name)
  }
}

/// The command line is not one that the benchmark knows.
package struct UsageError: Error {
  package init() {}
}
