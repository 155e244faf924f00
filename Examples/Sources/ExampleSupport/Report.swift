import Foundation

/// Prints what was done, and how long it took.
public struct Report {
  private let clock = ContinuousClock()

  public init() {}

  public func title(_ text: String) {
    print("\n\(text)")
    print(String(repeating: "-", count: text.count))
  }

  /// Runs a step, and prints its time beside what it says of itself.
  @discardableResult
  public func step<Result>(_ name: String, _ body: () throws -> (Result, String)) rethrows -> Result
  {
    let start = clock.now
    let (result, text) = try body()
    let time = start.duration(to: clock.now)
    row(milliseconds(time), "\(name): \(text)")
    return result
  }

  /// Runs a step, and prints its Swift above what it did and how long it took.
  @discardableResult
  public func show<Result>(
    _ name: String, _ body: () throws -> Result, giving text: (Result) throws -> String,
    file: String = #filePath, line: Int = #line
  ) rethrows -> Result {
    print("")
    for line in ShownSource.closure(in: ShownSource.lines(of: file), callLine: line) {
      print("  " + line)
    }
    let start = clock.now
    let result = try body()
    let time = start.duration(to: clock.now)
    row(milliseconds(time), "\(name): \(try text(result))")
    return result
  }

  public func row(_ left: some CustomStringConvertible, _ right: String) {
    print(pad(left.description, to: 11) + "  \(right)")
  }

  private func milliseconds(_ time: Duration) -> String {
    let value = Double(time.components.attoseconds) / 1e15 + Double(time.components.seconds) * 1e3
    return String(format: "%.1f ms", value)
  }

  private func pad(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
