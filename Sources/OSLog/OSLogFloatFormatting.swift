#if !canImport(Darwin)
  /// How a floating-point number is written.
  public struct OSLogFloatFormatting: Sendable {
    let conversion: String
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
      let digits = precision.map { ".\(max(0, min($0, digitLimit)))" } ?? ""
      let kind = isUppercase ? conversion.uppercased() : conversion
      return String(format: "%\(hasPlus ? "+" : "")\(digits)\(kind)", value)
    }
  }
#endif
