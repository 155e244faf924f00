import SwiftData
import Testing

@Model final class ObserverShape {
  var limited: Int = 0 {
    didSet {
      if limited > 5 {
        limited = 5
        return
      }
      log.append("\(oldValue)")
    }
  }
  var named: String {
    willSet { log.append("will \(newValue)") }
    didSet(previous) { log.append("did \(previous)") }
  }
  var inferred = "x" { didSet { count += 1 } }
  var optional: Int? { willSet(future) { log.append("\(future ?? -1) after \(optional ?? -1)") } }
  var partner: ObserverShape? {
    didSet { log.append(oldValue == nil ? "first" : "another") }
  }
  @Transient var log: [String] = []
  @Transient var count = 0

  init() { named = "start" }
}

/// willSet and didSet run as the language says.
@Suite struct ObserverShapes {
  @Test func `initializers are not observed`() {
    #expect(ObserverShape().log.isEmpty)
  }

  @Test func `an observer may assign its property`() {
    let model = ObserverShape()
    model.limited = 3
    model.limited = 9
    #expect(model.limited == 5)
    #expect(model.log == ["0"])
  }

  @Test func `observers see both values`() {
    let model = ObserverShape()
    model.named = "next"
    model.optional = 4
    model.inferred = "y"
    model.inferred += "z"
    #expect(model.log == ["will next", "did start", "4 after -1"])
    #expect(model.count == 2)
  }

  @Test func `relationships are observed`() {
    let model = ObserverShape()
    model.partner = ObserverShape()
    model.partner = nil
    #expect(model.log == ["first", "another"])
  }

  @Test func `reading from the store is not observed`() throws {
    let model = ObserverShape()
    model.named = "stored"
    try reread(model) { twin in
      #expect(twin.named == "stored")
      #expect(twin.log.isEmpty)
    }
  }
}
