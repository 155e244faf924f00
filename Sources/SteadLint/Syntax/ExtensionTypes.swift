/// The types that widgets and intent handlers conform to. Both read what an app has written for them.
enum ExtensionTypes {
  private static let widgets: Set<String> = [
    "Widget", "WidgetBundle", "TimelineProvider", "IntentTimelineProvider",
    "AppIntentTimelineProvider", "NCWidgetProviding", "INExtension",
  ]

  /// Whether a type with these inherited types, such as `INPlayMediaIntentHandling`, is a widget or an intent handler.
  static func contains(_ inherited: [String]) -> Bool {
    inherited.contains {
      widgets.contains($0) || $0.hasPrefix("IN") && $0.hasSuffix("IntentHandling")
    }
  }
}
