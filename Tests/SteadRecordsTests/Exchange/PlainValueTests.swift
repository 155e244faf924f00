import SteadSQLite
import Testing

@testable import SteadRecords

/// Texts of decimal columns, which another program may have written.
///
/// An exponent near the limits of `Int` once ended the program, and two different texts that are no numbers counted as
/// the same value.
@Suite struct PlainValueTests {
  @Test(arguments: [
    ("10", "1e1"), ("0.10", "1e-1"), ("-2.50", "-25e-1"), ("+7", "7e0"), ("000", "0"),
    ("1e3", "1e3"), ("12E-2", "12e-2"), ("NaN", "NaN"),
  ])
  func `equal numbers have one form`(text: String, form: String) {
    #expect(PlainValue.canonicalDecimal(text) == form)
  }

  @Test(arguments: [
    "1.5e-9223372036854775808", "10e9223372036854775807", "1e99999999999999999999", "", "-", "e5",
    "1.2.3", "ten", "1e", "0x10",
  ])
  func `what is no decimal number has no form`(text: String) {
    #expect(PlainValue.canonicalDecimal(text) == nil)
  }

  @Test func `texts that are no numbers are the same only if they are equal`() {
    #expect(PlainValue.isSame(.text("1.0"), .text("1"), as: .decimal))
    #expect(PlainValue.isSame(.text("ten"), .text("ten"), as: .decimal))
    #expect(!PlainValue.isSame(.text("ten"), .text("nine"), as: .decimal))
    #expect(!PlainValue.isSame(.text("ten"), .text("1"), as: .decimal))
  }
}
