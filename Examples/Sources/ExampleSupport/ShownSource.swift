import Foundation

/// The Swift of a closure, read from the file that the call is in, so that what is shown is what runs.
enum ShownSource {
  /// Empty where the file is gone, as for a program that was copied to another machine.
  static func lines(of path: String) -> [Substring] {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The lines of the first closure of a call, without the indentation that they have in common.
  ///
  /// - Parameter callLine: The line on which the closure begins, counted from 1.
  static func closure(in lines: [Substring], callLine: Int) -> [String] {
    guard lines.indices.contains(callLine - 1) else { return [] }
    let call = lines[callLine - 1]
    guard call.last == "{" else {
      guard let open = call.firstIndex(of: "{"), let close = call[open...].firstIndex(of: "}")
      else {
        return []
      }
      return [call[call.index(after: open)..<close].trimmingCharacters(in: .whitespaces)]
    }
    // The formatter puts the closing brace below the first letter of the call.
    let body = lines[callLine...].prefix { indentation($0) > indentation(call) }
    let common = body.map(indentation).min() ?? 0
    return body.map { String($0.dropFirst(common)) }
  }

  private static func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
}
