private let flaw = RuleID(id: "P06", name: "payload-growth", level: .error)

extension Rule {
  static let payloadGrowth = Rule(
    flaw,
    summary:
      "A Codable type that is kept has a required field which it lacked when the baseline was written.",
    why: """
      What users have stored was encoded without the field, so decoding it throws `keyNotFound`. A default value doesn't \
      help: the decoder that Swift makes asks for every field that isn't optional. The app then shows nothing, or starts \
      over and overwrites what was stored.
      """,
    bad: """
      struct Entry: Codable {
        var text: String
        var isPinned = false  // since version 2
      }
      """,
    good: """
      struct Entry: Codable {
        var text: String
        var isPinned: Bool?
      }
      """,
    avoids: [
      "Optional fields, and constants with a value, which aren't decoded.",
      "Types with an `init(from:)` of their own.",
      "Types that go to a request or a keychain only, and types that are new since the baseline.",
      "Runs without a baseline or `--since`: nothing then shows what earlier versions stored.",
    ],
    inProject: { index in
      Payloads(index).additions(since: index.earlierPayloads).map { type, field in
        Finding(
          flaw,
          "Values of `\(type)` that are stored already lack `\(field.name)` and don't decode; make it optional, or write "
            + "an `init(from:)` with `decodeIfPresent`.",
          at: field.place)
      }
    })
}
