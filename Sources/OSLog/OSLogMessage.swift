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
#endif
