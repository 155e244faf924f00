#if Server
import Foundation

/// A connection that sends requests one after another and waits for each answer, for benchmarks: URLSession costs
/// more than the server.
final class RawConnection {
  struct Failure: Error {}

  private let socket: Int32
  private var rest: [UInt8] = []

  init(port: Int) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure() }
  }

  deinit { close(socket) }

  func send(_ method: String, _ path: String, token: String, body: [UInt8]) throws {
    let head =
      "\(method) /\(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
      + "Content-Length: \(body.count)\r\n\r\n"
    var bytes = Array(head.utf8) + body
    while !bytes.isEmpty {
      let count = Foundation.send(socket, bytes, bytes.count, 0)
      guard count > 0 else { throw Failure() }
      bytes.removeFirst(count)
    }
  }

  /// Reads an answer with a length, and returns its status.
  func status() throws -> Int {
    var text = ""
    while true {
      text = String(decoding: rest, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = text[..<end.lowerBound].lowercased()
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
          .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        let total = text[..<end.upperBound].utf8.count + (length ?? 0)
        if rest.count >= total {
          rest.removeFirst(total)
          return Int(text.dropFirst(9).prefix(3)) ?? 0
        }
      }
      var buffer = [UInt8](repeating: 0, count: 16_384)
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw Failure() }
      rest += buffer[..<count]
    }
  }
}
#endif
