import Foundation

/// Compares a response that the client got with what its test expects.
struct ResponseCheck {
  let step: TestStep
  /// Counts from 1.
  let number: Int
  let response: SuiteResponse

  func check(token: String) throws {
    try checkThatNothingWasRepeated()
    try checkType()
    try checkStatus()
    for field in step.expectedResponseFields { try checkPresent(field) }
    for field in step.missingResponseFields { try checkMissing(field) }
    try checkBody(token)
  }

  private func expect(
    _ condition: Bool, _ member: TestStep.Member, _ message: @autoclosure () -> String
  ) throws {
    try Unmet.check(condition, isSetup: step.isSetup(member), message())
  }

  private func checkThatNothingWasRepeated() throws {
    let numbers = (response.fields["Request-Numbers"] ?? "").split(separator: " ")
    try Unmet.check(
      numbers.count == Set(numbers).count, isSetup: true, "A request was sent twice.")
  }

  private func checkType() throws {
    let origin = Int(response.fields["Server-Request-Count"] ?? "")
    switch step.expectedType {
    case .cached:
      // A cache may answer a condition with a 304 of its own.
      if response.status == 304, origin == nil { return }
      try expect(
        origin.map { $0 < number } ?? false, .expectedType,
        "Response \(number) does not come from the cache.")
    case .notCached:
      try expect(origin == number, .expectedType, "Response \(number) comes from the cache.")
    case .validatedByDate, .validatedByTag, nil: break
    }
  }

  private func checkStatus() throws {
    let status = response.status
    if let expected = step.expectedStatus {
      guard case .number(let number) = expected else { return }
      try expect(
        status == number, .expectedStatus,
        "Response \(self.number) has the status \(status), not \(number).")
    } else if let sent = step.status?.code {
      try Unmet.check(
        status == sent, isSetup: true, "Response \(number) has the status \(status), not \(sent).")
    } else if status == 999 {
      try expect(
        false, .expectedType, "Request \(number) has no condition that the origin knows.")
    } else {
      try Unmet.check(
        status == 200, isSetup: true, "Response \(number) has the status \(status), not 200.")
    }
  }

  private func checkPresent(_ field: FieldExpectation) throws {
    let name = field.name
    let value = response.fields[name]
    try expect(value != nil, .responseFields, "Response \(number) has no field \(name).")
    switch field {
    case .named: break
    case .equalTo(_, let other):
      let expected = response.fields[other]
      try expect(
        value == expected, .responseFields,
        "Response \(number) has \(name): \(value ?? "-"), but \(other): \(expected ?? "-").")
    case .above(_, let bound):
      try expect(
        value.flatMap(leadingNumber).map { $0 > bound } ?? false, .responseFields,
        "Response \(number) has \(name): \(value ?? "-"), which should be above \(bound).")
    case .value(let template):
      let now = Double(response.fields["Server-Now"] ?? "") ?? 0
      let expected = template.value(
        now: Date(timeIntervalSince1970: now / 1000),
        path: response.fields["Server-Base-Url"] ?? "", in: step)
      try expect(
        value == expected, .responseFields,
        "Response \(number) has \(name): \(value ?? "-"), not \(expected).")
    }
  }

  private func checkMissing(_ field: FieldExpectation) throws {
    let value = response.fields[field.name]
    switch field {
    case .named(let name):
      try expect(
        value == nil, .missingResponseFields, "Response \(number) has the field \(name).")
    case .value(let template):
      let unwanted = template.value(now: .distantPast, path: "", in: step)
      try expect(
        value.map { !$0.contains(unwanted) } ?? true, .missingResponseFields,
        "Response \(number) has \(template.name): \(value ?? "-").")
    case .equalTo, .above: break
    }
  }

  private func checkBody(_ token: String) throws {
    guard step.checksBody else { return }
    let body = response.body
    let message = "Response \(number) has another body, of \(body.utf8.count) bytes."
    if let expected = step.expectedText {
      guard case .text(let text) = expected else { return }
      try expect(body == text, .expectedText, message)
    } else if case .text(let sent)? = step.responseBody {
      try Unmet.check(body == sent, isSetup: true, message)
    } else if response.status != 204, response.status != 304, step.method != "HEAD" {
      try Unmet.check(body == token, isSetup: true, message)
    }
  }

  private func leadingNumber(_ text: String) -> Int? {
    Int(text.prefix { $0.isASCII && $0.isNumber })
  }
}
