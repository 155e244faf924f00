#if !canImport(Darwin)
  /// How an integer is written.
  public struct OSLogIntegerFormatting: Sendable {
    let radix: Int
    var hasPlus = false
    var prefix = ""
    var isUppercase = false
    var minDigits = 1

    /// In base 10.
    public static let decimal = OSLogIntegerFormatting(radix: 10)
    /// In base 16.
    public static let hex = OSLogIntegerFormatting(radix: 16)
    /// In base 8.
    public static let octal = OSLogIntegerFormatting(radix: 8)

    /// In base 10, padded with leading zeros to a number of digits.
    public static func decimal(
      explicitPositiveSign: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
      .init(radix: 10, hasPlus: explicitPositiveSign, minDigits: minDigits)
    }

    /// In base 16, with `0x` if wanted, padded with leading zeros to a number of digits.
    public static func hex(
      explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
      minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
      .init(
        radix: 16, hasPlus: explicitPositiveSign, prefix: includePrefix ? "0x" : "",
        isUppercase: uppercase, minDigits: minDigits)
    }

    /// In base 8, with `0o` if wanted, padded with leading zeros to a number of digits.
    public static func octal(
      explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
      minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
      .init(
        radix: 8, hasPlus: explicitPositiveSign, prefix: includePrefix ? "0o" : "",
        isUppercase: uppercase, minDigits: minDigits)
    }

    func text(_ value: some FixedWidthInteger) -> String {
      let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
      let zeros = String(repeating: "0", count: max(0, minDigits - digits.count))
      let sign = value < 0 ? "-" : hasPlus ? "+" : ""
      return sign + prefix + zeros + digits
    }
  }
#endif
