#if !canImport(Darwin)
  /// How a value is padded with spaces.
  public struct OSLogStringAlignment: Sendable {
    private enum Side { case left, right }
    private let side: Side
    private let columns: Int

    private init(_ side: Side, _ columns: Int) {
      self.side = side
      // A line has no room for more in any case.
      self.columns = min(columns, LogLine.byteLimit)
    }

    /// Without padding.
    public static let none = OSLogStringAlignment(.left, 0)

    /// Left-aligned in a number of columns.
    public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.left, columns())
    }

    /// Right-aligned in a number of columns.
    public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.right, columns())
    }

    func text(_ text: String) -> String {
      let spaces = String(repeating: " ", count: max(0, columns - text.count))
      return side == .left ? text + spaces : spaces + text
    }
  }
#endif
