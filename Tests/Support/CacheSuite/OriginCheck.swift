/// Compares the requests that reached the origin with what a test expects.
struct OriginCheck {
  let steps: [TestStep]
  let responses: [SuiteResponse]
  let seen: [TestOrigin.Seen]

  func check() throws {
    // Requests that the cache answers by itself leave no trace at the origin.
    var next = seen.makeIterator()
    for (index, step) in steps.enumerated() where step.expectedType != .cached {
      try check(step, index, next.next())
    }
  }

  private func check(_ step: TestStep, _ index: Int, _ request: TestOrigin.Seen?) throws {
    let number = index + 1
    func expect(
      _ condition: Bool, _ member: TestStep.Member, _ message: @autoclosure () -> String
    ) throws {
      try Unmet.check(condition, isSetup: step.isSetup(member), message())
    }
    let fields = request?.fields ?? HeaderFields()
    switch step.expectedType {
    case .notCached:
      try expect(request?.number == number, .expectedType, "Request \(number) was not sent.")
    case .validatedByTag:
      try expect(
        fields.has("If-None-Match"), .expectedType, "Request \(number) has no If-None-Match.")
    case .validatedByDate:
      try expect(
        fields.has("If-Modified-Since"), .expectedType,
        "Request \(number) has no If-Modified-Since.")
    case .cached, nil: break
    }
    for field in step.expectedRequestFields {
      try expect(
        Self.matches(field, fields, step), .requestFields,
        "Request \(number) has \(field.name): \(fields[field.name] ?? "-").")
    }
    for field in step.missingRequestFields {
      try expect(
        !Self.matches(field, fields, step), .missingRequestFields,
        "Request \(number) has \(field.name): \(fields[field.name] ?? "-").")
    }
    for (name, value) in request?.compared ?? [] where name.lowercased() != "date" {
      let received = responses[index].fields[name]
      try Unmet.check(
        received == value, isSetup: true,
        "Response \(number) has \(name): \(received ?? "-"), not \(value).")
    }
    if let method = step.expectedMethod {
      try expect(
        request?.method == method, .expectedMethod,
        "Request \(number) has the method \(request?.method ?? "-"), not \(method).")
    }
  }

  private static func matches(
    _ field: FieldExpectation, _ fields: HeaderFields, _ step: TestStep
  ) -> Bool {
    switch field {
    case .value(let template):
      fields[template.name] == template.value(now: .distantPast, path: "", in: step)
    case .named, .equalTo, .above: fields.has(field.name)
    }
  }
}
