import Foundation
import Testing

@testable import SteadFormats

struct ISO8601DateTests {
  @Test func readsEitherKindOfDateText() {
    let moment = Date(timeIntervalSince1970: 1_795_345_200)
    #expect(ISO8601Date.date("2026-11-22T11:00:00Z") == moment)
    #expect(ISO8601Date.date("2026-11-22T13:00:00+02:00") == moment)
    #expect(ISO8601Date.date("2026-11-22T11:00:00.250Z") == moment.addingTimeInterval(0.25))
    #expect(ISO8601Date.date("2026-11-22T13:00:00.250+02:00") == moment.addingTimeInterval(0.25))
    #expect(ISO8601Date.date("yesterday") == nil)
    #expect(ISO8601Date.date("2026-11-22T11:00:00Z and more") == nil)
  }
}
