import SteadSyncProtocol

// Names for tallies, which show that a simulation reaches what it should.
extension PushAnswer {
  var name: String { word(self) }
}

extension ChangesAnswer {
  var name: String { word(self) }
}

extension MergeEvent {
  var name: String { word(self) }
}

extension Refusal.Reason {
  var name: String { word(self) }
}

/// The name of an enum's case.
private func word(_ value: Any) -> String {
  String("\(value)".prefix { $0 != "(" })
}
