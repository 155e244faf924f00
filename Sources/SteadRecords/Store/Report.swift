import Foundation

/// Reports of problems that must not stop the program, as lines on standard error.
enum Report {
  static func problem(_ text: String) {
    FileHandle.standardError.write(Data("Stead: \(text)\n".utf8))
  }
}
