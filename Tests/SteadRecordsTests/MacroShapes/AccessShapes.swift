import Foundation
import SwiftData
import Testing

@Model public class PublicShape {
  public private(set) var number: Int
  public internal(set) var text: String = ""
  private var secret: String? = nil
  fileprivate var halfSecret: Double
  var isKnown: Bool { secret != nil }

  public init(number: Int, secret: String?) {
    self.halfSecret = 0.5
    self.number = number
    self.secret = secret
  }
}

@Model open class OpenShape {
  public var name: String
  public init(name: String) { self.name = name }
}

@Model package final class PackageShape {
  package var name: String
  package init(name: String) { self.name = name }
}

@Model private final class PrivateShape {
  var name: String
  init(name: String) { self.name = name }
}

@Model fileprivate class FilePrivateShape {
  private(set) var name: String
  init(name: String) { self.name = name }
}

@available(macOS 15, iOS 18, *)
@Model final class AvailableShape {
  var name: String
  init(name: String) { self.name = name }
}

/// Models of every visibility, with properties of every visibility.
@Suite struct AccessShapes {
  @Test func `a public model keeps its private properties`() throws {
    let model = PublicShape(number: 7, secret: "x")
    model.text = "text"
    try reread(model) { twin in
      #expect(twin.number == 7)
      #expect(twin.text == "text")
      #expect(twin.isKnown)
      #expect(twin.halfSecret == 0.5)
    }
  }

  @Test func `models of other visibility are stored`() throws {
    try reread(OpenShape(name: "open")) { #expect($0.name == "open") }
    try reread(PackageShape(name: "package")) { #expect($0.name == "package") }
    try reread(PrivateShape(name: "private")) { #expect($0.name == "private") }
    try reread(FilePrivateShape(name: "file")) { #expect($0.name == "file") }
    try reread(AvailableShape(name: "available")) { #expect($0.name == "available") }
  }
}
