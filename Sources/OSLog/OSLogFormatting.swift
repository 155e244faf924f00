#if !canImport(Darwin)
  /// How a boolean is written.
  ///
  /// ```swift
  /// logger.info("synced: \(isSynced, format: .answer)")  // synced: yes
  /// ```
  public enum OSLogBoolFormat: Sendable {
    /// As `true` or `false`.
    case truth
    /// As `yes` or `no`.
    case answer

    func text(_ value: Bool) -> String {
      switch self {
      case .truth: value ? "true" : "false"
      case .answer: value ? "yes" : "no"
      }
    }
  }

  /// How an integer is written.
  ///
  /// ```swift
  /// logger.info("flags \(flags, format: .hex(includePrefix: true, minDigits: 4))")
  /// // flags 0x000c
  /// ```
  public struct OSLogIntegerFormatting: Sendable {
    /// 8, 10 or 16.
    let radix: Int
    var hasPlus = false
    /// What is between the sign and the digits.
    var prefix = ""
    var isUppercase = false
    /// The number of digits that zeros fill up to; sign and prefix don't count.
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
      // The magnitude, since negating the least number of a type would trap.
      let digits = String(value.magnitude, radix: radix, uppercase: isUppercase)
      let zeros = String(repeating: "0", count: max(0, minDigits - digits.count))
      let sign = value < 0 ? "-" : hasPlus ? "+" : ""
      // The sign before the prefix, as in a literal: `-0x1f`.
      return sign + prefix + zeros + digits
    }
  }

  /// How a floating-point number is written. The decimal separator is a point in every locale.
  ///
  /// ```swift
  /// logger.info("took \(seconds, format: .fixed(precision: 3)) s")  // took 0.125 s
  /// ```
  public struct OSLogFloatFormatting: Sendable {
    /// The letter of the conversion as in C's `printf`.
    let conversion: String
    /// Digits after the point, or significant ones for `g`; nil for the conversion's default.
    var precision: Int? = nil
    var hasPlus = false
    var isUppercase = false

    /// With 6 digits after the point.
    public static let fixed = OSLogFloatFormatting(conversion: "f")
    /// In base 16.
    public static let hex = OSLogFloatFormatting(conversion: "a")
    /// With an exponent.
    public static let exponential = OSLogFloatFormatting(conversion: "e")
    /// With an exponent where that is shorter.
    public static let hybrid = OSLogFloatFormatting(conversion: "g")

    /// With a number of digits after the point.
    public static func fixed(
      precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false,
      uppercase: Bool = false
    ) -> OSLogFloatFormatting {
      .init(
        conversion: "f", precision: precision(), hasPlus: explicitPositiveSign,
        isUppercase: uppercase)
    }

    /// With an exponent and a number of digits after the point.
    public static func exponential(
      precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false,
      uppercase: Bool = false
    ) -> OSLogFloatFormatting {
      .init(
        conversion: "e", precision: precision(), hasPlus: explicitPositiveSign,
        isUppercase: uppercase)
    }

    /// With an exponent where that is shorter, and a total number of digits.
    public static func hybrid(
      precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false,
      uppercase: Bool = false
    ) -> OSLogFloatFormatting {
      .init(
        conversion: "g", precision: precision(), hasPlus: explicitPositiveSign,
        isUppercase: uppercase)
    }

    func text(_ value: Double) -> String {
      // No number of this type has more digits than this, in any form.
      let digitLimit = 1_100
      // A conversion has no negative precision, and a huge one would allocate that many digits.
      let digits = precision.map { ".\(max(0, min($0, digitLimit)))" } ?? ""
      let kind = isUppercase ? conversion.uppercased() : conversion
      return String(format: "%\(hasPlus ? "+" : "")\(digits)\(kind)", value)
    }
  }

  /// How a value is padded with spaces. A longer value isn't cut.
  ///
  /// ```swift
  /// logger.info("\(name, align: .left(columns: 12), privacy: .public)|")
  /// ```
  public struct OSLogStringAlignment: Sendable {
    private enum Side { case left, right }
    /// Where the value is in its columns.
    private let side: Side
    /// The width in characters; zero for none.
    private let columns: Int

    /// An alignment in a number of columns. A negative number pads nothing.
    private init(_ side: Side, _ columns: Int) {
      self.side = side
      // A line has no room for more in any case.
      self.columns = min(columns, LogLine.byteLimit)
    }

    /// Without padding.
    public static let none = OSLogStringAlignment(.left, 0)

    /// Left-aligned in a number of columns.
    public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.left, columns())
    }

    /// Right-aligned in a number of columns.
    public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
      .init(.right, columns())
    }

    /// A value with spaces on the other side.
    func text(_ text: String) -> String {
      let spaces = String(repeating: " ", count: max(0, columns - text.count))
      return side == .left ? text + spaces : spaces + text
    }
  }
#endif
