import Foundation

/// One connection of a client to a server: requests are read and answered in turn.
final class Connection: Sendable {
  private static let headLimit = 1 << 20
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Answers requests until the client ends the connection, or a response asks for its end.
  func serve(_ handler: LocalServer.Handler) {
    var input = Input(descriptor: descriptor)
    while let request = input.request(limit: Self.headLimit, proceed: sendContinue) {
      guard let reply = try? handler(request), (try? send(reply, to: request)) == true else {
        return
      }
    }
  }

  func write(_ data: Data) throws {
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      rest = rest.dropFirst(count)
    }
  }

  func waitForTheClientToLeave() {
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, Int32(MSG_PEEK)) < 0, errno == EINTR {}
  }

  private func sendContinue() { try? write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }

  /// Whether the connection can be used again.
  private func send(_ reply: LocalServer.Reply, to request: LocalServer.Request) throws -> Bool {
    func has(_ name: String) -> Bool { reply.fields.contains { $0.name.lowercased() == name } }
    let hasBody = request.method != "HEAD" && reply.status != 204 && reply.status != 304
    var interim = ""
    for response in reply.interim {
      interim += "HTTP/1.1 \(response.status) Interim\r\n"
      for field in response.fields { interim += "\(field.name): \(field.value)\r\n" }
      interim += "\r\n"
    }
    if !interim.isEmpty { try write(Data(interim.utf8)) }
    var head = "HTTP/1.1 \(reply.status) \(reply.reason)\r\n"
    for field in reply.fields { head += "\(field.name): \(field.value)\r\n" }
    switch reply.body {
    case .data(let data):
      // Without a known length, the end of the connection is the body's.
      let isFramed = has("content-length") || !has("transfer-encoding")
      if hasBody, isFramed, !has("content-length") { head += "Content-Length: \(data.count)\r\n" }
      try write(Data((head + "\r\n").utf8) + (hasBody ? data : Data()))
      // A length that the fields state may not be that of the body.
      return isFramed && !(hasBody && has("content-length"))
    case .stream(let body):
      head += hasBody ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"
      try write(Data(head.utf8))
      guard hasBody else { return true }
      try body(LocalServer.Writer(connection: self))
      try write(Data("0\r\n\r\n".utf8))
      return true
    }
  }
}

/// What a client has sent and was not read yet.
private struct Input {
  let descriptor: Int32
  private var buffer = Data()

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next request; nil at the end of the connection, or when a request cannot be read.
  mutating func request(limit: Int, proceed: () -> Void) -> LocalServer.Request? {
    let end = Data("\r\n\r\n".utf8)
    var found = buffer.range(of: end)
    while found == nil {
      guard buffer.count < limit, more() else { return nil }
      found = buffer.range(of: end)
    }
    guard let found else { return nil }
    let head = String(decoding: buffer[..<found.lowerBound], as: UTF8.self)
    buffer = Data(buffer[found.upperBound...])
    var lines = head.components(separatedBy: "\r\n")
    let start = lines.removeFirst().split(separator: " ")
    guard start.count == 3 else { return nil }
    let fields = lines.compactMap { line -> (name: String, value: String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      return (String(line[..<colon]), value)
    }
    var request = LocalServer.Request(
      method: String(start[0]), target: String(start[1]), fields: fields, body: Data())
    if request["Expect"] != nil { proceed() }
    let length = request["Content-Length"].flatMap { Int($0) } ?? 0
    while buffer.count < length { guard more() else { return nil } }
    request.body = Data(buffer.prefix(length))
    buffer = Data(buffer.dropFirst(length))
    return request
  }

  private mutating func more() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    var count = recv(descriptor, &bytes, bytes.count, 0)
    while count < 0, errno == EINTR { count = recv(descriptor, &bytes, bytes.count, 0) }
    guard count > 0 else { return false }
    buffer.append(contentsOf: bytes.prefix(count))
    return true
  }
}
