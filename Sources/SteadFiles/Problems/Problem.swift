extension Stead {
  /// Something that went wrong where nothing could be thrown.
  ///
  /// Compare ``code``, show ``message``, look into ``cause`` for the error underneath. No text in it
  /// holds a stored value or a secret.
  public struct Problem: Sendable {
    /// What went wrong, to compare with.
    ///
    /// Each product adds its own codes, and later versions add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      private let name: String

      package init(_ name: String) { self.name = name }

      /// The code's name, for logs and metrics.
      public var description: String { name }
    }

    /// One of the package's products.
    public struct Product: Hashable, Sendable, CustomStringConvertible {
      private let name: String
      private init(_ name: String) { self.name = name }

      /// SteadFiles.
      public static let files = Product("files")
      /// SteadPreferences.
      public static let preferences = Product("preferences")
      /// SteadRecords, which is `import SwiftData`.
      public static let records = Product("records")
      /// SteadSecrets.
      public static let secrets = Product("secrets")
      /// SteadCaches.
      public static let caches = Product("caches")
      /// SteadTransfer.
      public static let transfer = Product("transfer")
      /// SteadSync.
      public static let sync = Product("sync")

      /// The product's name in a log's category.
      public var description: String { name }
    }

    /// What went wrong, to compare with.
    public var code: Code
    /// The product that met the problem.
    public var product: Product
    /// What the problem concerns, such as `Author.books`, a path or a key; empty when there is no more
    /// to say than ``message`` does.
    public var subject: String
    /// What went wrong and what to do about it, in a sentence or two for a person.
    public var message: String
    /// The error underneath, if there was one.
    public var cause: (any Error)?

    /// Makes a problem; the package does this, and so may the test of a handler.
    public init(
      code: Code, product: Product, subject: String = "", message: String,
      cause: (any Error)? = nil
    ) {
      self.code = code
      self.product = product
      self.subject = subject
      self.message = message
      self.cause = cause
    }
  }
}

extension Stead.Problem: CustomStringConvertible {
  /// The subject, the message, and what the cause adds to them.
  public var description: String {
    let text = subject.isEmpty ? message : "\(subject): \(message)"
    guard let cause else { return text }
    let reason = "\(cause)"
    return reason.contains(message) ? text : "\(text) Cause: \(reason)"
  }
}

extension Stead.Problem.Code {
  /// The system has no watch left for a file, which is looked at again and again instead.
  public static let watchLimit = Self("watchLimit")
}
