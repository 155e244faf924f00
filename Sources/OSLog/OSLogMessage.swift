#if !canImport(Darwin)
  /// A message with interpolated values, each with its privacy.
  ///
  /// It is written as a string literal in a log call, and evaluated only if it is going to be written:
  ///
  /// ```swift
  /// logger.info("\(user, privacy: .private(mask: .hash)) has \(count) notes")
  /// ```
  public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let interpolation: OSLogInterpolation

    /// Makes a message from an interpolated literal.
    public init(stringInterpolation: OSLogInterpolation) { interpolation = stringInterpolation }

    /// Makes a message from a plain literal.
    public init(stringLiteral value: String) {
      var interpolation = OSLogInterpolation(literalCapacity: value.count, interpolationCount: 0)
      interpolation.appendLiteral(value)
      self.interpolation = interpolation
    }

    /// The message as it is written, with a mask in place of each hidden value.
    func text(showingPrivateData: Bool) -> String {
      interpolation.parts.map { part in
        switch part {
        case .literal(let text): text
        case .value(let text, let isPlain, let privacy):
          privacy.shown(text, isPlain: isPlain, showsPrivateData: showingPrivateData)
        }
      }.joined()
    }
  }

  /// Collects the parts of a message.
  ///
  /// The compiler calls it for a literal in a log call. Values are evaluated as soon as their part
  /// is appended, which happens only if the message is going to be written.
  public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    /// A part of a message. A value is kept with its privacy, since only the settings say whether
    /// it is shown.
    enum Part: Sendable {
      case literal(String)
      case value(String, isPlain: Bool, OSLogPrivacy)
    }

    /// The parts in the order of the literal.
    var parts: [Part] = []

    /// Prepares for a message.
    public init(literalCapacity: Int, interpolationCount: Int) {
      // Between and around the values there is a literal each.
      parts.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends a part of the literal itself, which everyone may read.
    public mutating func appendLiteral(_ literal: String) { parts.append(.literal(literal)) }

    /// Appends an integer, shown unless hidden.
    public mutating func appendInterpolation<Number: FixedWidthInteger>(
      _ number: @autoclosure () -> Number, format: OSLogIntegerFormatting = .decimal,
      align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(format.text(number())), isPlain: true, privacy)
    }

    /// Appends a number, shown unless hidden.
    public mutating func appendInterpolation(
      _ number: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed,
      align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(format.text(number())), isPlain: true, privacy)
    }

    /// Appends a number, shown unless hidden.
    public mutating func appendInterpolation(
      _ number: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed,
      align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(format.text(Double(number()))), isPlain: true, privacy)
    }

    /// Appends a number, shown unless hidden.
    public mutating func appendInterpolation(
      _ number: @autoclosure () -> CGFloat, format: OSLogFloatFormatting = .fixed,
      align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(format.text(Double(number()))), isPlain: true, privacy)
    }

    /// Appends a boolean, shown unless hidden.
    public mutating func appendInterpolation(
      _ boolean: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth,
      privacy: OSLogPrivacy = .auto
    ) {
      add(format.text(boolean()), isPlain: true, privacy)
    }

    /// Appends a string, hidden unless made public.
    public mutating func appendInterpolation(
      _ text: @autoclosure () -> String, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(text()), isPlain: false, privacy)
    }

    /// Appends any value by its description, hidden unless made public.
    // Integers have descriptions, too, and this has fewer parameters, which the compiler prefers.
    @_disfavoredOverload
    public mutating func appendInterpolation<Value: CustomStringConvertible>(
      _ value: @autoclosure () -> Value, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      add(align.text(value().description), isPlain: false, privacy)
    }

    /// Appends a type's name, hidden unless made public.
    public mutating func appendInterpolation(
      _ type: @autoclosure () -> any Any.Type, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      add(align.text("\(type())"), isPlain: false, privacy)
    }

    /// Appends an error, hidden unless made public.
    public mutating func appendInterpolation(
      _ error: @autoclosure () -> any Error, privacy: OSLogPrivacy = .auto
    ) {
      add("\(error())", isPlain: false, privacy)
    }

    /// Appends an object by its description, hidden unless made public.
    public mutating func appendInterpolation(
      _ object: @autoclosure () -> NSObject, privacy: OSLogPrivacy = .auto
    ) {
      add(object().description, isPlain: false, privacy)
    }

    /// Adds a value.
    ///
    /// - Parameter isPlain: Whether it is a number or a boolean, which `auto` shows.
    private mutating func add(_ text: String, isPlain: Bool, _ privacy: OSLogPrivacy) {
      parts.append(.value(text, isPlain: isPlain, privacy))
    }
  }

  /// Whether readers of the log can see a value in a message.
  ///
  /// A log is a file that is copied, mailed and searched. Make public only what anyone may read.
  public struct OSLogPrivacy: Hashable, Sendable {
    /// What replaces a hidden value.
    public enum Mask: Hashable, Sendable {
      /// A hash, the same for equal values as long as the process runs.
      case hash
      /// Nothing about the value.
      case none
    }

    /// How private a value is: `open` and `hidden` are the static members whose names are keywords.
    enum Level { case auto, open, hidden, secret }
    let level: Level
    /// What is written in place of a hidden value.
    let mask: Mask

    private init(_ level: Level, mask: Mask) {
      self.level = level
      self.mask = mask
    }

    /// Numbers and booleans are shown, other values are hidden.
    public static let auto = OSLogPrivacy(.auto, mask: .none)
    /// The value is shown.
    public static let `public` = OSLogPrivacy(.open, mask: .none)
    /// The value is hidden, unless `STEAD_LOG_PRIVATE_DATA=1`.
    public static let `private` = OSLogPrivacy(.hidden, mask: .none)
    /// The value is hidden, regardless of any setting.
    public static let sensitive = OSLogPrivacy(.secret, mask: .none)

    /// As ``auto``, with a mask that replaces a hidden value.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.auto, mask: mask) }
    /// As ``private``, with a mask that replaces the value.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.hidden, mask: mask) }
    /// As ``sensitive``, with a mask that replaces the value.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.secret, mask: mask) }

    /// What is written for a value.
    func shown(_ text: String, isPlain: Bool, showsPrivateData: Bool) -> String {
      switch level {
      case .open: return text
      // As on Apple's systems: numbers are shown, and anything else may be private.
      case .auto where isPlain || showsPrivateData: return text
      case .hidden where showsPrivateData: return text
      case .auto, .hidden: return masked(text, name: "private")
      case .secret: return masked(text, name: "sensitive")
      }
    }

    /// What is written in place of a hidden value.
    private func masked(_ text: String, name: String) -> String {
      guard mask == .hash else { return "<\(name)>" }
      // Hasher's seed is unique to the process, so the hash cannot be looked up in a table.
      var hasher = Hasher()
      hasher.combine(text)
      return "<mask.hash: '\(String(UInt(bitPattern: hasher.finalize()), radix: 36))'>"
    }
  }

  // MARK: - Formatting

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
