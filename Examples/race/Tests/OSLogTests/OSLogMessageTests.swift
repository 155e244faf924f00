#if !canImport(Darwin)
  import Testing

  @testable import OSLog

  @Suite struct OSLogMessageTests {
    struct Secret: CustomStringConvertible { var description: String { "secret" } }
    struct Failure: Error {}

    private func text(_ message: OSLogMessage) -> String { message.text(showingPrivateData: false) }

    @Test func `shows numbers and hides text unless told`() {
      let (name, count) = ("Ada", 3)
      #expect(text("\(name) has \(count)") == "<private> has 3")
      #expect(
        text("\(name, privacy: .public) has \(count, privacy: .private)") == "Ada has <private>")
      #expect(text("\(name, privacy: .sensitive)") == "<sensitive>")
      #expect(text("\(true) \(1.5) \(Float(2)) \(UInt8(7))") == "true 1.500000 2.000000 7")
      #expect(text("\(Secret()) \(Failure()) \(Int.self)") == "<private> <private> <private>")
      #expect(text("\(Secret(), privacy: .public) \(Int.self, privacy: .public)") == "secret Int")
      #expect(text("\([1, 2], privacy: .public)") == "[1, 2]")
      #expect(text("plain 100 %") == "plain 100 %")
    }

    @Test func `masks equal values equally`() {
      let ada = text("\("Ada", privacy: .private(mask: .hash))")
      #expect(ada.hasPrefix("<mask.hash: '") && !ada.contains("Ada"))
      #expect(ada == text("\("Ada", privacy: .sensitive(mask: .hash))"))
      #expect(ada != text("\("Bob", privacy: .auto(mask: .hash))"))
      #expect(text("\(1, privacy: .auto(mask: .hash))") == "1")
    }

    @Test func `formats numbers`() {
      #expect(text("\(255, format: .hex)") == "ff")
      #expect(text("\(255, format: .hex(includePrefix: true, uppercase: true))") == "0xFF")
      #expect(text("\(8, format: .octal)") == "10")
      #expect(text("\(5, format: .decimal(minDigits: 3))") == "005")
      #expect(text("\(-5, format: .decimal(explicitPositiveSign: true))") == "-5")
      #expect(text("\(5, format: .decimal(explicitPositiveSign: true))") == "+5")
      #expect(text("\(Int.min)") == "\(Int.min)")
      #expect(text("\(1.256, format: .fixed(precision: 2))") == "1.26")
      #expect(text("\(12345.0, format: .exponential(precision: 1))") == "1.2e+04")
      #expect(text("\(0.5, format: .hybrid)") == "0.5")
      #expect(text("\(true, format: .answer)") == "yes")
    }

    @Test func aligns() {
      #expect(text("[\(5, align: .right(columns: 3))]") == "[  5]")
      #expect(text("[\("a", align: .left(columns: 3), privacy: .public)]") == "[a  ]")
      #expect(text("[\("long", align: .left(columns: 3), privacy: .public)]") == "[long]")
    }

    private func line(_ text: String) -> String {
      let line = LogLine(text, level: .info, subsystem: "", category: "", at: timespec())
      return String(decoding: line.bytes, as: UTF8.self)
    }

    @Test func `escapes what would break the line`() {
      let hostile = line("a\nb\r\u{1B}[31mc\td")
      #expect(hostile.hasSuffix(#"Info a\nb\x0d\x1b[31mc"# + "\td\n"))
      #expect(hostile.hasPrefix("1970-01-01T00:00:00.000000Z "))
    }

    @Test(arguments: ["a", "é", "🐟"])
    func `cuts lines that a pipe would tear apart`(letter: String) {
      for extra in 0..<4 {
        let text = String(repeating: "x", count: extra) + String(repeating: letter, count: 5000)
        let line = LogLine(text, level: .info, subsystem: "", category: "", at: timespec())
        #expect(line.bytes.count <= LogLine.byteLimit && line.bytes.count > LogLine.byteLimit - 8)
        #expect(String(validating: line.bytes, as: UTF8.self)?.hasSuffix("…\n") == true)
      }
    }
  }
#endif
