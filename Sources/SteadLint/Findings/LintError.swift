/// Why a run has no report.
public struct LintError: Error, CustomStringConvertible {
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case unreadable, cancelled, tooManyFiles, unwritable }
    private let name: Name

    /// The code's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// The folder, or a baseline, can't be read.
    public static let unreadable = Code(name: .unreadable)
    /// The run was cancelled.
    public static let cancelled = Code(name: .cancelled)
    /// The folder has more files than the limit.
    public static let tooManyFiles = Code(name: .tooManyFiles)
    /// The cache or a baseline can't be written.
    public static let unwritable = Code(name: .unwritable)
  }

  public var code: Code
  public var message: String
  public var cause: (any Error)?

  public var description: String { message }

  init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}
