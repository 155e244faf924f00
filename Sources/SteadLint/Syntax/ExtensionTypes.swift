/// The types of widgets and of handlers of intents, which read what an app hands to them.
enum ExtensionTypes {
  private static let widgets: Set<String> = [
    "Widget", "WidgetBundle", "TimelineProvider", "IntentTimelineProvider",
    "AppIntentTimelineProvider", "NCWidgetProviding", "INExtension",
  ]

  /// Whether what a type inherits from makes it one, such as `INPlayMediaIntentHandling`.
  static func contains(_ inherited: [String]) -> Bool {
    inherited.contains {
      widgets.contains($0) || $0.hasPrefix("IN") && $0.hasSuffix("IntentHandling")
    }
  }
}
