/// What the command line asks for.
struct Options {
  var only: Set<String> = []
  var rounds = 9
  /// Whether processor time is measured, for machines that others use, too.
  var countsProcessorTime = false
  /// Whether the program ends with 1 when a limit is missed.
  var isCheck = false

  static let usage = """
    usage: secrets [--only <measure>]… [--rounds <n>] [--cpu] [--check]
      --cpu     measures this process's processor time, without waiting for the disk or the service
      --check   ends with 1 when a limit is missed
    measures: vault-get, vault-set, vault-open, service-get, service-set, service-open
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func next() throws -> String {
      guard let value = rest.popFirst() else { throw UsageError() }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--only": only.insert(try next())
      case "--rounds": rounds = max(1, Int(try next()) ?? rounds)
      case "--cpu": countsProcessorTime = true
      case "--check": isCheck = true
      default: throw UsageError()
      }
    }
  }

  func includes(_ name: String) -> Bool { only.isEmpty || only.contains(name) }

  struct UsageError: Error {}
}
