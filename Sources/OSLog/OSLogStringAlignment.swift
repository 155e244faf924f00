#if !canImport(Darwin)
  /// How a value is filled up with spaces.
  public struct OSLogStringAlignment: Sendable {
    private enum Side { case left, right }
    private let side: Side
    private let columns: Int

    private init(_ side: Side, _ columns: Int) {
      self.side = side
      // A line holds no more than this in any case.
      self.columns = min(columns, LogLine.byteLimit)
    }

    /// Not at all.
    public static let none = OSLogStringAlignment(.left, 0)

    /// On the left of so many columns.
    public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.left, columns())
    }

    /// On the right of so many columns.
    public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.right, columns())
    }

    func text(_ text: String) -> String {
      let spaces = String(repeating: " ", count: max(0, columns - text.count))
      return side == .left ? text + spaces : spaces + text
    }
  }
#endif
