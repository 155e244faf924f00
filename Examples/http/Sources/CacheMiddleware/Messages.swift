#if Server
  import Foundation
  import HTTPTypes
  import Hummingbird
  import SteadCaches

  extension HTTPCache.Request {
    /// What ends an authority for a parser of URLs, or divides it.
    private static let delimiters = "/?#@\\"

    /// A router's request; nil if it may not be looked up or stored, since its URL isn't exactly what is routed.
    ///
    /// A client chooses both the host and the target. What they make together is parsed once more, as a URL, which must not move
    /// the border between them, drop a fragment or encode a character: the answer to one target would be stored for
    /// another one, which everybody gets.
    init?(_ request: Request, scheme: String) {
      guard let authority = request.head.authority, let path = request.head.path,
        !authority.isEmpty, !authority.contains(where: Self.delimiters.contains),
        path.hasPrefix("/"), !path.contains("#"),
        let url = URL(string: "\(scheme)://\(authority)\(path)"),
        url.absoluteString == "\(scheme)://\(authority)\(path)"
      else { return nil }
      // A length that isn't a number is one, too.
      let length = request.headers[.contentLength].map { Int($0) } ?? 0
      self.init(
        method: request.method.rawValue, url: url,
        fields: HTTPCache.Fields(request.headers.map { ($0.name.rawName, $0.value) }),
        hasBody: length != 0 || request.headers.contains(.transferEncoding))
    }
  }

  extension Request {
    /// The same request with the fields that the cache sends.
    ///
    /// In HTTP/2 a body needs no field that announces it. The answer to a GET may be stored for all who ask for its URL, so
    /// the route gets no body that the cache doesn't know of.
    func asking(_ question: HTTPCache.Request) -> Request {
      var head = head
      head.headerFields = HTTPFields(question.fields)
      let isWithoutBody = !question.hasBody && [.get, .head].contains(method)
      return Request(head: head, body: isWithoutBody ? .init(buffer: ByteBuffer()) : body)
    }
  }

  extension HTTPFields {
    init(_ fields: HTTPCache.Fields) {
      self.init()
      for field in fields {
        if let name = HTTPField.Name(field.name) {
          append(HTTPField(name: name, value: field.value))
        }
      }
    }
  }

  extension HTTPCache.Response {
    init(_ response: Response) {
      self.init(
        status: response.status.code,
        fields: HTTPCache.Fields(response.headers.map { ($0.name.rawName, $0.value) }))
    }
  }

  extension Response {
    init(_ reply: HTTPCache.Reply) {
      var headers = HTTPFields(reply.response.fields)
      if let name = HTTPField.Name("Cache-Status") { headers[name] = reply.outcome.cacheStatus() }
      let body: ResponseBody
      if let data = reply.body.bytes {
        body = ResponseBody(byteBuffer: ByteBuffer(bytes: data))
      } else {
        let length = headers[.contentLength].flatMap { Int($0) }
        body = ResponseBody(contentLength: length) { writer in
          for try await chunk in reply.body { try await writer.write(ByteBuffer(bytes: chunk)) }
          try await writer.finish(nil)
        }
      }
      self.init(status: .init(code: reply.response.status), headers: headers, body: body)
    }
  }
#endif
