import Foundation

/// One who has a name on a message bus and answers nothing that is sent to it.
package final class SilentPeer: Sendable {
  private let descriptor: Int32

  /// - Parameters:
  ///   - name: The name it takes.
  ///   - bus: The bus to take it on.
  package init(_ name: String, on bus: PrivateBus) throws {
    descriptor = try UnixSocket.connect(bus.directory.file("bus").filePath)
    let user = "\(getuid())".utf8.map { String(format: "%02x", $0) }.joined()
    try send(Data("\0AUTH EXTERNAL \(user)\r\n".utf8))
    try wait { $0.contains(Data("OK ".utf8)) }
    try send(
      Data("BEGIN\r\n".utf8) + Self.message(1, "Hello") + Self.message(2, "RequestName", name))
    // The bus tells its new owner of the name.
    try wait { $0.contains(Data("NameAcquired".utf8)) && $0.contains(Data(name.utf8)) }
  }

  deinit { close(descriptor) }

  private func send(_ data: Data) throws {
    let count = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == data.count else { throw CocoaError(.fileWriteUnknown) }
  }

  private func wait(until isEnough: (Data) -> Bool) throws {
    var all = Data()
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !isEnough(all) {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw CocoaError(.fileReadUnknown) }
      all += bytes.prefix(count)
    }
  }

  /// A call of a method of the bus, as the D-Bus specification lays it out: little-endian, with a text
  /// and a number of 0 as arguments where there is a text.
  private static func message(_ serial: UInt32, _ method: String, _ argument: String? = nil) -> Data
  {
    var body = Data()
    if let argument {
      body.append(text: argument)
      body.append(aligned: 4, UInt32(0))
    }
    var fields = Data()
    fields.append(field: 1, "o", "/org/freedesktop/DBus")
    fields.append(field: 6, "s", "org.freedesktop.DBus")
    fields.append(field: 2, "s", "org.freedesktop.DBus")
    fields.append(field: 3, "s", method)
    if argument != nil {
      fields.align(8)
      // The field of the signature: code, type "g", and the signature "su".
      fields += [8, 1, UInt8(ascii: "g"), 0, 2, UInt8(ascii: "s"), UInt8(ascii: "u"), 0]
    }
    var message = Data([UInt8(ascii: "l"), 1, 0, 1])
    for number in [UInt32(body.count), serial, UInt32(fields.count)] {
      message.append(aligned: 4, number)
    }
    message += fields
    message.align(8)
    return message + body
  }
}

extension Data {
  fileprivate mutating func align(_ size: Int) { while count % size != 0 { append(0) } }

  fileprivate mutating func append(aligned size: Int, _ number: UInt32) {
    align(size)
    append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }

  fileprivate mutating func append(text: String) {
    append(aligned: 4, UInt32(text.utf8.count))
    append(contentsOf: text.utf8)
    append(0)
  }

  fileprivate mutating func append(field code: UInt8, _ type: Character, _ text: String) {
    align(8)
    append(contentsOf: [code, 1, type.asciiValue ?? 0, 0])
    append(text: text)
  }
}
