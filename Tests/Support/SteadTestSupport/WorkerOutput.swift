import Foundation

/// Prints a line with one write, so that what has been printed is whole whenever the end comes.
package func say(_ line: String) {
  var line = line + "\n"
  line.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while !rest.isEmpty {
      let count = write(STDOUT_FILENO, rest.baseAddress, rest.count)
      // Nobody reads any more: the test has ended, and so must this.
      guard count > 0 else { exit(2) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
