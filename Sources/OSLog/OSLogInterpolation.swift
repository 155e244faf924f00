#if !canImport(Darwin)
  /// Collects the parts of a message.
  public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    enum Part: Sendable {
      case literal(String)
      case value(String, isPlain: Bool, OSLogPrivacy)
    }

    var parts: [Part] = []

    /// Prepares for a message.
    public init(literalCapacity: Int, interpolationCount: Int) {
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

    private mutating func add(_ text: String, isPlain: Bool, _ privacy: OSLogPrivacy) {
      parts.append(.value(text, isPlain: isPlain, privacy))
    }
  }
#endif
