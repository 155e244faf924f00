#if !canImport(Darwin)
  import Synchronization

  @testable import SteadRecords

  /// A way to turn data into other data, and back.
  private protocol DataMethod {
    static func seal(_ data: Data) -> Data?
    static func open(_ data: Data) -> Data?
  }

  /// A number that no other data was sealed with.
  private let nonces = Mutex<UInt64>(0)

  extension Data {
    fileprivate func masked(_ key: some Collection<UInt8>) -> Data {
      let key = Array(key)
      return Data(enumerated().map { $1 ^ key[$0 % key.count] })
    }

    fileprivate static func nonce() -> Data {
      var random = SplitMix(
        seed: nonces.withLock {
          $0 += 1
          return $0
        })
      return Swift.withUnsafeBytes(of: random.next()) { Data($0) }
    }
  }

  private enum Stamped: DataMethod {
    static func seal(_ data: Data) -> Data? { Data([0xAA]) + data }
    static func open(_ data: Data) -> Data? { data.first == 0xAA ? Data(data.dropFirst()) : nil }
  }

  /// Sealed with another nonce each time, as CryptoKit does.
  private enum Salted: DataMethod {
    static func seal(_ data: Data) -> Data? {
      let nonce = Data.nonce()
      return Data([0xAA]) + nonce + data.masked(nonce)
    }
    static func open(_ data: Data) -> Data? {
      guard data.first == 0xAA, data.count > 8 else { return nil }
      return Data(data.dropFirst(9)).masked(data.dropFirst().prefix(8))
    }
  }

  /// Without anything that says whether it is sealed.
  private enum Streamed: DataMethod {
    static func seal(_ data: Data) -> Data? {
      let nonce = Data.nonce()
      return nonce + data.masked(nonce)
    }
    static func open(_ data: Data) -> Data? {
      data.count < 8 ? nil : Data(data.dropFirst(8)).masked(data.prefix(8))
    }
  }

  private enum Base64: DataMethod {
    static func seal(_ data: Data) -> Data? { data.base64EncodedData() }
    static func open(_ data: Data) -> Data? { data.isEmpty ? data : Data(base64Encoded: data) }
  }

  /// Only of text.
  private enum Quoted: DataMethod {
    static func seal(_ data: Data) -> Data? {
      String(data: data, encoding: .utf8).map { Data("<\($0)>".utf8) }
    }
    static func open(_ data: Data) -> Data? {
      data.first == 0x3C && data.last == 0x3E ? Data(data.dropFirst().dropLast()) : nil
    }
  }

  /// Both ways lead back.
  private enum Shifted: DataMethod {
    static func seal(_ data: Data) -> Data? { Data(data.map { $0 &+ 1 }) }
    static func open(_ data: Data) -> Data? { Data(data.map { $0 &- 1 }) }
  }

  // MARK: Classes that no other case has used

  private protocol CaseNumber {}
  private enum NoBit: CaseNumber {}
  private enum Zero<Rest: CaseNumber>: CaseNumber {}
  private enum One<Rest: CaseNumber>: CaseNumber {}

  private func caseType(_ number: Int) -> any CaseNumber.Type {
    func extended<N: CaseNumber>(_ rest: N.Type) -> any CaseNumber.Type {
      if number % 2 == 0 { return Zero<N>.self }
      return One<N>.self
    }
    if number == 0 { return NoBit.self }
    return extended(caseType(number / 2))
  }

  private class Sealer<Method: DataMethod, Number: CaseNumber>: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { data(value).flatMap(Method.seal) }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      data(value).flatMap(Method.open)
    }
    fileprivate func data(_ value: Any?) -> Data? {
      value as? Data ?? (value as? NSData).map { Data(referencing: $0) }
    }
  }

  private final class Opener<Method: DataMethod, Number: CaseNumber>: Sealer<Method, Number> {
    override func transformedValue(_ value: Any?) -> Any? { data(value).flatMap(Method.open) }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      data(value).flatMap(Method.seal)
    }
  }

  private func transformer<Method: DataMethod, Number: CaseNumber>(
    _ method: Method.Type, _ number: Number.Type, opens: Bool
  ) -> ValueTransformer {
    opens ? Opener<Method, Number>() : Sealer<Method, Number>()
  }

  /// The first value decided which way a transformer works. Of a transformer between data and data each way gives data,
  /// and one that seals with a nonce never gives the same data again. So a process that read first took the wrong way:
  /// it showed what was stored as if it were sealed once more, and refused new values.
  @Suite("which way a transformer from data to data works") struct DataTransformerTests {
    private static var methods: [any DataMethod.Type] {
      [Stamped.self, Salted.self, Streamed.self, Base64.self, Quoted.self, Shifted.self]
    }

    /// What a transformer is used for first.
    enum First: CaseIterable { case stores, reads, readsOptional, readsObject }

    /// Values that look sealed, that are text or base64, and others.
    private static func value(_ random: inout SplitMix, isText: Bool) -> Data {
      if Bool.random(using: &random) {
        let text = ["abcd", "<b>", "", "QUJD", "<", "sample"].randomElement(using: &random) ?? ""
        return Data(text.utf8)
      }
      if isText { return Data("\(UInt64.random(in: 0...(.max), using: &random))".utf8) }
      let bytes = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      return Data((Bool.random(using: &random) ? [0xAA] : []) + bytes)
    }

    @Test func `the first use of a class in a process makes no difference`() {
      var (number, random) = (0, SplitMix(seed: 8))
      for _ in 0..<Effort.times(6) {
        for method in Self.methods {
          for opens in [false, true] {
            for first in First.allCases {
              number += 1
              func check<M: DataMethod>(_ method: M.Type) {
                let made = transformer(method, caseType(number), opens: opens)
                Self.check(made, method, opens, first, &random)
              }
              check(method)
            }
          }
        }
      }
    }

    private static func check<M: DataMethod>(
      _ transformer: ValueTransformer, _ method: M.Type, _ opens: Bool, _ first: First,
      _ random: inout SplitMix
    ) {
      // Where both ways lead back, the forward one counts.
      let isSwapped = opens && method == Shifted.self
      func seal(_ data: Data) -> Data? { isSwapped ? M.open(data) : M.seal(data) }
      func open(_ data: Data) -> Data? { isSwapped ? M.seal(data) : M.open(data) }
      func value() -> Data { Self.value(&random, isText: method == Quoted.self) }
      let (old, comment): (Data, Comment) = (value(), "\(method) \(opens) \(first)")
      guard let stored = seal(old) else {
        Issue.record(comment)
        return
      }
      switch first {
      case .stores: #expect(transformer.storedData(of: old).flatMap(open) == old, comment)
      case .reads:
        #expect(transformer.storedValue(of: stored, as: Data.self) == old, comment)
      case .readsOptional:
        #expect(transformer.storedValue(of: stored, as: Data?.self) == .some(old), comment)
      case .readsObject:
        let object = transformer.storedValue(of: stored, as: NSData.self)
        #expect(object.map { Data(referencing: $0) } == old, comment)
      }
      for _ in 0..<3 {
        let new = value()
        let data = transformer.storedData(of: Optional(new))
        #expect(data.flatMap(open) == new, comment)
        #expect(data.flatMap { transformer.storedValue(of: $0, as: Data.self) } == new, comment)
        #expect(transformer.storedValue(of: stored, as: Data.self) == old, comment)
      }
    }
  }
#endif
