#if !canImport(Darwin)
  public import Foundation

  /// In the notifications of closing groups: whether the group is discardable, a `Bool`.
  public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

  extension Notification.Name {
    /// A nested group is about to be opened, a group was closed, or something was undone or redone.
    public static let NSUndoManagerCheckpoint = Self("NSUndoManagerCheckpointNotification")
    /// A group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = Self(
      "NSUndoManagerDidOpenUndoGroupNotification")
    /// A group is about to be closed.
    public static let NSUndoManagerWillCloseUndoGroup = Self(
      "NSUndoManagerWillCloseUndoGroupNotification")
    /// A group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = Self(
      "NSUndoManagerDidCloseUndoGroupNotification")
    /// A step is about to be undone.
    public static let NSUndoManagerWillUndoChange = Self("NSUndoManagerWillUndoChangeNotification")
    /// A step was undone.
    public static let NSUndoManagerDidUndoChange = Self("NSUndoManagerDidUndoChangeNotification")
    /// A step is about to be redone.
    public static let NSUndoManagerWillRedoChange = Self("NSUndoManagerWillRedoChangeNotification")
    /// A step was redone.
    public static let NSUndoManagerDidRedoChange = Self("NSUndoManagerDidRedoChangeNotification")
  }
#endif
